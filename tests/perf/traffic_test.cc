// SPDX-License-Identifier: Apache-2.0
#include "perf/traffic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace suede::perf {
namespace {

constexpr Pattern kSteps[] = {
    Pattern::kPermutation, Pattern::kAllToAll, Pattern::kRingAllReduce, Pattern::kDirectAllReduce,
    Pattern::kIncast,      Pattern::kMoe,      Pattern::kHotSpot};

// Bytes from rank to rank in a step, as their senders see them, or their receivers.
std::map<std::pair<uint32_t, uint32_t>, uint64_t> Flows(Traffic& traffic, uint64_t iteration,
                                                        uint32_t step, bool as_receivers) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> flows;
  for (uint32_t rank = 0; rank < traffic.params().ranks; ++rank) {
    const Step part = traffic.StepOf(rank, iteration, step);
    for (const Transfer& t : as_receivers ? part.in : part.out) {
      EXPECT_NE(t.rank, rank);
      EXPECT_GT(t.bytes, 0u);
      flows[as_receivers ? std::pair(t.rank, rank) : std::pair(rank, t.rank)] += t.bytes;
    }
  }
  return flows;
}

TEST(TrafficTest, ReceiversExpectWhatSendersSend) {
  for (const Pattern pattern : kSteps) {
    for (const uint32_t ranks : {2u, 3u, 8u, 17u}) {
      for (const uint64_t bytes : {1u, 5u, 1000u, 65536u}) {
        Traffic traffic(
            {.pattern = pattern, .ranks = ranks, .bytes = bytes, .top_k = 1, .skew = 0.7});
        for (uint64_t iteration = 0; iteration < 3; ++iteration) {
          for (uint32_t step = 0; step < traffic.steps(); ++step) {
            ASSERT_EQ(Flows(traffic, iteration, step, false), Flows(traffic, iteration, step, true))
                << NameOf(kPatterns, pattern) << " " << ranks << " " << bytes << " " << step;
          }
        }
      }
    }
  }
}

TEST(TrafficTest, TheSeedRepeatsItAndAnotherOneDoesNot) {
  for (const Pattern pattern : {Pattern::kPermutation, Pattern::kMoe, Pattern::kHotSpot}) {
    TrafficParams params{.pattern = pattern, .ranks = 16, .skew = 0.5};
    Traffic one(params);
    Traffic same(params);
    params.seed = 2;
    Traffic other(params);
    EXPECT_EQ(Flows(one, 5, 0, false), Flows(same, 5, 0, false));
    EXPECT_NE(Flows(one, 5, 0, false), Flows(one, 6, 0, false));
    EXPECT_NE(Flows(one, 5, 0, false), Flows(other, 5, 0, false));
  }
}

TEST(TrafficTest, APermutationGivesEachRankOneSenderAndOneReceiver) {
  Traffic traffic({.pattern = Pattern::kPermutation, .ranks = 33, .bytes = 7});
  std::set<uint32_t> to;
  for (const auto& [flow, bytes] : Flows(traffic, 9, 0, false)) {
    EXPECT_EQ(bytes, 7u);
    to.insert(flow.second);
  }
  EXPECT_EQ(to.size(), 33u);
}

// Follows which rank has the sum of which chunks, from the transfers between ranks.
TEST(TrafficTest, ARingReducesAllChunksEverywhere) {
  for (const uint32_t n : {2u, 3u, 7u, 16u}) {
    // Chunk sizes differ by one byte, so that a step tells which chunk it moves where n allows.
    Traffic traffic({.pattern = Pattern::kRingAllReduce, .ranks = n, .bytes = 1000 * n});
    EXPECT_EQ(traffic.steps(), 2 * (n - 1));
    // parts[rank][chunk]: the ranks whose values are in it.
    std::vector<std::vector<std::set<uint32_t>>> parts(n, std::vector<std::set<uint32_t>>(n));
    for (uint32_t rank = 0; rank < n; ++rank) {
      for (uint32_t chunk = 0; chunk < n; ++chunk) parts[rank][chunk] = {rank};
    }
    for (uint32_t step = 0; step < traffic.steps(); ++step) {
      const auto before = parts;
      for (uint32_t rank = 0; rank < n; ++rank) {
        const Step part = traffic.StepOf(rank, 0, step);
        ASSERT_EQ(part.out.size(), 1u);
        const uint32_t next = part.out[0].rank;
        ASSERT_EQ(next, (rank + 1) % n);
        const uint32_t chunk = (rank + 2 * n - step) % n;
        parts[next][chunk].insert(before[rank][chunk].begin(), before[rank][chunk].end());
      }
    }
    for (const auto& of_rank : parts) {
      for (const auto& chunk : of_rank) EXPECT_EQ(chunk.size(), n);
    }
  }
}

TEST(TrafficTest, AllReduceSendsWhatItHasTo) {
  for (const Pattern pattern : {Pattern::kRingAllReduce, Pattern::kDirectAllReduce}) {
    Traffic traffic({.pattern = pattern, .ranks = 5, .bytes = 1003});
    uint64_t sum = 0;
    for (uint32_t step = 0; step < traffic.steps(); ++step) {
      for (const auto& [flow, bytes] : Flows(traffic, 0, step, false)) sum += bytes;
    }
    EXPECT_EQ(sum, 2 * 4 * 1003u);  // 2 (n - 1) vectors, however it is done
  }
}

TEST(TrafficTest, ExpertsOfMoeAreSkewedAndCombineGoesBack) {
  const auto hottest = [](double skew) {
    Traffic traffic({.pattern = Pattern::kMoe,
                     .ranks = 16,
                     .bytes = 1,
                     .messages = 1000,
                     .top_k = 2,
                     .skew = skew});
    std::map<uint32_t, uint64_t> to;
    const auto dispatch = Flows(traffic, 0, 0, false);
    for (const auto& [flow, bytes] : dispatch) to[flow.second] += bytes;
    const auto combine = Flows(traffic, 0, 1, false);
    for (const auto& [flow, bytes] : dispatch) {
      EXPECT_EQ(combine.at({flow.second, flow.first}), bytes);
    }
    uint64_t max = 0;
    for (const auto& [rank, bytes] : to) max = std::max(max, bytes);
    return static_cast<double>(max) / (15 * 1000 * 2);
  };
  EXPECT_NEAR(hottest(0), 1.0 / 16, 0.01);
  EXPECT_GT(hottest(1), 0.2);
  EXPECT_LE(hottest(4), 0.5);  // each token goes to two different ones
}

TEST(TrafficTest, EveryExpertIsChosenIfEachTokenWantsAllButOne) {
  Traffic traffic(
      {.pattern = Pattern::kMoe, .ranks = 64, .bytes = 1, .messages = 4, .top_k = 63, .skew = 4});
  EXPECT_GT(Flows(traffic, 0, 0, false).size(), 64u * 62u);
}

TEST(TrafficTest, AHotSpotGetsItsShare) {
  Traffic traffic({.pattern = Pattern::kHotSpot,
                   .ranks = 8,
                   .bytes = 1,
                   .target = 3,
                   .messages = 10000,
                   .skew = 0.5});
  uint64_t hot = 0;
  for (const auto& [flow, bytes] : Flows(traffic, 0, 0, false)) {
    if (flow.second == 3) hot += bytes;
  }
  EXPECT_NEAR(static_cast<double>(hot) / 70000, 0.5 + 0.5 / 7, 0.01);
}

TEST(TraceTest, RowsAreReadAndSorted) {
  const auto rows = ParseTrace(
      "time_us,source,destination,bytes,vc\n# a comment\n\n"
      "10.5,1,0,256\n2,0,1,1000,3\r\n",
      "t.csv", 2);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].at, std::chrono::microseconds(2));
  EXPECT_EQ((*rows)[0].vc, 3);
  EXPECT_EQ((*rows)[1].at, Duration(10500));
  EXPECT_EQ((*rows)[1].vc, -1);
  Traffic traffic({.pattern = Pattern::kTrace, .ranks = 2}, *rows);
  EXPECT_EQ(Flows(traffic, 0, 0, false), Flows(traffic, 0, 0, true));
  EXPECT_EQ(traffic.StepOf(1, 0, 0).out[0].due, Duration(10500));
}

TEST(TraceTest, ErrorsNameLineAndMend) {
  const std::pair<const char*, const char*> kBad[] = {
      {"1,0,1", "t:1: write time_us,source,destination,bytes[,vc]"},
      {"0,0,1,5\nx,0,1,5", "t:2: time_us \"x\": give microseconds, 0 to a day"},
      {"-1,0,1,5", "t:1: time_us \"-1\": give microseconds, 0 to a day"},
      {"nan,0,1,5", "t:1: time_us \"nan\": give microseconds, 0 to a day"},
      {"1,2,1,5", "t:1: rank \"2\": give 0 to 1"},
      {"1,0,-1,5", "t:1: rank \"-1\": give 0 to 1"},
      {"1,1,1,5", "t:1: a rank sends nothing to itself: remove the row"},
      {"1,0,1,0", "t:1: bytes \"0\": give 1 to 2^40"},
      {"1,0,1,5,4", "t:1: vc \"4\": give 0 to 3"},
      {"# none", "t: no rows: write time_us,source,destination,bytes[,vc]"}};
  for (const auto& [text, message] : kBad) {
    const auto rows = ParseTrace(text, "t", 2);
    ASSERT_FALSE(rows.ok()) << text;
    EXPECT_EQ(rows.status().message(), message);
  }
}

}  // namespace
}  // namespace suede::perf
