// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_telemetry.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace suede {
namespace {

using fabric::kClasses;
using Names = std::vector<std::string>;

std::optional<uint32_t> PortCalled(const Names& names, std::string_view name) {
  for (uint32_t p = 0; p < names.size(); ++p) {
    if (names[p] == name) return p;
  }
  return std::nullopt;
}

bool PortAnswer(const fabric::Switch& the_switch, const Names& names, std::string_view name,
                TelemetryReply* reply) {
  if (name.empty()) {
    *reply = TelemetryList(names);
    return true;
  }
  const std::optional<uint32_t> port = PortCalled(names, name);
  if (!port) return false;
  TelemetryDict dict{{"name", names[*port]}};
  for (size_t i = 0; i < SwitchPortRows().size(); ++i) {
    dict.emplace_back(SwitchPortRows()[i].name,
                      the_switch.port(*port).counters().Get(static_cast<SwitchPortCounter>(i)));
  }
  *reply = std::move(dict);
  return true;
}

// Replies with the counters of `name`, "PORT.CLASS"; with all names if it is empty.
bool ClassAnswer(const fabric::Switch& the_switch, const Names& names, std::string_view name,
                 TelemetryReply* reply) {
  if (name.empty()) {
    TelemetryList list;
    for (const std::string& port : names) {
      for (uint32_t c = 0; c < kClasses; ++c) list.push_back(port + "." + std::to_string(c));
    }
    *reply = std::move(list);
    return true;
  }
  if (name.size() < 3 || name[name.size() - 2] != '.') return false;
  const std::optional<uint32_t> port = PortCalled(names, name.substr(0, name.size() - 2));
  const auto traffic_class = static_cast<uint32_t>(name.back() - '0');
  if (!port || traffic_class >= kClasses) return false;
  TelemetryDict dict{{"name", std::string(name)}};
  for (size_t i = 0; i < SwitchClassRows().size(); ++i) {
    const auto id = static_cast<SwitchClassCounter>(i);
    dict.emplace_back(SwitchClassRows()[i].name,
                      the_switch.port(*port).counters(traffic_class).Get(id));
  }
  *reply = std::move(dict);
  return true;
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
         return PortAnswer(*the_switch, *ports, name, reply);
       }},
      {"/suede/classes", "Ports' classes; counters of one of them. Parameter: PORT.CLASS, or none.",
       [=](std::string_view name, TelemetryReply* reply) {
         return ClassAnswer(*the_switch, *ports, name, reply);
       }},
  };
}

}  // namespace suede
