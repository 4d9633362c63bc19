// SPDX-License-Identifier: Apache-2.0
// Bursts: marks, trimming, pauses, losses, and their effect on other classes.
#include <algorithm>

#include "base/text.h"
#include "suedectl/path_judge.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

// Sums over the bursts of a class.
struct BurstSum {
  uint32_t sent = 0;
  uint32_t lost = 0;
  uint32_t marked = 0;
  uint64_t trimmed = 0;
  uint64_t pfc = 0;
  uint64_t credit_waits = 0;
  const BurstRow* first_loss = nullptr;  // the smallest burst with a loss
  const BurstRow* first_mark = nullptr;
};

BurstSum SumOf(const std::vector<BurstRow>& rows) {
  BurstSum sum;
  for (const BurstRow& row : rows) {
    sum.sent += row.sent;
    sum.lost += row.lost_out;
    sum.marked += row.marked;
    sum.trimmed += row.trimmed;
    sum.pfc += row.pfc;
    sum.credit_waits += row.credit_waits;
    if (row.lost_out != 0 && sum.first_loss == nullptr) sum.first_loss = &row;
    if (row.marked != 0 && sum.first_mark == nullptr) sum.first_mark = &row;
  }
  return sum;
}

class Load {
 public:
  Load(const PlaneResult& plane, const ClassResult& of, std::vector<PathFinding>& out)
      : plane_(plane), of_(of), out_(out), sum_(SumOf(of.bursts)) {}

  void Judge(uint32_t senders) {
    if (plane_.plan.is_lossless)
      Lossless();
    else
      Lossy();
    Ecn();
    Trimming();
    if (of_.isolation) Isolation(*of_.isolation);
    if (of_.pause) Pause(*of_.pause);
    const bool built_queue =
        sum_.lost + sum_.marked + sum_.trimmed + sum_.pfc + sum_.credit_waits != 0;
    if (built_queue || senders > 1) return;
    PathFinding& finding = Add("incast", "no queue was seen", "thresholds of the switch");
    finding.verdict = PathVerdict::kUnknown;
    finding.cause = "one sender at the rate of the peer's port fills no queue";
    finding.remedy = "give a second sender: --with SOCKET";
  }

 private:
  PathFinding& Add(std::string_view check, std::string measured, std::string_view expected) {
    return AddFinding(out_, plane_, of_.of.name, check, std::move(measured), expected);
  }

  std::string Losses() const {
    std::string text = StrCat(sum_.lost, " of ", sum_.sent, " lost");
    if (sum_.first_loss != nullptr) {
      StrAppend(&text, ", from ", sum_.first_loss->count, " frames on");
    }
    return text;
  }

  void Lossless() {
    PathFinding& finding = Add(
        "lossless",
        StrCat(Losses(), "; ", sum_.pfc, " PFC frames, ", sum_.credit_waits, " waits for credit"),
        "no loss");
    if (sum_.lost == 0) return;
    finding.verdict = PathVerdict::kFail;
    if (sum_.pfc + sum_.credit_waits == 0) {
      finding.cause = "the class is not lossless in the switch: it drops, and pauses nobody";
      finding.remedy = "PFC on the port, and the class among the lossless ones";
    } else {
      finding.cause = "too little headroom, or the class shares its queue with a lossy one";
      finding.remedy = "headroom for rate, cable and 32 frames of the endpoint (docs/pfc.md)";
    }
  }

  void Lossy() {
    PathFinding& finding = Add("overflow", Losses(), "any");
    if (sum_.pfc == 0) return;
    StrAppend(&finding.measured, "; ", sum_.pfc, " PFC frames");
    finding.verdict = PathVerdict::kWarn;
    finding.expected = "no pauses";
    finding.cause = "the switch pauses a class that the own port does not pause (ports[].pfc off)";
    finding.remedy = "set ports[].pfc, or take the class out of the lossless ones";
  }

  void Ecn() {
    std::string measured = StrCat(sum_.marked, " of ", sum_.sent, " marked");
    if (sum_.first_mark != nullptr) {
      const int64_t delay_ns = sum_.first_mark->first_mark_ns.value_or(0);
      StrAppend(&measured, ", first at ", Fixed(static_cast<double>(delay_ns) / 1000, 0), " us");
      const std::optional<uint64_t> rate =
          plane_.rate_bps ? plane_.rate_bps : sum_.first_mark->rate_bps;
      if (rate) {
        const double bytes = static_cast<double>(delay_ns) * static_cast<double>(*rate) / 8e9;
        StrAppend(&measured, " (", Fixed(bytes, 0), " bytes)");
      }
    }
    PathFinding& finding = Add("ECN marks", measured, "");
    const PathCongestion congestion = plane_.plan.congestion;
    finding.expected = congestion == PathCongestion::kNscc   ? "marks before losses"
                       : congestion == PathCongestion::kRccc ? "no marks"
                                                             : "any";
    if (congestion == PathCongestion::kRccc && sum_.marked != 0) {
      finding.verdict = PathVerdict::kWarn;
      finding.cause = "the last hop marks although the receiver grants credit (rccc)";
      finding.remedy = "no ECN at ports towards endpoints, or congestion: nscc";
    } else if (congestion == PathCongestion::kNscc && sum_.marked == 0 &&
               sum_.lost + sum_.pfc + sum_.trimmed != 0) {
      finding.verdict = PathVerdict::kFail;
      finding.cause = "a queue grows until it drops or pauses, and marks nothing";
      finding.remedy = "ECN for the class, with a threshold below that of drops and pauses";
    }
  }

  void Trimming() {
    PathFinding& finding = Add("trimming", StrCat(sum_.trimmed, " frames"), "any");
    if (plane_.plan.trims && !plane_.plan.is_lossless && sum_.lost != 0 && sum_.trimmed == 0) {
      finding.verdict = PathVerdict::kWarn;
      finding.expected = "trimmed instead of lost";
      finding.cause = "the switch drops frames that it should trim";
      finding.remedy = "trim the DSCP of the class to ports[].trimmed_dscp (docs/switches.md)";
    } else if (!plane_.plan.trims && sum_.trimmed != 0) {
      finding.verdict = PathVerdict::kWarn;
      finding.expected = "none";
      finding.cause = "the switch trims, and ports[].trimmed_dscp is not set";
      finding.remedy = "set ports[].trimmed_dscp at both ends, or no trimming";
    }
  }

  void Isolation(const IsolationResult& isolation) {
    const ProbeFigures& beside = isolation.beside;
    std::string measured =
        StrCat(isolation.other, ": ", beside.lost(), " of ", beside.sent, " lost");
    if (beside.rtt && isolation.alone.rtt) {
      const auto median_us = [](const TimeSpread& rtt) {
        return Fixed(static_cast<double>(rtt.median_ns) / 1000, 0);
      };
      StrAppend(&measured, ", median RTT ", median_us(*beside.rtt), " us, alone ",
                median_us(*isolation.alone.rtt), " us");
    }
    PathFinding& finding = Add("isolation", measured, "no loss, and no wait, beside a burst");
    if (!IsHeldUp(isolation) && beside.lost() <= isolation.alone.lost()) return;
    finding.verdict = PathVerdict::kFail;
    finding.cause = StrCat("a burst of ", of_.of.name, " stops or drops ", isolation.other,
                           ": one queue, pause or buffer for both");
    finding.remedy = "a queue and a reserve of its own for each class (docs/switches.md, classes)";
  }

  void Pause(const PauseResult& pause) {
    PathFinding& finding =
        Add("pauses", StrCat(pause.early, " of ", pause.answered, " reports came during a pause"),
            "none, but those on the way");
    if (pause.answered == 0) {
      finding.verdict = PathVerdict::kUnknown;
      finding.cause = "no probe was answered beside a pause of its class";
      finding.remedy = "see lossless and loss back: a switch that obeys has to keep the frames";
    } else if (2 * pause.early > pause.answered) {
      finding.verdict = PathVerdict::kFail;
      finding.cause = "the switch ignores pauses of the class, so a full endpoint loses frames";
      finding.remedy = "PFC in both directions on the port, for the priority of the class";
    }
  }

  // Whether the other class waited as long as the pauses of the burst took.
  static bool IsHeldUp(const IsolationResult& isolation) {
    if (isolation.paused_ns == 0 || !isolation.beside.rtt || !isolation.alone.rtt) return false;
    return isolation.beside.rtt->median_ns >
           isolation.alone.rtt->max_ns + static_cast<int64_t>(isolation.paused_ns / 2);
  }

  const PlaneResult& plane_;
  const ClassResult& of_;
  std::vector<PathFinding>& out_;
  const BurstSum sum_;
};

}  // namespace

void JudgeLoad(const PlaneResult& plane, uint32_t senders, std::vector<PathFinding>* out) {
  for (const ClassResult& of : plane.classes) {
    if (!of.bursts.empty()) Load(plane, of, *out).Judge(senders);
  }
}

}  // namespace suede::ctl
