// SPDX-License-Identifier: Apache-2.0
// The scenarios of credit-based flow control (docs/link.md), over cables that lose updates, and
// those of requests and answers in networks whose every buffer is small.
#ifndef SUEDE_TESTS_SIM_CREDITS_H_
#define SUEDE_TESTS_SIM_CREDITS_H_

#include <algorithm>

#include "dice.h"
#include "planes.h"
#include "world.h"

namespace suede {

// Data of VC c in class c + 1.
inline ClassOptions ClassesOfCredit() {
  ClassOptions classes;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) classes.vcs[vc] = ClassOfNumber(vc + 1);
  return classes;
}

// Credit for `frames` of the largest frames, for the classes of VCs and of acknowledgements.
inline CreditGrant GrantFor(const ClassOptions& classes, CreditRule rule, uint32_t frames) {
  CreditGrant grant{.rule = rule};
  const uint32_t largest = rule.CreditsOf(SimPort::kMaxFrameBytes);
  for (const TrafficClass& vc : classes.vcs) grant.limits[vc.pcp] = largest * frames;
  grant.limits[classes.ack.dscp >> 3] = largest * frames;
  return grant;
}

// No timeout for the sake of a VC that waits for credit.
inline TransportParams PatientTransport(PsnScope scope) {
  TransportParams transport;
  transport.psn_scope = scope;
  transport.rto_initial = std::chrono::milliseconds(200);
  transport.rto_min = std::chrono::milliseconds(200);
  transport.rto_max = std::chrono::milliseconds(400);
  return transport;
}

// A switch whose queues have room for `bytes`, and no more.
inline void SmallQueues(fabric::SwitchParams& params, uint32_t bytes) {
  params.cell_bytes = 256;
  for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = bytes;
  params.buffer_bytes = static_cast<uint32_t>(params.ports.size()) * fabric::kClasses * bytes;
}

// A switch without room but for what it grants, and for copies and frames of no credit.
inline void TightBuffer(fabric::SwitchParams& params) { SmallQueues(params, 2048); }

// A switch with room for one or two of the largest frames in each queue.
inline void SmallBuffer(fabric::SwitchParams& params) {
  SmallQueues(params, 2 * SimPort::kMaxFrameBytes);
}

// With odd seeds all hosts send to one behind a link that is slower than theirs; with even seeds VC
// 0 goes to host 0, whose output is slow, and the other VCs pass it by.
inline WorldOptions Cbfc(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xcbfc);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(3 + dice.Below(3));
  options.classes = ClassesOfCredit();
  options.link.hello = Micros(200);
  options.transport = PatientTransport(PsnScope::kVc);
  options.resends = false;
  options.deaths = false;
  options.lossless = true;
  options.pauses = 0;
  options.faults = {{.delay = Micros(1 + dice.Below(5)), .bits_per_ns = 25}};
  CreditOptions& credit = options.credit;
  credit.on = true;
  const CreditRule rule{.shift = static_cast<uint8_t>(6 + dice.Below(4)),
                        .overhead = static_cast<int16_t>(dice.Below(64) - 16)};
  credit.update_loss = dice.Chance(0.3) ? 0 : static_cast<double>(dice.Below(51)) / 100;
  credit.times.repeat = dice.OfAnyScale(Micros(20), Micros(500));
  credit.times.spacing_octets = static_cast<uint32_t>(800 + dice.Below(12'000));
  credit.times.max_wait = Micros(1 + dice.Below(20));
  credit.overloads_vc0 = seed % 2 == 0;
  const auto frames = static_cast<uint32_t>(1 + dice.Below(credit.overloads_vc0 ? 2 : 8));
  credit.grant = GrantFor(options.classes, rule, frames);
  if (credit.overloads_vc0) {
    credit.class_of_vc0 = options.classes.vcs[0].pcp;
    options.fixed_data_bytes = kMaxDataBytes;
    options.transmit_now = 0;
  } else {
    options.send_to = 0;
  }
  const auto slow = static_cast<uint64_t>(1 + dice.Below(10)) * 1'000'000'000;
  options.fabric = [slow](fabric::SwitchParams& params) {
    TightBuffer(params);
    params.ports[0].rate_bps = slow;
  };
  options.commands = 600;
  return options;
}

// Each request on VC 0 has an answer on VC 1, clients take a request only where they can answer
// those that they have taken, and every buffer is small: nothing may stop. With pauses of lossless
// classes, with CBFC, with RCCC over switches that drop, and with RCCC over each of the former two.
inline WorldOptions Deadlock(uint32_t seed) {
  Dice dice(uint64_t{seed} << 32 | 0xdead);
  WorldOptions options;
  options.wiring.hosts = static_cast<uint32_t>(2 + dice.Below(4));
  options.classes = ClassesOfCredit();
  options.transport = PatientTransport(dice.Chance(0.7) ? PsnScope::kVc : PsnScope::kPort);
  options.transport.window_pdus = 1u << dice.Below(6);
  options.responds = true;
  options.pauses = 0;
  options.rx_lines = 1024;
  options.rx_descriptors = 64;
  options.tx_descriptors = 64;
  options.slow_receiver = dice.Chance(0.5) ? 0.9 : 0;
  options.faults = {{.delay = Micros(1 + dice.Below(3)), .bits_per_ns = 25}};
  options.counts_credit = dice.Chance(0.5);
  options.max_sent = 64;
  options.commands = 500;
  options.time_limit = std::chrono::seconds(5);
  const bool by_credit = seed % 5 == 1 || seed % 5 == 4;
  const bool by_pauses = seed % 5 == 0 || seed % 5 == 3;
  if (seed % 5 >= 2) {
    CongestionParams congestion;
    congestion.control = CongestionControl::kRccc;
    congestion.base_rtt = dice.OfAnyScale(Micros(5), Micros(50));
    congestion.initial_percent = static_cast<uint32_t>(1 + dice.Below(50));
    options.congestion = [congestion](uint32_t /*host*/) { return congestion; };
  }
  if (by_credit) {
    options.link.hello = Micros(200);
    options.credit.on = true;
    options.credit.update_loss = static_cast<double>(dice.Below(51)) / 100;
    const auto frames = static_cast<uint32_t>(1 + dice.Below(2));
    options.credit.grant = GrantFor(options.classes, {}, frames);
    options.fabric = TightBuffer;
    return options;
  }
  options.lossless = false;
  if (!by_pauses) {
    options.transport.rto_initial = options.transport.rto_min = TransportParams{}.rto_min;
    options.transport.rto_max = TransportParams{}.rto_max;
    options.fabric = SmallBuffer;
    return options;
  }
  const SimFaults& link = options.faults[0];
  const uint32_t headroom =
      fabric::HeadroomBytes(static_cast<uint64_t>(link.bits_per_ns * 1e9),
                            static_cast<uint32_t>(link.delay.count() / 5), SimPort::kMaxFrameBytes);
  options.fabric = [headroom](fabric::SwitchParams& params) {
    TightBuffer(params);
    for (uint32_t c = 1; c <= 6; ++c) {
      params.of_class[c].lossless = true;
      params.of_class[c].headroom_bytes = headroom;
    }
    params.buffer_bytes += static_cast<uint32_t>(params.ports.size()) * 6 * headroom;
  };
  return options;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_CREDITS_H_
