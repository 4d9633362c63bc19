// SPDX-License-Identifier: Apache-2.0
#include "endpoint/telemetry_commands.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

std::string NameOf(const Observer::InstanceCells& instance) {
  return absl::StrCat(instance.xpu, ".", instance.instance);
}

// Returns the own instance of that name; null: none.
const Observer::InstanceCells* FindInstance(const Observer& observer, std::string_view name) {
  for (const Observer::InstanceCells& instance : observer.instances()) {
    if (NameOf(instance) == name) return &instance;
  }
  return nullptr;
}

TelemetryDict ToDict(const CounterSnapshot& snapshot) {
  TelemetryDict dict;
  for (size_t i = 0; i < kCounterCount; ++i) {
    dict.emplace_back(CounterRows()[i].name, snapshot[i]);
  }
  return dict;
}

bool Info(const Observer& observer, TelemetryReply* reply) {
  *reply = InfoOf(observer, observer.endpoint().clock().cycles_per_second());
  return true;
}

bool Counters(const Observer& observer, std::string_view name, TelemetryReply* reply) {
  CounterSnapshot snapshot{};
  if (name.empty()) {
    snapshot = observer.endpoint().Counters();
  } else if (const auto* instance = FindInstance(observer, name); instance != nullptr) {
    instance->counters->AddTo(snapshot);
  } else {
    return false;
  }
  *reply = ToDict(snapshot);
  return true;
}

bool Instances(const Observer& observer, std::string_view name, TelemetryReply* reply) {
  TelemetryList names;
  for (const auto& instance : observer.instances()) names.push_back(NameOf(instance));
  return ReplyWith(std::move(names), name, reply, [&](uint32_t i) {
    const Observer::InstanceCells& instance = observer.instances()[i];
    TelemetryDict dict{{"xpu", uint64_t{instance.xpu}}, {"instance", uint64_t{instance.instance}}};
    for (size_t g = 0; g < kGaugeCount; ++g) {
      dict.emplace_back(GaugeRows()[g].name, instance.gauges->Get(static_cast<Gauge>(g)));
    }
    return dict;
  });
}

// Replies with the histograms of one instance or of all.
bool Histograms(const Observer& observer, std::string_view name, TelemetryReply* reply) {
  const Observer::InstanceCells* const wanted = FindInstance(observer, name);
  if (!name.empty() && wanted == nullptr) return false;
  TelemetryDict dict;
  for (size_t h = 0; h < kHistogramCount; ++h) {
    HistogramSum sum;
    for (const Observer::InstanceCells& instance : observer.instances()) {
      if (wanted != nullptr && wanted != &instance) continue;
      sum.Add((*instance.histograms)[static_cast<HistogramId>(h)]);
    }
    const HistogramRow& row = HistogramRows()[h];
    std::string prefix(row.name);
    // Telemetry supports only integers.
    if (row.unit == HistogramUnit::kNanoseconds) {
      prefix = absl::StrCat(prefix.substr(0, prefix.rfind("_seconds")), "_ns");
    }
    dict.emplace_back(prefix + "_count", sum.count());
    dict.emplace_back(prefix + "_sum", sum.sum());
    dict.emplace_back(prefix + "_p50", sum.Percentile(50));
    dict.emplace_back(prefix + "_p99", sum.Percentile(99));
    dict.emplace_back(prefix + "_p999", sum.Percentile(99.9));
    dict.emplace_back(prefix + "_max", sum.Percentile(100));
  }
  *reply = std::move(dict);
  return true;
}

bool Ports(const Observer& observer, std::string_view name, TelemetryReply* reply) {
  TelemetryList names;
  for (const Observer::PortCells& cells : observer.ports()) names.push_back(cells.port->name());
  return ReplyWith(std::move(names), name, reply, [&](uint32_t p) {
    const Observer::PortCells& cells = observer.ports()[p];
    const LinkState link = cells.port->link();
    TelemetryDict dict{{"name", cells.port->name()},
                       {"driver", cells.port->driver()},
                       {"link_up", uint64_t{link.up}},
                       {"speed_bits_per_second", link.speed_bps},
                       {"pool_frames", uint64_t{cells.port->pool_frames()}},
                       {"pool_free_frames", cells.pool_free->load()}};
    size_t i = 0;
#define SUEDE_PORT_STATS_TELEMETRY(id, metric, sentence) \
  dict.emplace_back(metric, cells.stats[i++]->load());
    SUEDE_PORT_STATS(SUEDE_PORT_STATS_TELEMETRY)
#undef SUEDE_PORT_STATS_TELEMETRY
    return dict;
  });
}

bool Lcores(const Observer& observer, std::string_view name, TelemetryReply* reply) {
  TelemetryList names;
  for (const uint32_t cpu : observer.lcore_cpus()) names.push_back(absl::StrCat(cpu));
  return ReplyWith(std::move(names), name, reply, [&](uint32_t l) {
    const CounterSnapshot snapshot = observer.endpoint().LcoreCounters(l);
    TelemetryDict dict;
    for (size_t c = 0; c < kCounterCount; ++c) {
      if (!IsOfLcore(static_cast<Counter>(c))) continue;
      dict.emplace_back(CounterRows()[c].name, snapshot[c]);
    }
    return dict;
  });
}

}  // namespace

std::vector<TelemetryCommand> EndpointTelemetry(const Observer* observer) {
  using Parameter = std::string_view;
  using Reply = TelemetryReply*;
  return {
      {"/suede/info", "Name and version of the endpoint.",
       [=](Parameter, Reply reply) { return Info(*observer, reply); }},
      {"/suede/counters", "Counters, of all or of an instance. Parameter: XPU.INSTANCE, or none.",
       [=](Parameter name, Reply reply) { return Counters(*observer, name, reply); }},
      {"/suede/instances",
       "Own instances; the state of one of them. Parameter: XPU.INSTANCE, or none.",
       [=](Parameter name, Reply reply) { return Instances(*observer, name, reply); }},
      {"/suede/histograms",
       "Histograms, of all or of an instance. Parameter: XPU.INSTANCE, or none.",
       [=](Parameter name, Reply reply) { return Histograms(*observer, name, reply); }},
      {"/suede/ports", "Ports; one of them. Parameter: its name, or none.",
       [=](Parameter name, Reply reply) { return Ports(*observer, name, reply); }},
      {"/suede/lcores", "Lcores; counters of one of them. Parameter: its CPU, or none.",
       [=](Parameter name, Reply reply) { return Lcores(*observer, name, reply); }},
  };
}

}  // namespace suede
