// SPDX-License-Identifier: Apache-2.0
// The LLDP agents of a daemon's ports (docs/lldp.md): their frames, their events, and their state
// as management shows it.
#ifndef SUEDE_APP_DAEMON_LLDP_SERVICE_H_
#define SUEDE_APP_DAEMON_LLDP_SERVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "lldp/agent.h"
#include "mgmt/event_log.h"
#include "mgmt/lldp_view.h"

namespace suede {

// Control thread only, except the cells of counters.
class LldpService {
 public:
  struct PortFacts {
    std::string name;
    lldp::Mac source{};
    lldp::Lldpdu own;
    lldp::AddressPolicy addresses{};
    std::function<bool()> link_up;
    // Queues a frame for the port. Returns false if there is no room for it.
    std::function<bool(std::span<const uint8_t>)> send;
  };

  // `events` must outlive this.
  explicit LldpService(EventLog* events) : events_(events) {}

  // Adds the agent of a port. To be called before the first Poll.
  void AddPort(uint32_t port, PortFacts facts);
  bool empty() const { return ports_.empty(); }

  // Returns whether the port has an agent and the frame was for it.
  bool OnFrame(uint32_t port, std::span<const uint8_t> frame, Time now);
  // Counts frames of a port that were dropped on the way here, beyond its rate.
  void OnDropped(uint32_t port, uint64_t frames);
  // Sends frames that are due, and raises events. To be called about every 10 ms.
  void Poll(Time now);
  // Ends the agents at their neighbours, and sends nothing more. Returns whether there were any.
  bool Shutdown();

  LldpView View(Time now) const;
  // Returns null if the port has no agent. The pointer stays valid.
  const LldpCounters* counters(uint32_t port) const;

 private:
  struct Port {
    uint32_t number = 0;
    PortFacts facts;
    std::unique_ptr<LldpCounters> counters;
    std::unique_ptr<lldp::Agent> agent;
  };
  Port* Find(uint32_t number);
  void Send(Port& port, std::span<const uint8_t> frame);
  void Raise(const Port& port, const lldp::Report& report);

  EventLog* const events_;
  std::vector<Port> ports_;
  bool ended_ = false;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_LLDP_SERVICE_H_
