// SPDX-License-Identifier: Apache-2.0
// The LLDP agents of a switch (docs/lldp.md): received frames come from the taps of the ports,
// frames to be sent go to the switching lcore as requests.
#ifndef SUEDE_APP_SWITCH_SWITCH_LLDP_H_
#define SUEDE_APP_SWITCH_SWITCH_LLDP_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "daemon/lldp_service.h"
#include "fabric/lldp_tap.h"
#include "switch/switch_mailbox.h"

namespace suede {

// Control thread only, except the cells of counters.
class SwitchLldp {
 public:
  // A port with lldp: on.
  struct PortFacts {
    uint32_t number = 0;
    std::string name;
    lldp::Mac source{};
    lldp::Lldpdu own;
    fabric::LldpTap* tap = nullptr;
    std::function<bool()> link_up;
  };
  using Clock = std::function<Time()>;

  // All arguments must outlive this.
  SwitchLldp(SwitchMailbox* mailbox, EventLog* events, Clock clock, std::vector<PortFacts> ports);

  // To be called about every 10 ms.
  void Poll();
  // Ends the agents at their neighbours.
  void Shutdown() { service_.Shutdown(); }

  LldpView View() const { return service_.View(clock_()); }
  const LldpCounters* counters(uint32_t port) const { return service_.counters(port); }

 private:
  struct Tap {
    uint32_t port = 0;
    fabric::LldpTap* tap = nullptr;
    uint64_t dropped = 0;  // by the tap, and counted
  };

  const Clock clock_;
  LldpService service_;
  std::vector<Tap> taps_;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_LLDP_H_
