// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

constexpr size_t kIndent = 8;  // of cause and remedy

double ToMicros(int64_t ns) { return static_cast<double>(ns) / 1000; }

std::string RttText(const ProbeFigures& figures) {
  if (!figures.rtt) return "-";
  return StrCat(MicrosText(figures.rtt->min_ns), "/", MicrosText(figures.rtt->median_ns), "/",
                MicrosText(figures.rtt->p99_ns));
}

std::string LengthText(const PathLengths& lengths) {
  const auto text = [](const std::optional<uint32_t>& bytes) {
    return bytes ? StrCat(*bytes) : std::string("?");
  };
  return lengths.out ? StrCat(text(lengths.out), "/", text(lengths.back)) : "-";
}

// Returns "kept", "changed" or "-", of both directions.
std::string FieldText(const std::vector<MarkRow>& rows, std::optional<uint32_t> PathMarks::*field) {
  std::array<std::string_view, 2> texts = {"-", "-"};
  for (const MarkRow& row : rows) {
    std::string_view& text = texts[row.back];
    if (row.sent.*field != row.received.*field)
      text = "changed";
    else if (row.sent.*field && text == "-")
      text = "kept";
  }
  return texts[0] == texts[1] ? std::string(texts[0]) : StrCat(texts[0], "/", texts[1]);
}

Json ClassRow(const ClassResult& of) {
  const ProbeFigures& figures = of.figures;
  return Json{{"class", of.of.name},
              {"sent", figures.sent},
              {"lost", StrCat(figures.lost_out, "/", figures.lost_back)},
              {"RTT us", RttText(figures)},
              {"jitter us",
               StrCat(MicrosText(figures.jitter_out_ns), "/", MicrosText(figures.jitter_back_ns))},
              {"reordered", figures.reordered},
              {"max bytes", LengthText(of.lengths)},
              {"DSCP", FieldText(of.marks, &PathMarks::dscp)},
              {"PCP", FieldText(of.marks, &PathMarks::pcp)},
              {"ECN", FieldText(of.marks, &PathMarks::ecn)}};
}

Json BurstJson(const BurstRow& row) {
  return Json{{"frames", row.count},
              {"sent", row.sent},
              {"lost", row.lost_out},
              {"marked", row.marked},
              {"first_mark_us", row.first_mark_ns ? Json(ToMicros(*row.first_mark_ns)) : Json()},
              {"max_delay_us", ToMicros(row.max_delay_ns)},
              {"trimmed", row.trimmed},
              {"pfc", row.pfc},
              {"paused_us", static_cast<double>(row.paused_ns) / 1000},
              {"credit_waits", row.credit_waits},
              {"rate_bps", row.rate_bps ? Json(*row.rate_bps) : Json()}};
}

std::string PlaneText(const PlaneResult& plane, size_t columns) {
  std::string text = StrCat("plane ", plane.plan.plane, " (", plane.plan.port, ", ",
                            plane.plan.encapsulation, "); out/back\n");
  if (plane.state != "done") return StrCat(text, "  not probed: ", plane.state, "\n");
  Json classes = Json::array();
  for (const ClassResult& of : plane.classes) classes.push_back(ClassRow(of));
  text += ToText(Json{{"classes", classes}}, columns);
  for (const ClassResult& of : plane.classes) {
    if (of.bursts.empty()) continue;
    Json bursts = Json::array();
    for (const BurstRow& row : of.bursts) bursts.push_back(BurstJson(row));
    StrAppend(&text, "bursts of ", of.of.name, "\n", ToText(Json{{"bursts", bursts}}, columns));
  }
  return text;
}

// Breaks a text behind `head` into lines of at most `columns`, all but the first one indented.
std::string Wrapped(std::string_view head, std::string_view text, size_t columns) {
  std::string out(head);
  size_t at = out.size();
  for (const std::string_view word : Split(text, ' ')) {
    if (at + 1 + word.size() > columns) {
      out.append("\n").append(kIndent, ' ');
      at = kIndent;
    } else {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out + "\n";
}

std::string FindingText(const PathFinding& finding, size_t columns) {
  const std::string of_class = finding.of_class.empty() ? "" : finding.of_class + ", ";
  const std::string what = StrCat("plane ", finding.plane, ", ", of_class, finding.check, ": ",
                                  finding.measured, "; expected: ", finding.expected);
  return StrCat(Wrapped(StrCat(NameOf(finding.verdict), ":"), what, columns),
                Wrapped("  cause:", finding.cause, columns),
                Wrapped("  remedy:", finding.remedy, columns));
}

size_t CountOf(const std::vector<PathFinding>& findings, PathVerdict verdict) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [verdict](const PathFinding& finding) { return finding.verdict == verdict; }));
}

Json FiguresJson(const ProbeFigures& figures) {
  const bool any = figures.rtt.has_value();
  return Json{{"sent", figures.sent},
              {"answered", figures.answered},
              {"lost_out", figures.lost_out},
              {"lost_back", figures.lost_back},
              {"duplicates", figures.duplicates},
              {"reordered", figures.reordered},
              {"rtt_min_us", any ? Json(ToMicros(figures.rtt->min_ns)) : Json()},
              {"rtt_median_us", any ? Json(ToMicros(figures.rtt->median_ns)) : Json()},
              {"rtt_p99_us", any ? Json(ToMicros(figures.rtt->p99_ns)) : Json()},
              {"jitter_out_us", ToMicros(figures.jitter_out_ns)},
              {"jitter_back_us", ToMicros(figures.jitter_back_ns)}};
}

Json FieldJson(const std::optional<uint32_t>& field) { return field ? Json(*field) : Json(); }

Json MarksJson(const PathMarks& marks) {
  return Json{{"dscp", FieldJson(marks.dscp)},
              {"ecn", FieldJson(marks.ecn)},
              {"hops", FieldJson(marks.hops)},
              {"vid", FieldJson(marks.vid)},
              {"pcp", FieldJson(marks.pcp)}};
}

Json MarkRowsJson(const std::vector<MarkRow>& rows) {
  Json list = Json::array();
  for (const MarkRow& row : rows) {
    list.push_back({{"direction", row.back ? "back" : "out"},
                    {"sent", MarksJson(row.sent)},
                    {"received", MarksJson(row.received)},
                    {"frames", row.count}});
  }
  return list;
}

Json ClassJson(const ClassResult& of) {
  Json json = FiguresJson(of.figures);
  json["max_bytes_out"] = FieldJson(of.lengths.out);
  json["max_bytes_back"] = FieldJson(of.lengths.back);
  json["marks"] = MarkRowsJson(of.marks);
  json["bursts"] = Json::array();
  for (const BurstRow& row : of.bursts) json["bursts"].push_back(BurstJson(row));
  Json named{{"class", of.of.name}};
  named.update(json);
  return named;
}

Json FlowsJson(const std::optional<FlowResult>& flows) {
  if (!flows) return Json();
  const auto groups = [&flows](bool back) {
    const PathGroups of = GroupsOf(*flows, back);
    Json list = Json::array();
    for (size_t i = 0; i < of.sizes.size(); ++i) {
      list.push_back({{"sessions", of.sizes[i]}, {"slower_us", ToMicros(of.above_ns[i])}});
    }
    return list;
  };
  return Json{{"sessions", flows->sessions.size()},
              {"paths_out", groups(false)},
              {"paths_back", groups(true)}};
}

Json PlaneJson(const PlaneResult& plane) {
  Json classes = Json::array();
  for (const ClassResult& of : plane.classes) classes.push_back(ClassJson(of));
  return Json{{"plane", plane.plan.plane},
              {"port", plane.plan.port},
              {"encapsulation", plane.plan.encapsulation},
              {"state", plane.state},
              {"rate_bps", plane.rate_bps ? Json(*plane.rate_bps) : Json()},
              {"classes", classes},
              {"hops", MarkRowsJson(plane.hops)},
              {"flows", FlowsJson(plane.flows)}};
}

}  // namespace

std::string PathText(const PathResult& result, const std::vector<PathFinding>& findings,
                     size_t columns) {
  std::string text = StrCat("path from XPU ", result.xpu, ".", result.instance, " to XPU ",
                            result.peer_text, "\n");
  for (const PlaneResult& plane : result.planes) text += PlaneText(plane, columns);
  for (const PathVerdict verdict :
       {PathVerdict::kFail, PathVerdict::kWarn, PathVerdict::kUnknown}) {
    for (const PathFinding& finding : findings) {
      if (finding.verdict == verdict) text += FindingText(finding, columns);
    }
  }
  return StrCat(text, findings.size(), " checks: ", CountOf(findings, PathVerdict::kFail),
                " fail, ", CountOf(findings, PathVerdict::kWarn), " warn, ",
                CountOf(findings, PathVerdict::kUnknown), " unknown, ",
                CountOf(findings, PathVerdict::kOk), " ok; ", result.frames, " frames in ",
                Fixed(result.seconds, 1), " s\n");
}

Json PathJson(const PathResult& result, const std::vector<PathFinding>& findings) {
  Json planes = Json::array();
  for (const PlaneResult& plane : result.planes) planes.push_back(PlaneJson(plane));
  Json list = Json::array();
  for (const PathFinding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"plane", finding.plane},
                    {"class", finding.of_class.empty() ? Json() : Json(finding.of_class)},
                    {"verdict", NameOf(finding.verdict)},
                    {"measured", finding.measured},
                    {"expected", finding.expected},
                    {"cause", finding.cause},
                    {"remedy", finding.remedy}});
  }
  return Json{{"schema_version", 1},
              {"xpu", result.xpu},
              {"instance", result.instance},
              {"peer", result.peer},
              {"disruptive", result.disruptive},
              {"senders", result.senders},
              {"frames", result.frames},
              {"bytes", result.bytes},
              {"seconds", result.seconds},
              {"verdict", NameOf(WorstOf(findings))},
              {"planes", planes},
              {"findings", list}};
}

}  // namespace suede::ctl
