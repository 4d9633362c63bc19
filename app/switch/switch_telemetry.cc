// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_telemetry.h"

#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace suede {
namespace {

using fabric::kClasses;
using Names = std::vector<std::string>;

// Returns {name, counters}.
template <typename Counter>
TelemetryDict DictOf(const std::string& name, std::span<const CounterRow> rows,
                     const auto& counters) {
  TelemetryDict dict{{"name", name}};
  for (size_t i = 0; i < rows.size(); ++i) {
    dict.emplace_back(rows[i].name, counters.Get(static_cast<Counter>(i)));
  }
  return dict;
}

}  // namespace

std::vector<TelemetryCommand> SwitchTelemetry(const Observed* observed,
                                              const fabric::Switch* the_switch,
                                              std::vector<std::string> names, uint64_t tsc_hertz) {
  const auto ports = std::make_shared<const Names>(std::move(names));
  return {
      {"/suede/info", "Name and version of the switch.",
       [=](std::string_view, TelemetryReply* reply) {
         *reply = InfoOf(*observed, tsc_hertz);
         return true;
       }},
      {"/suede/ports", "Ports; counters of one of them. Parameter: its name, or none.",
       [=](std::string_view name, TelemetryReply* reply) {
         return ReplyWith(*ports, name, reply, [&](uint32_t p) {
           return DictOf<SwitchPortCounter>((*ports)[p], SwitchPortRows(),
                                            the_switch->port(p).counters());
         });
       }},
      {"/suede/classes", "Ports' classes; counters of one of them. Parameter: PORT.CLASS, or none.",
       [=](std::string_view name, TelemetryReply* reply) {
         TelemetryList classes;
         for (const std::string& port : *ports) {
           for (uint32_t c = 0; c < kClasses; ++c)
             classes.push_back(port + "." + std::to_string(c));
         }
         return ReplyWith(std::move(classes), name, reply, [&](uint32_t i) {
           return DictOf<SwitchClassCounter>(std::string(name), SwitchClassRows(),
                                             the_switch->port(i / kClasses).counters(i % kClasses));
         });
       }},
  };
}

}  // namespace suede
