// SPDX-License-Identifier: Apache-2.0
#include "suedectl/top.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

// Returns a member of untrusted input; null if absent.
const Json& At(const Json& object, std::string_view name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto member = object.find(std::string(name));
  return member != object.end() ? *member : none;
}
const Json& ListAt(const Json& object, std::string_view name) {
  static const Json empty = Json::array();
  const Json& list = At(object, name);
  return list.is_array() ? list : empty;
}

std::optional<uint64_t> Number(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_number_integer()) return static_cast<uint64_t>(value.get<int64_t>());
  return std::nullopt;
}

// The counters of one owner in both samples.
class Counts {
 public:
  Counts(const TopSample& before, const TopSample& now, Json TopSample::*scope,
         std::string_view of)
      : before_(Find(before.*scope, of)), now_(Find(now.*scope, of)),
        seconds_(now.at_s - before.at_s) {}

  std::optional<uint64_t> Grown(std::string_view name) const {
    const std::optional<uint64_t> now = Number(At(now_, name));
    if (!now) return std::nullopt;
    return *now - std::min(*now, Number(At(before_, name)).value_or(0));
  }
  // Returns the rate per second, rounded to an integer; null if no counter exists.
  Json Rate(std::initializer_list<std::string_view> names, double factor = 1) const {
    std::optional<uint64_t> sum;
    for (const std::string_view name : names) {
      if (const auto grown = Grown(name)) sum = sum.value_or(0) + *grown;
    }
    if (!sum || !(seconds_ > 0)) return {};
    return static_cast<uint64_t>(std::llround(static_cast<double>(*sum) * factor / seconds_));
  }
  const Json& counters() const { return now_; }

 private:
  static const Json& Find(const Json& sets, std::string_view of) {
    for (const Json& set : ListAt(sets, "sets")) {
      const Json& owner = At(set, "of");
      if (of.empty() || (owner.is_string() && owner.get_ref<const std::string&>() == of)) {
        return At(set, "counters");
      }
    }
    static const Json none;
    return none;
  }

  const Json& before_;
  const Json& now_;
  const double seconds_;
};

std::string Text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : Dump(value);
}

Json Ports(const TopSample& before, const TopSample& now) {
  Json list = Json::array();
  for (const Json& port : ListAt(now.ports, "ports")) {
    const Counts counts(before, now, &TopSample::of_ports, Text(At(port, "name")));
    list.push_back(Json{{"port", At(port, "name")},
                        {"admin", At(port, "admin")},
                        {"link_up", At(port, "link_up")},
                        {"tx_frames_s", counts.Rate({"port_tx_frames_total"})},
                        {"tx_bits_s", counts.Rate({"port_tx_bytes_total"}, 8)},
                        {"rx_frames_s", counts.Rate({"port_rx_frames_total"})},
                        {"rx_bits_s", counts.Rate({"port_rx_bytes_total"}, 8)},
                        {"missed_s", counts.Rate({"port_rx_missed_total",
                                                  "port_rx_no_buffer_total"})},
                        {"errors_s", counts.Rate({"port_rx_errors_total", "port_tx_errors_total",
                                                  "port_rx_oversize_total"})},
                        {"pool_free", At(port, "pool_free")}});
  }
  return list;
}

Json Instances(const TopSample& before, const TopSample& now) {
  Json list = Json::array();
  for (const Json& set : ListAt(now.of_instances, "sets")) {
    const Counts counts(before, now, &TopSample::of_instances, Text(At(set, "of")));
    list.push_back(Json{{"instance", At(set, "of")},
                        {"tx_commands_s", counts.Rate({"tx_commands_total"})},
                        {"tx_bytes_s", counts.Rate({"tx_command_bytes_total"})},
                        {"rx_commands_s", counts.Rate({"rx_commands_total"})},
                        {"rx_bytes_s", counts.Rate({"rx_command_bytes_total"})},
                        {"retransmissions_s", counts.Rate({"tx_retransmissions_total"})}});
  }
  return list;
}

Json Planes(const TopSample& now) {
  Json list = Json::array();
  for (const Json& plane : ListAt(now.planes, "planes")) {
    Json row = Json::object();
    for (const char* member : {"xpu", "instance", "plane", "port", "admin", "state", "weight",
                               "peers_up", "peers_down", "inflight_bytes"}) {
      row[member] = At(plane, member);
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json Lcores(const TopSample& before, const TopSample& now) {
  Json list = Json::array();
  for (const Json& set : ListAt(now.of_lcores, "sets")) {
    const Counts counts(before, now, &TopSample::of_lcores, Text(At(set, "of")));
    const auto busy = counts.Grown("busy_cycles_total");
    const auto idle = counts.Grown("idle_cycles_total");
    Json share;  // fraction of time, 0 to 1
    if (busy && idle && *busy + *idle != 0) {
      share = static_cast<double>(*busy) / static_cast<double>(*busy + *idle);
    }
    list.push_back(Json{{"lcore", At(set, "of")},
                        {"busy", std::move(share)},
                        {"tx_frames_s", counts.Rate({"tx_frames_total"})},
                        {"rx_frames_s", counts.Rate({"rx_frames_total"})}});
  }
  return list;
}

// Returns a key that identifies a connection within an endpoint.
std::string KeyOf(const Json& connection) {
  std::string key;
  for (const char* part : {"xpu", "instance", "peer", "plane", "vc"}) {
    StrAppend(&key, Dump(At(connection, part)), " ");
  }
  return key;
}

// Whether the view selects the row.
bool IsShown(const TopView& view, const Json& row) {
  const Json& plane = At(row, "plane");
  if (view.plane >= 0 && !plane.is_null() && Number(plane) != static_cast<uint64_t>(view.plane)) {
    return false;
  }
  if (view.filter.empty()) return true;
  std::string text;
  for (const auto& member : row.items()) {
    StrAppend(&text, text.empty() ? "" : " ", member.key(), "=", Text(member.value()));
  }
  return text.find(view.filter) != std::string::npos;
}

Json Shown(const TopView& view, Json list) {
  Json shown = Json::array();
  for (Json& row : list) {
    if (IsShown(view, row)) shown.push_back(std::move(row));
  }
  return shown;
}

double KeyOf(TopSort sort, uint64_t load, const Json& row) {
  const auto number = [&](const char* name) {
    const Json& value = At(row, name);
    return value.is_number() ? value.get<double>() : 0;
  };
  switch (sort) {
    case TopSort::kLoad:
      break;
    case TopSort::kRetransmissions:
      return number("retransmissions_s");
    case TopSort::kUnacked:
      return number("unacked_pdus");
    case TopSort::kRtt:
      return number("srtt_us");
    case TopSort::kPeer:
      return -number("peer");
  }
  return static_cast<double>(load);
}

Json Peers(const TopSample& before, const TopSample& now, const TopView& view) {
  const double seconds = now.at_s - before.at_s;
  std::unordered_map<std::string, const Json*> old;
  for (const Json& connection : ListAt(before.connections, "connections")) {
    old.emplace(KeyOf(connection), &connection);
  }
  std::vector<std::pair<double, Json>> rows;
  for (const Json& connection : ListAt(now.connections, "connections")) {
    const auto was = old.find(KeyOf(connection));
    uint64_t sum = 0;
    const auto rate = [&](const char* name) -> Json {
      const auto count = Number(At(connection, name));
      if (!count || !(seconds > 0)) return {};
      const uint64_t past = was != old.end() ? Number(At(*was->second, name)).value_or(0) : 0;
      const auto grown = static_cast<uint32_t>(*count - past);  // the counters wrap at 2^32
      sum += grown;
      return static_cast<uint64_t>(std::llround(grown / seconds));
    };
    Json row{{"xpu", At(connection, "xpu")},   {"instance", At(connection, "instance")},
             {"peer", At(connection, "peer")}, {"plane", At(connection, "plane")},
             {"vc", At(connection, "vc")},     {"state", At(connection, "state")}};
    row["tx_pdus_s"] = rate("tx_pdus");
    row["rx_pdus_s"] = rate("rx_pdus");
    row["retransmissions_s"] = rate("retransmissions");
    row["unacked_pdus"] = At(connection, "unacked_pdus");
    row["srtt_us"] = At(connection, "srtt_us");
    if (IsShown(view, row)) rows.emplace_back(KeyOf(view.sort, sum, row), std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json list = Json::array();
  for (size_t i = 0; i < std::min<size_t>(rows.size(), view.peers); ++i) {
    list.push_back(std::move(rows[i].second));
  }
  return list;
}

// Returns the drop counters that increased between the samples.
Json Drops(const TopSample& before, const TopSample& now) {
  const Counts counts(before, now, &TopSample::total, "");
  Json list = Json::array();
  if (!counts.counters().is_object()) return list;
  for (const auto& counter : counts.counters().items()) {
    const std::string& name = counter.key();
    if (name.find("_drop_") == std::string::npos || counts.Grown(name).value_or(0) == 0) continue;
    list.push_back(Json{{"drop", name}, {"per_s", counts.Rate({name})}});
  }
  return list;
}

}  // namespace

TopView ViewOf(const ForeignJson& params) {
  TopView view;
  if (params.contains("peers")) view.peers = params["peers"].get<uint32_t>();
  if (params.contains("filter")) view.filter = params["filter"].get<std::string>();
  if (params.contains("plane")) view.plane = params["plane"].get<int>();
  if (params.contains("sort")) {
    const auto found = std::ranges::find(kTopSorts, params["sort"].get<std::string>());
    if (found != kTopSorts.end()) view.sort = static_cast<TopSort>(found - kTopSorts.begin());
  }
  return view;
}

Json MakeTop(const TopSample& before, const TopSample& now, const TopView& view) {
  return Json{{"name", At(now.version, "name")},
              {"uptime_s", At(now.version, "uptime_s")},
              {"seconds", now.at_s - before.at_s},
              {"clients", ListAt(now.clients, "clients").size()},
              {"connections", ListAt(now.connections, "connections").size()},
              {"ports", Shown(view, Ports(before, now))},
              {"instances", Shown(view, Instances(before, now))},
              {"planes", Shown(view, Planes(now))},
              {"lcores", Shown(view, Lcores(before, now))},
              {"peers", Peers(before, now, view)},
              {"drops", Shown(view, Drops(before, now))}};
}

std::string TopText(const Json& top, size_t columns, const XpuNames& names) {
  std::string out = StrCat("endpoint ", Text(At(top, "name")), "  up ", Text(At(top, "uptime_s")),
                           " s  clients ", Text(At(top, "clients")), "  connections ",
                           Text(At(top, "connections")), "\n");
  for (const char* list : {"ports", "instances", "planes", "lcores", "peers", "drops"}) {
    const Json rows{{list, ListAt(top, list)}};
    StrAppend(&out, "\n", ToText(WithNames(rows, names), columns));
  }
  return out;
}

}  // namespace suede::ctl
