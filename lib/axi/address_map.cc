// SPDX-License-Identifier: Apache-2.0
#include "axi/address_map.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "base/sue.h"

namespace suede::axi {
namespace {

constexpr uint64_t kPageBytes = 4096;  // within which a burst stays

}  // namespace

const char* AddressMap::FindInvalid(std::span<const suede_axi_route> routes, uint32_t interfaces) {
  if (routes.size() > kMaxRoutes) return "the map has more than 4096 entries";
  for (const suede_axi_route& route : routes) {
    if (route.first > route.last) return "an entry of the map ends before it begins";
    if (route.xpuid >= kMaxXpus) return "an entry of the map names an XPU above 1023";
    if (route.interface >= interfaces) return "an entry of the map names an unknown interface";
    if (route.by > SUEDE_AXI_BY_USER) return "an entry of the map is by neither address nor user";
    if (route.by == SUEDE_AXI_BY_ADDRESS && (route.remote_base - route.first) % kPageBytes != 0) {
      return "an entry of the map moves addresses by no multiple of 4096";
    }
    if (route.by == SUEDE_AXI_BY_ADDRESS &&
        route.last - route.first > UINT64_MAX - route.remote_base) {
      return "an entry of the map leads beyond the last address";
    }
  }
  return nullptr;
}

std::optional<std::vector<suede_axi_route>> AddressMap::Parse(const char* text) {
  std::vector<suede_axi_route> routes;
  while (*text != 0) {
    suede_axi_route& route = routes.emplace_back();
    uint32_t xpu = 0;
    int used = 0;
    if (std::sscanf(text, "%" SCNx64 "-%" SCNx64 ":%" SCNu32 "%n", &route.first, &route.last, &xpu,
                    &used) != 3 ||
        xpu >= kMaxXpus) {
      return std::nullopt;
    }
    route.xpuid = static_cast<uint16_t>(xpu);
    text += used;
    if (std::sscanf(text, ":%" SCNx64 "%n", &route.remote_base, &used) == 1) text += used;
    if (*text != 0 && *text++ != ',') return std::nullopt;
  }
  return routes;
}

AddressMap::AddressMap(std::span<const suede_axi_route> routes)
    : routes_(routes.begin(), routes.end()),
      by_address_(IntervalsOf(SUEDE_AXI_BY_ADDRESS)),
      by_user_(IntervalsOf(SUEDE_AXI_BY_USER)) {}

AddressMap::Intervals AddressMap::IntervalsOf(uint8_t by) const {
  std::vector<uint64_t> starts = {0};
  for (const suede_axi_route& route : routes_) {
    if (route.by != by) continue;
    starts.push_back(route.first);
    if (route.last != UINT64_MAX) starts.push_back(route.last + 1);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  Intervals intervals;
  for (const uint64_t start : starts) intervals.push_back({.first = start, .route = kNone});
  // Earlier routes overwrite later ones.
  for (auto i = static_cast<uint32_t>(routes_.size()); i-- != 0;) {
    const suede_axi_route& route = routes_[i];
    if (route.by != by) continue;
    const auto first = std::lower_bound(starts.begin(), starts.end(), route.first);
    const auto last = std::upper_bound(starts.begin(), starts.end(), route.last);
    for (auto at = first; at != last; ++at) intervals[at - starts.begin()].route = i;
  }
  return intervals;
}

uint32_t AddressMap::RouteAt(const Intervals& intervals, uint64_t value) {
  const auto next = std::upper_bound(
      intervals.begin(), intervals.end(), value,
      [](uint64_t wanted, const Interval& interval) { return wanted < interval.first; });
  return std::prev(next)->route;
}

std::optional<Place> AddressMap::Find(const Address& burst) const {
  const uint32_t of_address = RouteAt(by_address_, burst.address);
  const uint32_t of_user = burst.user[1] == 0 ? RouteAt(by_user_, burst.user[0]) : kNone;
  const uint32_t index = std::min(of_address, of_user);
  if (index == kNone) return std::nullopt;
  const suede_axi_route& route = routes_[index];
  Place place{.xpuid = route.xpuid, .interface = route.interface, .address = burst.address};
  if (route.by == SUEDE_AXI_BY_ADDRESS) {
    const Range range = RangeOf(burst);
    if (range.first < route.first || range.last > route.last) return std::nullopt;
    place.address = burst.address - route.first + route.remote_base;
  }
  return place;
}

}  // namespace suede::axi
