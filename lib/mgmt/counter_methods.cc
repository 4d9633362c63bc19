// SPDX-License-Identifier: Apache-2.0
// Methods that show counters: their values, and their growth.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <vector>

#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kScopes[] = {"total", "instance", "lcore", "port"};
constexpr std::string_view kScopeChoices = "total|instance|lcore|port";

constexpr Param kGet[] = {
    Param::Choice("scope", "Owners to tell apart.", kScopeChoices, "total"),
    Param::Boolean("nonzero_only", "Leaves out counters that are 0."),
};

CounterScope ScopeOf(const Arguments& arguments) {
  for (size_t i = 0; i < std::size(kScopes); ++i) {
    if (arguments.Text("scope") == kScopes[i]) return static_cast<CounterScope>(i);
  }
  return CounterScope::kTotal;
}

Json ToJson(const std::vector<CounterSetView>& sets, const Arguments& arguments) {
  const bool nonzero_only = arguments.Boolean("nonzero_only");
  Json list = Json::array();
  for (const CounterSetView& set : sets) {
    Json counters = Json::object();
    // Written past operator[], which would compare each name with all before it.
    auto& members = counters.get_ref<Json::object_t&>();
    for (const CounterView& counter : set.counters) {
      if (nonzero_only && counter.value == 0) continue;
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
  const CounterScope scope = ScopeOf(call.arguments);
  return Json{{"scope", call.arguments.Text("scope")},
              {"sets", ToJson(call.endpoint.Counters(scope), call.arguments)}};
}

// The values that a connection saw last.
struct Seen {
  Clock::time_point at;
  std::vector<CounterSetView> sets;
};
using Memory = std::array<std::optional<Seen>, std::size(kScopes)>;

Answer Delta(Call& call) {
  if (!call.memory.has_value()) call.memory = Memory();
  const CounterScope scope = ScopeOf(call.arguments);
  std::optional<Seen>& last = (*std::any_cast<Memory>(&call.memory))[static_cast<size_t>(scope)];
  Seen now{.at = Clock::now(), .sets = call.endpoint.Counters(scope)};
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
              {"sets", ToJson(grown, call.arguments)}};
}

constexpr Member kScope = Member::Choice("scope", kScopeChoices);
constexpr Member kSetRow[] = {
    Member::Text("of", "whose").Only("where the scope is not total"),
    Member::Map("counters", Member::Type::kInteger, "name to value"),
};
constexpr Member kSets = Member::Rows("sets", kSetRow);
constexpr Member kCountersResult[] = {kScope, kSets};
constexpr Member kDeltaResult[] = {
    kScope, Member::Number("seconds", "since the call before").Unit("s").OrNull("there was none"),
    kSets};

constexpr Method kCounterMethods[] = {
    {.name = "counters.get",
     .sentence = "Counters since the daemon started.",
     .result = kCountersResult,
     .run = Get,
     .params = kGet},
    {.name = "counters.delta",
     .sentence = "The growth of counters since the last call of this connection with the same "
                 "scope; the first call gives their values.",
     .result = kDeltaResult,
     .run = Delta,
     .params = kGet},
};

}  // namespace

std::span<const Method> CounterMethods() { return kCounterMethods; }

}  // namespace suede
