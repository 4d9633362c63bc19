// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "loopback.h"
#include "perf/server.h"
#include "perf/stream_load.h"

namespace suede::perf {
namespace {

constexpr uint16_t kClient = 1;

// One client worker at XPU 1 and servers at the XPUs that its plan names, in virtual time: each
// round takes a microsecond.
class WorkloadTest : public ::testing::Test {
 protected:
  WorkloadTest() {
    plan_.streams = {{2, 0}};
    plan_.count = 1000;
    plan_.drain_timeout = std::chrono::milliseconds(5);
    plan_.connect_timeout = std::chrono::milliseconds(5);
  }

  RunResult Run() {
    RunBoard board({.run = 77}, plan_.streams);
    std::map<uint16_t, bool> xpus;
    std::set<uint8_t> vcs;
    for (const StreamId& id : plan_.streams) xpus[id.xpuid] = true, vcs.insert(id.vc);
    const std::vector<uint8_t> vc_list(vcs.begin(), vcs.end());
    std::deque<LoopbackEndpoint> ends;
    std::deque<ServerWorkload<LoopbackEndpoint>> servers;
    if (with_server_) {
      for (const auto& [xpuid, unused] : xpus) {
        ends.emplace_back(link_, xpuid);
        servers.emplace_back(ends.back(), xpuid, vc_list, echo_);
        if (take_rate_ > 0) servers.back().LimitRate(take_rate_);
        if (receive_only_) servers.back().ReceiveOnly();
      }
    }
    StreamRun<LoopbackEndpoint> client(plan_, stop_, end_, board, kClient, uint8_t{0}, vc_list);
    for (int round = 0; round < 10000000 && !client.done(); ++round) {
      link_.now += std::chrono::microseconds(1);
      client.Poll(link_.now);
      for (auto& server : servers) server.Poll(link_.now);
      if (round == stop_at_round_) stop_ = true;
    }
    EXPECT_TRUE(client.done());
    served_ = StreamCounts();
    for (auto& server : servers) served_.Add(server.Total()), arrivals_.Merge(server.arrivals());
    return Combine({&client.record()}, &board);
  }

  Loopback link_;
  LoopbackEndpoint end_{link_, kClient};
  RunPlan plan_;
  bool echo_ = false;
  bool with_server_ = true;
  bool receive_only_ = false;
  StreamCounts served_;  // of all servers
  Arrivals arrivals_;
  double take_rate_ = 0;
  int stop_at_round_ = -1;
  std::atomic<bool> stop_ = false;
};

TEST_F(WorkloadTest, AServerThatTakesSlowlyLosesNothing) {
  take_rate_ = 50000;  // 1000 commands then take 20 ms, and 10 ms at the begin are made up for
  plan_.drain_timeout = std::chrono::milliseconds(100);
  const RunResult result = Run();
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.explanation;
  EXPECT_EQ(result.forward.received, 1000u);
  EXPECT_EQ(result.lost() + result.wrong() + result.duplicated() + result.misordered(), 0u);
  EXPECT_GE(link_.now, Time() + std::chrono::milliseconds(9));
}

TEST_F(WorkloadTest, OneWayLoadNeedsNoAnswer) {
  plan_.streams = {{2, 0}, {2, 1}, {3, 0}};
  plan_.shape.data_bytes = 32;
  plan_.send_only = true;
  receive_only_ = true;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone) << r.explanation;
  EXPECT_EQ(r.measured, 1000u);
  EXPECT_EQ(r.sent, 1003u);  // with the last command of each stream
  EXPECT_EQ(r.forward.received, r.sent);
  EXPECT_EQ(r.lost(), 0u);
  EXPECT_EQ(served_.received, r.sent);
  EXPECT_EQ(served_.data_bytes, 32 * r.sent);
  EXPECT_EQ(served_.lost + served_.duplicated + served_.misordered, 0u);
  EXPECT_GT(arrivals_.seconds(), 0);
}

TEST_F(WorkloadTest, OneWayLoadThatIsNotAcknowledgedFails) {
  plan_.send_only = true;
  link_.completion_status = SUEDE_STATUS_UNREACHABLE;
  EXPECT_EQ(Run().outcome, Outcome::kPeerSilent);
  link_.completion_status = SUEDE_STATUS_OK;
  with_server_ = false;
  link_.credit = 10;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_NE(r.explanation.find("XPU 2, VC 0: not all"), std::string::npos) << r.explanation;
}

TEST_F(WorkloadTest, AReceiverOfAllCountsMessagesAndAnswersNone) {
  receive_only_ = true;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_GE(served_.received, 1u);
}

TEST_F(WorkloadTest, KeepsTheFirstSamples) {
  plan_.latency = true;
  plan_.count = 100;
  echo_ = true;
  plan_.max_samples = 30;
  RunResult r = Run();
  ASSERT_EQ(r.samples.size(), 30u);
  EXPECT_EQ(r.latency_ns.count(), 100u);
  EXPECT_GE(r.samples[0].start.count(), 0);
  EXPECT_LT(r.samples[0].start, r.samples[29].start);
  plan_.max_samples = 1000;
  r = Run();
  ASSERT_EQ(r.samples.size(), 100u);
  Histogram sum;
  for (const LatencySample& s : r.samples) sum.Record(static_cast<uint64_t>(s.latency.count()));
  EXPECT_EQ(sum.mean(), r.latency_ns.mean());
  EXPECT_EQ(sum.max(), r.latency_ns.max());
}

TEST_F(WorkloadTest, DeliversACount) {
  plan_.shape.data_bytes = 32;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone);
  EXPECT_EQ(r.measured, 1000u);
  EXPECT_EQ(r.sent, 1000u);
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_EQ(r.forward.data_bytes, 32000u);
  EXPECT_EQ(r.lost() + r.wrong() + r.duplicated() + r.misordered(), 0u);
  EXPECT_GT(r.achieved_per_second(), 0);
}

TEST_F(WorkloadTest, CountComesOnTopOfTheWarmup) {
  plan_.warmup = std::chrono::microseconds(50);
  const RunResult r = Run();
  EXPECT_EQ(r.measured, 1000u);
  EXPECT_GT(r.sent, 1000u);
  EXPECT_EQ(r.forward.received, r.sent);
}

TEST_F(WorkloadTest, CheckedContentOfEveryShapeIsRight) {
  plan_.shape.check = true;
  plan_.count = 50;
  for (int control : {8, 10, 12, 14, 16, 18}) {
    for (int data : {0, 1, 2, 7, 8, 9, 63, 255, 256}) {
      plan_.shape.control_bytes = static_cast<uint16_t>(control);
      plan_.shape.data_bytes = static_cast<uint16_t>(data);
      const RunResult r = Run();
      EXPECT_EQ(r.forward.received, 50u);
      EXPECT_EQ(r.wrong(), 0u) << control << " " << data;
    }
  }
}

TEST_F(WorkloadTest, AWrongByteIsCounted) {
  plan_.shape = {.control_bytes = 12, .data_bytes = 33, .check = true};
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    ++n;
    if (n == 10) c.data[32] ^= 1;     // last byte of the data
    if (n == 20) c.control[11] ^= 1;  // last byte of the control
    if (n == 30) c.control[7] ^= 1;   // the sequence number itself
    return Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.wrong(), 3u);
  EXPECT_EQ(r.lost(), 0u);
  EXPECT_EQ(r.duplicated(), 0u);
  EXPECT_EQ(r.forward.received, 1000u);
}

TEST_F(WorkloadTest, ContentOfAnotherCommandIsWrong) {
  plan_.shape = {.data_bytes = 16, .check = true};
  std::vector<uint8_t> earlier;
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    if (++n == 5) earlier = c.data;
    if (n == 6) c.data = earlier;
    return Loopback::Fate::kDeliver;
  };
  EXPECT_EQ(Run().wrong(), 1u);
}

TEST_F(WorkloadTest, LossInTheMiddleAndAtTheTailIsCounted) {
  int n = 0;
  link_.fault = [&](Loopback::Stored&) {
    ++n;
    return n == 500 || n == 1000 ? Loopback::Fate::kDrop : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone);
  EXPECT_EQ(r.lost(), 2u);
  EXPECT_EQ(r.forward.lost, 1u);  // the server cannot see the tail
  EXPECT_EQ(r.duplicated(), 0u);
}

TEST_F(WorkloadTest, DuplicatesAndDisorderAreCounted) {
  int n = 0;
  link_.fault = [&](Loopback::Stored&) {
    ++n;
    if (n == 100) return Loopback::Fate::kDouble;
    if (n == 200) return Loopback::Fate::kSwapWithNext;
    return Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.duplicated(), 1u);
  EXPECT_EQ(r.misordered(), 1u);
  EXPECT_EQ(r.lost(), 0u);
}

// On a path that does not keep order a report may be too early: the client asks again.
TEST_F(WorkloadTest, ACommandBehindTheReportIsNotLost) {
  plan_.drain_timeout = std::chrono::milliseconds(100);
  int n = 0;
  link_.fault = [&](Loopback::Stored&) {
    return ++n == 990 ? Loopback::Fate::kBehindReport : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.lost(), 0u);
  EXPECT_EQ(r.forward.received, 1000u);
}

TEST_F(WorkloadTest, WhatIsSentBackBehindTheReportIsNotLost) {
  plan_.bidirectional = true;
  plan_.drain_timeout = std::chrono::milliseconds(100);
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    const bool late = c.source == 2 && ++n % 100 == 99;
    return late ? Loopback::Fate::kBehindReport : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_GT(n, 100);
  EXPECT_EQ(r.lost(), 0u);
  EXPECT_EQ(r.reverse.received, r.reverse_sent);
}

// On such a path the first command of a stream need not be its first to come.
TEST_F(WorkloadTest, WhatIsSentBackFirstMayComeLate) {
  plan_.bidirectional = true;
  plan_.drain_timeout = std::chrono::milliseconds(100);
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    const bool first = c.source == 2 && ++n == 1;
    return first ? Loopback::Fate::kSwapWithNext : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.lost() + r.duplicated(), 0u);
  EXPECT_EQ(r.reverse.misordered, 1u);
}

TEST_F(WorkloadTest, ShortControlIsCountedWithoutSequence) {
  plan_.shape = {.control_bytes = 2, .data_bytes = 1};
  int n = 0;
  link_.fault = [&](Loopback::Stored&) {
    return ++n == 7 ? Loopback::Fate::kDrop : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.forward.received, 999u);
  EXPECT_EQ(r.lost(), 1u);
}

TEST_F(WorkloadTest, ManyDestinationsAndVcsGetEqualShares) {
  plan_.streams.clear();
  for (uint8_t vc = 0; vc < 4; ++vc) {
    for (uint16_t x = 2; x < 34; ++x) plan_.streams.push_back({x, vc});
  }
  plan_.count = 1280;
  plan_.shape = {.data_bytes = 8, .check = true};
  std::map<std::pair<uint16_t, uint8_t>, int> shares;
  link_.fault = [&](Loopback::Stored& c) {
    ++shares[{c.destination, c.vc}];
    return Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.forward.received, 1280u);
  EXPECT_EQ(r.wrong(), 0u);
  ASSERT_EQ(shares.size(), 128u);
  for (const auto& [stream, share] : shares) EXPECT_EQ(share, 10);
}

TEST_F(WorkloadTest, EchoesComeBackAndAreChecked) {
  echo_ = true;
  plan_.shape = {.control_bytes = 16, .data_bytes = 100, .check = true};
  const RunResult r = Run();
  EXPECT_EQ(r.reverse_sent, 1000u);
  EXPECT_EQ(r.reverse.received, 1000u);
  EXPECT_EQ(r.reverse.data_bytes, 100000u);
  EXPECT_EQ(r.wrong() + r.lost(), 0u);
}

TEST_F(WorkloadTest, ALostEchoIsCounted) {
  echo_ = true;
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    if (!IsEcho(OpcodeOf(c.control.data()))) return Loopback::Fate::kDeliver;
    return ++n == 9 ? Loopback::Fate::kDrop : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_EQ(r.lost(), 1u);
}

TEST_F(WorkloadTest, BidirectionalLoadIsCheckedBothWays) {
  plan_.bidirectional = true;
  plan_.shape = {.data_bytes = 24, .check = true};
  bool spoiled = false;
  uint64_t from_server = 0;
  link_.fault = [&](Loopback::Stored& c) {
    from_server += c.source == 2 ? 1 : 0;
    if (!spoiled && c.source == 2) c.data[0] ^= 0x80, spoiled = true;
    return Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_GT(r.reverse_sent, 0u);
  EXPECT_EQ(r.reverse.received, r.reverse_sent);
  EXPECT_EQ(from_server, r.reverse_sent);  // it ended with the report
  EXPECT_EQ(r.reverse.wrong, 1u);
  EXPECT_EQ(r.forward.wrong, 0u);
}

TEST_F(WorkloadTest, TheReverseLoadFollowsTheRate) {
  plan_.bidirectional = true;
  plan_.streams = {{2, 0}, {2, 1}};
  plan_.count = 0;
  plan_.rate = 1e5;
  plan_.duration = std::chrono::milliseconds(20);
  const RunResult r = Run();
  EXPECT_NEAR(static_cast<double>(r.sent), 2000, 2);
  EXPECT_NEAR(static_cast<double>(r.reverse.received), 2000, 10);
  EXPECT_EQ(r.lost(), 0u);
}

TEST_F(WorkloadTest, LatencyIsTheRoundTrip) {
  echo_ = true;
  plan_.latency = true;
  const RunResult r = Run();
  EXPECT_TRUE(r.latency_is_rtt);
  EXPECT_EQ(r.latency_ns.count(), 1000u);
  EXPECT_EQ(r.latency_ns.min(), 1000u);  // one round
  EXPECT_EQ(r.latency_ns.max(), 1000u);
}

TEST_F(WorkloadTest, TheWarmupGivesNoSamples) {
  echo_ = true;
  plan_.latency = true;
  plan_.warmup = std::chrono::microseconds(500);
  const RunResult r = Run();
  EXPECT_GT(r.sent, 1000u);
  EXPECT_LE(r.latency_ns.count(), 1000u);
  EXPECT_GE(r.latency_ns.count(), 999u);
}

TEST_F(WorkloadTest, LatencyAgainstASinkIsRefused) {
  plan_.latency = true;
  EXPECT_EQ(Run().outcome, Outcome::kNoEcho);
}

// With one command under way nothing more would ever be sent.
TEST_F(WorkloadTest, ALostEchoDoesNotHangACountOfRoundTrips) {
  echo_ = true;
  plan_.latency = true;
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    if (!IsEcho(OpcodeOf(c.control.data()))) return Loopback::Fate::kDeliver;
    return ++n == 9 ? Loopback::Fate::kDrop : Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone);
  EXPECT_EQ(r.sent, 9u);
  EXPECT_EQ(r.lost(), 1u);
}

TEST_F(WorkloadTest, FixedRateKeepsItsSchedule) {
  plan_.count = 0;
  plan_.rate = 2e5;  // one command in five rounds
  plan_.duration = std::chrono::milliseconds(10);
  const RunResult r = Run();
  EXPECT_NEAR(static_cast<double>(r.measured), 2000, 2);
  EXPECT_NEAR(r.achieved_per_second(), 2e5, 500);
}

// A stall delays the commands that were due in it; their latency is from when they were due.
TEST_F(WorkloadTest, AStallShowsInTheLatencyOfAllThatWereDueInIt) {
  echo_ = true;
  plan_.latency = true;
  plan_.inflight = 1024;
  plan_.count = 0;
  plan_.rate = 1e5;
  plan_.duration = std::chrono::milliseconds(20);
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    if (!IsEcho(OpcodeOf(c.control.data())) && ++n == 1000) {
      link_.now += std::chrono::milliseconds(2);
    }
    return Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_NEAR(static_cast<double>(r.latency_ns.count()), 2000, 2);
  EXPECT_LT(r.latency_ns.Percentile(85), 5000u);
  EXPECT_GT(r.latency_ns.Percentile(91), 100000u);  // a tenth of the run was the stall
  EXPECT_GT(r.latency_ns.max(), 1900000u);
}

TEST_F(WorkloadTest, CompletionsAreTimedAndBounded) {
  plan_.shape.completion_every = 4;
  const RunResult r = Run();
  EXPECT_EQ(r.completions[SUEDE_STATUS_OK], 250u);
  EXPECT_EQ(r.latency_ns.count(), 250u);
  EXPECT_FALSE(r.latency_is_rtt);
}

TEST_F(WorkloadTest, TransmitNowIsOnEachNth) {
  plan_.shape.pack_every = 10;
  Run();
  // Two protocol messages carry it too, of which the first asks for its completion.
  EXPECT_EQ(end_.flags_seen[SUEDE_RECORD_TRANSMIT_NOW], 101u);
  EXPECT_EQ(end_.flags_seen[SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION], 1u);
}

// --- Runs: commands that are written in place (Loopback's PDUs hold 400 bytes) ---

TEST_F(WorkloadTest, AtFullSpeedAStreamGetsAFullPduInARow) {
  for (const size_t streams : {1, 3}) {
    plan_.streams.clear();
    for (uint16_t x = 0; x < streams; ++x)
      plan_.streams.push_back({static_cast<uint16_t>(2 + x), 0});
    plan_.shape = {.control_bytes = 8, .data_bytes = 32, .check = true};
    end_.max_run = 0;
    std::vector<uint16_t> order;
    link_.fault = [&](Loopback::Stored& c) {
      order.push_back(c.destination);
      return Loopback::Fate::kDeliver;
    };
    const RunResult r = Run();
    EXPECT_EQ(r.forward.received, 1000u);
    EXPECT_EQ(r.lost() + r.wrong() + r.duplicated() + r.misordered(), 0u);
    EXPECT_EQ(end_.max_run, 10u);
    for (size_t i = 0; i < 30; ++i) EXPECT_EQ(order[i], 2 + i / 10 % streams) << i;
  }
}

TEST_F(WorkloadTest, EveryShapeIsWrittenInPlaceAndNothingBehindIt) {
  plan_.count = 100;
  for (uint16_t control = 2; control <= 18; control += 2) {
    for (const uint16_t data : std::initializer_list<uint16_t>{0, 1, 7, 8, 31, 33, 42, 255, 256}) {
      for (const bool check : {false, true}) {
        if (check && control < kSequencedControlBytes) continue;
        plan_.shape = {.control_bytes = control, .data_bytes = data, .check = check};
        const RunResult r = Run();
        EXPECT_EQ(r.forward.received, 100u) << control << ", " << data;
        EXPECT_EQ(r.forward.data_bytes, 100u * data);
        EXPECT_EQ(r.lost() + r.wrong(), 0u) << control << ", " << data;
      }
    }
  }
  EXPECT_GT(end_.max_run, 1u);
  EXPECT_TRUE(end_.untouched);
}

TEST_F(WorkloadTest, ARunGoesOnBehindTheRingsEnd) {
  plan_.streams = {{2, 0}, {3, 0}};
  plan_.shape = {.data_bytes = 32, .check = true};
  end_.reserve_limit = 3;
  std::vector<uint16_t> order;
  link_.fault = [&](Loopback::Stored& c) {
    order.push_back(c.destination);
    return Loopback::Fate::kDeliver;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_EQ(r.wrong() + r.lost(), 0u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(order[i], 2 + i / 10 % 2) << i;
}

TEST_F(WorkloadTest, MarksAndTagsAreOfCommandsBetweenRuns) {
  plan_.shape = {.data_bytes = 32, .check = true, .pack_every = 7, .completion_every = 5};
  RunResult r = Run();
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_EQ(r.wrong() + r.lost(), 0u);
  EXPECT_EQ(r.completions[SUEDE_STATUS_OK], 200u);
  EXPECT_EQ(end_.max_run, 4u);
  EXPECT_EQ(end_.flags_seen[SUEDE_RECORD_TRANSMIT_NOW], 1000u / 7 - 1000 / 35 + 1);
  EXPECT_EQ(end_.flags_seen[SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION], 1000u / 35 + 1);
}

TEST_F(WorkloadTest, OnePerPduIsACallForEach) {
  plan_.streams = {{2, 0}, {3, 0}};
  plan_.shape.pack_every = 1;
  std::vector<uint16_t> order;
  link_.fault = [&](Loopback::Stored& c) {
    order.push_back(c.destination);
    return Loopback::Fate::kDeliver;
  };
  EXPECT_EQ(Run().forward.received, 1000u);
  EXPECT_EQ(end_.max_run, 0u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(order[i], 2 + i % 2) << i;
}

TEST_F(WorkloadTest, StreamsTakeTurnsWhereTheLoadIsNotAtFullSpeed) {
  plan_.streams = {{2, 0}, {3, 0}};
  plan_.rate = 5e6;
  std::vector<uint16_t> order;
  link_.fault = [&](Loopback::Stored& c) {
    order.push_back(c.destination);
    return Loopback::Fate::kDeliver;
  };
  EXPECT_EQ(Run().forward.received, 1000u);
  plan_.rate = 0;
  echo_ = plan_.latency = true;
  plan_.inflight = 8;
  EXPECT_EQ(Run().forward.received, 1000u);
  EXPECT_EQ(end_.max_run, 0u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(order[i], 2 + i % 2) << i;
}

TEST_F(WorkloadTest, NoServerIsAnUnreachablePeer) {
  with_server_ = false;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_NE(r.explanation.find("XPU 2, VC 0"), std::string::npos) << r.explanation;
}

// The endpoint gives up messages to a server that is not up yet.
TEST_F(WorkloadTest, StartIsRepeatedUntilAServerIsThere) {
  plan_.streams = {{2, 0}, {3, 0}};
  plan_.connect_timeout = std::chrono::seconds(3);
  int ready = 0;
  link_.arrives = [&](const Message& message) {
    if (message.code == Code::kReady) ++ready;
    return message.code != Code::kStart || link_.now >= TimeFromNs(1'700'000'000);
  };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone);
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_EQ(r.lost() + r.duplicated(), 0u);
  EXPECT_EQ(ready, 2);
  // Sent at once, and after 0.5, 1, 1.5 and 2 s, to each; then the requests for reports.
  EXPECT_EQ(end_.flags_seen[SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION], 2u * 5);
  EXPECT_EQ(end_.flags_seen[SUEDE_RECORD_TRANSMIT_NOW], 2u);
}

TEST_F(WorkloadTest, StartIsNotRepeatedToAServerThatHasAnswered) {
  plan_.streams = {{2, 0}, {3, 0}};
  plan_.connect_timeout = std::chrono::seconds(3);
  int starts = 0;
  link_.arrives = [&](const Message& message) {
    return message.code != Code::kStart || ++starts != 2;  // the first one to XPU 3 is lost
  };
  EXPECT_EQ(Run().outcome, Outcome::kDone);
  EXPECT_EQ(starts, 3);
}

// The server's answer was lost, and the load that it was asked for is on its way.
TEST_F(WorkloadTest, RepeatedStartBeginsNoSecondRun) {
  plan_.connect_timeout = std::chrono::seconds(3);
  plan_.bidirectional = true;
  plan_.rate = 1e5;
  plan_.shape = {.data_bytes = 32, .check = true};
  int readies = 0;
  link_.arrives = [&](const Message& message) {
    return message.code != Code::kReady || ++readies != 1;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone);
  EXPECT_EQ(readies, 2);
  EXPECT_GT(r.reverse.received, 0u);
  EXPECT_EQ(r.reverse.received, r.reverse_sent);
  EXPECT_EQ(r.lost() + r.wrong() + r.duplicated() + r.misordered(), 0u);
}

TEST_F(WorkloadTest, RepeatedStartsEndWithTheTimeout) {
  plan_.connect_timeout = std::chrono::milliseconds(1800);
  int starts = 0;
  link_.arrives = [&](const Message&) { return ++starts, false; };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_EQ(starts, 4);
  EXPECT_LT(link_.now, TimeFromNs(1'801'000'000));
}

TEST_F(WorkloadTest, AnUnreachableCompletionEndsTheRun) {
  plan_.shape.completion_every = 1;
  link_.completion_status = SUEDE_STATUS_UNREACHABLE;
  EXPECT_EQ(Run().outcome, Outcome::kPeerSilent);
}

// Without completions of the load: commands are watched.
TEST_F(WorkloadTest, APeerThatDiesInTheLoadEndsTheRunAtOnce) {
  plan_.streams = {{2, 0}, {3, 0}};
  plan_.count = 0;
  plan_.duration = std::chrono::hours(1);
  link_.fault = [&](Loopback::Stored& c) {
    if (c.destination != 3 || link_.now < TimeFromNs(10'000'000)) {
      return Loopback::Fate::kDeliver;
    }
    link_.completion_status = SUEDE_STATUS_UNREACHABLE;
    return Loopback::Fate::kDrop;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_NE(r.explanation.find("is unreachable: it does not acknowledge"), std::string::npos)
      << r.explanation;
  EXPECT_LT(link_.now, TimeFromNs(200'000'000));
}

TEST_F(WorkloadTest, APeerThatDiesInTheDrainEndsItAtOnce) {
  plan_.drain_timeout = std::chrono::seconds(5);
  Time asked;
  link_.arrives = [&](const Message& message) {
    if (message.code != Code::kReportRequest) return true;
    if (asked == Time()) asked = link_.now;
    link_.completion_status = SUEDE_STATUS_UNREACHABLE;
    return false;
  };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_NE(r.explanation.find("XPU 2 is unreachable"), std::string::npos) << r.explanation;
  EXPECT_LT(link_.now - asked, std::chrono::milliseconds(600));
}

// Until the time is over it is asked again, and then the endpoint's reason is told.
TEST_F(WorkloadTest, AServerThatNeverCameIsToldWithTheReasonOfTheEndpoint) {
  plan_.connect_timeout = std::chrono::milliseconds(1800);
  link_.completion_status = SUEDE_STATUS_UNREACHABLE;
  link_.arrives = [&](const Message&) { return false; };
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_NE(r.explanation.find("XPU 2 is unreachable"), std::string::npos) << r.explanation;
  EXPECT_GE(link_.now, TimeFromNs(1'800'000'000));
}

TEST_F(WorkloadTest, ACompletionInDoubtEndsTheRunAndIsReportedUnderItsStatus) {
  plan_.shape.completion_every = 1;
  link_.completion_status = SUEDE_STATUS_IN_DOUBT;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_GT(r.completions.at(SUEDE_STATUS_IN_DOUBT), 0u);
}

TEST_F(WorkloadTest, ALostEndpointEndsTheRun) {
  link_.fault = [&](Loopback::Stored&) {
    link_.lost = true;
    return Loopback::Fate::kDeliver;
  };
  EXPECT_EQ(Run().outcome, Outcome::kEndpointLost);
}

TEST_F(WorkloadTest, ASignalDrainsAndCountsWhatWasSent) {
  plan_.count = 0;
  plan_.duration = std::chrono::hours(1);
  stop_at_round_ = 5000;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDone);
  EXPECT_TRUE(r.interrupted);
  EXPECT_GT(r.sent, 0u);
  EXPECT_EQ(r.forward.received, r.sent);
}

// Two queues, two VCs: each worker receives one VC, and so the other's answers too.
TEST_F(WorkloadTest, TwoWorkersShareTheBoard) {
  plan_.streams = {{2, 0}, {2, 1}};
  plan_.shape = {.data_bytes = 40, .check = true};
  RunBoard board({.run = 5, .workers = 2, .flows = 2}, plan_.streams);
  LoopbackEndpoint server_end(link_, 2), other_end(link_, kClient);
  ServerWorkload<LoopbackEndpoint> server(server_end, 2, {0, 1}, false);
  using Vcs = std::vector<uint8_t>;
  StreamRun<LoopbackEndpoint> a(plan_, stop_, end_, board, kClient, uint8_t{0}, Vcs{0});
  StreamRun<LoopbackEndpoint> b(plan_, stop_, other_end, board, kClient, uint8_t{1}, Vcs{1});
  for (int round = 0; round < 100000 && !(a.done() && b.done()); ++round) {
    link_.now += std::chrono::microseconds(1);
    a.Poll(link_.now);
    b.Poll(link_.now);
    server.Poll(link_.now);
  }
  ASSERT_TRUE(a.done() && b.done());
  const RunResult r = Combine({&a.record(), &b.record()}, &board);
  EXPECT_EQ(r.sent, 2000u);
  EXPECT_EQ(r.forward.received, 2000u);
  EXPECT_EQ(r.wrong() + r.lost() + r.duplicated(), 0u);
}

// Two instances that take turns; one that is closed takes no load.
class TwoLanes : public LoopbackEndpoint {
 public:
  using LoopbackEndpoint::LoopbackEndpoint;
  static constexpr uint32_t lanes() { return 2; }
  int32_t Pick(uint16_t, uint32_t attempt) {
    if (attempt == 0) first_ = 1 - first_;
    return attempt == 0 ? first_ : attempt == 1 ? 1 - first_ : -1;
  }
  SendResult Send(const ClientCommand& command, uint32_t lane) {
    const bool is_message = OpcodeOf(command.control) > Opcode::kCheckedEcho;
    if (lane == closed && !is_message) return SendResult::kWouldBlock;
    EXPECT_EQ(is_message ? command.control[3] : command.control[2], 3 + lane) << "the flow";
    return LoopbackEndpoint::Send(command);
  }
  uint32_t closed = 2;

 private:
  int32_t first_ = 1;
};
static_assert(PerfEndpoint<TwoLanes>);

class LanesTest : public WorkloadTest {
 protected:
  // The client's flows begin with 3.
  RunResult RunTwoLanes() {
    RunBoard board({.run = 9, .workers = 1, .flows = 5}, plan_.streams);
    std::deque<LoopbackEndpoint> ends;
    std::deque<ServerWorkload<LoopbackEndpoint>> servers;
    for (const uint16_t xpuid : std::initializer_list<uint16_t>{2, 3}) {
      ends.emplace_back(link_, xpuid);
      servers.emplace_back(ends.back(), xpuid, std::vector<uint8_t>{0, 1}, echo_);
    }
    StreamRun<TwoLanes> client(plan_, stop_, lanes_, board, kClient, uint8_t{3},
                               std::vector<uint8_t>{0, 1});
    for (int round = 0; round < 100'000 && !client.done(); ++round) {
      link_.now += std::chrono::microseconds(1);
      client.Poll(link_.now);
      for (auto& server : servers) server.Poll(link_.now);
    }
    EXPECT_TRUE(client.done());
    served_ = StreamCounts();
    for (auto& server : servers) served_.Add(server.Total()), arrivals_.Merge(server.arrivals());
    return Combine({&client.record()}, &board);
  }
  TwoLanes lanes_{link_, kClient};
};

TEST_F(LanesTest, EachIsAFlowOfItsOwn) {
  plan_.streams = {{2, 0}, {3, 0}, {2, 1}};
  plan_.shape = {.control_bytes = 12, .data_bytes = 40, .check = true};
  const RunResult r = RunTwoLanes();
  EXPECT_EQ(r.outcome, Outcome::kDone) << r.explanation;
  EXPECT_EQ(r.sent_by_lane, (std::vector<uint64_t>{500, 500}));
  EXPECT_EQ(r.forward.received, 1000u);
  EXPECT_EQ(r.lost() + r.wrong() + r.duplicated() + r.misordered(), 0u);
}

TEST_F(LanesTest, WhatOneDoesNotTakeTheOtherTakes) {
  lanes_.closed = 0;
  const RunResult r = RunTwoLanes();
  EXPECT_EQ(r.outcome, Outcome::kDone) << r.explanation;
  EXPECT_EQ(r.sent_by_lane, (std::vector<uint64_t>{0, 1000}));
  EXPECT_EQ(r.forward.received, 1000u);
}

TEST_F(LanesTest, LossOnOneIsCounted) {
  link_.fault = [&](Loopback::Stored& c) {
    return c.control[2] == 4 && c.control[7] == 10 ? Loopback::Fate::kDrop
                                                   : Loopback::Fate::kDeliver;
  };
  plan_.count = 100;
  EXPECT_EQ(RunTwoLanes().lost(), 1u);
}

TEST_F(LanesTest, EchoesAreTimedByTheirFlow) {
  plan_.latency = true;
  plan_.inflight = 8;
  echo_ = true;
  const RunResult r = RunTwoLanes();
  EXPECT_EQ(r.outcome, Outcome::kDone) << r.explanation;
  EXPECT_EQ(r.latency_ns.count(), 1000u);
  EXPECT_LE(r.latency_ns.max(), 100'000u) << "rounds of a microsecond";
}

TEST_F(LanesTest, AServerThatIsSilentOnOneIsNamed) {
  link_.arrives = [](const Message& m) { return m.code != Code::kReady || m.flow != 4; };
  const RunResult r = RunTwoLanes();
  EXPECT_EQ(r.outcome, Outcome::kPeerSilent);
  EXPECT_NE(r.explanation.find("instance 1 of"), std::string::npos) << r.explanation;
}

TEST(RateScheduleTest, CountsWhatIsDueAndWhenItWas) {
  const RateSchedule schedule(TimeFromNs(1000), 1e6);
  EXPECT_EQ(schedule.DueBy(TimeFromNs(999)), 0u);
  EXPECT_EQ(schedule.DueBy(TimeFromNs(1000)), 1u);
  EXPECT_EQ(schedule.DueBy(TimeFromNs(1999)), 1u);
  EXPECT_EQ(schedule.DueBy(TimeFromNs(2001)), 2u);
  EXPECT_EQ(ToNs(schedule.IntendedTime(0)), 1000);
  EXPECT_EQ(ToNs(schedule.IntendedTime(3)), 4000);
}

TEST(RateScheduleTest, DoesNotDriftOverAnHour) {
  const RateSchedule schedule(TimeFromNs(0), 3e7);
  EXPECT_NEAR(static_cast<double>(schedule.DueBy(TimeFromNs(3600'000'000'000))), 1.08e11, 2);
}

TEST(RateTrackTest, PeakSurvivesCoarsening) {
  RateTrack track;
  track.Add(std::chrono::milliseconds(5), 1000);
  track.Add(std::chrono::milliseconds(15), 10);
  track.Add(std::chrono::milliseconds(25), 9999999);  // cut short: does not compete
  EXPECT_DOUBLE_EQ(track.Peak(), 1e5);
  track.Add(std::chrono::seconds(20), 1);
  EXPECT_GT(track.Peak(), 1e5);  // the third window is whole by now
  RateTrack other;
  other.Add(std::chrono::seconds(1), 50000000);
  track.Merge(other);
  EXPECT_NEAR(track.Peak(), 2.5e9, 1e7);
}

// --- Destinations that are no peers ---

TEST_F(WorkloadTest, ADestinationThatIsNoPeerEndsTheRunAtOnceAndIsNamed) {
  with_server_ = false;
  plan_.streams = {{2, 0}, {9, 0}};
  plan_.connect_timeout = std::chrono::seconds(10);
  link_.completion_status = SUEDE_STATUS_UNKNOWN_XPU;
  const RunResult r = Run();
  EXPECT_EQ(r.outcome, Outcome::kNoPeer);
  EXPECT_NE(r.explanation.find("XPU 2 is no peer"), std::string::npos) << r.explanation;
  EXPECT_LT(link_.now, Time() + std::chrono::seconds(1));
}

}  // namespace
}  // namespace suede::perf
