// SPDX-License-Identifier: Apache-2.0
// Traffic patterns of workloads of several ranks: the bytes that each rank sends to each, by step
// (docs/suede-perf.md, "Workloads"). Parameters and seed determine the traffic, so each rank
// derives its transfers without communication.
#ifndef SUEDE_APP_PERF_TRAFFIC_H_
#define SUEDE_APP_PERF_TRAFFIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "perf/names.h"
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
inline constexpr Named<Pattern> kPatterns[] = {{Pattern::kPermutation, "permutation"},
                                               {Pattern::kAllToAll, "all-to-all"},
                                               {Pattern::kRingAllReduce, "all-reduce-ring"},
                                               {Pattern::kDirectAllReduce, "all-reduce-direct"},
                                               {Pattern::kIncast, "incast"},
                                               {Pattern::kMoe, "moe"},
                                               {Pattern::kHotSpot, "hot-spot"},
                                               {Pattern::kRequestResponse, "request-response"},
                                               {Pattern::kTrace, "trace"}};

struct TrafficParams {
  Pattern pattern = Pattern::kAllToAll;
  uint32_t ranks = 2;
  uint64_t bytes = 65536;  // >= 1; of a pair, a vector, a token or a request, by pattern
  uint64_t seed = 1;
  uint32_t target = 0;     // rank: target of an incast or hot spot
  uint32_t messages = 64;  // tokens or messages per rank
  uint32_t top_k = 2;      // experts per token; less than `ranks`
  double skew = 1;         // exponent of Zipf's law; for a hot spot the share of the target
};

// A transfer of a step, to or from `rank`.
struct Transfer {
  uint32_t rank = 0;
  uint64_t bytes = 0;
  Duration due{};   // from the step's begin; only for traces
  int32_t vc = -1;  // -1: unspecified; only for traces
};

// A step of one rank. Complete when all of `out` is sent to the endpoint, all of `in` is received
// and the time `busy` since its begin has passed. The lists do not contain the rank itself.
struct Step {
  std::vector<Transfer> out;
  std::vector<Transfer> in;
  Duration busy{};  // only for traces
};

// Not thread-safe.
class Traffic {
 public:
  // `trace`: rows for Pattern::kTrace; empty for other patterns.
  explicit Traffic(const TrafficParams& params, std::vector<TraceRow> trace = {});
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  const TrafficParams& params() const { return params_; }
  uint32_t steps() const;  // per iteration
  // Returns the transfers of a rank in a step of an iteration.
  Step StepOf(uint32_t rank, uint64_t iteration, uint32_t step);

 private:
  // Bytes from each rank to each: [source][destination].
  using Matrix = std::vector<uint64_t>;

  void Permute(uint64_t iteration);
  void RouteTokens(uint64_t iteration);
  void Heat(uint64_t iteration);
  const Matrix& MatrixOf(uint64_t iteration);
  void ByMatrix(uint32_t rank, bool reversed, Step& out) const;
  void Ring(uint32_t rank, uint32_t step, Step& out) const;
  void ByTrace(uint32_t rank, uint32_t step, Step& out) const;
  // Returns the bytes of a chunk of a vector that is divided among the ranks.
  uint64_t ChunkBytes(uint32_t chunk) const;
  // Adds transfers to all other ranks, beginning with the next one, so that ranks begin with
  // different destinations.
  template <class Bytes>
  void ToAll(uint32_t rank, const Bytes& bytes, std::vector<Transfer>& out) const;

  const TrafficParams params_;
  const std::vector<TraceRow> trace_;
  std::vector<const TraceRow*> sent_;  // rows by source, step and time
  std::vector<const TraceRow*>
      taken_;  // rows by destination, step in which they are taken, and time
  Matrix matrix_;
  std::optional<uint64_t> matrix_of_;  // iteration of matrix_
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_TRAFFIC_H_
