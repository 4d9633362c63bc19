// SPDX-License-Identifier: Apache-2.0
// A running switch: DPDK's environment, ports, lcores, and the fabric::Switch between them.
#ifndef SUEDE_APP_SWITCH_SWITCH_NODE_H_
#define SUEDE_APP_SWITCH_SWITCH_NODE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/eal_start.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/lcores.h"
#include "fabric/switch.h"
#include "port/tap_group.h"
#include "switch/switch_config.h"
#include "switch/switch_lcore.h"
#include "switch/switch_mailbox.h"

namespace suede {

// Control thread only, except the code that the lcores run. One per process.
class SwitchNode {
 public:
  // Starts EAL, opens the ports and builds the switch.
  static absl::StatusOr<std::unique_ptr<SwitchNode>> Create(const SwitchConfig& config,
                                                            DaemonLog log);
  ~SwitchNode();
  SwitchNode(const SwitchNode&) = delete;
  SwitchNode& operator=(const SwitchNode&) = delete;

  // Starts the lcores.
  absl::Status Start();
  // Stops the lcores and waits for them.
  void Stop();

  const SwitchConfig& config() const { return config_; }
  // Only counters and parameters may be read; the rest belongs to the switching lcore.
  const fabric::Switch& the_switch() const { return *switch_; }
  SwitchMailbox& mailbox() { return mailbox_; }
  // Returns the received LLDP frames of a port; null: it has lldp: off.
  fabric::LldpTap* lldp_tap(uint32_t port) const { return lldp_taps_[port].get(); }
  const std::vector<std::unique_ptr<DpdkPort>>& ports() const { return ports_; }
  // Returns the tap of frames that are dropped on a port; null: there is none of that name.
  TappedPort* dropped_frames(std::string_view port);
  const TscClock& clock() const { return *clock_; }
  // Returns the cycles of SwitchConfig::lcores[lcore], which grow with each poll iteration.
  const SwitchCycles& cycles(uint32_t lcore) const {
    return lcore == 0 ? switching_->cycles() : others_[lcore - 1]->cycles();
  }
  uint32_t lcore_count() const { return static_cast<uint32_t>(config_.lcores.size()); }
  // Stops reception, so that frames only leave. Requires a successful Start.
  void BeginDrain();
  // Returns the number of frames between the devices. May miss frames moving between lcores.
  uint64_t frames_inside() const;

 private:
  SwitchNode(const SwitchConfig& config, DaemonLog log) : config_(config), log_(std::move(log)) {}
  absl::Status BeginEal();
  absl::Status OpenPorts();
  absl::Status Build();
  void LogPool() const;
  template <class Worker>
  absl::Status Launch(const LcoreConfig& lcore, Worker& worker);

  const SwitchConfig config_;
  const DaemonLog log_;
  bool eal_started_ = false;
  bool running_ = false;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  uint32_t pool_frames_ = 0;  // free at the start
  std::unique_ptr<TscClock> clock_;
  std::unique_ptr<fabric::Switch> switch_;
  std::deque<TapGroup> drop_taps_;  // of each port
  SwitchMailbox mailbox_;
  std::vector<std::unique_ptr<fabric::LldpTap>> lldp_taps_;  // of each port
  std::vector<std::unique_ptr<SwitchRings>> rings_;
  std::unique_ptr<SwitchingLcore> switching_;
  std::vector<std::unique_ptr<DeviceLcore>> others_;  // SwitchConfig::lcores from the second on
  std::atomic<bool> stop_{false};
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_NODE_H_
