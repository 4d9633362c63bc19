// SPDX-License-Identifier: Apache-2.0
#include "perf/rank.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "loopback.h"
#include "perf/report.h"

namespace suede::perf {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Ranks that are joined by a loopback, driven in one thread.
class RankTest : public testing::Test {
 protected:
  RankTest() {
    plan_.traffic.bytes = 5000;
    plan_.data_bytes = 64;
    plan_.check = true;
    plan_.iterations = 5;
    plan_.connect_timeout = milliseconds(2000);
    plan_.stall_timeout = milliseconds(2000);
    plan_.vcs = {0, 1};
  }

  void Build(uint32_t ranks) {
    plan_.traffic.ranks = ranks;
    plan_.xpuids.clear();
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      plan_.xpuids.push_back(static_cast<uint16_t>(100 + 3 * rank));
    }
    traffic_ = std::make_unique<Traffic>(plan_.traffic, trace_);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      plan_.rank = rank;
      endpoints_.push_back(std::make_unique<LoopbackEndpoint>(link_, plan_.xpuids[rank]));
      ranks_.push_back(std::make_unique<Rank<LoopbackEndpoint>>(*endpoints_.back(), plan_,
                                                                *traffic_, 7000 + rank, stop_));
    }
  }
  // Runs until all ranks are done. `absent`: a rank that never takes a turn.
  void Run(uint32_t absent = UINT32_MAX, Time until = kNever) {
    while (link_.now < until) {
      bool done = true;
      for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (rank == absent || ranks_[rank]->done()) continue;
        ranks_[rank]->Poll(link_.now);
        done = false;
      }
      if (done) return;
      link_.now += microseconds(10);
    }
  }
  void RunAll(uint32_t ranks) {
    Build(ranks);
    Run();
    for (const auto& rank : ranks_) {
      ASSERT_EQ(rank->result().outcome, Outcome::kDone) << rank->result().explanation;
      results_.push_back(rank->result());
    }
  }
  void ExpectClean() {
    const Account all = results_[0].all;
    uint64_t sent = 0;
    for (const RankResult& r : results_) sent += r.sent_commands;
    EXPECT_EQ(all.counts.received, sent);
    EXPECT_EQ(all.counts.lost + all.counts.wrong + all.counts.duplicated + all.counts.misordered,
              0u);
    EXPECT_GT(sent, 0u);
  }

  Loopback link_;
  RankPlan plan_;
  std::vector<TraceRow> trace_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Traffic> traffic_;
  std::vector<std::unique_ptr<LoopbackEndpoint>> endpoints_;
  std::vector<std::unique_ptr<Rank<LoopbackEndpoint>>> ranks_;
  std::vector<RankResult> results_;
};

class PatternTest : public RankTest, public testing::WithParamInterface<Pattern> {};

TEST_P(PatternTest, EveryRankDoesItsPart) {
  plan_.traffic.pattern = GetParam();
  plan_.traffic.skew = 0.5;
  RunAll(6);
  ExpectClean();
  for (const RankResult& r : results_) {
    EXPECT_EQ(r.iterations, 5u);
    EXPECT_EQ(r.iteration_ns.count(), 5u);
    EXPECT_EQ(r.steps.size(), traffic_->steps());
    for (const StepTimes& step : r.steps) EXPECT_EQ(step.count, 5u);
  }
  EXPECT_EQ(results_[0].all_ns.count(), 5u);
  // All ranks together have sent the bytes of the pattern.
  uint64_t bytes = 0;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    for (uint64_t iteration = 0; iteration < 5; ++iteration) {
      for (uint32_t step = 0; step < traffic_->steps(); ++step) {
        for (const Transfer& out : traffic_->StepOf(rank, iteration, step).out) bytes += out.bytes;
      }
    }
  }
  EXPECT_EQ(results_[0].all.counts.data_bytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(All, PatternTest,
                         testing::Values(Pattern::kPermutation, Pattern::kAllToAll,
                                         Pattern::kRingAllReduce, Pattern::kDirectAllReduce,
                                         Pattern::kIncast, Pattern::kMoe, Pattern::kHotSpot));

TEST_F(RankTest, WithoutBarriersRanksRunAhead) {
  plan_.traffic.pattern = Pattern::kRingAllReduce;
  plan_.barrier = false;
  plan_.iterations = 20;
  RunAll(5);
  ExpectClean();
  for (const RankResult& r : results_) EXPECT_EQ(r.iterations, 20u);
  EXPECT_TRUE(results_[0].all_ns.count() <= 1);
}

TEST_F(RankTest, ADurationAndAWarmUpAreLedByRankZero) {
  plan_.iterations = 0;
  plan_.duration = milliseconds(20);
  plan_.warmup = milliseconds(10);
  RunAll(3);
  ExpectClean();
  EXPECT_GT(results_[0].iterations, 3u);
  EXPECT_EQ(results_[0].iterations, results_[2].iterations);
  EXPECT_LT(results_[0].measured_bytes, results_[0].sent_bytes);  // the warm-up
  EXPECT_GE(link_.now, Time() + milliseconds(30));
}

TEST_F(RankTest, OpenLoopCountsFromTheDueTime) {
  plan_.rate = 1000;  // iterations a second: far apart
  RunAll(3);
  ExpectClean();
  EXPECT_GE(link_.now, Time() + milliseconds(4));
  const uint64_t calm = results_[0].iteration_ns.max();
  EXPECT_LT(calm, 900'000u);

  // Faster than they can go: the later ones are late, and their times say so.
  results_.clear();
  ranks_.clear();
  endpoints_.clear();
  plan_.rate = 1e6;
  RunAll(3);
  EXPECT_GT(results_[0].iteration_ns.max(), 3 * calm);
}

TEST_F(RankTest, RequestsAreAnswered) {
  plan_.traffic.pattern = Pattern::kRequestResponse;
  plan_.traffic.bytes = 40;
  plan_.response_bytes = 1000;
  plan_.inflight = 3;
  plan_.think = microseconds(100);
  plan_.duration = milliseconds(50);
  RunAll(4);
  ExpectClean();
  for (const RankResult& r : results_) {
    EXPECT_GT(r.response_ns.count(), 300u);
    EXPECT_LT(r.response_ns.count(), 1600u);  // they think between them
  }
}

TEST_F(RankTest, RequestsAtARateCountFromTheirDueTime) {
  plan_.traffic.pattern = Pattern::kRequestResponse;
  plan_.traffic.bytes = 300;
  plan_.inflight = 64;
  plan_.rate = 10000;
  plan_.duration = milliseconds(100);
  RunAll(3);
  ExpectClean();
  EXPECT_NEAR(static_cast<double>(results_[1].response_ns.count()), 1000, 150);
}

TEST_F(RankTest, ATraceIsReplayedAtItsTimes) {
  plan_.traffic.pattern = Pattern::kTrace;
  plan_.iterations = 1;
  trace_ = {{.at = milliseconds(1), .source = 0, .destination = 2, .bytes = 10'000},
            {.at = milliseconds(9), .source = 2, .destination = 1, .bytes = 3, .vc = 1}};
  RunAll(3);
  ExpectClean();
  EXPECT_EQ(results_[0].sent_bytes, 10'000u);
  EXPECT_GE(link_.now, Time() + milliseconds(9));
  EXPECT_EQ(results_[0].all.flows, 2u);
}

TEST_F(RankTest, StepsOfATraceWaitForTransfersAndCalculations) {
  plan_.traffic.pattern = Pattern::kTrace;
  plan_.iterations = 2;
  trace_ = {
      {.source = 0, .destination = 1, .bytes = 5'000},
      {.at = milliseconds(20), .source = 1, .destination = 1},
      {.source = 1, .destination = 0, .bytes = 700, .step = 1, .taken = 2},
      {.at = milliseconds(1), .source = 0, .destination = 2, .bytes = 9, .step = 2, .taken = 2}};
  RunAll(3);
  ExpectClean();
  EXPECT_EQ(results_[0].sent_bytes, 2 * 5'009u);
  ASSERT_EQ(results_[1].steps.size(), 3u);
  EXPECT_GE(results_[1].steps[0].max, milliseconds(20));
  EXPECT_LT(results_[0].steps[1].max, milliseconds(20));  // what it waits for is in step 2
  EXPECT_GE(results_[0].steps[2].max, milliseconds(20));
}

TEST_F(RankTest, FairnessIsJains) {
  plan_.traffic.pattern = Pattern::kIncast;
  RunAll(5);
  EXPECT_EQ(results_[0].all.flows, 4u);
  EXPECT_GT(results_[0].all.Fairness(), 0.5);
  EXPECT_LE(results_[0].all.Fairness(), 1 + 1e-9);
  const Account uneven{.flows = 2, .sum_x = 4, .sum_x2 = 10};  // 1 and 3
  EXPECT_DOUBLE_EQ(uneven.Fairness(), 0.8);
}

TEST_F(RankTest, LoadThatComesBeforeTheOwnBeginIsAFlowToo) {
  RankLedger ledger(3);
  std::vector<uint8_t> data(10);
  const auto load = [&](uint8_t sequence, int64_t us) {
    const uint8_t control[8] = {0x14, 9, 0, 0, 0, 0, 0, sequence};
    ledger.OnLoad(1,
                  {.control = control,
                   .data = data.data(),
                   .control_bytes = 8,
                   .data_bytes = 10,
                   .source_xpuid = 103},
                  TimeFromNs(us * 1000));
  };
  load(0, 5);
  ledger.Begin(TimeFromNs(9'000));  // this rank is late
  ledger.End(/*measured=*/true);
  load(1, 20);
  ledger.Begin(TimeFromNs(21'000));
  ledger.End(/*measured=*/true);
  const Account account = ledger.ToAccount();
  EXPECT_EQ(account.flows, 1u);
  EXPECT_NEAR(account.sum_x, 20 / 5e-6, 1);  // 20 bytes in 4 and 1 us
}

TEST_F(RankTest, FaultsAreFoundByTheLedger) {
  uint32_t count = 0;
  link_.fault = [&](Loopback::Stored& command) {
    ++count;
    if (count == 100) return Loopback::Fate::kDouble;
    if (count % 50 == 7) return Loopback::Fate::kSwapWithNext;
    if (count == 300) command.data[0] ^= 1;
    return Loopback::Fate::kDeliver;
  };
  RunAll(3);
  EXPECT_EQ(results_[0].all.counts.duplicated, 1u);
  EXPECT_EQ(results_[0].all.counts.wrong, 1u);
  EXPECT_GE(results_[0].all.counts.misordered, 1u);
  Options options;
  options.mode = Mode::kWorkload;
  EXPECT_FALSE(CheckRanks(options, results_).pass);
}

TEST_F(RankTest, ALostCommandIsNamed) {
  uint32_t count = 0;
  link_.fault = [&](Loopback::Stored&) {
    return ++count == 50 ? Loopback::Fate::kDrop : Loopback::Fate::kDeliver;
  };
  Build(2);
  Run();
  std::string said;
  for (const auto& rank : ranks_) {
    EXPECT_EQ(rank->result().outcome, Outcome::kPeerSilent);
    said += rank->result().explanation + "\n";
  }
  EXPECT_NE(said.find("waits for 1 commands of rank"), std::string::npos) << said;
}

// The others repeat their arrivals at the barrier, and rank 0 answers them.
TEST_F(RankTest, ALossTowardsRankZeroEndsIt) {
  uint32_t count = 0;
  link_.fault = [&](Loopback::Stored& command) {
    const bool is_to_zero = command.destination == 100;
    return is_to_zero && ++count == 20 ? Loopback::Fate::kDrop : Loopback::Fate::kDeliver;
  };
  Build(3);
  Run(/*absent=*/UINT32_MAX, Time(std::chrono::seconds(30)));
  EXPECT_TRUE(ranks_[0]->done());
  EXPECT_EQ(ranks_[0]->result().outcome, Outcome::kPeerSilent);
  EXPECT_NE(ranks_[0]->result().explanation.find("waits for 1 commands of rank"), std::string::npos)
      << ranks_[0]->result().explanation;
}

TEST_F(RankTest, AnAbsentRankIsNamed) {
  Build(3);
  Run(/*absent=*/2);
  EXPECT_EQ(ranks_[0]->result().outcome, Outcome::kPeerSilent);
  EXPECT_NE(ranks_[0]->result().explanation.find("rank 2 (XPU 106)"), std::string::npos)
      << ranks_[0]->result().explanation;
}

TEST_F(RankTest, MessagesThatAreLostAreSaidAgain) {
  std::mt19937 random(3);
  link_.arrives = [&](const Message&) { return random() % 3 != 0; };
  plan_.stall_timeout = plan_.connect_timeout = milliseconds(20000);
  plan_.iterations = 3;
  RunAll(4);
  ExpectClean();
}

TEST_F(RankTest, LoadOfAnotherRunIsIgnored) {
  // A command from a process before waits in the ring when this one begins.
  Loopback::Stored old{.source = 100, .destination = 103, .vc = 0};
  old.control = {0x14, 9, 0, 0x55, 0, 0, 0, 77};
  old.data.assign(10, 1);
  for (int i = 0; i < 3; ++i) link_.QueueTo(103, 0).push_back(old);
  RunAll(2);
  ExpectClean();
}

TEST_F(RankTest, ASignalEndsItAtTheNextBarrier) {
  plan_.iterations = 1'000'000;
  Build(2);
  Run(UINT32_MAX, Time() + milliseconds(50));
  EXPECT_FALSE(ranks_[0]->done());
  stop_ = true;
  Run();
  EXPECT_TRUE(ranks_[0]->result().interrupted);
  EXPECT_GT(ranks_[1]->result().iterations, 10u);
}

// Rank 0 is told as well: it sums up what all have done.
TEST_F(RankTest, ASignalToAllLosesNoAccount) {
  plan_.iterations = 1'000'000;
  plan_.stall_timeout = std::chrono::seconds(60);
  Build(8);
  Run(UINT32_MAX, Time() + milliseconds(50));
  stop_ = true;
  const Time begun = link_.now;
  Run();
  EXPECT_LT(link_.now - begun, std::chrono::seconds(1));
  for (const auto& rank : ranks_) EXPECT_EQ(rank->result().outcome, Outcome::kDone);
  EXPECT_EQ(ranks_[0]->result().all.flows, 56u);
}

}  // namespace
}  // namespace suede::perf
