// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "sim/checks.h"
#include "sim/sim.h"

namespace suede {
namespace {

constexpr uint32_t kHostBytes =  // of a buffer
    Frame::kCommandOffset + SimPort::kMaxFrameBytes + Frame::kSlackBytes;
constexpr fabric::PfcParams kPfc = {.on = true, .storm = Duration::zero()};

}  // namespace

struct SimPort::Buffer {
  Frame frame;
  alignas(64) uint8_t bytes[kHostBytes];
  SimPort* owner = nullptr;
  uint32_t references = 0;
};

SimPort::SimPort(SimNetwork* network, PortIndex number, uint32_t frames, uint32_t tx_ring,
                 const SimFaults& faults, uint32_t rx_ring)
    : network_(network),
      number_(number),
      faults_(faults),
      frames_(frames),
      tx_ring_(tx_ring),
      rx_ring_(rx_ring),
      asks_(kPfc, 0),
      told_(kPfc, 0) {
  Refill();
}

SimPort::~SimPort() = default;

// Posts frames of the pool for arrivals, as a device does when it delivers some.
void SimPort::Refill() {
  while (posted_ < rx_ring_ && frames_out() + posted_ < frames_) ++posted_;
}

uint32_t SimPort::Receive(Frame** frames, uint32_t max) {
  FinishTransmissions();
  uint32_t count = 0;
  while (count < max && !received_.empty()) {
    if (rx_ring_ != 0) --posted_;
    if (!Take(&frames[count])) break;
    Frame* const got = received_.front().frame;
    received_.pop_front();
    Frame* frame = frames[count++];
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = got->length;
    frame->rx_checksum = ChecksumState::kUnknown;
    std::memcpy(frame->data, got->data, got->length);
    network_->Release(got);
    if (watch_) watch_({frame->data, frame->length});
  }
  max_frames_out_ = std::max(max_frames_out_, frames_out());
  Refill();
  return count;
}

uint32_t SimPort::Transmit(Frame* const* frames, uint32_t count) {
  FinishTransmissions();
  uint32_t taken = 0;
  while (taken < count && ring_.size() < tx_ring_) {
    Frame* frame = frames[taken++];
    Require(frame->length <= kMaxFrameBytes, "a frame is too long");
    auto* buffer = reinterpret_cast<Buffer*>(frame);
    Require(buffer->references != 0, "a frame was sent after it was released");
    ++buffer->references;
    bytes_.taken += frame->length;
    if (overloaded_ != kSimClasses) LookAhead(*frame);
    ring_.push_back({buffer, kNever, Fingerprint(frame->data, frame->length)});
    if (ring_.size() == 1) BeginFirst();
  }
  return taken;
}

// Records the bytes queued ahead of a frame about to join the ring.
void SimPort::LookAhead(const Frame& frame) {
  const auto bit = static_cast<fabric::ClassMask>(1u << overloaded_);
  if (network_->ClassBitOf(frame) == bit) return;
  uint32_t ahead = 0;
  for (const OnWire& on_wire : ring_) {
    const Frame& other = on_wire.buffer->frame;
    if (network_->ClassBitOf(other) == bit) ahead += other.length;
  }
  max_ahead_ = std::max(max_ahead_, ahead);
}

bool SimPort::IsBusy(const Frame* frame) const {
  return reinterpret_cast<const Buffer*>(frame)->references > 1;
}

bool SimPort::Reclaim() {
  FinishTransmissions();
  return true;
}

uint32_t SimPort::Allocate(Frame** frames, uint32_t count) {
  uint32_t given = 0;
  while (given < count && Take(&frames[given])) ++given;
  max_frames_out_ = std::max(max_frames_out_, frames_out());
  return given;
}

bool SimPort::Take(Frame** frame) {
  if (frames_out() + posted_ >= frames_) return false;
  if (free_.empty()) Grow();
  Buffer* buffer = free_.back();
  free_.pop_back();
  buffer->references = 1;
  buffer->frame.length = 0;
  *frame = &buffer->frame;
  return true;
}

// Adds a buffer. The pool's memory grows on demand, as few of its frames are ever in use at once.
void SimPort::Grow() {
  buffers_.push_back(std::make_unique<Buffer>());
  Buffer* buffer = buffers_.back().get();
  buffer->frame.buffer = buffer->bytes;
  buffer->frame.capacity = kHostBytes;
  buffer->owner = this;
  free_.push_back(buffer);
}

void SimPort::Release(Frame* const* frames, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Unreference(reinterpret_cast<Buffer*>(frames[i]));
}

void SimPort::Hold(Frame* const* frames, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) ++reinterpret_cast<Buffer*>(frames[i])->references;
}

void SimPort::SetLink(bool up) {
  const bool sent = Sends();
  up_ = up;
  GoOn(sent);
}

void SimPort::SetPaused(bool paused) {
  const bool sent = Sends();
  paused_ = paused;
  GoOn(sent);
}

void SimPort::SetClassesPaused(uint8_t classes) {
  asked_ = classes;
  Ask(network_->now());
}

// Sends a due PFC frame, outside the ring; lost in the same cases as other frames.
void SimPort::Ask(Time now) {
  const auto pfc = asks_.Poll(asked_, now);
  network_->WakeAt(number_, asks_.deadline());
  if (!pfc || !up_ || sends_nothing_) return;
  network_->SendPfc(number_, *pfc, now);
  network_->WakeAt(number_, now);
}

bool SimPort::waits_for_class() const {
  return (network_->the_switch().port(number_).output().waiting() & asked_) != 0;
}

// Whether the frame is for a group without a filter entry.
bool SimPort::Filters(const Frame& frame) const {
  if (!groups_ || frame.length < 6 || (frame.data[0] & 1) == 0) return false;
  return std::none_of(groups_->begin(), groups_->end(), [&](const std::array<uint8_t, 6>& group) {
    return std::equal(group.begin(), group.end(), frame.data);
  });
}

void SimPort::Arrive(Frame* frame, Time now) {
  if (!up_ || receives_nothing_) return Lose(frame);
  if (obeys_pfc_) {
    if (const auto pfc = fabric::DecodePfc(frame->data, frame->length)) {
      network_->Release(frame);
      told_.OnFrame(*pfc, now);
      if (!ring_.empty() && Sends() && ring_.front().leaves == kNever) BeginFirst();
      return;
    }
  }
  if (Filters(*frame)) return network_->Release(frame);
  if (rx_ring_ != 0 && received_.size() >= posted_) return Lose(frame);
  bytes_.received += frame->length;
  received_.push_back({now, frame});
  if (woken_) woken_(now);
}

void SimPort::Arrive(std::span<const uint8_t> bytes) {
  Frame* const frame = network_->Take(bytes);
  if (Filters(*frame)) return network_->Release(frame);
  if (!up_ || receives_nothing_ || (rx_ring_ != 0 && received_.size() >= posted_)) {
    return Lose(frame);
  }
  received_.push_back({network_->now(), frame});
}

void SimPort::Lose(Frame* frame) {
  ++network_->frames_lost_;
  network_->Release(frame);
}

// Resumes transmission; an interrupted frame starts over.
void SimPort::GoOn(bool sent_before) {
  if (sent_before || !Sends()) return;
  free_at_ = std::max(free_at_, network_->now());
  if (!ring_.empty()) BeginFirst();
}

void SimPort::Restart(std::span<SimPort* const> ports) {
  for (SimPort* port : ports) {
    port->ring_.clear();
    port->left_.clear();
    for (const Received& got : port->received_) port->network_->Release(got.frame);
    port->received_.clear();
    port->free_.clear();
    for (const auto& buffer : port->buffers_) {
      buffer->references = 0;
      buffer->frame.sealed = nullptr;
      port->free_.push_back(buffer.get());
    }
    port->posted_ = 0;
    port->Refill();
  }
}

void SimPort::Unreference(Buffer* buffer) {
  Require(buffer->references != 0, "a frame was released twice");
  if (--buffer->references != 0) return;
  Require(buffer->frame.sealed == nullptr, "a frame was released without its sealed one");
  buffer->owner->free_.push_back(buffer);
}

// Starts the first frame whose class is not paused by the switch, and moves it to the front.
void SimPort::BeginFirst() {
  ring_.front().leaves = kNever;
  const fabric::ClassMask held = told_.Paused(0xff, network_->now());
  if (held != 0) {
    const auto found = std::find_if(ring_.begin(), ring_.end(), [&](const OnWire& on_wire) {
      return (network_->ClassBitOf(on_wire.buffer->frame) & held) == 0;
    });
    if (found == ring_.end()) return network_->WakeAt(number_, told_.deadline());
    std::rotate(ring_.begin(), found, found + 1);
  }
  OnWire& first = ring_.front();
  const double bits = (first.buffer->frame.length + 24) * 8;  // with preamble, FCS and gap
  first.leaves = std::max(network_->now(), free_at_) +
                 Duration(static_cast<int64_t>(bits / faults_.bits_per_ns));
  network_->WakeAt(number_, first.leaves);
}

Time SimPort::leaves_at() const {
  return ring_.empty() || !Sends() ? kNever : ring_.front().leaves;
}

Time SimPort::deadline() const {
  Time next = asks_.deadline();
  if (ring_.empty() || !Sends()) return next;
  const Time leaves = ring_.front().leaves;
  return std::min(next, leaves != kNever ? leaves : told_.deadline());
}

void SimPort::Act(Time now) {
  if (asks_.deadline() <= now) Ask(now);
  if (!ring_.empty() && Sends() && ring_.front().leaves == kNever) BeginFirst();
  LeaveUntil(now);
}

void SimPort::LeaveUntil(Time time) {
  while (!ring_.empty() && Sends() && ring_.front().leaves <= time) {
    const OnWire& first = ring_.front();
    free_at_ = first.leaves;
    bytes_.sent += first.buffer->frame.length;
    network_->Send(*this, first.buffer->frame, first.leaves);
    left_.push_back(first);
    ring_.pop_front();
    if (!ring_.empty()) BeginFirst();
  }
}

void SimPort::FinishTransmissions() {
  while (!left_.empty()) {
    const OnWire& done = left_.front();
    Require(Fingerprint(done.buffer->frame.data, done.buffer->frame.length) == done.fingerprint,
            "a frame was written to while the device could read it");
    Unreference(done.buffer);
    left_.pop_front();
  }
}

}  // namespace suede
