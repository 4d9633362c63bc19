// SPDX-License-Identifier: Apache-2.0
// All switches of a run for the report: those of the plan, and those of the devices that daemons
// represent.
#ifndef SUEDE_TESTS_LABSIM_LAB_SWITCHES_H_
#define SUEDE_TESTS_LABSIM_LAB_SWITCHES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabric/switch.h"
#include "lab_run.h"
#include "mgmt/events.h"

namespace suede::lab {

// One port of a switch.
struct SwitchPortView {
  std::string name;  // of a device's port: M0D4P2, or M0D4 for its centres
  const fabric::Switch* at = nullptr;
  uint32_t number = 0;  // in the switch

  const fabric::SwitchPort& port() const { return at->port(number); }
  // Bytes in the queues of a class.
  uint32_t QueuedBytes(uint32_t traffic_class) const;
  uint32_t MaxQueuedBytes(uint32_t traffic_class) const;
  // Name of a frame's destination, as in events.
  std::string NameOfDestination(uint64_t destination) const;
};

// The switches of one node.
struct SwitchNode {
  std::string name;
  std::vector<SwitchPortView> ports;

  // Each switch once.
  std::vector<const fabric::Switch*> switches() const;
};

std::vector<SwitchNode> SwitchNodesOf(const LabRun& run);

// Frames that ports dropped, since the last call that said so.
class DropWatch {
 public:
  using Say = std::function<void(EventKind kind, const SwitchPortView& port, uint64_t count,
                                 const fabric::DropNote& latest)>;
  explicit DropWatch(const std::vector<SwitchPortView>& ports)
      : ports_(ports), said_(ports.size()) {}

  // Calls `say` for each kind of drop that a port has new ones of, up to ten times a second.
  void Look(Time now, const Say& say);

 private:
  struct Said {
    uint64_t count = 0;
    Time again{};
  };
  struct OfPort {
    Said without_hops;
    Said too_old;
  };
  static bool IsNew(const fabric::DropNote& note, Said& said, Time now);

  const std::vector<SwitchPortView>& ports_;
  std::vector<OfPort> said_;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_SWITCHES_H_
