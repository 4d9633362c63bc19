// SPDX-License-Identifier: Apache-2.0
// A load that a server sends to a client until the client requests the report. Kept until the
// client's next run, because the request may be repeated.
#ifndef SUEDE_APP_PERF_REVERSE_SENDER_H_
#define SUEDE_APP_PERF_REVERSE_SENDER_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "perf/load_sender.h"
#include "perf/run_plan.h"

namespace suede::perf {

template <PerfEndpoint E>
struct ReverseSender {
  static constexpr uint32_t kBurst = 16;

  ReverseSender(E& endpoint, StreamId to, uint8_t with_flow, const LoadShape& shape, uint16_t own)
      : stream(to), flow(with_flow), sender(endpoint, shape, {to}, own, with_flow) {}
  uint32_t Send(Time now) {
    uint64_t budget = rate > 0 ? kBurst : std::max(kBurst, sender.pdu_commands());
    if (rate > 0) {
      if (sender.sent() == 0) schedule = RateSchedule(now, rate);
      budget = std::min(budget, schedule.DueBy(now) - sender.sent());
    }
    return sender.Burst(static_cast<uint32_t>(budget), sender.pdu_commands(),
                        [](uint64_t) { return Time(); });
  }

  StreamId stream;
  uint8_t flow;
  bool ended = false;
  uint32_t rate = 0;
  RateSchedule schedule;
  LoadSender<E> sender;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_REVERSE_SENDER_H_
