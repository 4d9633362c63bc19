// SPDX-License-Identifier: Apache-2.0
// suedectl path: each fault of a path gives its finding and no other, and a correct path none.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "fake_path.h"
#include "suedectl/path_experiments.h"
#include "suedectl/path_incast.h"
#include "suedectl/path_judge.h"
#include "suedectl/path_plan.h"
#include "suedectl/path_text.h"

namespace suede::ctl {
namespace {

using Clock = PathProber::Clock;

PathPlan UdpPlan() {
  return {.plane = 0,
          .port = "p0",
          .encapsulation = "udp4",
          .max_bytes = 2102,
          .has_sessions = true,
          .classes = {{.number = 0, .name = "VC 0"}, {.number = 4, .name = "ack"}}};
}

struct Bench {
  FakePath path;
  PathPlan plan = UdpPlan();
  uint32_t senders = 1;
  bool disruptive = false;
  uint64_t max_frames = kMaxPathFrames;
  absl::Status status;

  PathResult Measure() {
    PathResult result{.peer = 1, .disruptive = disruptive, .senders = senders, .planes = {}};
    PlaneResult& plane = result.planes.emplace_back();
    plane.plan = plan;
    const PathCall call = [this](std::string_view method, const ForeignJson& params) {
      return path.Call(method, params);
    };
    std::deque<PathProber> probers;
    std::vector<PathProber*> all;
    for (uint32_t i = 0; i < senders; ++i) {
      probers.emplace_back(call, PathEnds{.xpu = i, .instance = 0, .peer = 9});
      probers.back().Permit(max_frames, Clock::now() + std::chrono::seconds(60));
      all.push_back(&probers.back());
    }
    status = RunExperiments(probers[0], 200, &plane);
    if (status.ok() && disruptive) {
      for (PathProber* const prober : all)
        prober->Permit(kMaxBurstFrames, Clock::now() + std::chrono::seconds(60));
      status = RunIncast(all, &plane);
    }
    return result;
  }

  // Findings that are not ok: "verdict class check".
  std::set<std::string> Findings() {
    std::set<std::string> texts;
    for (const PathFinding& finding : JudgePath(Measure())) {
      if (finding.verdict == PathVerdict::kOk) continue;
      EXPECT_FALSE(finding.cause.empty() || finding.remedy.empty()) << finding.check;
      texts.insert(StrCat(NameOf(finding.verdict), " ",
                          finding.of_class.empty() ? "-" : finding.of_class, " ", finding.check));
    }
    EXPECT_TRUE(status.ok()) << status;
    return texts;
  }
};

using Texts = std::set<std::string>;

TEST(PathTest, ACorrectPathHasNoFindings) {
  Bench bench;
  EXPECT_EQ(bench.Findings(), Texts());
  EXPECT_LT(bench.path.frames, kMaxPathFrames / 4);
  const PathResult result = bench.Measure();
  const PlaneResult& plane = result.planes[0];
  EXPECT_EQ(plane.classes[0].lengths.out, 2102u);
  EXPECT_EQ(plane.classes[0].lengths.back, 2102u);
  ASSERT_TRUE(plane.flows);
  EXPECT_EQ(GroupsOf(*plane.flows, false).sizes, std::vector<uint32_t>{64});
  EXPECT_EQ(plane.classes[0].figures.sent, 200u);
  EXPECT_EQ(plane.classes[0].figures.rtt->min_ns, 20000);
}

struct Fault {
  const char* name;
  std::function<void(Bench&)> set;
  Texts findings;
};

const Fault kFaults[] = {
    {"small MTU out",
     [](Bench& b) { b.path.faults.mtu_out = 1514; },
     {"fail VC 0 length out", "fail ack length out"}},
    {"small MTU back",
     [](Bench& b) { b.path.faults.mtu_back = 1514; },
     {"fail VC 0 length back", "fail ack length back"}},
    {"class dropped out", [](Bench& b) { b.path.faults.dead_out = {0}; }, {"fail VC 0 class"}},
    {"class dropped back", [](Bench& b) { b.path.faults.dead_back = {4}; }, {"fail ack class"}},
    {"slow class", [](Bench& b) { b.path.faults.slow_class = 4; }, {"warn ack delay"}},
    {"DSCP rewritten out",
     [](Bench& b) { b.path.faults.dscp_out = 0; },
     {"fail VC 0 DSCP out", "fail ack DSCP out"}},
    {"DSCP rewritten back",
     [](Bench& b) { b.path.faults.dscp_back = 10; },
     {"fail VC 0 DSCP back", "fail ack DSCP back"}},
    {"PCP rewritten",
     [](Bench& b) {
       b.path.faults.tagged = true;
       b.path.faults.pcp_out = 7;
     },
     {"fail VC 0 PCP out", "fail ack PCP out"}},
    {"tag stripped",
     [](Bench& b) { b.path.faults.tagged = b.path.faults.strips_tag = true; },
     {"fail VC 0 VLAN out", "fail VC 0 VLAN back", "fail ack VLAN out", "fail ack VLAN back"}},
    {"ECN cleared",
     [](Bench& b) {
       b.path.faults.ecn_out = {{1, 0}, {2, 0}};
     },
     {"warn VC 0 ECN out", "warn ack ECN out"}},
    {"ECN cleared, with nscc",
     [](Bench& b) {
       b.path.faults.ecn_out = {{1, 0}, {2, 0}};
       b.plan.congestion = PathCongestion::kNscc;
     },
     {"fail VC 0 ECN out", "fail ack ECN out"}},
    {"marks without load",
     [](Bench& b) {
       b.path.faults.ecn_out = {{1, 3}, {2, 3}};
     },
     {"fail VC 0 ECN out", "fail ack ECN out"}},
    {"ECN set",
     [](Bench& b) {
       b.path.faults.ecn_out = {{0, 2}};
     },
     {"fail VC 0 ECN out", "fail ack ECN out"}},
    {"hop limit written", [](Bench& b) { b.path.faults.hops_out = 30; }, {"fail - hop limit out"}},
    {"hop limit larger", [](Bench& b) { b.path.faults.hops_out = 200; }, {"fail - hop limit out"}},
    {"loss out",
     [](Bench& b) { b.path.faults.lose_out = 47; },
     {"fail VC 0 loss out", "fail ack loss out", "warn - flows"}},
    {"rare loss back",
     [](Bench& b) { b.path.faults.lose_back = 389; },
     {"warn ack loss back", "warn - flows"}},
    {"reordering",
     [](Bench& b) { b.path.faults.reorder = 70; },
     {"fail VC 0 order", "fail ack order", "warn - order of flows"}},
    {"duplicates",
     [](Bench& b) { b.path.faults.duplicate = 40; },
     {"warn VC 0 duplicates", "warn ack duplicates"}},
    {"flooding", [](Bench& b) { b.path.faults.flooding = true; }, {"warn - unknown address"}},
    {"dead member",
     [](Bench& b) {
       b.path.faults.members = 4;
       b.path.faults.dead_member = true;
     },
     {"fail - flows"}},
    {"dead member that the first session takes",
     [](Bench& b) {
       b.path.faults.members = 4;
       b.path.faults.dead_member = b.path.faults.kills_session_0 = true;
     },
     {"fail - flows"}},
    {"lossy member",
     [](Bench& b) {
       b.path.faults.members = 4;
       b.path.faults.lossy_member = true;
     },
     {"fail - flows"}},
    {"slow member",
     [](Bench& b) {
       b.path.faults.members = 2;
       b.path.faults.slow_member = true;
     },
     {"warn - slow path out", "warn - slow path back"}},
    {"asymmetric hash",
     [](Bench& b) {
       b.path.faults.members = 2;
       b.path.faults.slow_member = b.path.faults.asymmetric = true;
     },
     {"warn - slow path out", "warn - slow path back", "warn - symmetry"}},
    {"member that reorders",
     [](Bench& b) {
       b.path.faults.members = 4;
       b.path.faults.spraying_member = true;
       b.path.faults.reorder = 4;
     },
     {"warn - order of flows"}},
    {"uneven hash",
     [](Bench& b) {
       b.path.faults.members = 2;
       b.path.faults.few_of = 16;
       b.path.faults.longer_member = true;
     },
     {"warn - paths out"}},
    {"no answers at all",
     [](Bench& b) {
       b.path.faults.dead_out = {0, 4};
     },
     {"fail - state"}},
    {"no link", [](Bench& b) { b.path.faults.state = "no_link"; }, {"fail - state"}},
    {"no consent", [](Bench& b) { b.path.faults.state = "no_consent"; }, {"fail - state"}},
    {"a state that is not known", [](Bench& b) { b.path.faults.state = "odd"; }, {"fail - state"}},
    {"frames run out", [](Bench& b) { b.max_frames = 420; }, {"unknown - bound"}},
};

const Fault kLoadFaults[] = {
    {"one sender fills no queue", [](Bench&) {}, {"unknown VC 0 incast", "unknown ack incast"}},
    {"nothing with two senders", [](Bench& b) { b.senders = 2; }, {}},
    {"lossy class overflows", [](Bench& b) { b.path.faults.queue = 100; }, {}},
    {"reports are refused, frames are not lost",
     [](Bench& b) {
       b.path.faults.refuses = true;
       b.plan.is_lossless = true;
       b.senders = 2;
     },
     {}},
    {"missing lossless class",
     [](Bench& b) {
       b.plan.is_lossless = b.plan.has_pfc = true;
       b.path.faults.queue = 100;
     },
     {"fail VC 0 lossless", "fail ack lossless"}},
    {"lossless class",
     [](Bench& b) {
       b.plan.is_lossless = b.plan.has_pfc = true;
       b.path.faults.pause_from = 100;
     },
     {}},
    {"too little headroom",
     [](Bench& b) {
       b.plan.is_lossless = b.plan.has_pfc = true;
       b.path.faults.pause_from = 100;
       b.path.faults.queue = 200;
     },
     {"fail VC 0 lossless", "fail ack lossless"}},
    {"pauses that nobody wants",
     [](Bench& b) { b.path.faults.pause_from = 100; },
     {"warn VC 0 overflow", "warn ack overflow"}},
    {"ECN at the last hop with rccc",
     [](Bench& b) {
       b.plan.congestion = PathCongestion::kRccc;
       b.path.faults.mark_from = 64;
     },
     {"warn VC 0 ECN marks", "warn ack ECN marks"}},
    {"no ECN with nscc",
     [](Bench& b) {
       b.plan.congestion = PathCongestion::kNscc;
       b.path.faults.queue = 100;
     },
     {"fail VC 0 ECN marks", "fail ack ECN marks"}},
    {"ECN with nscc",
     [](Bench& b) {
       b.plan.congestion = PathCongestion::kNscc;
       b.path.faults.queue = 100;
       b.path.faults.mark_from = 64;
     },
     {}},
    {"no trimming",
     [](Bench& b) {
       b.plan.trims = true;
       b.path.faults.queue = 100;
     },
     {"warn VC 0 trimming", "warn ack trimming"}},
    {"trimming",
     [](Bench& b) {
       b.plan.trims = true;
       b.path.faults.queue = b.path.faults.trim_from = 100;
     },
     {}},
    {"trimming that nobody wants",
     [](Bench& b) { b.path.faults.queue = b.path.faults.trim_from = 100; },
     {"warn VC 0 trimming", "warn ack trimming"}},
    {"ignored pauses",
     [](Bench& b) {
       b.plan.is_lossless = b.plan.has_pfc = b.plan.sends_pauses = true;
       b.path.faults.obeys_pauses = false;
     },
     {"fail VC 0 pauses", "unknown VC 0 incast", "unknown ack incast"}},
    {"obeyed pauses",
     [](Bench& b) { b.plan.is_lossless = b.plan.has_pfc = b.plan.sends_pauses = true; },
     {"unknown VC 0 incast", "unknown ack incast"}},
};

TEST(PathTest, EachFaultHasItsFinding) {
  for (const Fault& fault : kFaults) {
    Bench bench;
    fault.set(bench);
    EXPECT_EQ(bench.Findings(), fault.findings) << fault.name;
  }
}

TEST(PathTest, EachFaultUnderLoadHasItsFinding) {
  for (const Fault& fault : kLoadFaults) {
    Bench bench;
    bench.disruptive = true;
    fault.set(bench);
    EXPECT_EQ(bench.Findings(), fault.findings) << fault.name;
  }
}

TEST(PathTest, CorruptFramesAreLostAndCounted) {
  Bench bench;
  bench.path.faults.corrupt = 50;
  const Texts findings = bench.Findings();
  for (const char* text : {"fail VC 0 corruption", "fail ack corruption", "fail ack loss out"}) {
    EXPECT_TRUE(findings.contains(text)) << text;
  }
}

TEST(PathTest, TheLargestFrameIsExact) {
  for (const uint32_t bytes : {121u, 1514u, 2101u}) {
    Bench bench;
    bench.path.faults.mtu_out = bytes;
    bench.path.faults.mtu_back = bytes - 1;
    const PathResult result = bench.Measure();
    EXPECT_EQ(result.planes[0].classes[0].lengths.out, bytes);
    EXPECT_EQ(result.planes[0].classes[0].lengths.back, bytes - 1);
  }
}

TEST(PathTest, TheThresholdOfMarksIsADelayAndItsBytes) {
  Bench bench;
  bench.disruptive = true;
  bench.path.faults.mark_from = 64;
  const PathResult result = bench.Measure();
  const std::vector<BurstRow>& rows = result.planes[0].classes[0].bursts;
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].marked, 0u);
  EXPECT_EQ(rows[1].marked, 64u);
  EXPECT_NEAR(static_cast<double>(*rows[1].first_mark_ns), 64e3, 500);
  for (const PathFinding& finding : JudgePath(result)) {
    if (finding.check != "ECN marks") continue;
    EXPECT_NE(finding.measured.find(", first at 64 us ("), std::string::npos) << finding.measured;
  }
}

TEST(PathTest, APauseOfOneClassThatStopsAnotherIsFound) {
  ProbeFigures alone{.sent = 64, .answered = 64, .rtt = TimeSpread{10000, 11000, 12000, 13000}};
  ProbeFigures beside = alone;
  beside.rtt = TimeSpread{10000, 900000, 990000, 1000000};
  const auto verdict = [&](uint64_t paused_ns, uint32_t lost) {
    PlaneResult plane{.plan = UdpPlan(), .state = "done"};
    ClassResult& of = plane.classes.emplace_back();
    of.of = plane.plan.classes[0];
    of.bursts = {{.count = 32, .sent = 32}};
    beside.lost_out = lost;
    of.isolation =
        IsolationResult{.other = "ack", .alone = alone, .beside = beside, .paused_ns = paused_ns};
    std::vector<PathFinding> findings;
    JudgeLoad(plane, 2, &findings);
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [](const auto& f) { return f.check == "isolation"; });
    return found->verdict;
  };
  EXPECT_EQ(verdict(0, 0), PathVerdict::kOk);
  EXPECT_EQ(verdict(1000000, 0), PathVerdict::kFail);
  EXPECT_EQ(verdict(0, 3), PathVerdict::kFail);
}

TEST(PathTest, FramesForThePeerAtOthersAreFlooded) {
  PlaneResult plane{.plan = UdpPlan(), .state = "done"};
  plane.bystanders = {{.socket = "a", .foreign = 900, .sent = 1000},
                      {.socket = "b", .foreign = 9, .sent = 1000}};
  std::vector<PathFinding> findings;
  JudgeStrangers(plane, &findings);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].verdict, PathVerdict::kFail);
  EXPECT_EQ(findings[1].verdict, PathVerdict::kOk);
}

// ---- Figures of a run.

PathProbe Probe(uint32_t number, uint32_t order, uint32_t session = 0) {
  return {.number = number,
          .session = session,
          .answered = true,
          .sent_ns = number * 1000,
          .received_ns = number * 1000 + 70,
          .returned_ns = number * 1000 + 100,
          .order = order};
}

TEST(PathFiguresTest, LossesAreSplitByTheCountOfThePeer) {
  ProbeRun run{.state = "done"};
  run.probes = {Probe(0, 0xfffffffe),
                Probe(1, 0xffffffff),
                {.number = 2},
                Probe(3, 1),
                {.number = 4},
                Probe(5, 2),
                {.number = 6, .lost_here = true}};
  const ProbeFigures figures = FiguresOf(run);
  EXPECT_EQ(figures.sent, 6u);
  EXPECT_EQ(figures.lost_here, 1u);
  EXPECT_EQ(figures.answered, 4u);
  EXPECT_EQ(figures.lost_back, 1u);  // order 0 arrived, and its report did not
  EXPECT_EQ(figures.lost_out, 1u);
  EXPECT_EQ(figures.reordered, 0u);
  EXPECT_EQ(figures.rtt->median_ns, 100);
  EXPECT_EQ(figures.jitter_out_ns, 0);
}

TEST(PathFiguresTest, LossesAtTheEndsCountAsMostOfTheOthers) {
  ProbeRun run{.state = "done"};
  run.probes = {{.number = 0}, Probe(1, 1), {.number = 2}, Probe(3, 3), {.number = 4}};
  EXPECT_EQ(FiguresOf(run).lost_back, 3u);
  run.probes[3].order = 2;
  EXPECT_EQ(FiguresOf(run).lost_out, 3u);
}

TEST(PathFiguresTest, SessionsMayOvertakeEachOther) {
  ProbeRun run{.state = "done"};
  run.probes = {Probe(0, 1, 0), Probe(1, 0, 1), Probe(2, 3, 0), Probe(3, 2, 1)};
  EXPECT_EQ(FiguresOf(run).reordered, 0u);
  run.probes = {Probe(0, 2, 0), Probe(1, 0, 1), Probe(2, 1, 0)};
  EXPECT_EQ(FiguresOf(run).reordered, 1u);
  EXPECT_EQ(SessionsOf({run}).at(0).reordered, 1u);
  EXPECT_EQ(SessionsOf({run}).at(1).reordered, 0u);
}

TEST(PathFiguresTest, ASessionHasItsTwoSmallestDelays) {
  ProbeRun run{.state = "done"};
  for (const int64_t delay_ns : {90, 70, 70, 100}) {
    PathProbe probe = Probe(static_cast<uint32_t>(run.probes.size()), 0);
    probe.received_ns = probe.sent_ns + delay_ns;
    run.probes.push_back(probe);
  }
  const SessionRow row = SessionsOf({run}).at(0);
  EXPECT_EQ(row.answered, 4u);
  EXPECT_EQ(row.out_min_ns, 70);
  EXPECT_EQ(row.out_next_ns, 70);
}

TEST(PathFiguresTest, CopiesAreDuplicates) {
  ProbeRun run{.state = "done"};
  run.probes = {Probe(0, 0), Probe(1, 2)};
  EXPECT_EQ(FiguresOf(run).duplicates, 1u);  // order 1 is a copy
  run.probes = {Probe(0, 0), Probe(1, 1)};
  run.probes[0].copies = 2;
  EXPECT_EQ(FiguresOf(run).duplicates, 1u);
}

TEST(PathFiguresTest, NonsenseOfTheDaemonIsNoHarm) {
  for (const char* text : {"{}", "[]", "7", R"({"state":7})", R"({"state":"done","probes":7})"}) {
    EXPECT_EQ(ParseProbeRun(Json::parse(text)).status().code(), absl::StatusCode::kUnavailable)
        << text;
  }
  const auto run = ParseProbeRun(Json::parse(
      R"({"state":"done","probes":[1,{"answered":1},{"answered":true,"there":7,"order":-1}],
          "drops":7,"own":[],"rate_bps":"fast"})"));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->probes.size(), 3u);
  EXPECT_EQ(FiguresOf(*run).answered, 1u);
  EXPECT_FALSE(run->drops || run->rate_bps);
}

// ---- Expectations.

TEST(PathPlanTest, ClassesWithTheSameMarksAreOne) {
  const auto task = PlanPath(kPathConfig, {.peer = 1});
  ASSERT_TRUE(task.ok()) << task.status();
  ASSERT_EQ(task->planes.size(), 1u);
  const PathPlan& plan = task->planes[0];
  EXPECT_EQ(plan.port, "p0");
  EXPECT_EQ(plan.encapsulation, "udp4");
  EXPECT_EQ(plan.max_bytes, 2102u);
  EXPECT_TRUE(plan.has_sessions);
  EXPECT_FALSE(plan.is_lossless || plan.trims);
  std::vector<std::string> names;
  for (const PathClass& of : plan.classes) names.push_back(of.name);
  EXPECT_EQ(names, (std::vector<std::string>{"VC 0,1", "VC 2", "VC 3", "ack"}));
  const auto second = PlanPath(kPathConfig, {.peer = 1, .traffic_class = 1});
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->planes[0].classes.size(), 1u);
  EXPECT_EQ(second->planes[0].classes[0].name, "VC 0,1");
}

TEST(PathPlanTest, ATagAndPfcAreExpected) {
  std::string config(kPathConfig);
  config.replace(config.find("mtu_bytes: 2088"), 15,
                 "mtu_bytes: 2088, vlan: {vid: 7}, pfc: software, bandwidth_gbps: 10, "
                 "trimmed_dscp: 1");
  config.replace(config.find("xpu: 0, lcore"), 6, "congestion: nscc, xpu: 0");
  const auto task = PlanPath(config, {.peer = 1});
  ASSERT_TRUE(task.ok()) << task.status();
  const PathPlan& plan = task->planes[0];
  EXPECT_EQ(plan.max_bytes, 2106u);
  EXPECT_TRUE(plan.is_lossless && plan.has_pfc && plan.trims);
  EXPECT_EQ(plan.congestion, PathCongestion::kNscc);
  EXPECT_EQ(plan.classes.size(), 5u);  // VC 1 has another PCP than VC 0
}

TEST(PathPlanTest, AChoiceWithNothingToProbeIsRefused) {
  EXPECT_NE(PlanPath(kPathConfig, {.peer = 5}).status().message().find("no peer with XPU id 5"),
            absl::string_view::npos);
  for (const PathChoice& choice :
       {PathChoice{.peer = 1, .xpu = 3}, PathChoice{.peer = 1, .plane = 1},
        PathChoice{.peer = 1, .instance = 9}}) {
    EXPECT_NE(PlanPath(kPathConfig, choice)
                  .status()
                  .message()
                  .find("no own instance has a plane to XPU 1 as given"),
              absl::string_view::npos);
  }
  EXPECT_FALSE(PlanPath("version: 7", {.peer = 1}).ok());
}

// ---- Output.

TEST(PathTextTest, LinesAreShortAndNameCauseAndRemedy) {
  Bench bench;
  bench.path.faults.mtu_out = 1514;
  bench.disruptive = true;
  bench.path.faults.queue = 100;
  const PathResult result = bench.Measure();
  const std::vector<PathFinding> findings = JudgePath(result);
  const std::string text = PathText(result, findings, 100);
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_NE(text.find("fail: plane 0, VC 0, length out: 1514 bytes; expected: 2102 bytes\n"
                      "  cause: a port on the way to the peer has a smaller MTU\n"
                      "  remedy: set the MTU"),
            std::string::npos)
      << text;
  const Json json = PathJson(result, findings);
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_EQ(json["planes"][0]["classes"][0]["max_bytes_out"], 1514);
  EXPECT_EQ(json["planes"][0]["classes"][0]["bursts"].size(), 4u);
  EXPECT_EQ(json["findings"].size(), findings.size());
}

}  // namespace
}  // namespace suede::ctl
