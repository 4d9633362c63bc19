// SPDX-License-Identifier: Apache-2.0
#include "perf/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

namespace suede::perf {
namespace {

constexpr uint32_t kMaxTries = 256;  // to draw the experts of a token

// Random numbers that are equal on every machine, unlike the standard library's distributions.
class Draw {
 public:
  Draw(uint64_t seed, uint64_t iteration) : engine_(seed * 0x9e3779b97f4a7c15u + iteration) {}
  uint64_t Below(uint64_t end) { return engine_() % end; }
  double Unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

Traffic::Traffic(const TrafficParams& params, std::vector<TraceRow> trace)
    : params_(params), trace_(std::move(trace)) {
  for (const TraceRow& row : trace_) sent_.push_back(&row);
  taken_ = sent_;
  std::stable_sort(sent_.begin(), sent_.end(), [](const TraceRow* a, const TraceRow* b) {
    return std::tie(a->source, a->step, a->at) < std::tie(b->source, b->step, b->at);
  });
  std::stable_sort(taken_.begin(), taken_.end(), [](const TraceRow* a, const TraceRow* b) {
    return std::tie(a->destination, a->taken, a->at) < std::tie(b->destination, b->taken, b->at);
  });
}

uint32_t Traffic::steps() const {
  switch (params_.pattern) {
    case Pattern::kRingAllReduce:
      return 2 * (params_.ranks - 1);
    case Pattern::kDirectAllReduce:
    case Pattern::kMoe:
      return 2;
    case Pattern::kTrace: {
      uint32_t last = 0;
      for (const TraceRow& row : trace_) last = std::max({last, row.step, row.taken});
      return last + 1;
    }
    default:
      return 1;
  }
}

Step Traffic::StepOf(uint32_t rank, uint64_t iteration, uint32_t step) {
  Step out;
  const auto same = [this](uint32_t) { return params_.bytes; };
  switch (params_.pattern) {
    case Pattern::kAllToAll:
      ToAll(rank, same, out.out);
      ToAll(rank, same, out.in);
      break;
    case Pattern::kDirectAllReduce: {
      // Step 0: each rank receives its chunk of all vectors. Step 1: all receive the sum of each
      // chunk.
      const auto of_peer = [this](uint32_t peer) { return ChunkBytes(peer); };
      const auto own = [this, rank](uint32_t) { return ChunkBytes(rank); };
      if (step == 0) {
        ToAll(rank, of_peer, out.out);
        ToAll(rank, own, out.in);
      } else {
        ToAll(rank, own, out.out);
        ToAll(rank, of_peer, out.in);
      }
      break;
    }
    case Pattern::kRingAllReduce:
      Ring(rank, step, out);
      break;
    case Pattern::kIncast:
      if (rank == params_.target)
        ToAll(rank, same, out.in);
      else
        out.out.push_back({.rank = params_.target, .bytes = params_.bytes});
      break;
    case Pattern::kPermutation:
    case Pattern::kHotSpot:
    case Pattern::kMoe:
      MatrixOf(iteration);
      ByMatrix(rank, step == 1, out);
      break;
    case Pattern::kTrace:
      ByTrace(rank, step, out);
      break;
    case Pattern::kRequestResponse:
      break;
  }
  return out;
}

template <class Bytes>
void Traffic::ToAll(uint32_t rank, const Bytes& bytes, std::vector<Transfer>& out) const {
  for (uint32_t i = 1; i < params_.ranks; ++i) {
    const uint32_t peer = (rank + i) % params_.ranks;
    if (bytes(peer) != 0) out.push_back({.rank = peer, .bytes = bytes(peer)});
  }
}

uint64_t Traffic::ChunkBytes(uint32_t chunk) const {
  return params_.bytes / params_.ranks + (chunk < params_.bytes % params_.ranks ? 1 : 0);
}

// Ring all-reduce: in each step a rank sends the chunk that it received in the previous step. n - 1
// steps of reduce-scatter are followed by n - 1 steps of all-gather.
void Traffic::Ring(uint32_t rank, uint32_t step, Step& out) const {
  const uint32_t n = params_.ranks;
  const uint32_t next = (rank + 1) % n;
  const uint32_t previous = (rank + n - 1) % n;
  const auto chunk_of = [&](uint32_t r) { return (r + 2 * n - step) % n; };
  if (const uint64_t bytes = ChunkBytes(chunk_of(rank)); bytes != 0) {
    out.out.push_back({.rank = next, .bytes = bytes});
  }
  if (const uint64_t bytes = ChunkBytes(chunk_of(previous)); bytes != 0) {
    out.in.push_back({.rank = previous, .bytes = bytes});
  }
}

const Traffic::Matrix& Traffic::MatrixOf(uint64_t iteration) {
  if (matrix_of_ == iteration) return matrix_;
  matrix_.assign(size_t{params_.ranks} * params_.ranks, 0);
  if (params_.pattern == Pattern::kPermutation)
    Permute(iteration);
  else if (params_.pattern == Pattern::kMoe)
    RouteTokens(iteration);
  else
    Heat(iteration);
  matrix_of_ = iteration;
  return matrix_;
}

// Draws a random cycle through all ranks (Sattolo's algorithm), so none sends to itself.
void Traffic::Permute(uint64_t iteration) {
  Draw draw(params_.seed, iteration);
  std::vector<uint32_t> to(params_.ranks);
  std::iota(to.begin(), to.end(), 0);
  for (uint32_t i = params_.ranks - 1; i > 0; --i) std::swap(to[i], to[draw.Below(i)]);
  for (uint32_t rank = 0; rank < params_.ranks; ++rank) {
    matrix_[size_t{rank} * params_.ranks + to[rank]] = params_.bytes;
  }
}

// Routes each token to top_k different experts. Their popularity follows Zipf's law, in a random
// order per iteration. Tokens to the own rank are not sent.
void Traffic::RouteTokens(uint64_t iteration) {
  Draw draw(params_.seed, iteration);
  const uint32_t n = params_.ranks;
  std::vector<uint32_t> experts(n);
  std::iota(experts.begin(), experts.end(), 0);
  for (uint32_t i = n - 1; i > 0; --i) std::swap(experts[i], experts[draw.Below(i + 1)]);
  std::vector<double> sums(n);
  double sum = 0;
  for (uint32_t i = 0; i < n; ++i) sums[i] = sum += std::pow(i + 1, -params_.skew);
  std::vector<uint32_t> chosen;
  for (uint32_t rank = 0; rank < n; ++rank) {
    for (uint32_t token = 0; token < params_.messages; ++token) {
      chosen.clear();
      for (uint32_t tries = 0; chosen.size() < params_.top_k; ++tries) {
        const auto at = std::lower_bound(sums.begin(), sums.end(), draw.Unit() * sum);
        const auto drawn = std::min<size_t>(static_cast<size_t>(at - sums.begin()), n - 1);
        // Falls back to the experts in order if few experts have all the weight.
        const uint32_t expert = experts[tries < kMaxTries ? drawn : tries - kMaxTries];
        if (std::find(chosen.begin(), chosen.end(), expert) == chosen.end()) {
          chosen.push_back(expert);
        }
      }
      for (const uint32_t expert : chosen) {
        if (expert != rank) matrix_[size_t{rank} * n + expert] += params_.bytes;
      }
    }
  }
}

// Sends a share `skew` of each rank's messages to the target, the others to random ranks.
void Traffic::Heat(uint64_t iteration) {
  Draw draw(params_.seed, iteration);
  const uint32_t n = params_.ranks;
  for (uint32_t rank = 0; rank < n; ++rank) {
    for (uint32_t i = 0; i < params_.messages; ++i) {
      const bool hot = draw.Unit() < params_.skew && rank != params_.target;
      const auto other = static_cast<uint32_t>((rank + 1 + draw.Below(n - 1)) % n);
      matrix_[size_t{rank} * n + (hot ? params_.target : other)] += params_.bytes;
    }
  }
}

void Traffic::ByMatrix(uint32_t rank, bool reversed, Step& out) const {
  const uint32_t n = params_.ranks;
  const auto from_own = [&](uint32_t peer) { return matrix_[size_t{rank} * n + peer]; };
  const auto to_own = [&](uint32_t peer) { return matrix_[size_t{peer} * n + rank]; };
  ToAll(rank, from_own, reversed ? out.in : out.out);
  ToAll(rank, to_own, reversed ? out.out : out.in);
}

void Traffic::ByTrace(uint32_t rank, uint32_t step, Step& out) const {
  const auto sent = std::lower_bound(
      sent_.begin(), sent_.end(), std::pair(rank, step),
      [](const TraceRow* row, const auto& key) { return std::pair(row->source, row->step) < key; });
  for (auto at = sent; at != sent_.end() && (*at)->source == rank && (*at)->step == step; ++at) {
    const TraceRow& row = **at;
    if (row.IsCalculation()) {
      out.busy = std::max(out.busy, row.at);
    } else {
      out.out.push_back({.rank = row.destination, .bytes = row.bytes, .due = row.at, .vc = row.vc});
    }
  }
  const auto taken = std::lower_bound(taken_.begin(), taken_.end(), std::pair(rank, step),
                                      [](const TraceRow* row, const auto& key) {
                                        return std::pair(row->destination, row->taken) < key;
                                      });
  for (auto at = taken; at != taken_.end() && (*at)->destination == rank && (*at)->taken == step;
       ++at) {
    const TraceRow& row = **at;
    if (row.IsCalculation()) continue;
    out.in.push_back({.rank = row.source, .bytes = row.bytes, .due = row.at, .vc = row.vc});
  }
}

}  // namespace suede::perf
