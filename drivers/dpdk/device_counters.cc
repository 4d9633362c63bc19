// SPDX-License-Identifier: Apache-2.0
#include "dpdk/device_counters.h"

#include <rte_ethdev.h>

#include <algorithm>

namespace suede {
namespace {

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// Returns the digit of pri3, prio3 or priority3.
std::optional<uint8_t> PriorityIn(std::string_view name) {
  for (const std::string_view word : {"priority", "prio", "pri"}) {
    const size_t at = name.find(word);
    if (at == std::string_view::npos || at + word.size() >= name.size()) continue;
    const char digit = name[at + word.size()];
    if (digit >= '0' && digit <= '7') return static_cast<uint8_t>(digit - '0');
  }
  return std::nullopt;
}

}  // namespace

std::optional<DeviceCounterName> ClassifyXstat(std::string_view name) {
  if (name.starts_with("mac_")) name.remove_prefix(4);
  const bool is_rx = name.starts_with("rx_");
  if (!is_rx && !name.starts_with("tx_")) return std::nullopt;
  const std::string_view rest = name.substr(3);
  if (rest == "discards_phy" || rest == "dropped_packets") {
    return DeviceCounterName{.kind = is_rx ? DeviceCounterKind::kRxDiscards
                                           : DeviceCounterKind::kTxDiscards};
  }
  // Excludes durations, transitions and XON frames, which are no pauses.
  if (!Has(rest, "pause") && !Has(rest, "pfc") && !Has(rest, "xoff")) return std::nullopt;
  for (const std::string_view other : {"duration", "transition", "xon", "storm", "time"}) {
    if (Has(rest, other)) return std::nullopt;
  }
  if (const std::optional<uint8_t> priority = PriorityIn(rest)) {
    return DeviceCounterName{.kind = is_rx ? DeviceCounterKind::kRxPfc : DeviceCounterKind::kTxPfc,
                             .priority = *priority};
  }
  if (Has(rest, "pfc")) return std::nullopt;  // the sum of all priorities
  return DeviceCounterName{.kind = is_rx ? DeviceCounterKind::kRxPause
                                         : DeviceCounterKind::kTxPause};
}

std::vector<DeviceCounter> FindDeviceCounters(uint16_t port) {
  std::vector<DeviceCounter> found;
  const int count = rte_eth_xstats_get_names(port, nullptr, 0);
  if (count <= 0) return found;
  std::vector<rte_eth_xstat_name> names(static_cast<size_t>(count));
  const int got = rte_eth_xstats_get_names(port, names.data(), static_cast<unsigned>(count));
  for (int i = 0; i < std::min(got, count); ++i) {
    const auto name = ClassifyXstat(names[static_cast<size_t>(i)].name);
    const bool known = !name || std::any_of(found.begin(), found.end(), [&](const auto& counter) {
      return counter.name == *name;
    });
    if (!known) found.push_back({.name = *name, .id = static_cast<uint64_t>(i), .value = 0});
  }
  return found;
}

void ReadDeviceCounters(uint16_t port, std::vector<DeviceCounter>* counters) {
  if (counters->empty()) return;
  std::vector<uint64_t> ids;
  for (const DeviceCounter& counter : *counters) ids.push_back(counter.id);
  std::vector<uint64_t> values(ids.size());
  const int got = rte_eth_xstats_get_by_id(port, ids.data(), values.data(),
                                           static_cast<unsigned>(ids.size()));
  for (int i = 0; i < std::min(got, static_cast<int>(values.size())); ++i) {
    (*counters)[static_cast<size_t>(i)].value = values[static_cast<size_t>(i)];
  }
}

}  // namespace suede
