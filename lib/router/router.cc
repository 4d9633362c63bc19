// SPDX-License-Identifier: Apache-2.0
#include "router/router.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace suede {

Router::Output& Router::Add(Port* port) {
  const auto number = static_cast<uint32_t>(outputs_.size());
  if (const LinkEnd* const link = switch_.port(number).link(); link != nullptr) {
    speaking_ |= 1u << number;
    spares_ += link->params().retry.on ? kBurst : kLinkFrames;
  }
  if (!switch_.params().ports[number].centre) cables_ |= 1u << number;
  return outputs_.emplace_back(port);
}

void Router::AddOuterCable(Port* port, const mesh::CableEnd& own,
                           const mesh::DevicePort& expected) {
  const auto number = static_cast<uint32_t>(outputs_.size());
  outer_ |= 1u << number;
  Output& out = Add(port);
  out.expected = {.own = own, .end = expected};
  Refuse(number, true);
}

void Router::AddCentre(Port* port) {
  switch_.port(static_cast<uint32_t>(outputs_.size())).SetBypass(this);
  Add(port);
}

bool Router::Take(uint32_t centre, Frame* frame) {
  Output& out = outputs_[centre];
  if (out.count != 0 || out.port->Give(&frame, 1) == 0) return false;
  out.tap.Copy(&frame, 1, FrameDirection::kIn);
  return true;
}

Router::~Router() {
  delete offered_.load();
  delete taken_.load();
}

void Router::Offer(TableSet tables) {
  // A former set that the lcore has not taken is obsolete.
  delete offered_.exchange(new TableSet(std::move(tables)), std::memory_order_acq_rel);
  delete taken_.exchange(nullptr, std::memory_order_acq_rel);
}

void Router::TakeTables() {
  // One set at most waits to be freed: memory is the control thread's.
  if (taken_.load(std::memory_order_relaxed) != nullptr) return;
  TableSet* const tables = offered_.exchange(nullptr, std::memory_order_acq_rel);
  if (tables == nullptr) return;
  for (const mesh::RoutingTable& table : *tables) switch_.SetRoutes(table.plane, table);
  epoch_.store(tables->front().epoch, std::memory_order_relaxed);
  taken_.store(tables, std::memory_order_release);
}

uint32_t Router::Inject(uint32_t centre, Frame* const* frames, uint32_t count, Time now) {
  const fabric::SharedBuffer& buffer = switch_.buffer();
  const uint32_t kept_free = buffer.shared_bytes() / 2;
  uint32_t taken = 0;
  while (taken < count && buffer.shared_free() >= kept_free) {
    const uint32_t burst = std::min(count - taken, kBurst);
    outputs_[centre].tap.Copy(frames + taken, burst, FrameDirection::kOut);
    switch_.Receive(centre, frames + taken, burst, now);
    taken += burst;
  }
  bell_.Ring();
  return taken;
}

bool Router::Poll(Time now) {
  uint32_t received = 0;  // a bit for each port
  for (uint32_t left = cables_; left != 0; left &= left - 1) {
    const auto number = static_cast<uint32_t>(std::countr_zero(left));
    Frame* frames[kBurst];
    const uint32_t count = outputs_[number].port->Receive(frames, kBurst);
    if (count == 0) continue;
    outputs_[number].tap.Copy(frames, count, FrameDirection::kIn);
    switch_.Receive(number, frames, count, now);
    received |= 1u << number;
  }
  bool worked = received != 0;
  for (const uint16_t port : switch_.touched()) sending_ |= 1u << port;
  switch_.ClearTouched();
  if ((received | sending_) != 0 || now >= speaks_at_) worked |= TransmitAll(received, now);
  ReleaseEnded();
  if (switch_.spares() < spares_) [[unlikely]]
    GiveSpares();
  const bool at_once = worked || (sending_ | outer_) != 0;
  due_ = at_once ? now : speaks_at_;
  return worked;
}

// Returns when the first of `ports` has something to send.
Time Router::DeadlineOf(uint32_t ports, Time now) const {
  Time first = kNever;
  for (; ports != 0; ports &= ports - 1) {
    first = std::min(first, switch_.deadline(static_cast<uint32_t>(std::countr_zero(ports)), now));
  }
  return first;
}

// Sends the frames that wait, and those of links that have received frames or whose time has come.
bool Router::TransmitAll(uint32_t received, Time now) {
  uint32_t ports = sending_ | (received & speaking_);
  speaks_at_ = kNever;
  for (uint32_t left = speaking_ & ~ports; left != 0; left &= left - 1) {
    const auto number = static_cast<uint32_t>(std::countr_zero(left));
    const Time at = switch_.deadline(number, now);
    at <= now ? void(ports |= 1u << number) : void(speaks_at_ = std::min(speaks_at_, at));
  }
  bool worked = false;
  for (uint32_t left = ports; left != 0; left &= left - 1) {
    worked |= Transmit(static_cast<uint32_t>(std::countr_zero(left)), now);
  }
  // A frame that has left may have freed credit of any link.
  speaks_at_ = worked ? now : std::min(speaks_at_, DeadlineOf(ports & speaking_, now));
  return worked;
}

void Router::Check() {
  TakeTables();
  switch_.ShowCredit();
  for (uint32_t number = 0; number < outputs_.size(); ++number) {
    Output& out = outputs_[number];
    const fabric::SwitchPort& port = switch_.port(number);
    if (!switch_.params().ports[number].centre) CheckLink(number, out);
    if (out.expected) CheckNeighbour(number, out);
    out.report.without_hops.Set(port.without_hops());
    out.report.too_old.Set(port.output().too_old());
    ShowQueues(number, out);
  }
}

void Router::ShowQueues(uint32_t number, Output& out) {
  std::array<QueueDepth, fabric::kClasses> depths{};
  const fabric::SwitchParams& params = switch_.params();
  const fabric::Output& output = switch_.port(number).output();
  for (fabric::QueueMask left = output.waiting(); left != 0; left &= left - 1) {
    const auto queue = static_cast<uint32_t>(std::countr_zero(left));
    QueueDepth& depth = depths[params.ClassOfQueue(queue)];
    depth.frames += output.queued_frames(queue);
    depth.bytes += switch_.buffer().queued(number, queue);
  }
  for (uint32_t i = 0; i < out.count; ++i) {
    QueueDepth& depth = depths[fabric::NoteOfFrame(out.frames[i]).traffic_class];
    depth.frames += 1;
    depth.bytes += switch_.buffer().Charge(out.frames[i]->length);
  }
  for (uint32_t c = 0; c < fabric::kClasses; ++c) out.report.SetQueue(c, depths[c]);
}

// No frame waits for a cable without a link: it would block the buffer of the others.
void Router::CheckLink(uint32_t number, Output& out) {
  const bool up = out.port->link().up;
  const bool was_up = !switch_.port(number).is_down();
  out.report.SetLink(up);
  if (up == was_up) return;
  switch_.SetDown(number, !up);
  PollAgain();
  if (up) return;
  switch_.port(number).OnUnsent(out.count);
  if (out.count != 0) pool_.Release(out.frames, out.count);
  out.count = 0;
  if (!out.expected) return;
  // Another cable may be plugged in meanwhile.
  out.report.SetNeighbour(std::nullopt);
  Refuse(number, true);
}

// A neighbour that is silent for a while stays what it was while the link is up.
void Router::CheckNeighbour(uint32_t number, Output& out) {
  const std::optional<LinkPlace>& place = switch_.port(number).link()->neighbour_place();
  if (!place || switch_.port(number).is_down()) return;
  const mesh::CableEnd neighbour{
      .at = {.device = {.mesh = mesh::MeshId(uint32_t{place->mesh}),
                        .device = mesh::DeviceId(uint32_t{place->device})},
             .port = mesh::PortId(uint32_t{place->port})},
      .plane = PlaneIndex(uint32_t{place->plane}),
      .specification = place->specification};
  out.report.SetNeighbour(neighbour);
  const bool refused =
      mesh::Verify(out.expected->own, out.expected->end, neighbour) != mesh::CableVerdict::kGood;
  if (refused != switch_.port(number).is_refused()) Refuse(number, refused);
}

void Router::Refuse(uint32_t number, bool refuse) {
  outputs_[number].report.SetRefused(refuse);
  switch_.SetRefused(number, refuse);
  PollAgain();
}

bool Router::Transmit(uint32_t number, Time now) {
  Output& out = outputs_[number];
  const uint32_t count = switch_.Transmit(number, out.frames + out.count, kBurst - out.count, now);
  if (count != 0) {
    const bool is_cable = (cables_ >> number & 1) != 0;
    out.tap.Copy(out.frames + out.count, count,
                 is_cable ? FrameDirection::kOut : FrameDirection::kIn);
    out.count += count;
  }
  if (out.count == 0) {
    if (switch_.port(number).output().waiting() == 0) sending_ &= ~(1u << number);
    return false;
  }
  const uint32_t sent = out.port->Give(out.frames, out.count);
  std::copy(out.frames + sent, out.frames + out.count, out.frames);
  out.count -= sent;
  return count != 0 || sent != 0;
}

void Router::ReleaseEnded() {
  const auto ended = switch_.ended();
  if (ended.empty()) return;
  pool_.Release(ended.data(), static_cast<uint32_t>(ended.size()));
  switch_.ClearEnded();
}

void Router::GiveSpares() {
  Frame* frames[kBurst];
  for (uint32_t count = 1; count != 0 && switch_.spares() < spares_;) {
    count = pool_.Allocate(frames, std::min(spares_ - switch_.spares(), kBurst));
    for (uint32_t i = 0; i < count; ++i) switch_.GiveSpare(frames[i]);
  }
}

}  // namespace suede
