// SPDX-License-Identifier: Apache-2.0
// The wait for addresses that neighbours assign by LLDP (docs/lldp.md, "Assigned addresses"),
// before the lcores run.
#ifndef SUEDE_APP_ENDPOINT_ADDRESS_WAIT_H_
#define SUEDE_APP_ENDPOINT_ADDRESS_WAIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "config/config.h"
#include "dpdk/eal.h"
#include "lldp/agent.h"
#include "port/port.h"

namespace suede {

// Control thread only, which has the queue pairs of the ports until this ends.
class AddressWait {
 public:
  using Log = std::function<void(EalLogLevel, std::string_view component, std::string_view line)>;
  struct PortFacts {
    uint32_t number = 0;       // index into Config::ports
    std::vector<Port*> pairs;  // at least one
    lldp::Mac source{};
    lldp::Lldpdu own;
  };
  // An address that a port took, and the frame that assigned it.
  struct Assigned {
    uint32_t port = 0;
    lldp::Assignment assignment;
    std::vector<uint8_t> frame;
  };

  // Returns the ports of a configuration that wait.
  static std::vector<uint32_t> PortsOf(const Config& config);
  // Returns the longest wait of a configuration; 0: no port waits.
  static uint32_t MaxSeconds(const Config& config);

  // `config` must outlive this. Each port takes an address.
  AddressWait(Config* config, Log log, std::vector<PortFacts> ports, Time now);

  // Exchanges LLDP frames, drops others, and sets the addresses of instances in the configuration.
  // Returns whether every port has its address. To be called about every millisecond.
  bool Poll(Time now);
  // Returns an error if a port has waited for too long.
  absl::Status Check(Time now) const;

  // In the order of arrival.
  const std::vector<Assigned>& assigned() const { return assigned_; }

 private:
  struct Waiting {
    PortFacts facts;
    LldpCounters counters;
    std::unique_ptr<lldp::Agent> agent;
    std::string refused;  // the last address, and why; empty: none
    bool done = false;
  };
  const PortConfig& ConfigOf(const Waiting& port) const {
    return config_->ports[port.facts.number];
  }
  void Send(Port& pair, std::span<const uint8_t> bytes);
  void Receive(Waiting& port, Time now);
  void OnFrame(Waiting& port, std::span<const uint8_t> frame, Time now);
  void Consider(Waiting& port, const lldp::Lldpdu& pdu, std::span<const uint8_t> frame);

  Config* const config_;
  const Log log_;
  const Time start_;
  std::vector<std::unique_ptr<Waiting>> ports_;
  std::vector<Assigned> assigned_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ADDRESS_WAIT_H_
