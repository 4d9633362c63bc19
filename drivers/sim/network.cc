// SPDX-License-Identifier: Apache-2.0
#include "sim/network.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/big_endian.h"
#include "sim/checks.h"
#include "sim/sim.h"
#include "wire/link_frame.h"

namespace suede {
namespace {

constexpr uint32_t kPorts = 127;  // default
constexpr uint32_t kOnCable = 8192;
constexpr uint32_t kCells = 8192;  // a frame occupies one cell: queues are limited by frames
constexpr uint32_t kAddresses = 256;
constexpr uint32_t kDataAt = 64;  // offset of a frame in its buffer
constexpr uint32_t kAtOnce = 32;  // frames per burst
constexpr uint32_t kBufferBytes = kDataAt + SimNetwork::kMaxFrameBytes + Frame::kSlackBytes;

uint64_t RateOf(const SimFaults& faults) { return static_cast<uint64_t>(faults.bits_per_ns * 1e9); }

}  // namespace

// A frame buffer of the switch.
struct SimNetwork::Pooled {
  Frame frame;
  uint8_t bytes[kBufferBytes];
};

SimNetwork::SimNetwork(uint64_t seed) : update_dice_(fabric::SeedOf(seed, ~uint64_t{0})) {
  params_.seed = seed;
  params_.learns = false;
  params_.floods = false;
  params_.addresses = kAddresses;
  params_.addresses_of_port = 1;
  params_.buffer_bytes = 0;
  params_.cell_bytes = kCells;
  params_.max_on_cable = kOnCable;
  params_.classes.pcp_first = true;
  SetPorts(kPorts);
  SetClasses({});
}

SimNetwork::~SimNetwork() = default;
SimNetwork& SimNetwork::operator=(SimNetwork&& other) noexcept = default;

void SimNetwork::SetPorts(uint32_t count) {
  params_.ports.resize(count + 1);
  for (uint32_t i = 0; i < params_.ports.size(); ++i) {
    params_.ports[i].mac = {0x02, 0x5f, 0, 0, 0, static_cast<uint8_t>(i)};
    params_.ports[i].pfc = {.on = true, .storm = Duration::zero()};
  }
}

void SimNetwork::SetClasses(const SimClasses& classes) {
  classes_ = classes;
  for (uint32_t c = 0; c < kSimClasses; ++c) {
    fabric::ClassParams& own = params_.of_class[c];
    own.strict = !classes.weighted;
    own.weight = static_cast<uint16_t>(c + 1);
    own.reserved_bytes = (classes.on ? classes.max_held : kAtOnce) * kCells;
    own.max_wait = classes.on ? classes.max_wait : Duration::zero();
  }
}

void SimNetwork::SetSwitch(const fabric::SwitchParams& params) {
  params_ = params;
  given_ = true;
}

void SimNetwork::SetCable(Duration delay) {
  SetPorts(1);
  given_ = true;
  is_cable_ = true;
  cable_delay_ = delay;
}

void SimNetwork::Build() {
  next_ = Earliest(static_cast<uint32_t>(params_.ports.size()));
  if (is_cable_) return;
  if (params_.buffer_bytes == 0) {
    uint64_t bytes = 0;
    for (const fabric::ClassParams& own : params_.of_class) bytes += own.reserved_bytes;
    bytes *= params_.ports.size();
    Require(bytes <= UINT32_MAX, "the buffer is too large");
    params_.buffer_bytes = static_cast<uint32_t>(bytes);
  }
  Require(fabric::SharedBuffer::SharedBytes(params_) >= 0, "the buffer is too small");
  switch_pauses_ = std::any_of(params_.of_class.begin(), params_.of_class.end(),
                               [](const fabric::ClassParams& own) { return own.lossless; });
  switch_ = std::make_unique<fabric::Switch>(params_);
  Refill();
}

SimPort* SimNetwork::AddPort(const uint8_t (&mac)[6], uint32_t frames, uint32_t tx_ring,
                             const SimFaults& faults, uint32_t rx_ring) {
  SimPort* const port = AddPort(frames, tx_ring, faults, rx_ring);
  Learn(mac, port);
  return port;
}

SimPort* SimNetwork::AddPort(uint32_t frames, uint32_t tx_ring, const SimFaults& faults,
                             uint32_t rx_ring) {
  if (ports_.empty()) Build();
  const auto number = static_cast<uint32_t>(ports_.size());
  // The last port of the switch is for Inject.
  Require(number + (given_ ? 0 : 1) < params_.ports.size(), "the switch has no port left");
  ports_.push_back(
      std::make_unique<SimPort>(this, PortIndex(number), frames, tx_ring, faults, rx_ring));
  on_way_.emplace_back();
  faults_changed_ = true;
  return ports_.back().get();
}

NetAddress SimNetwork::KeyOf(const uint8_t (&mac)[6]) const {
  if (params_.forwarding == fabric::Forwarding::kAfh2) {
    return fabric::ForwardingTable::ForwardingKey(LoadBe32(mac + 2));
  }
  return fabric::ForwardingTable::MacKey(uint64_t{LoadBe16(mac)} << 32 | LoadBe32(mac + 2), 0);
}

void SimNetwork::Learn(const uint8_t (&mac)[6], SimPort* port) {
  const bool room = switch_->table().AddStatic(KeyOf(mac), static_cast<uint16_t>(port->number_));
  Require(room, "the switch has no room for an address");
}

void SimNetwork::Block(const SimPort* from, const SimPort* to, bool blocked) {
  switch_->port(from->number_).SetBlocked(to->number_, blocked);
}

// Sets the impairments of a port. The device applies the rate towards the switch; the rate towards
// the host queues frames in the switch.
void SimNetwork::SetImpairments(uint32_t number, const SimFaults& faults) {
  fabric::ImpairmentParams in{.delay = faults.delay,
                              .loss = fabric::ChanceOf(faults.loss),
                              .reorder = fabric::ChanceOf(faults.reorder),
                              .reorder_delay = faults.reorder_delay,
                              .duplicate = fabric::ChanceOf(faults.duplicate),
                              .flip = fabric::ChanceOf(faults.corrupt),
                              .max_bytes = faults.max_bytes};
  if (classes_.on) {
    for (uint32_t c = 0; c < kSimClasses; ++c) {
      in.of_class[c] = {.delay = classes_.of[c].delay,
                        .loss = fabric::ChanceOf(classes_.of[c].loss),
                        .reorder = fabric::ChanceOf(classes_.of[c].reorder)};
    }
  }
  if (classes_.on || faults.loss_back != 0) {
    switch_->port(number).out().Set(
        {.rate_bps = classes_.on ? RateOf(faults) : 0, .loss = fabric::ChanceOf(faults.loss_back)});
  }
  switch_->port(number).in().Set(in);
}

// ---- Time.

void SimNetwork::AdvanceTo(Time time) {
  if (std::exchange(faults_changed_, false) && !given_) {
    for (const auto& port : ports_) {
      if (std::exchange(port->faults_changed_, false)) SetImpairments(port->number_, port->faults_);
    }
  }
  while (!ports_.empty() && next_.time() <= time) {
    now_ = std::max(now_, next_.time());
    Serve(next_.index());
  }
  now_ = time;
}

void SimNetwork::WakeAt(uint32_t number, Time at) { next_.Lower(number, at); }

void SimNetwork::Change(const SimPort* port,
                        const std::function<void(fabric::Switch&, uint32_t port)>& change) {
  change(*switch_, port->number_);
  Refill();
  WakeAt(port->number_, now_);
}

void SimNetwork::Storm(const SimPort* port, const fabric::PfcFrame& pfc) {
  SendPfc(port->number_, pfc, now_);
  WakeAt(port->number_, now_);
}

void SimNetwork::ServeCable(uint32_t number) {
  ports_[number]->Act(now_);
  std::deque<OnCable>& coming = on_cable_[number];
  for (; !coming.empty() && coming.front().at <= now_; coming.pop_front()) {
    Arrive(number, coming.front().frame);
  }
  const Time own = ports_[number]->deadline();
  next_.Set(number, coming.empty() ? own : std::min(own, coming.front().at));
}

// Delivers frames to the switch whose way has ended.
void SimNetwork::EndWays(uint32_t number) {
  std::multimap<Time, Frame*>& coming = on_way_[number];
  for (; !coming.empty() && coming.begin()->first <= now_; coming.erase(coming.begin())) {
    switch_->Receive(number, &coming.begin()->second, 1, coming.begin()->first);
  }
}

// Processes a port's due events, and transmits on the ports affected.
void SimNetwork::Serve(uint32_t number) {
  if (is_cable_) return ServeCable(number);
  if (number < ports_.size()) {
    ports_[number]->Act(now_);
    EndWays(number);
  }
  switch_->PollPort(number, now_);
  Refill();
  for (const uint16_t touched : switch_->touched()) {
    if (touched != number) TransmitOf(touched);
  }
  switch_->ClearTouched();
  TransmitOf(number);
  // Any frame that arrives or leaves may begin or end a pause at any port.
  for (uint32_t i = 0; switch_pauses_ && i < ports_.size(); ++i) TransmitOf(i);
}

void SimNetwork::TransmitOf(uint32_t number) {
  Frame* frames[kAtOnce];
  for (uint32_t count = kAtOnce; count == kAtOnce;) {
    count = switch_->Transmit(number, frames, kAtOnce, now_);
    for (uint32_t i = 0; i < count; ++i) Arrive(number, frames[i]);
    Refill();
  }
  Time next = switch_->deadline(number, now_);
  if (number < ports_.size()) {
    next = std::min(next, ports_[number]->deadline());
    if (!on_way_[number].empty()) next = std::min(next, on_way_[number].begin()->first);
  }
  next_.Set(number, next);
}

Time SimNetwork::next_arrival() const {
  Time next = kNever;
  for (const auto& port : ports_) {
    next = std::min(next, switch_->deadline(port->number_, now_));
    const std::multimap<Time, Frame*>& coming = on_way_[port->number_];
    if (!coming.empty()) next = std::min(next, coming.begin()->first);
    const Time leaves = port->leaves_at();
    if (leaves != kNever) next = std::min(next, leaves + port->faults_.delay);
  }
  return next;
}

// ---- Frames.

Frame* SimNetwork::TakeEmpty() {
  if (free_.empty()) {
    frames_.push_back(std::make_unique_for_overwrite<Pooled>());
    Pooled& pooled = *frames_.back();
    pooled.frame.buffer = pooled.bytes;
    pooled.frame.capacity = kBufferBytes;
    free_.push_back(&pooled.frame);
  }
  Frame* const frame = free_.back();
  free_.pop_back();
  return frame;
}

Frame* SimNetwork::Take(std::span<const uint8_t> bytes) {
  Require(bytes.size() <= kMaxFrameBytes, "a frame is too long");
  Frame* const frame = TakeEmpty();
  frame->data = frame->buffer + kDataAt;
  frame->length = static_cast<uint32_t>(bytes.size());
  std::memcpy(frame->data, bytes.data(), bytes.size());
  return frame;
}

// Takes back frame buffers that the switch has released.
void SimNetwork::Refill() {
  const auto ended = switch_->ended();
  frames_ended_ += ended.size();
  free_.insert(free_.end(), ended.begin(), ended.end());
  switch_->ClearEnded();
  while (switch_->spares_wanted() != 0) switch_->GiveSpare(TakeEmpty());
}

// Whether an update is lost. Excludes numbered frames, whose loss LLR repairs.
bool SimNetwork::LosesUpdate(const Frame& frame) {
  if (update_loss_ == 0 || frame.length < kLinkBodyAt || !IsToNeighbour(frame.data) ||
      !HasLinkType(frame.data, frame.length, kDefaultLinkEtherType)) {
    return false;
  }
  const LinkKind kind = LoadLinkWord(frame.data).kind;
  if (kind != LinkKind::kCfUpdate && kind != LinkKind::kCcUpdate) return false;
  if (!update_dice_.Chance(fabric::ChanceOf(update_loss_))) return false;
  ++updates_lost_;
  return true;
}

void SimNetwork::Send(const SimPort& from, const Frame& frame, Time leaves) {
  const std::span<const uint8_t> bytes(frame.data, frame.length);
  if (!from.up_ || from.sends_nothing_ || (passes_ && !passes_(bytes))) {
    ++frames_lost_;
    return;
  }
  if (LosesUpdate(frame)) return;
  constexpr uint8_t kLinkLocal[] = {0x01, 0x80, 0xc2, 0, 0};  // and a last byte below 16
  if (neighbour_ && bytes.size() > 5 && std::equal(bytes.begin(), bytes.begin() + 5, kLinkLocal) &&
      bytes[5] < 16) {
    return neighbour_(&from, bytes);
  }
  if (records_ != nullptr && records_->size() < max_records_) {
    records_->emplace_back(bytes.begin(), bytes.end());
  }
  Frame* const copy = Take(bytes);
  if (is_cable_) {
    const uint32_t far = 1 - from.number_;
    on_cable_[far].push_back({leaves + cable_delay_, copy});
    return WakeAt(far, leaves + cable_delay_);
  }
  if (!way_) return switch_->Receive(from.number_, &copy, 1, leaves);
  const Time there = way_(&from, {copy->data, copy->length}, leaves);
  if (there == kNever) {
    ++frames_lost_;
    return Release(copy);
  }
  on_way_[from.number_].emplace(there, copy);
  WakeAt(from.number_, there);
}

void SimNetwork::SendPfc(uint32_t number, const fabric::PfcFrame& pfc, Time leaves) {
  uint8_t bytes[fabric::PfcFrame::kBytes];
  fabric::EncodePfc(pfc, {0x02, 0x5e, 0, 0, 0, static_cast<uint8_t>(number)}, bytes);
  Frame* const frame = Take(bytes);
  switch_->Receive(number, &frame, 1, leaves);
}

void SimNetwork::Inject(std::span<const uint8_t> bytes) {
  const auto number = static_cast<uint32_t>(params_.ports.size() - 1);
  Frame* const frame = Take(bytes);
  switch_->Receive(number, &frame, 1, now_);
  Serve(number);
}

void SimNetwork::Enter(const SimPort* port, std::span<const uint8_t> bytes) {
  Frame* const frame = Take(bytes);
  switch_->Receive(port->number_, &frame, 1, now_);
  Serve(port->number_);
}

void SimNetwork::Arrive(uint32_t number, Frame* frame) {
  if (number >= ports_.size() || LosesUpdate(*frame)) return Release(frame);
  if (takes_digest_) {
    const uint64_t of_frame = Fingerprint(frame->data, frame->length);
    for (const uint64_t word :
         {of_frame, uint64_t{number}, static_cast<uint64_t>((now_ - Time{}).count())}) {
      digest_ = (digest_ ^ word) * 0x9e3779b97f4a7c15u;
      digest_ ^= digest_ >> 29;
    }
  }
  ports_[number]->Arrive(frame, now_);
}

// Subtracts PFC and link-layer frames, which end in the switch but are not lost.
uint64_t SimNetwork::frames_lost() const {
  uint64_t lost = frames_lost_ + frames_ended_;
  if (switch_ == nullptr) return lost;
  for (uint32_t i = 0; i < params_.ports.size(); ++i) {
    lost -= switch_->port(i).counters().Get(SwitchPortCounter::kRxPfc);
  }
  return lost - switch_->frames_of_links();
}

// Returns the frame's class bit; 0 with a cable, as its devices pause no class.
fabric::ClassMask SimNetwork::ClassBitOf(const Frame& frame) const {
  if (is_cable_) return 0;
  const auto view =
      fabric::ViewFrame(params_.forwarding, frame.data, frame.length, params_.esun_ether_type);
  return static_cast<fabric::ClassMask>(1u << switch_->ClassOf(&frame, view));
}

}  // namespace suede
