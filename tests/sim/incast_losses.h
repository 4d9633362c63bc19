// SPDX-License-Identifier: Apache-2.0
// The cost of cables that lose frames, without link-level retry and with it: rows of incast_bench.
#ifndef SUEDE_TESTS_SIM_INCAST_LOSSES_H_
#define SUEDE_TESTS_SIM_INCAST_LOSSES_H_

#include <span>
#include <string>
#include <vector>

#include "incast_figures.h"

namespace suede {

// The senders of a run, and whether data goes both ways.
struct LossPattern {
  const char* title;
  uint32_t senders;
  bool both_ways;
};
std::span<const LossPattern> LossPatterns();

struct LossRow {
  const Scheme* scheme = nullptr;
  const LossPattern* pattern = nullptr;
  IncastFigures clean;    // no cable loses anything, and links have no retry
  IncastFigures without;  // of link-level retry
  IncastFigures with;
  double RatioWithout() const { return without.goodput_bps / clean.goodput_bps; }
  double RatioWith() const { return with.goodput_bps / clean.goodput_bps; }
  // The failure of the first of the three runs that went wrong; empty: none did.
  std::string Failure() const;
};

// Endless senders; `options.loss` of the frames are lost on each cable, in each direction.
LossRow MeasureLosses(const Scheme& scheme, const LossPattern& pattern,
                      const IncastOptions& options);

std::string LineOf(const LossRow& row);
std::string MarkdownOf(const std::vector<LossRow>& rows, const IncastOptions& options);

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_LOSSES_H_
