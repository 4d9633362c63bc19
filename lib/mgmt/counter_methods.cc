// SPDX-License-Identifier: Apache-2.0
// Methods that report counters: their values, and their growth.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"

namespace suede {
namespace {

using Clock = std::chrono::steady_clock;

// In the order of CounterScope.
constexpr std::string_view kScopes[] = {"total", "instance", "lcore", "port", "class"};
constexpr std::string_view kScopeChoices = "total|instance|lcore|port";
constexpr std::string_view kSwitchScopeChoices = "total|port|class";

constexpr Param kGet[] = {
    Param::Choice("scope", "Owners to tell apart.", kScopeChoices, "total"),
    Param::Boolean("nonzero_only", "Leaves out counters that are 0."),
};
constexpr Param kSwitchGet[] = {
    Param::Choice("scope", "Owners to tell apart; class: each port and class.", kSwitchScopeChoices,
                  "total"),
    Param::Boolean("nonzero_only", "Leaves out counters that are 0."),
    Param::Text("port", "With the scopes port and class: of this port alone.", 32),
    Param::Integer("class", "With the scope class: of this class alone.", 0, 7),
    Param::Text("reason",
                "Only the counters of drops and impairments for this reason: tail, loss, down, …",
                32),
};

CounterScope ScopeOf(const Arguments& arguments) {
  for (size_t i = 0; i < std::size(kScopes); ++i) {
    if (arguments.Text("scope") == kScopes[i]) return static_cast<CounterScope>(i);
  }
  return CounterScope::kTotal;
}

// Selects sets and counters.
struct Filter {
  bool nonzero_only = false;
  std::string port;    // empty: all
  std::string suffix;  // of CounterSetView::of: ".CLASS"
  std::string reason;

  bool Wants(const CounterSetView& set) const {
    if (!port.empty() && set.of != port && !set.of.starts_with(port + ".")) return false;
    return suffix.empty() || set.of.ends_with(suffix);
  }
  bool Wants(const CounterView& counter) const {
    if (nonzero_only && counter.value == 0) return false;
    if (reason.empty()) return true;
    for (const std::string_view prefix : {"rx_drop_", "class_drop_", "impair_"}) {
      if (counter.name == StrCat(prefix, reason, "_total")) return true;
    }
    return false;
  }
};

absl::StatusOr<Filter> FilterOf(const Call& call) {
  const Arguments& given = call.arguments;
  Filter filter{.nonzero_only = given.Boolean("nonzero_only")};
  if (call.daemon.kind() != DaemonKind::kSwitch) return filter;
  const std::string& scope = given.Text("scope");
  if (given.Has("port")) {
    if (scope == "total") return absl::InvalidArgumentError("port: the total is of all ports");
    filter.port = given.Text("port");
  }
  if (given.Has("class")) {
    if (scope != "class") return absl::InvalidArgumentError("class: give scope class, too");
    filter.suffix = StrCat(".", given.Integer("class"));
  }
  if (given.Has("reason")) filter.reason = given.Text("reason");
  return filter;
}

Json ToJson(const std::vector<CounterSetView>& sets, const Filter& filter) {
  Json list = Json::array();
  for (const CounterSetView& set : sets) {
    if (!filter.Wants(set)) continue;
    Json counters = Json::object();
    // Bypasses operator[], which would compare each name with all previous ones.
    auto& members = counters.get_ref<Json::object_t&>();
    for (const CounterView& counter : set.counters) {
      if (!filter.Wants(counter)) continue;
      members.push_back({std::string(counter.name), Json(counter.value)});
    }
    Json one = Json::object();
    if (!set.of.empty()) one["of"] = set.of;
    one["counters"] = std::move(counters);
    list.push_back(std::move(one));
  }
  return list;
}

Answer Get(Call& call) {
  const absl::StatusOr<Filter> filter = FilterOf(call);
  if (!filter.ok()) return filter.status();
  const CounterScope scope = ScopeOf(call.arguments);
  return Json{{"scope", call.arguments.Text("scope")},
              {"sets", ToJson(call.daemon.Counters(scope), *filter)}};
}

// Values at the last call of a connection.
struct Seen {
  Clock::time_point at;
  std::vector<CounterSetView> sets;
};
using Memory = std::array<std::optional<Seen>, std::size(kScopes)>;

Answer Delta(Call& call) {
  const absl::StatusOr<Filter> filter = FilterOf(call);
  if (!filter.ok()) return filter.status();
  if (!call.memory.has_value()) call.memory = Memory();
  const CounterScope scope = ScopeOf(call.arguments);
  std::optional<Seen>& last = (*std::any_cast<Memory>(&call.memory))[static_cast<size_t>(scope)];
  Seen now{.at = Clock::now(), .sets = call.daemon.Counters(scope)};
  std::vector<CounterSetView> grown = now.sets;
  Json seconds;
  if (last) {
    for (size_t s = 0; s < std::min(grown.size(), last->sets.size()); ++s) {
      const std::vector<CounterView>& before = last->sets[s].counters;
      std::vector<CounterView>& counters = grown[s].counters;
      for (size_t c = 0; c < std::min(counters.size(), before.size()); ++c) {
        counters[c].value -= before[c].value;
      }
    }
    seconds = std::chrono::duration<double>(now.at - last->at).count();
  }
  last = std::move(now);
  return Json{{"scope", call.arguments.Text("scope")},
              {"seconds", std::move(seconds)},
              {"sets", ToJson(grown, *filter)}};
}

constexpr Member kScope = Member::Choice("scope", kScopeChoices);
constexpr Member kSwitchScope = Member::Choice("scope", kSwitchScopeChoices);
constexpr Member kSetRow[] = {
    Member::Text("of", "whose").Only("where the scope is not total"),
    Member::Map("counters", Member::Type::kInteger, "name to value"),
};
constexpr Member kSets = Member::Rows("sets", kSetRow);
constexpr Member kGrowthTime =
    Member::Number("seconds", "since the call before").Unit("s").OrNull("there was none");
constexpr Member kCountersResult[] = {kScope, kSets};
constexpr Member kDeltaResult[] = {kScope, kGrowthTime, kSets};
constexpr Member kSwitchCountersResult[] = {kSwitchScope, kSets};
constexpr Member kSwitchDeltaResult[] = {kSwitchScope, kGrowthTime, kSets};

constexpr Method GetMethod(std::span<const Param> params, std::span<const Member> result) {
  return {"counters.get", "Counters since the daemon started.", result, Get, params};
}
constexpr Method DeltaMethod(std::span<const Param> params, std::span<const Member> result) {
  return {"counters.delta",
          "Growth of counters since the last call of this connection with the scope; at first "
          "their values.",
          result, Delta, params};
}
constexpr Method kCounterMethods[] = {GetMethod(kGet, kCountersResult),
                                      DeltaMethod(kGet, kDeltaResult)};
constexpr Method kSwitchCounterMethods[] = {GetMethod(kSwitchGet, kSwitchCountersResult),
                                            DeltaMethod(kSwitchGet, kSwitchDeltaResult)};

}  // namespace

std::span<const Method> CounterMethods() { return kCounterMethods; }
std::span<const Method> SwitchCounterMethods() { return kSwitchCounterMethods; }

}  // namespace suede
