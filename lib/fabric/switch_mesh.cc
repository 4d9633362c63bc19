// SPDX-License-Identifier: Apache-2.0
// The walk of a frame through a device of a mesh (docs/mesh.md).
#include "fabric/switch.h"
#include "mesh/routes.h"

namespace suede::fabric {
namespace {

static_assert(mesh::kLevels == kLevelsOfClass);

// Returns the level with which a frame leaves that came with `level`.
uint32_t LevelOf(const DeviceRoutes::Place& in, const DeviceRoutes::Place& out, uint32_t level,
                 uint32_t levels) {
  if (out.centre || in.level == LevelRule::kFirst) return 0;
  return mesh::NextLevel(level, in.level == LevelRule::kNext, levels);
}

}  // namespace

void Switch::SetRefused(uint32_t number, bool refused) {
  SwitchPort& port = *ports_[number];
  port.refused_ = refused;
  if (refused) DropWaiting(port, SwitchClassCounter::kRefusedDrop);
}

// Returns the output of a frame, and notes and writes what the output needs; kNoPort: the frame has
// ended.
uint16_t Switch::RouteInMesh(uint32_t in, Frame* frame, FrameView& view, Time now) {
  SwitchPort& port = *ports_[in];
  if (!IsMeshFrame(frame->data, frame->length)) [[unlikely]] {
    if (receivers_[in] != nullptr) CountAny(in, frame);
    view = ViewFrame(Forwarding::kMesh, frame->data, frame->length);
    return DropUnrouted(port, SwitchPort::FaultOf(view.error), frame);
  }
  uint8_t& ds = frame->data[kAfh2Ds];
  uint8_t link_vc = 0;
  if (params_.levels != 0 || receivers_[in] != nullptr) {
    link_vc = LinkVcOfAfh2(class_rule_, frame->data, frame->length);
    if (receivers_[in] != nullptr) CountCredit(in, frame, link_vc);
  }
  view.network = NetworkHeader::kAfh2;
  view.destination = LoadBe32(frame->data + kAfh2Destination);
  if (port.refused_) [[unlikely]]
    return DropUnrouted(port, SwitchPortCounter::kRxRefused, frame);
  const auto to = mesh::Decode(static_cast<uint32_t>(view.destination));
  const DeviceRoutes::Place& place = routes_->place(in);
  if (to && to->plane != place.plane) [[unlikely]]
    return DropUnrouted(port, SwitchPortCounter::kRxPlane, frame);
  const uint16_t out = to ? routes_->FindOutput(to->plane, to->device) : kNoPort;
  if (out == kNoPort) [[unlikely]]
    return DropUnrouted(port, SwitchPortCounter::kRxNoRoute, frame);
  if (out == in && !place.hairpins) [[unlikely]]
    return DropUnrouted(port, SwitchPortCounter::kRxHairpin, frame);
  const DeviceRoutes::Place& next = routes_->place(out);
  // The source and the destination use no hop.
  if (!place.centre && !next.centre) {
    if (frame->data[kAfh2HopCount] <= 1) [[unlikely]] {
      DropWithoutHops(port, frame, view);
      return kNoPort;
    }
    --frame->data[kAfh2HopCount];
  }
  FrameNote& note = NoteOfFrame(frame);
  note.at = now;
  note.destination = view.destination;
  if (params_.levels != 0) {
    const uint32_t before = link_vc % kLevelsOfClass;
    const uint32_t level = LevelOf(place, next, before, params_.levels);
    ds = DsWithLevel(ds, static_cast<uint8_t>(level));
    note.traffic_class = link_vc / kLevelsOfClass;
    note.queue = static_cast<uint8_t>(link_vc - before + level);
  } else {
    note.queue = note.traffic_class = params_.classes.of_dscp[ds >> 2];
  }
  if (ports_[out]->refused_) [[unlikely]] {
    ports_[out]->CountDrop(SwitchClassCounter::kRefusedDrop, note.traffic_class, *frame);
    End(frame);
    return kNoPort;
  }
  return out;
}

}  // namespace suede::fabric
