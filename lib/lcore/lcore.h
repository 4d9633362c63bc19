// SPDX-License-Identifier: Apache-2.0
// The state of an lcore that sending and receiving share: its instances, the queue pairs that it
// serves, its clients, its timers. State only; lib/send, lib/receive and lib/pipeline work on it.
#ifndef SUEDE_LCORE_LCORE_H_
#define SUEDE_LCORE_LCORE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/coordinates.h"
#include "base/time.h"
#include "client/client_table.h"
#include "lcore/events.h"
#include "lcore/instance.h"
#include "lcore/port_context.h"
#include "lcore/timers.h"
#include "stats/counters.h"

namespace suede {

// An {instance, VC}, and an {instance, peer}, by numbers.
struct VcRef {
  uint32_t instance;
  Vc vc;
};
struct PeerRef {
  uint32_t instance;
  PeerIndex peer;
};

struct Lcore {
  explicit Lcore(EventRing& event_ring) : events(event_ring, counters) {}

  // Whether no PDU is packed, in flight or staged, and no acknowledgement pending whose link is up.
  bool IsIdle() const;

  std::vector<std::unique_ptr<PortContext>> ports;
  std::vector<std::unique_ptr<Instance>> instances;
  std::vector<std::unique_ptr<InstanceStats>> stats;  // as instances
  CounterBlock counters;                              // frames and drops that belong to no instance
  ClientTable clients;
  Time now{};                      // of this poll iteration
  bool has_failed_planes = false;  // OwnEnd::failed of an instance has work
  Timers timers;
  Events events;
  Crypto* crypto = nullptr;  // used if instances seal
  SealTurn seal_turn;        // used if instances seal
};

}  // namespace suede

#endif  // SUEDE_LCORE_LCORE_H_
