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

TEST(TraceTest, RowsAreRead) {
  const auto rows = ParseTrace(
      "time_us,source,destination,bytes,vc\n# a comment\n\n"
      "10.5,1,0,256\n2,0,1,1000,3\r\n",
      "t.csv", 2);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[1].at, std::chrono::microseconds(2));
  EXPECT_EQ((*rows)[1].vc, 3);
  EXPECT_EQ((*rows)[0].at, Duration(10500));
  EXPECT_EQ((*rows)[0].vc, -1);
  Traffic traffic({.pattern = Pattern::kTrace, .ranks = 2}, *rows);
  EXPECT_EQ(Flows(traffic, 0, 0, false), Flows(traffic, 0, 0, true));
  EXPECT_EQ(traffic.StepOf(1, 0, 0).out[0].due, Duration(10500));
}

TEST(TraceTest, ErrorsNameLineAndMend) {
  const std::pair<const char*, const char*> kBad[] = {
      {"1,0,1", "t:1: write time_us,source,destination,bytes[,vc[,step]]"},
      {"0,0,1,5\nx,0,1,5", "t:2: time_us \"x\": give microseconds, 0 to a day"},
      {"-1,0,1,5", "t:1: time_us \"-1\": give microseconds, 0 to a day"},
      {"nan,0,1,5", "t:1: time_us \"nan\": give microseconds, 0 to a day"},
      {"1,2,1,5", "t:1: rank \"2\": give 0 to 1"},
      {"1,0,-1,5", "t:1: rank \"-1\": give 0 to 1"},
      {"1,1,1,5", "t:1: a rank sends nothing to itself: remove the row"},
      {"1,0,1,0", "t:1: bytes \"0\": give 1 to 2^40"},
      {"1,0,1,5,4", "t:1: vc \"4\": give 0 to 3"},
      {"1,0,1,5,0,x", "t:1: step \"x\": give 0 to 65535"},
      {"1,0,1,5,0,0,0", "t:1: write time_us,source,destination,bytes[,vc[,step]]"},
      {"# none", "t: no rows: write time_us,source,destination,bytes[,vc[,step]]"}};
  for (const auto& [text, message] : kBad) {
    const auto rows = ParseTrace(text, "t", 2);
    ASSERT_FALSE(rows.ok()) << text;
    EXPECT_EQ(rows.status().message(), message);
  }
}

TEST(TraceTest, StepsFollowEachOther) {
  const auto rows = ParseTrace("5,0,1,10,2,1\n3,0,1,20,,1\n0,1,0,30\n", "t", 2);
  ASSERT_TRUE(rows.ok()) << rows.status();
  Traffic traffic({.pattern = Pattern::kTrace, .ranks = 2}, *rows);
  EXPECT_EQ(traffic.steps(), 2u);
  EXPECT_TRUE(traffic.StepOf(0, 0, 0).out.empty());
  EXPECT_EQ(traffic.StepOf(0, 0, 0).in[0].bytes, 30u);
  const Step step = traffic.StepOf(0, 0, 1);
  ASSERT_EQ(step.out.size(), 2u);
  EXPECT_EQ(step.out[0].bytes, 20u);  // by their times
  EXPECT_EQ(step.out[0].vc, -1);
  EXPECT_EQ(step.out[1].vc, 2);
  for (uint32_t each = 0; each < 2; ++each) {
    EXPECT_EQ(Flows(traffic, 0, each, false), Flows(traffic, 0, each, true));
  }
}

// Returns a rank's step in words: "0>1:8@5" sends 8 bytes to rank 1 at 5 ns, "0<1:8" receives
// them, "0=7" calculates for 7 ns.
std::string StepWords(Traffic& traffic, uint32_t rank, uint32_t step) {
  std::string out;
  const Step each = traffic.StepOf(rank, 0, step);
  const auto add = [&](char sign, const Transfer& of, bool at) {
    out += (out.empty() ? "" : " ") + std::to_string(rank) + sign + std::to_string(of.rank) + ":" +
           std::to_string(of.bytes) + (at ? "@" + std::to_string(of.due.count()) : "");
  };
  for (const Transfer& of : each.out) add('>', of, true);
  for (const Transfer& of : each.in) add('<', of, false);
  if (each.busy.count() != 0) {
    out +=
        (out.empty() ? "" : " ") + std::to_string(rank) + "=" + std::to_string(each.busy.count());
  }
  return out;
}

TEST(GoalTest, OperationsGoOnWhereTheyNeedNoOther) {
  const auto rows = ParseTrace(
      "// a comment\nnum_ranks 3 /* two\nlines */\n"
      "rank 0 {\nl1: calc 100 cpu 0\nl2: send 10b to 1 tag 7 cpu 0 nic 0\nl3: recv 20b from 2\n"
      "l2 requires l1\nl4: send 0b to 2\nl4 requires l3\nl4 requires l2 }\n"
      "rank 1 { a: recv 10b from 0 tag 7\nb: calc 30\nb requires a\nc: send 5b to 2\n"
      "c irequires b\n}\n"
      "rank 2 { x: send 20b to 0\ny: recv 0b from 0\nz: recv 5b from 1\n}\n",
      "t.goal", 3);
  ASSERT_TRUE(rows.ok()) << rows.status();
  Traffic traffic({.pattern = Pattern::kTrace, .ranks = 3}, *rows);
  ASSERT_EQ(traffic.steps(), 2u);
  EXPECT_EQ(StepWords(traffic, 0, 0), "0>1:10@100 0<2:20 0=100");
  EXPECT_EQ(StepWords(traffic, 1, 0), "1<0:10");
  EXPECT_EQ(StepWords(traffic, 2, 0), "2>0:20@0");
  EXPECT_EQ(StepWords(traffic, 0, 1), "0>2:1@0");  // a message without data has one byte
  EXPECT_EQ(StepWords(traffic, 1, 1), "1>2:5@0 1=30");
  EXPECT_EQ(StepWords(traffic, 2, 1), "2<0:1 2<1:5");
}

TEST(GoalTest, ReceivesAreInNoEarlierStepThanTheirSends) {
  // Rank 0 receives of rank 1 independently of its own send, on which rank 1 waits.
  const auto rows = ParseTrace(
      "num_ranks 3 rank 0 { a: recv 1b from 1 b: recv 2b from 2 c: send 3b to 1 c requires b }"
      "rank 1 { a: recv 3b from 0 b: send 1b to 0 b requires a } rank 2 { send 2b to 0 }",
      "t", 3);
  ASSERT_TRUE(rows.ok()) << rows.status();
  Traffic traffic({.pattern = Pattern::kTrace, .ranks = 3}, *rows);
  ASSERT_EQ(traffic.steps(), 3u);
  EXPECT_EQ(StepWords(traffic, 0, 0), "0<2:2");
  EXPECT_EQ(StepWords(traffic, 0, 1), "0>1:3@0");
  EXPECT_EQ(StepWords(traffic, 0, 2), "0<1:1");
  EXPECT_EQ(StepWords(traffic, 1, 2), "1>0:1@0");
}

TEST(GoalTest, AReceiveTakesWhatWasSentBefore) {
  // Rank 1 needs the second message at once, the first one not before it has sent.
  const auto rows = ParseTrace(
      "num_ranks 2 rank 0 { a: send 1b to 1 tag 1 b: send 2b to 1 tag 2 b requires a "
      "c: recv 4b from 1 }"
      "rank 1 { a: recv 2b from 0 tag 2 b: send 4b to 0 b requires a "
      "c: recv 1b from 0 tag 1 c requires b }",
      "t", 2);
  ASSERT_TRUE(rows.ok()) << rows.status();
  Traffic traffic({.pattern = Pattern::kTrace, .ranks = 2}, *rows);
  EXPECT_EQ(StepWords(traffic, 1, 1), "1<0:2 1<0:1");
  EXPECT_EQ(StepWords(traffic, 1, 2), "1>0:4@0");
}

TEST(GoalTest, ErrorsNameLineAndMend) {
  const std::pair<const char*, const char*> kBad[] = {
      {"num_ranks 9", "t:1: num_ranks 9: --ranks names 2; name as many"},
      {"num_ranks 2", "t:1: no operations; write rank 0 { … }"},
      {"num_ranks 2\nrank 2 {}", "t:2: rank \"2\": give 0 to 1"},
      {"num_ranks 2\nrank 0 {\n calc 5\n", "t:3: rank without an end; write }"},
      {"num_ranks 2\nrank 0 {\nsend 8 to 1 }", "t:3: size \"8\": give 0b to 1099511627776b"},
      {"num_ranks 2\nrank 0 { send 8b from 1 }", "t:2: \"from\": write to"},
      {"num_ranks 2 rank 0 { send 8b to 0 }",
       "t:1: a rank sends nothing to itself: remove the operation"},
      {"num_ranks 2 rank 0 { calc x }", "t:1: calc \"x\": give 0 to 86400000000000"},
      {"num_ranks 2 rank 0 { l: wait 5 }", "t:1: \"wait\": write send, recv or calc"},
      {"num_ranks 2 rank 0 { wait 5 }",
       "t:1: \"wait 5\": write LABEL: send, recv or calc, or LABEL requires LABEL"},
      {"num_ranks 2 rank 0 { l: calc 1\nl: calc 2 }", "t:2: label l is there twice; rename one"},
      {"num_ranks 2 rank 0 { l: calc 1\nl requires k }",
       "t:2: label k is not there; write it before an operation of this rank"},
      {"num_ranks 2 rank 0 {\nsend 8b to 1 }",
       "t:2: rank 1 has no recv for this send; add one with its tag"},
      {"num_ranks 2 rank 0 {\nrecv 8b from 1 tag 4 } rank 1 { send 8b to 0 tag 3 }",
       "t:2: rank 1 has no send for this recv; add one with its tag"},
      {"num_ranks 2 rank 0 {\nsend 8b to 1 }\nrank 1 { recv 9b from 0 }",
       "t:3: recv of 9 bytes, and its send in line 2 has 8; give one size"},
      {"num_ranks 2 rank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a }\n"
       "rank 1 {\na: recv 8b from 0\nb: send 8b to 0\nb requires a }",
       "t:2: operations wait for each other in a circle; remove a requires"}};
  for (const auto& [text, message] : kBad) {
    const auto rows = ParseTrace(text, "t", 2);
    ASSERT_FALSE(rows.ok()) << text;
    EXPECT_EQ(rows.status().message(), message);
  }
}

}  // namespace
}  // namespace suede::perf
