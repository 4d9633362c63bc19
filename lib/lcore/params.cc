// SPDX-License-Identifier: Apache-2.0
#include "lcore/params.h"

#include <algorithm>

#include "client/client_table.h"
#include "link/handover.h"
#include "link/staged_burst.h"

namespace suede {

uint8_t PfcClassOf(const PortParams& port, const TrafficClass& traffic_class) {
  const bool has_dscp = TraitsOf(port.rules.encap).class_bits != 0;
  if (port.tagged && (port.class_by_pcp || !has_dscp)) return traffic_class.pcp & 7;
  return has_dscp ? traffic_class.dscp >> 3 & 7 : 0;
}

uint32_t MaxHeldPdus(const std::vector<uint32_t>& inflight_pdus) {
  HeldBound bound;
  for (const uint32_t of_instance : inflight_pdus) bound.Add(of_instance);
  return bound.value();
}

uint32_t FramesNeeded(const PortUse& use) {
  uint64_t frames = use.unclaimed_pdus + use.link_frames;
  for (const PortHome& home : use.homes) {
    const uint64_t held = std::max(MaxHeldPdus(home.inflight_pdus), home.destinations);
    frames += home.seals ? 2 * held : held;
    frames += std::max(home.packed_pdus, ClientTable::kMaxQueues);
  }
  frames += use.queue_pairs * (use.rx_descriptors + 16 * kBurst) + use.tx_descriptors;
  frames += uint64_t{use.lcores} * (use.lcores - 1) * kHandoverFrames;
  return static_cast<uint32_t>(frames);
}

}  // namespace suede
