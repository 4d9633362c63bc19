// SPDX-License-Identifier: Apache-2.0
// The method that reads a recording of the endpoint's load.
#include <optional>
#include <string>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/record_columns.h"

namespace suede {
namespace {

// Time between two checks for samples: answers have several of them.
constexpr int64_t kSamplesPeriodMs = 50;

constexpr Param kRecordRead[] = {
    Param::Integer("interval_us", "Interval of the samples.", 100, 10'000'000, "1000"),
    Param::Integer("since", "Only samples after this one: `next` of the answer before.", 0,
                   int64_t{1} << 53),
    Param::Integer("seconds", "How long to wait; then the answer has no samples.", 0, 60, "1"),
};

Answer ReadSamples(Call& call) {
  EndpointView& endpoint = call.endpoint();
  const Arguments& a = call.arguments;
  absl::StatusOr<uint64_t> newest = endpoint.Record(*Given(a, "interval_us"));
  if (!newest.ok()) return newest.status();
  const uint64_t since = a.Has("since") ? static_cast<uint64_t>(a.Integer("since")) : *newest;
  if (since > *newest) {
    return absl::InvalidArgumentError(
        StrCat("since: the newest sample is ", *newest,
               "; the daemon has started anew since then, so leave it out"));
  }
  auto poll = [&endpoint, since](bool is_last) -> std::optional<Outcome> {
    RecordPage page = endpoint.ReadRecord(since);
    if (page.csv.empty() && !is_last) return std::nullopt;
    return Outcome{.status = {}, .result = page.ToJson()};
  };
  return Answer::Waiting{.poll = std::move(poll),
                         .limit_ms = a.Integer("seconds") * 1000,
                         .period_ms = kSamplesPeriodMs};
}

constexpr Method kRecordMethods[] = {
    {.name = "record.read",
     .sentence = "Samples of the load by plane and VC (docs/record.md), as lines of CSV; without "
                 "`since` from now on. Begins a recording, which ends 5 s after it was last read.",
     .result = RecordPage::kMembers,
     .run = ReadSamples,
     .params = kRecordRead},
};

constexpr std::string_view kRecordScopeNames[] = {"plane, VC", "plane", "VC", "instance"};

}  // namespace

std::span<const Method> RecordMethods() { return kRecordMethods; }

std::string RecordHeader() {
  std::string header = "time_ns,xpu,instance,plane,vc";
  for (const RecordColumnRow& column : kRecordColumns) StrAppend(&header, ",", column.name);
  return header;
}

std::string RecordColumnsTable() {
  std::string table = "| column | unit | in rows of a | value | meaning |\n|---|---|---|---|---|\n";
  for (const RecordColumnRow& column : kRecordColumns) {
    StrAppend(&table, "| `", column.name, "` | ", column.unit, " | ",
              kRecordScopeNames[static_cast<size_t>(column.scope)], " | ",
              column.is_of_interval ? "in the interval" : "at its end", " | ", column.sentence,
              " |\n");
  }
  return table;
}

}  // namespace suede
