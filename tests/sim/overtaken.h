// SPDX-License-Identifier: Apache-2.0
// The scenario of acknowledgements that overtake data both ways, while data waits behind a slow
// output of a switch: in its queue, or in front of it by PFC. Nothing is lost, so nothing is sent
// again. (In `cbfc` data waits for credit.)
#ifndef SUEDE_TESTS_SIM_OVERTAKEN_H_
#define SUEDE_TESTS_SIM_OVERTAKEN_H_

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Overtaken(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x07e7);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(3 + dice.Below(3));
  options.transport.psn_scope = dice.Chance(0.5) ? PsnScope::kVc : PsnScope::kPort;
  const bool pauses = seed % 2 == 0;
  options.transport.window_pdus = (pauses ? 64u : 16u) << dice.Below(4);
  // The timeouts of senders are no part of this.
  options.transport.rto_initial = std::chrono::milliseconds(20);
  options.transport.rto_min = std::chrono::milliseconds(20);
  options.faults = {{.delay = Micros(1 + dice.Below(5)), .bits_per_ns = 25}};
  options.classes.links.on = true;
  options.classes.links.max_wait = {};
  options.classes.links.max_held = 1u << 20;
  options.burst = static_cast<uint32_t>(100 + dice.Below(200));
  options.fixed_data_bytes = pauses ? kMaxDataBytes : 0;
  options.burst_gap = dice.OfAnyScale(Micros(20), Micros(500));
  options.inflight_pdus = 512;
  options.commands = 2000;
  options.transmit_now = 0.3;
  options.resends = false;
  options.deaths = false;
  options.pauses = 0;
  options.lossless = pauses;
  const auto slow = static_cast<uint64_t>(1 + dice.Below(4)) * 1'000'000'000;
  const SimFaults& link = options.faults[0];
  const uint32_t headroom =
      fabric::HeadroomBytes(static_cast<uint64_t>(link.bits_per_ns * 1e9),
                            static_cast<uint32_t>(link.delay.count() / 5), SimPort::kMaxFrameBytes);
  options.fabric = [pauses, slow, headroom](fabric::SwitchParams& params) {
    params.ports[0].rate_bps = slow;
    params.cell_bytes = 64;
    params.buffer_bytes = 64u << 20;
    if (!pauses) {
      for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = 1u << 20;
      return;
    }
    // Data has little room before it pauses. Acknowledgements, which no pause stops, have enough.
    constexpr uint32_t kOfData = 2048;
    constexpr uint32_t kOfOthers = 32 * 1024;
    for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = kOfOthers;
    params.of_class[0].reserved_bytes = kOfData;
    params.of_class[0].lossless = true;
    params.of_class[0].headroom_bytes = headroom;
    const uint32_t of_port = kOfData + (fabric::kClasses - 1) * kOfOthers + headroom;
    params.buffer_bytes = static_cast<uint32_t>(params.ports.size()) * of_port + 8192;
  };
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_OVERTAKEN_H_
