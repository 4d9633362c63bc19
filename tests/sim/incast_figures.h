// SPDX-License-Identifier: Apache-2.0
// The figures of an incast: what incast_bench measures, and what a row of its table has.
#ifndef SUEDE_TESTS_SIM_INCAST_FIGURES_H_
#define SUEDE_TESTS_SIM_INCAST_FIGURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "incast_run.h"

namespace suede {

struct RoundTrips {
  uint64_t count = 0;
  uint64_t p50_ns = 0;
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
};

struct QueueDepth {
  uint32_t max = 0;
  uint32_t p50 = 0;
  uint32_t p99 = 0;
  uint32_t later_p99 = 0;  // after the first round trip, or after the warm-up
};

struct IncastFigures {
  std::string failure;    // empty: all was delivered once and in order, and nothing is left over
  double efficiency = 0;  // ideal time / completion time; of endless senders share of the link
  double goodput_bps = 0;
  double jain = 0;      // of completion times; of endless senders, of goodputs
  double seconds = 0;   // completion time, or the window
  uint64_t p50_ns = 0;  // completion times of senders that end
  uint64_t p99_ns = 0;
  uint64_t max_ns = 0;
  QueueDepth queue;
  IncastCounts counts;
  RoundTrips near;  // of requests to the receiver
  RoundTrips far;   // of requests between two other hosts
  uint64_t turns = 0;
  uint64_t digest = 0;
};

IncastFigures Measure(const Scheme& scheme, const IncastOptions& options);

// A scheme with so many senders.
struct IncastRow {
  const Scheme* scheme = nullptr;
  uint32_t senders = 0;
  IncastFigures burst;     // each sender has 1 MiB
  IncastFigures endless;   // they never run out, and there are requests
  IncastFigures unloaded;  // the requests alone
  double wall_seconds = 0;
};
IncastRow MeasureRow(const Scheme& scheme, const IncastOptions& options);

// Octets on the wire of so many commands, packed as densely as they can be: with headers, preamble,
// FCS and gap.
uint64_t IncastWireBytes(uint32_t commands);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_FIGURES_H_
