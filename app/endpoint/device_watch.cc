// SPDX-License-Identifier: Apache-2.0
#include "endpoint/device_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/drop_event.h"
#include "mesh/discovery.h"

namespace suede {
namespace {

using mesh::CableVerdict;

}  // namespace

DeviceWatch::DeviceWatch(const Config& config, const EndpointBoards& boards, EventLog& events)
    : config_(config), boards_(boards), events_(events) {
  for (uint32_t d = 0; d < config.devices.size(); ++d) {
    const Router& router = boards.router(d);
    uint32_t port = 0;
    for (const DeviceCable& cable : DeviceCablesOf(config, d)) {
      rows_.push_back({.router = &router,
                       .port = port++,
                       .cable = cable,
                       .is_outer = config.cables[cable.cable].port.has_value()});
    }
    for (uint32_t plane = 0; plane < MeshPlanesOf(config); ++plane) {
      const DeviceCable centre{.own = {.device = router.device()}};
      rows_.push_back({.router = &router, .port = port++, .cable = centre, .is_centre = true});
    }
  }
}

std::string DeviceWatch::NameOfPort(const Row& row) const {
  return row.is_centre ? NameOf(row.cable.own.device) : NameOf(row.cable.own);
}

void DeviceWatch::Check() {
  for (Row& row : rows_) {
    if (row.is_outer) CheckCable(row);
    CheckDrops(row);
  }
}

void DeviceWatch::CheckCable(Row& row) {
  const uint32_t port = *config_.cables[row.cable.cable].port;
  row.link.Check(config_.ports[port].name, row.router->report(row.port).up(),
                 row.router->fabric().port(row.port).link()->counters(), events_);
  const mesh::CableEnd own = OwnEnd(config_, row.cable);
  const std::optional<mesh::CableEnd> neighbour = row.router->report(row.port).neighbour();
  const CableVerdict verdict = Verify(own, row.cable.far, neighbour);
  if (std::exchange(row.reported.verdict, verdict) == verdict) return;
  if (verdict == CableVerdict::kSilent) return;  // the link is down, which has its own event
  std::vector<EventValue> values = {{EventField::kCable, NameOf(row.cable.own)},
                                    {EventField::kExpected, NameOf(row.cable.far)}};
  if (verdict == CableVerdict::kGood) {
    events_.Raise(EventKind::kCableVerified, std::move(values));
    return;
  }
  values.emplace_back(EventField::kReason, Describe(own, row.cable.far, neighbour));
  events_.Raise(EventKind::kCableWrong, std::move(values));
}

void DeviceWatch::CheckDrops(Row& row) {
  const RouterPortReport& report = row.router->report(row.port);
  RaiseDrops(EventKind::kHopLimitDrops, row, report.without_hops.Get(), row.reported.without_hops);
  RaiseDrops(EventKind::kAgeDrops, row, report.too_old.Get(), row.reported.too_old);
}

void DeviceWatch::RaiseDrops(EventKind kind, const Row& row, const fabric::DropNote& note,
                             uint64_t& reported) {
  if (note.count == reported) return;
  const uint64_t count = note.count - std::exchange(reported, note.count);
  const auto to = mesh::Decode(static_cast<uint32_t>(note.destination));
  events_.Raise(kind, DropEventValues(kind, {.port = NameOfPort(row),
                                             .destination = to ? NameOf(to->device) : "",
                                             .count = count,
                                             .note = note}));
}

std::vector<DeviceView> DeviceWatch::Devices() const {
  std::vector<DeviceView> views;
  for (uint32_t d = 0; d < config_.devices.size(); ++d) {
    const DeviceConfig& device = config_.devices[d];
    for (const DeviceTable& table : device.tables) {
      views.push_back({.device = NameOf(device.device),
                       .plane = table.routes.plane,
                       .lcore = config_.lcores[device.lcore].cpu,
                       .epoch = boards_.router(d).epoch()});
    }
  }
  return views;
}

std::vector<CableView> DeviceWatch::Cables() const {
  std::vector<CableView> views;
  for (const Row& row : rows_) {
    if (row.is_centre) continue;
    const CableConfig& cable = config_.cables[row.cable.cable];
    const mesh::CableEnd own = OwnEnd(config_, row.cable);
    const RouterPortReport& report = row.router->report(row.port);
    std::optional<mesh::CableEnd> neighbour = report.neighbour();
    if (!row.is_outer) {
      neighbour = {.at = row.cable.far, .plane = own.plane, .specification = own.specification};
    }
    const CableVerdict verdict = Verify(own, row.cable.far, neighbour);
    CableView& view = views.emplace_back();
    view.from = NameOf(row.cable.own);
    view.to = NameOf(row.cable.far);
    view.plane = own.plane;
    view.specification = mesh::SpecificationText(own.specification);
    if (cable.port) view.port = config_.ports[*cable.port].name;
    view.state = !report.up()                       ? "down"
                 : verdict == CableVerdict::kGood   ? "up"
                 : verdict == CableVerdict::kSilent ? "silent"
                                                    : "wrong";
    if (neighbour) {
      view.neighbour = NameOf(neighbour->at);
      view.neighbour_plane = neighbour->plane;
      view.neighbour_specification = mesh::SpecificationText(neighbour->specification);
    }
    view.queued_frames = report.queued();
  }
  return views;
}

}  // namespace suede
