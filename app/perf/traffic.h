// SPDX-License-Identifier: Apache-2.0
// The traffic of the workloads of several ranks: which rank sends how many bytes to which, step by
// step (docs/suede-perf.md, "Workloads"). Everything follows from the parameters and the seed, so
// that each rank knows its own part and the parts that concern it without being told.
#ifndef SUEDE_APP_PERF_TRAFFIC_H_
#define SUEDE_APP_PERF_TRAFFIC_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/time.h"
#include "perf/trace.h"

namespace suede::perf {

enum class Pattern : uint8_t {
  kPermutation,
  kAllToAll,
  kRingAllReduce,
  kDirectAllReduce,
  kIncast,
  kMoe,
  kHotSpot,
  kRequestResponse,
  kTrace,
};
// The name that --workload takes.
absl::string_view PatternName(Pattern pattern);
std::optional<Pattern> PatternOf(absl::string_view name);
absl::string_view PatternNames();  // all of them, for a message

struct TrafficParams {
  Pattern pattern = Pattern::kAllToAll;
  uint32_t ranks = 2;
  uint64_t bytes = 65536;  // 1 or more; of a pair, a vector, a token or a request, by the pattern
  uint64_t seed = 1;
  uint32_t target = 0;     // rank: that of an incast, the hottest of a hot spot
  uint32_t messages = 64;  // tokens of a rank, or messages
  uint32_t top_k = 2;      // experts of a token; less than `ranks`
  double skew = 1;         // exponent of Zipf's law; of a hot spot the share of the hottest rank
};

// A part of a step for one rank: to or from `rank`.
struct Transfer {
  uint32_t rank = 0;
  uint64_t bytes = 0;
  Duration due{};   // after the step's begin: of a trace only
  int32_t vc = -1;  // a trace may name it
};

// A step of one rank. The step is over when all of `out` was handed to the endpoint and all of `in`
// has come. Neither list names the rank itself.
struct Step {
  std::vector<Transfer> out;
  std::vector<Transfer> in;
};

// Owned by one thread.
class Traffic {
 public:
  // `trace` is the trace of the pattern of that name; empty for the other patterns.
  explicit Traffic(const TrafficParams& params, std::vector<TraceRow> trace = {});

  const TrafficParams& params() const { return params_; }
  uint32_t steps() const;  // of an iteration
  // Step `step` of iteration `iteration`, for rank `rank`.
  Step StepOf(uint32_t rank, uint64_t iteration, uint32_t step);

 private:
  // Bytes from each rank to each, row by row.
  using Matrix = std::vector<uint64_t>;

  void Permute(uint64_t iteration);
  void RouteTokens(uint64_t iteration);
  void Heat(uint64_t iteration);
  const Matrix& MatrixOf(uint64_t iteration);
  void ByMatrix(uint32_t rank, bool reversed, Step& out) const;
  void Ring(uint32_t rank, uint32_t step, Step& out) const;
  void ByTrace(uint32_t rank, Step& out) const;
  // Bytes of the chunk of a vector that is divided by the ranks.
  uint64_t ChunkBytes(uint32_t chunk) const;
  // All others, from the next one on, so that not all begin with the same.
  template <class Bytes>
  void ToAll(uint32_t rank, const Bytes& bytes, std::vector<Transfer>& out) const;

  const TrafficParams params_;
  const std::vector<TraceRow> trace_;
  Matrix matrix_;
  std::optional<uint64_t> matrix_of_;  // the iteration
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TRAFFIC_H_
