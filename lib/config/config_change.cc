// SPDX-License-Identifier: Apache-2.0
#include "config/config_change.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/config_draft.h"
#include "config/config_fields.h"

namespace suede {
namespace {

RootEntry RootOf(const Config& config) {
  return {.name = config.name, .partition = config.partition};
}

// Calls `visit` with the path prefix and the values of each section that is not a list.
template <class Visit, class... C>
void VisitValues(const Visit& visit, C&... c) {
  visit("eal.", c.eal...);
  for (size_t vc = 0; vc < kVcCount; ++vc) {
    visit(Entry("classes.vc", vc) + ".", c.classes.vc[vc]...);
  }
  visit("classes.ack.", c.classes.ack...);
  VisitSections([&](std::string_view path, std::string_view,
                    auto&... sections) { visit(StrCat(path, "."), sections...); },
                c...);
}

class Differences {
 public:
  std::vector<ConfigChange> Find(const Config& a, const Config& b) {
    AddFields("", RootOf(a), RootOf(b));
    AddEntries("lcores", a.lcores, b.lcores,
               [this](const std::string& path, auto& x, auto& y) { AddFields(path + ".", x, y); });
    AddEntries("ports", a.ports, b.ports, [this](const std::string& path, auto& x, auto& y) {
      AddFields(path + ".", x, y);
      if (x.vid != y.vid) Add(path + ".vlan.vid", TextOf(x.vid), TextOf(y.vid));
    });
    const auto whole = [this](const std::string& path, auto& x, auto& y) {
      if (x != y) Add(path, "", "");
    };
    AddEntries("instances", a.instances, b.instances, whole);
    AddEntries("peers", a.peers, b.peers, whole);
    AddEntries("devices", a.devices, b.devices, whole);
    AddEntries("cables", a.cables, b.cables, whole);
    VisitValues([this](const std::string& prefix, auto& x, auto& y) { AddFields(prefix, x, y); }, a,
                b);
    return std::move(changes_);
  }

 private:
  static std::string TextOf(const std::optional<uint16_t>& vid) { return vid ? StrCat(*vid) : ""; }
  void Add(std::string path, std::string from, std::string to) {
    changes_.push_back({.path = std::move(path), .from = std::move(from), .to = std::move(to)});
  }
  template <class S>
  void AddFields(const std::string& prefix, const S& a, const S& b) {
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      const Written from = field.write(a, field.limits);
      const Written to = field.write(b, field.limits);
      if (from == to) continue;
      Add(StrCat(prefix, field.key), from.value_or(""), to.value_or(""));
    }
  }
  template <class T, class Compare>
  void AddEntries(std::string_view list, const std::vector<T>& a, const std::vector<T>& b,
                  const Compare& compare) {
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const std::string path = Entry(list, i);
      if (i < a.size() && i < b.size()) {
        compare(path, a[i], b[i]);
      } else {
        Add(path, "", "");
      }
    }
  }

  std::vector<ConfigChange> changes_;
};

// Copies the values of a section that take effect at once.
template <class S>
void CopyAtOnce(const S& started, const S& wanted, S& to) {
  for (const ConfigField<S>& field : FieldsOf<S>()) {
    const bool up_to_start =
        field.effect == Effect::kAtOnceUpToStart && field.number(wanted) <= field.number(started);
    if (field.effect == Effect::kAtOnce || up_to_start) field.copy(wanted, to);
  }
}

// Copies routing tables, if the devices are the same.
void TakeTables(const std::vector<DeviceConfig>& wanted, std::vector<DeviceConfig>& to) {
  const auto is_same = [](const DeviceConfig& a, const DeviceConfig& b) {
    return a.device == b.device && a.lcore == b.lcore && a.tables.size() == b.tables.size();
  };
  if (std::ranges::equal(wanted, to, is_same)) to = wanted;
}

Config TakeAtOnce(const Config& started, const Config& running, const Config& wanted) {
  Config result = running;
  RootEntry root = RootOf(running);
  CopyAtOnce(RootOf(started), RootOf(wanted), root);
  result.partition = root.partition;
  TakeTables(wanted.devices, result.devices);
  VisitValues(
      [](std::string_view, auto& from, auto& with, auto& to) { CopyAtOnce(from, with, to); },
      started, wanted, result);
  return result;
}

// Calls `visit` with the section that holds the key and the key's name in it. Returns false if
// there is no such section.
template <class Visit>
bool VisitSectionOf(const Config& config, std::string_view path, const Visit& visit) {
  bool found = false;
  const auto visit_section = [&](std::string_view prefix, const auto& section) {
    if (found || !path.starts_with(prefix) ||
        path.find('.', prefix.size()) != std::string_view::npos)
      return;
    found = true;
    visit(section, path.substr(prefix.size()));
  };
  VisitValues(visit_section, config);
  for (size_t i = 0; i < config.lcores.size(); ++i)
    visit_section(Entry("lcores", i) + ".", config.lcores[i]);
  for (size_t i = 0; i < config.ports.size(); ++i) {
    if (config.ports[i].vid) {
      visit_section(Entry("ports", i) + ".vlan.", VlanEntry{.vid = *config.ports[i].vid});
    }
    visit_section(Entry("ports", i) + ".", config.ports[i]);
  }
  if (path.find('.') == std::string_view::npos) visit_section("", RootOf(config));
  return found;
}

}  // namespace

std::vector<ConfigChange> DiffConfigs(const Config& from, const Config& to) {
  return Differences().Find(from, to);
}

ConfigPlan PlanChange(const Config& started, const Config& running, const Config& wanted,
                      const MachineFacts& machine) {
  ConfigPlan plan{.config = TakeAtOnce(started, running, wanted), .changes = {}};
  const auto fits = [&] {
    return ParseConfig(DumpConfig(plan.config), "the changed configuration", machine).ok();
  };
  if (plan.config != running && !fits()) {
    plan.config.packing = running.packing;  // packing depends most on values that cannot change
    if (!fits()) plan.config = running;
  }
  plan.changes = DiffConfigs(running, wanted);
  const std::vector<ConfigChange> later = DiffConfigs(plan.config, wanted);
  for (ConfigChange& change : plan.changes) {
    change.at_once = std::none_of(later.begin(), later.end(), [&](const ConfigChange& other) {
      return other.path == change.path;
    });
  }
  return plan;
}

absl::StatusOr<Config> ChangeConfig(const Config& config, const std::vector<ConfigOverride>& values,
                                    const MachineFacts& machine) {
  return ParseConfig(DumpConfig(config), "the running configuration", machine, values);
}

std::optional<uint64_t> ConfigNumber(const Config& config, std::string_view path) {
  std::optional<uint64_t> number;
  VisitSectionOf(config, path, [&]<class S>(const S& section, std::string_view key) {
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      if (field.key == key) number = field.number(section);
    }
  });
  return number;
}

std::optional<std::string> ConfigText(std::string_view path, uint64_t number) {
  static const Config* const kAny = [] {
    auto* config = new Config;
    config->lcores.resize(1);
    config->ports.resize(1);
    config->ports[0].vid = 0;
    return config;
  }();
  // All entries of a list have the same keys.
  std::string first(path);
  for (const std::string_view list : {"lcores[", "ports["}) {
    if (path.starts_with(list))
      first = StrCat(list, "0", path.substr(std::min(path.size(), path.find(']'))));
  }
  std::optional<std::string> text;
  VisitSectionOf(*kAny, first, [&]<class S>(const S&, std::string_view key) {
    for (const ConfigField<S>& field : FieldsOf<S>()) {
      if (field.key == key) text = field.text(number, field.limits);
    }
  });
  return text;
}

}  // namespace suede
