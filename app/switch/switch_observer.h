// SPDX-License-Identifier: Apache-2.0
// The state of a running switch that is readable without a request to other threads: metrics,
// health and readiness.
//
// Counters are cells already. The control thread requests depths and pauses from the switching
// lcore, and copies the replies into cells; replies also prove that the lcore polls.
#ifndef SUEDE_APP_SWITCH_SWITCH_OBSERVER_H_
#define SUEDE_APP_SWITCH_SWITCH_OBSERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/daemon_observer.h"
#include "fabric/switch.h"
#include "switch/switch_mailbox.h"
#include "switch/switch_management.h"

namespace suede {

class SwitchObserver final : public DaemonObserver {
 public:
  // All arguments must outlive this. `cpu`: of the switching lcore. To be created before that lcore
  // starts.
  SwitchObserver(SwitchMailbox* mailbox, const fabric::Switch* the_switch,
                 SwitchManagement* management, uint32_t cpu, uint64_t tsc_hertz);

  // ---- Control thread.

  // To be called in each iteration of the control loop; samples every 100 ms. Also raises the
  // events of PFC storms.
  void Tick();
  // Returns the switch's state in a line for the service manager.
  std::string StatusLine() const;

  // ---- Any thread.

  std::vector<std::string> Obstacles() const override;
  StatusPage status_page() const override;

 private:
  using State = switch_request::State;
  void AddPort(uint32_t port);
  void AddGroup(uint32_t group);
  void AddBuffer();
  // Copies the lcore's reply, if there is one, and submits the next request.
  void CopyState();
  void Take(const State& state);
  // Drops of a port that an event has reported: once a second at most, with their number.
  struct Reported {
    uint64_t count = 0;
    uint32_t pause = 0;  // replies until the next event
  };
  void RaiseDrops(EventKind kind, uint32_t port, const fabric::DropNote& drop, Reported* reported);

  SwitchMailbox* const mailbox_;
  const fabric::Switch* const switch_;
  SwitchManagement* const management_;
  std::vector<MetricCell*> link_up_;  // [port]
  std::vector<MetricCell*> stormy_;   // [port * kClasses + class]
  State state_;                       // the last reply, sampled by the page
  std::vector<Reported> without_hops_;
  std::vector<Reported> too_old_;
  std::shared_ptr<const SwitchTicket> ticket_;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_OBSERVER_H_
