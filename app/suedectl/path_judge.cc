// SPDX-License-Identifier: Apache-2.0
// Whether frames arrive: state of the plane, classes, losses, order, lengths.
#include "suedectl/path_judge.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text.h"

namespace suede::ctl {
namespace {

constexpr double kFailShare = 0.01;  // of lost, or reordered frames
constexpr int64_t kMinSlowNs = 20'000;

struct Reason {
  std::string_view state;
  std::string_view measured;
  std::string_view cause;
  std::string_view remedy;
};
constexpr Reason kReasons[] = {
    {"down", "not probed: port, plane or instance is set down", "an operator has set it down",
     "suedectl ports set_admin, or planes restore"},
    {"no_link", "not probed: no link", "no cable, or the switch's port is down",
     "check the cable and the switch's port"},
    {"no_mac", "not probed: MAC address not resolved",
     "the peer's MAC address is not known: neither configured nor answered by ARP",
     "state peers[].ports[].mac, or check the VLAN of the switch's ports"},
    {"no_association", "not probed: no association",
     "no HELLO was answered: VLAN, addresses or PDUs without commands dropped, or the peer is down",
     "suedectl ping; then the switch's VLAN, static addresses and the class of acknowledgements"},
    {"no_consent", "not probed: the peer answers no probes",
     "transport.path_probes_per_s of the peer is 0, or its version has no probes",
     "set transport.path_probes_per_s at the peer"},
};

std::string Share(uint32_t part, uint32_t whole) {
  char text[64];
  std::snprintf(text, sizeof text, "%u of %u (%.2g %%)", part, whole,
                whole == 0 ? 0.0 : 100.0 * part / whole);
  return text;
}

PathVerdict BySize(uint32_t part, uint32_t whole) {
  return part < kFailShare * whole ? PathVerdict::kWarn : PathVerdict::kFail;
}

// Appends findings on one class.
class OfClass {
 public:
  OfClass(const PlaneResult& plane, const ClassResult& of, std::vector<PathFinding>& out)
      : plane_(plane), of_(of), out_(out) {}

  void Silence() {
    PathFinding& finding = Add("class", "no probe was answered", "answers");
    finding.verdict = PathVerdict::kFail;
    if (of_.arrived.value_or(0) != 0) {
      StrAppend(&finding.measured, "; ", *of_.arrived, " arrived");
      finding.cause = "the switch drops the class in the direction back, from the peer";
    } else if (of_.arrived) {
      finding.cause = "the switch drops the class in the direction out, to the peer";
    } else {
      finding.cause = "a switch drops the class";
    }
    finding.remedy =
        "map its DSCP and PCP to a class with a queue and buffer, on all ports of the way "
        "(docs/switches.md, classes)";
  }

  void Losses() {
    const ProbeFigures& figures = of_.figures;
    if (figures.lost_here != 0) {
      PathFinding& finding =
          Add("own port", StrCat(figures.lost_here, " probes found no room"), "none");
      finding.verdict = PathVerdict::kUnknown;
      finding.cause = "the own port is busy, or paused in this class";
      finding.remedy = "repeat it with less traffic; suedectl ports list shows pauses";
    }
    Loss("loss out", figures.lost_out, "to the peer");
    Loss("loss back", figures.lost_back, "from the peer");
    PathFinding& order = Add("order", Share(figures.reordered, figures.answered), "0");
    if (figures.reordered != 0) {
      order.verdict = BySize(figures.reordered, figures.answered);
      order.cause = "frames of one flow take several paths: spraying per frame";
      order.remedy = "spread by flows: hash of addresses and UDP ports, no round robin";
    }
    PathFinding& copies = Add("duplicates", StrCat(figures.duplicates), "0");
    if (figures.duplicates != 0) {
      copies.verdict = PathVerdict::kWarn;
      copies.cause = "a loop, a mirror port, or flooding over two paths";
      copies.remedy = "look for loops and mirrors; give static addresses (docs/switches.md)";
    }
    PathFinding& corrupt = Add("corruption", StrCat(figures.crc), "0");
    if (figures.crc != 0) {
      corrupt.verdict = PathVerdict::kFail;
      corrupt.cause = "frames are changed behind the FCS check: memory or cable of a switch";
      corrupt.remedy = "counters of FCS errors along the way; replace the cable or the switch";
    }
  }

  // `fastest`: the class with the smallest round trip.
  void Slowness(const ClassResult& fastest) {
    const TimeSpread& own = *of_.figures.rtt;
    const TimeSpread& best = *fastest.figures.rtt;
    PathFinding& finding = Add("delay", StrCat("RTT ", MicrosText(own.min_ns), " us at least"), "");
    const int64_t noise = std::max(kMinSlowNs, best.p99_ns - best.min_ns);
    finding.expected =
        StrCat("below ", MicrosText(best.min_ns + std::max(noise, best.min_ns)), " us");
    if (own.min_ns <= 2 * best.min_ns || own.min_ns - best.min_ns <= noise) return;
    finding.verdict = PathVerdict::kWarn;
    finding.cause = StrCat("the class waits where ", fastest.of.name,
                           " does not: low weight, a full queue, or a policer");
    finding.remedy = "weights and priorities of the class; acknowledgements precede data";
  }

  void Lengths() {
    Length("length out", of_.lengths.out, "to");
    Length("length back", of_.lengths.back, "from");
  }

 private:
  PathFinding& Add(std::string_view check, std::string measured, std::string_view expected) {
    return AddFinding(out_, plane_, of_.of.name, check, std::move(measured), expected);
  }

  void Loss(std::string_view check, uint32_t lost, std::string_view direction) {
    PathFinding& finding = Add(check, Share(lost, of_.figures.sent), "0");
    if (lost == 0) return;
    finding.verdict = BySize(lost, of_.figures.sent);
    finding.cause = StrCat("small frames ", direction,
                           " are lost without load: bad cable, policer, or a dead path");
    finding.remedy = "drop and FCS counters of the ports on the way, by class";
  }

  void Length(std::string_view check, std::optional<uint32_t> bytes, std::string_view direction) {
    if (!bytes) return;
    const uint32_t limit = plane_.plan.max_bytes;
    const bool is_back = check == "length back";
    const uint32_t wanted = is_back ? of_.lengths.out.value_or(limit) : limit;
    PathFinding& finding = Add(check, StrCat(*bytes, " bytes"), StrCat(wanted, " bytes"));
    if (*bytes >= wanted) return;
    finding.verdict = PathVerdict::kFail;
    finding.cause = StrCat("a port on the way ", direction, " the peer has a smaller MTU");
    finding.remedy = StrCat("set the MTU of all ports on the way so that ", wanted,
                            " bytes pass (docs/switches.md, MTU)");
  }

  const PlaneResult& plane_;
  const ClassResult& of_;
  std::vector<PathFinding>& out_;
};

// Whether the plane could be probed; else adds the reason.
bool JudgeState(const PlaneResult& plane, std::vector<PathFinding>* out) {
  if (plane.state == "done") return true;
  PathFinding finding{.check = "state",
                      .plane = plane.plan.plane,
                      .of_class = {},
                      .verdict = PathVerdict::kFail,
                      .measured = StrCat("not probed: ", plane.state),
                      .expected = "probes are answered",
                      .cause = "the daemon cannot probe the plane",
                      .remedy = "suedectl planes peers"};
  for (const Reason& reason : kReasons) {
    if (plane.state != reason.state) continue;
    finding.measured = reason.measured;
    finding.cause = reason.cause;
    finding.remedy = reason.remedy;
  }
  out->push_back(std::move(finding));
  return false;
}

const ClassResult* FastestOf(const PlaneResult& plane) {
  const ClassResult* fastest = nullptr;
  for (const ClassResult& of : plane.classes) {
    if (!of.figures.rtt) continue;
    if (fastest == nullptr || of.figures.rtt->min_ns < fastest->figures.rtt->min_ns) fastest = &of;
  }
  return fastest;
}

}  // namespace

PathFinding& AddFinding(std::vector<PathFinding>& out, const PlaneResult& plane,
                        std::string_view of_class, std::string_view check, std::string measured,
                        std::string_view expected) {
  out.push_back({.check = std::string(check),
                 .plane = plane.plan.plane,
                 .of_class = std::string(of_class),
                 .measured = std::move(measured),
                 .expected = std::string(expected)});
  return out.back();
}

std::string_view NameOf(PathVerdict verdict) {
  constexpr std::string_view kNames[] = {"ok", "unknown", "warn", "fail"};
  return kNames[static_cast<size_t>(verdict)];
}

void JudgeReach(const PlaneResult& plane, std::vector<PathFinding>* out) {
  if (!JudgeState(plane, out)) return;
  const ClassResult* const fastest = FastestOf(plane);
  if (fastest == nullptr) {
    out->push_back({.check = "state",
                    .plane = plane.plan.plane,
                    .of_class = {},
                    .verdict = PathVerdict::kFail,
                    .measured = "no probe of any class was answered",
                    .expected = "answers",
                    .cause = "all frames are lost: VLAN, static addresses, or the peer is down",
                    .remedy = "suedectl ping; the switch's drop counters by reason"});
    return;
  }
  for (const ClassResult& of : plane.classes) {
    OfClass judge(plane, of, *out);
    if (of.figures.answered == 0 && of.figures.sent != 0) {
      judge.Silence();
      continue;
    }
    judge.Losses();
    if (&of != fastest && of.figures.rtt) judge.Slowness(*fastest);
    judge.Lengths();
  }
}

std::vector<PathFinding> JudgePath(const PathResult& result) {
  std::vector<PathFinding> findings;
  for (const PlaneResult& plane : result.planes) {
    JudgeReach(plane, &findings);
    if (plane.state == "done") {
      JudgeMarks(plane, &findings);
      JudgeFlows(plane, &findings);
      JudgeStrangers(plane, &findings);
      if (result.disruptive) JudgeLoad(plane, result.senders, &findings);
    }
    if (!plane.was_cut) continue;
    findings.push_back({.check = "bound",
                        .plane = plane.plan.plane,
                        .of_class = {},
                        .verdict = PathVerdict::kUnknown,
                        .measured = "not all experiments were run",
                        .expected = "all",
                        .cause = "the bound of time or frames was reached",
                        .remedy = "more --seconds, or one --plane or --class at a time"});
  }
  return findings;
}

PathVerdict WorstOf(const std::vector<PathFinding>& findings) {
  PathVerdict worst = PathVerdict::kOk;
  for (const PathFinding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace suede::ctl
