// SPDX-License-Identifier: Apache-2.0
// The scenarios of many hosts that send to one, through a switch with a small shared buffer: it
// drops frames where there is no room for them, or it pauses hosts before that by PFC.
#ifndef SUEDE_TESTS_SIM_INCASTS_H_
#define SUEDE_TESTS_SIM_INCASTS_H_

#include <algorithm>

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

inline WorldOptions Incast(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x1ca57);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(4 + dice.Below(5));
  options.wiring.encaps = {static_cast<Encap>(dice.Below(kEncapNames.size()))};
  options.transport = RandomTransport(dice);
  options.transport.window_pdus = 32u << dice.Below(3);
  options.transport.max_tries = 40;
  options.faults = {{.delay = Micros(1 + dice.Below(5)), .bits_per_ns = 25}};
  options.classes.links.on = true;
  options.classes.links.max_wait = {};
  options.send_to = 0;
  options.crowded = true;
  const auto shared = static_cast<uint32_t>(8 + dice.Below(32)) << 10;
  const auto alpha = static_cast<uint16_t>(4u << dice.Below(4));
  options.fabric = [shared, alpha](fabric::SwitchParams& params) {
    params.cell_bytes = 256;
    for (fabric::ClassParams& own : params.of_class) {
      own.reserved_bytes = 1024;
      own.alpha_16th = alpha;
    }
    params.buffer_bytes =
        static_cast<uint32_t>(params.ports.size()) * fabric::kClasses * 1024 + shared;
  };
  options.inflight_pdus = 512;
  options.commands = 1500;
  options.transmit_now = 0.3;
  options.pauses = 0;
  return options;
}

// The class of data is lossless, and ports have the headroom that rate and cable ask for: no frame
// is lost, nothing is sent again, and hosts have been paused.
inline WorldOptions IncastLossless(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0x1ca5710);
  WorldOptions options = Incast(seed);
  options.transport = {};
  options.transport.psn_scope = dice.Chance(0.5) ? PsnScope::kVc : PsnScope::kPort;
  options.transport.rto_initial = std::chrono::milliseconds(20);
  options.transport.rto_min = std::chrono::milliseconds(5);
  options.transport.rto_max = std::chrono::milliseconds(40);
  options.wiring.encaps = {seed % 2 == 0 ? Encap::kUdp4 : Encap::kAfh2};
  options.crowded = false;
  options.lossless = true;
  options.resends = false;
  const SimFaults& link = options.faults[0];
  const auto shared = static_cast<uint32_t>(8 + dice.Below(32)) << 10;
  const uint32_t headroom =
      fabric::HeadroomBytes(static_cast<uint64_t>(link.bits_per_ns * 1e9),
                            static_cast<uint32_t>(link.delay.count() / 5), SimPort::kMaxFrameBytes);
  options.fabric = [shared, headroom](fabric::SwitchParams& params) {
    params.cell_bytes = 64;
    for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = 2048;
    params.of_class[0].lossless = true;
    params.of_class[0].headroom_bytes = headroom;
    params.buffer_bytes =
        static_cast<uint32_t>(params.ports.size()) * (fabric::kClasses * 2048 + headroom) + shared;
  };
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCASTS_H_
