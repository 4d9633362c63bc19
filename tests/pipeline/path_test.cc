// SPDX-License-Identifier: Apache-2.0
// Probes of the path: what the sender notes of its reports, and what an end that gives no consent,
// a copy, a forger or a flood get.
#include "bench.h"
#include "lcore/path_probe.h"
#include "planes_bench.h"
#include "wire/pfc.h"

namespace suede {
namespace {

class PathTest : public PipelineTest {
 protected:
  PathTest() { params.path_probes_per_s = 10000; }
  void StartPair() {
    params.classes[2] = {.dscp = 10, .ecn = 2};
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    ca->SendTagged(0, 1);
    Attach(*b);
    ASSERT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
  }
  void Probe(uint32_t count = 1) {
    run.rows.assign(count, {});
    run.spec.timeout = milliseconds(1);
    run.state.store(PathState::kRunning);
    ASSERT_TRUE(a->pipeline->mailbox().requests.Push(request::ProbePath{.run = &run}));
    ASSERT_TRUE(RunUntil([&] { return run.state.load() != PathState::kRunning; }));
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  PathRun run;
};

TEST_F(PathTest, ReportsSayWhenAndHowProbesArrived) {
  StartPair();
  run.spec = {.traffic_class = 2, .interval = microseconds(20)};
  Probe(3);
  ASSERT_EQ(run.state.load(), PathState::kDone);
  EXPECT_EQ(run.sent,
            (FrameMarks{.ds = 10 << 2 | 2, .hops = 64, .has_ds = true, .has_hops = true}));
  for (uint32_t i = 0; i < 3; ++i) {
    const PathRun::Row& row = run.rows[i];
    EXPECT_EQ(row.copies, 1u);
    EXPECT_EQ(row.report.order, i);
    EXPECT_EQ(row.report.traffic_class, 2);
    EXPECT_EQ(row.report.there, run.sent);
    EXPECT_EQ(row.report.sent, run.sent);
    EXPECT_EQ(row.here, run.sent);
    EXPECT_GT(row.report.received_ns, static_cast<uint64_t>(ToNs(row.sent)));
    EXPECT_GT(ToNs(row.returned), static_cast<int64_t>(row.report.received_ns));
    EXPECT_EQ(row.reply_bytes, row.report.bytes);
  }
  EXPECT_GE(run.rows[1].sent - run.rows[0].sent, microseconds(20));
  EXPECT_EQ(a->Count(Counter::kTxPathProbes), 3u);
  EXPECT_EQ(b->Count(Counter::kRxPathProbes), 3u);
  EXPECT_EQ(a->Count(Counter::kRxPathReports), 3u);
}

TEST_F(PathTest, ProbesHaveTheLengthSessionAndMarksThatAreAskedFor) {
  StartPair();
  run.spec = {
      .bytes = 1400, .sessions = 4, .first_session = 7, .dscp = 33, .ecn = 1, .hop_limit = 9};
  Probe(8);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(run.rows[i].session, 7 + i % 4);
    EXPECT_EQ(run.rows[i].report.bytes, 1400);
    EXPECT_EQ(run.rows[i].report.there.ds, 33 << 2 | 1);
    EXPECT_EQ(run.rows[i].report.there.hops, 9);
    EXPECT_LT(run.rows[i].reply_bytes, 200u);
  }
  run.spec.long_reply = true;
  Probe();
  EXPECT_EQ(run.rows[0].reply_bytes, 1400u);
  run.spec.bytes = 65535;  // as far as the port has them
  Probe();
  EXPECT_EQ(run.rows[0].report.bytes, SimPort::kMaxFrameBytes);
  EXPECT_EQ(run.rows[0].reply_bytes, SimPort::kMaxFrameBytes);
}

TEST_F(PathTest, StrangersAreReportedByThePeersDrops) {
  StartPair();
  for (const PathTarget to : {PathTarget::kStranger, PathTarget::kEtherType}) {
    run.spec = {.to = to};
    const uint32_t order = b->pipeline->instance(0).path.arrived[0];
    Probe(4);
    EXPECT_EQ(run.state.load(), PathState::kDone);
    EXPECT_EQ(run.rows[1].copies + run.rows[2].copies, 0u);
    const Path& first = run.rows[0].report;
    const Path& last = run.rows[3].report;
    EXPECT_EQ(first.order, order) << "strangers are no probes of the peer";
    EXPECT_EQ(last.order, order + 1);
    // The network gives the stranger's frames to nobody.
    EXPECT_EQ(last.address_drops - first.address_drops, 0u);
    EXPECT_EQ(last.not_sue_drops - first.not_sue_drops, to == PathTarget::kEtherType ? 2u : 0u);
  }
}

TEST_F(PathTest, AnEndWithoutConsentAnswersNothingAndSaysSo) {
  params.path_probes_per_s = 0;
  StartPair();
  Probe();
  EXPECT_EQ(run.state.load(), PathState::kNoConsent);
  EXPECT_EQ(a->Count(Counter::kTxPathProbes), 0u);
}

TEST_F(PathTest, AFloodGetsNoMoreReportsThanAgreed) {
  params.path_probes_per_s = 100;
  StartPair();
  run.spec = {.interval = microseconds(10)};
  Probe(200);  // in 2 ms
  EXPECT_LE(b->Count(Counter::kRxPathProbes), 26u);
  EXPECT_GE(b->Count(Counter::kRxPathProbes), 25u);
  EXPECT_EQ(b->Count(Counter::kRxPathProbes) + b->Count(Counter::kRxPathRefused), 200u);
}

TEST_F(PathTest, WithoutLinkItEndsAtOnce) {
  StartPair();
  a->port->SetLink(false);
  Probe();
  EXPECT_EQ(run.state.load(), PathState::kNoLink);
}

TEST_F(PathTest, ARunEndsOverAPortThatTakesNothing) {
  StartPair();
  a->port->SetPaused(true);
  run.spec = {.interval = microseconds(1)};
  Probe(1000);
  EXPECT_EQ(run.state.load(), PathState::kDone);
  EXPECT_TRUE(run.rows[999].lost_here);
  EXPECT_EQ(run.rows[999].copies, 0u);
}

TEST_F(PathTest, APauseIsRequestedWhileProbesLeave) {
  pfc = true;
  params.classes[1].dscp = 3 << 3;  // PFC class 3
  std::vector<PfcFrame> heard;
  network.SetNeighbour([&](const SimPort*, std::span<const uint8_t> bytes) {
    const auto frame = DecodePfc(bytes.data(), static_cast<uint32_t>(bytes.size()));
    if (frame) heard.push_back(*frame);
  });
  StartPair();
  run.spec = {.traffic_class = 1, .pause = true, .interval = microseconds(10)};
  Probe(100);  // 1 ms, more than one refresh
  Run(microseconds(10));
  EXPECT_EQ(run.state.load(), PathState::kDone);
  ASSERT_GE(heard.size(), 3u);
  for (const PfcFrame& frame : heard) EXPECT_EQ(frame.classes, 1u << 3);
  for (size_t i = 0; i + 1 < heard.size(); ++i) EXPECT_NE(heard[i].quanta[3], 0u);
  EXPECT_EQ(heard.back().quanta[3], 0u);
  EXPECT_EQ(run.rows[99].copies, 1u) << "this neighbour ignores pauses";
  run.spec.traffic_class = Path::kClasses - 1;  // PDUs without commands: no VC
  Probe();
  EXPECT_EQ(run.state.load(), PathState::kNoPfc);
}

TEST_F(PathTest, APauseNeedsPfc) {
  StartPair();
  run.spec = {.pause = true};
  Probe();
  EXPECT_EQ(run.state.load(), PathState::kNoPfc);
}

class PathByHandTest : public ByHandTest {
 protected:
  PathByHandTest() { params.path_probes_per_s = 10000; }
};

TEST_F(PathByHandTest, ForgedProbesAndReportsAreDropped) {
  Start();
  Meet();
  Path probe{.identities = {.own = 99, .peer = 98}, .number = 1, .sent_ns = 5};
  Inject({Control(probe)});
  EXPECT_EQ(host->Count(Counter::kRxAssociation), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPathProbes), 0u);
  Inject({Control(Path{.report = true, .number = 1, .sent_ns = 5})});
  EXPECT_EQ(host->Count(Counter::kRxPathStray), 1u);
  Inject({Control(Path{.number = 1, .sent_ns = 5})});
  EXPECT_EQ(host->Count(Counter::kRxPathProbes), 1u);
}

TEST_F(PathByHandTest, WithoutAMacAddressNoReportLeaves) {
  resolving = true;
  Start();
  Meet();
  const uint64_t before = host->Count(Counter::kTxNoMac);
  Inject({Control(Path{.number = 1, .sent_ns = 5})});
  EXPECT_EQ(host->Count(Counter::kTxFrames), 0u);
  EXPECT_EQ(host->Count(Counter::kTxNoMac), before + 1);
  EXPECT_EQ(host->Count(Counter::kRxPathRefused), 1u);
}

TEST_F(PathByHandTest, WithoutConsentProbesAreCounted) {
  params.path_probes_per_s = 0;
  Start();
  Meet();
  Inject({Control(Path{.number = 1, .sent_ns = 5})});
  EXPECT_EQ(host->Count(Counter::kRxPathRefused), 1u);
  EXPECT_EQ(host->Count(Counter::kRxPathProbes), 0u);
}

}  // namespace
}  // namespace suede
