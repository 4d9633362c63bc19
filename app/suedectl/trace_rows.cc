// SPDX-License-Identifier: Apache-2.0
#include "suedectl/trace_rows.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "base/text.h"
#include "suedectl/json_members.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

constexpr double kNsPerUs = 1000;

// The names of a PDU that both ends know: XPUs of sender and receiver, VC, plane, PSN.
using PduKey = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;

bool IsSent(const Json& row) { return StringOf(row, "direction") == "tx"; }

PduKey PduKeyOf(const Json& row) {
  uint64_t from = NumberOr0(row, "xpu");
  uint64_t to = NumberOr0(row, "peer");
  if (!IsSent(row)) std::swap(from, to);
  return {from, to, NumberOr0(row, "vc"), NumberOr0(row, "plane"), NumberOr0(row, "psn")};
}

std::optional<int64_t> NsOf(const Json& row, const char* name) {
  const std::optional<uint64_t> ns = NumberOf(row, name);
  return ns ? std::optional(static_cast<int64_t>(*ns)) : std::nullopt;
}

// Returns the time of a stage since 1970; nullopt: not reached.
std::optional<int64_t> StageAt(const Json& row, const char* name) {
  const std::optional<int64_t> ns = NsOf(row, name);
  return ns ? std::optional(*ns + NsOf(row, "at_ns").value_or(0)) : std::nullopt;
}

Json Us(std::optional<int64_t> from_ns, std::optional<int64_t> to_ns) {
  if (!from_ns || !to_ns) return {};
  return static_cast<double>(*to_ns - *from_ns) / kNsPerUs;
}

Json WayOf(const Json& sent, const Json& received) {
  const std::optional<int64_t> queued = NsOf(sent, "at_ns");
  const std::optional<int64_t> left = StageAt(sent, "sent_ns");
  const std::optional<int64_t> arrived = NsOf(received, "at_ns");
  const std::optional<int64_t> delivered = StageAt(received, "delivered_ns");
  const auto& [from, to, vc, plane, psn] = PduKeyOf(sent);
  return Json{{"from", from},
              {"to", to},
              {"vc", vc},
              {"plane", plane},
              {"psn", psn},
              {"sender_us", Us(queued, left)},
              {"network_us", Us(left, arrived)},
              {"receiver_us", Us(arrived, delivered)},
              {"ring_to_ring_us", Us(queued, delivered)},
              {"program_us", Us(delivered, StageAt(received, "read_ns"))}};
}

int64_t Apart(const Json& sent, const Json& received) {
  return std::abs(NsOf(received, "at_ns").value_or(0) - StageAt(sent, "sent_ns").value_or(0));
}

// Returns the ways of PDUs: a sent row with the delivered row of the other end that is next to it
// in time.
Json WaysOf(const Json& rows, const Json& far_rows) {
  std::map<PduKey, std::vector<const Json*>> sent;
  std::map<PduKey, std::vector<const Json*>> received;
  for (const Json* list : {&rows, &far_rows}) {
    for (const Json& row : *list) (IsSent(row) ? sent : received)[PduKeyOf(row)].push_back(&row);
  }
  Json ways = Json::array();
  for (const auto& [key, of_key] : sent) {
    for (const Json* row : of_key) {
      const Json* next = nullptr;
      for (const Json* other : received[key]) {
        if (!StageAt(*other, "delivered_ns")) continue;
        if (next == nullptr || Apart(*row, *other) < Apart(*row, *next)) next = other;
      }
      if (next != nullptr) ways.push_back(WayOf(*row, *next));
    }
  }
  return ways;
}

std::string UsText(const Json& row, const char* name) {
  const std::optional<double> ns = RealOf(row, name);
  return ns ? Fixed(*ns / kNsPerUs, 2) : "-";
}

// Returns the rows of a direction as their table has them.
Json TableOf(const Json& rows, bool is_sent, const XpuNames& names) {
  Json table = Json::array();
  for (const Json& row : rows) {
    if (IsSent(row) != is_sent) continue;
    const std::string own = StrCat(NumberOr0(row, "xpu"), ".", NumberOr0(row, "instance"));
    Json line{{is_sent ? "from" : "to", own},
              {is_sent ? "to" : "from", NamedXpu(NumberOr0(row, "peer"), names)},
              {"vc", NumberOr0(row, "vc")},
              {"plane", NumberOr0(row, "plane")},
              {"psn", NumberOr0(row, "psn")},
              {"state", StringOf(row, "state")}};
    if (is_sent) {
      line["bytes"] = NumberOr0(row, "bytes");
      line["commands"] = NumberOr0(row, "commands");
      line["times"] = NumberOr0(row, "transmissions");
      line["staged_us"] = UsText(row, "staged_ns");
      line["sent_us"] = UsText(row, "sent_ns");
      line["acked_us"] = UsText(row, "acked_ns");
    } else {
      line["delivered_us"] = UsText(row, "delivered_ns");
      line["read_us"] = UsText(row, "read_ns");
    }
    table.push_back(std::move(line));
  }
  return table;
}

// Adds a table with its heading, if there are rows.
void AddSection(const char* heading, const Json& rows, size_t columns, std::string* text) {
  if (rows.empty()) return;
  StrAppend(text, text->empty() ? "" : "\n", heading, ":\n", ToText(Json{{"rows", rows}}, columns));
}

}  // namespace

Json TraceJson(const Json& own, const Json* far) {
  Json trace{{"rows", ListOf(own, "rows")}};
  if (far == nullptr) return trace;
  trace["far_rows"] = ListOf(*far, "rows");
  trace["ways"] = WaysOf(trace["rows"], trace["far_rows"]);
  return trace;
}

std::string TraceText(const Json& trace, size_t columns, const XpuNames& names) {
  std::string text;
  AddSection("sent", TableOf(ListOf(trace, "rows"), true, names), columns, &text);
  AddSection("received", TableOf(ListOf(trace, "rows"), false, names), columns, &text);
  AddSection("sent by the other end", TableOf(ListOf(trace, "far_rows"), true, names), columns,
             &text);
  AddSection("received by the other end", TableOf(ListOf(trace, "far_rows"), false, names), columns,
             &text);
  AddSection("ways from ring to reader", ListOf(trace, "ways"), columns, &text);
  if (text.empty()) return "no PDU was traced; suedectl trace add begins a trace\n";
  StrAppend(&text, "\ntimes: sent from queued on, received from received on (docs/trace.md)\n");
  return text;
}

void TraceTimes::Add(const Json& result) {
  for (const Json& row : ListOf(result, "rows")) {
    if (const std::optional<int64_t> ns = NsOf(row, "acked_ns")) acked_ns_.push_back(*ns);
    const std::optional<int64_t> delivered = NsOf(row, "delivered_ns");
    const std::optional<int64_t> read = NsOf(row, "read_ns");
    if (delivered && read) read_ns_.push_back(*read - *delivered);
  }
}

std::optional<double> TraceTimes::Median(std::vector<int64_t> ns) {
  if (ns.empty()) return std::nullopt;
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2);
  std::nth_element(ns.begin(), middle, ns.end());
  return static_cast<double>(*middle) / kNsPerUs;
}

}  // namespace suede::ctl
