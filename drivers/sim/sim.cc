// SPDX-License-Identifier: Apache-2.0
#include "sim/sim.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace suede {
namespace {

constexpr uint32_t kBufferBytes =
    Frame::kCommandOffset + SimPort::kMaxFrameBytes + Frame::kSlackBytes;

uint64_t FirstSix(const uint8_t* bytes) {
  uint64_t number = 0;
  for (int i = 0; i < 6; ++i) number = number << 8 | bytes[i];
  return number;
}

// By words: it is taken twice of each frame, and frames are most of a simulation's cost.
uint64_t Fingerprint(const uint8_t* data, uint32_t bytes) {
  uint64_t hash = bytes;
  while (bytes != 0) {
    const uint32_t step = std::min(bytes, 8u);
    uint64_t word = 0;
    std::memcpy(&word, data, step);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    data += step;
    bytes -= step;
  }
  return hash;
}

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "sim: %s\n", what);
  std::abort();
}

}  // namespace

struct SimPort::Buffer {
  Frame frame;
  SimPort* owner = nullptr;
  uint32_t references = 0;
  alignas(64) uint8_t bytes[kBufferBytes];
};

SimPort* SimNetwork::AddPort(const uint8_t (&mac)[6], uint32_t frames, uint32_t tx_ring,
                             const SimFaults& faults, uint32_t rx_ring) {
  owned_.push_back(std::make_unique<SimPort>(this, frames, tx_ring, faults, rx_ring));
  Learn(mac, owned_.back().get());
  return owned_.back().get();
}

void SimNetwork::Learn(const uint8_t (&mac)[6], SimPort* port) {
  ports_[FirstSix(mac) & destination_mask_] = port;
}

void SimNetwork::Block(const SimPort* from, const SimPort* to, bool blocked) {
  if (blocked) {
    blocked_.insert({from, to});
  } else {
    blocked_.erase({from, to});
  }
}

void SimNetwork::AdvanceTo(Time time) {
  for (const auto& port : owned_) port->LeaveUntil(time);
  for (;;) {
    SimPort* sending = NextToFinish();
    const Time done = sending != nullptr ? sending->queues_.done_at() : kNever;
    const Time comes = arrivals_.empty() ? kNever : arrivals_.top().at;
    if (std::min(done, comes) > time) break;
    if (done <= comes) {
      Deliver(sending, sending->queues_.Finish());
      sending->queues_.Begin(done, sending->faults_.bits_per_ns, classes_, random_, frames_lost_);
    } else {
      SimFrame frame = std::move(const_cast<SimFrame&>(arrivals_.top()));
      arrivals_.pop();
      Switch(std::move(frame));
    }
  }
  now_ = time;
}

SimPort* SimNetwork::NextToFinish() const {
  if (!classes_.on) return nullptr;
  SimPort* next = nullptr;
  for (const auto& port : owned_) {
    const Time done = port->queues_.done_at();
    if (done == kNever) continue;
    if (next == nullptr || done < next->queues_.done_at()) next = port.get();
  }
  return next;
}

Time SimNetwork::next_arrival() const {
  Time next = arrivals_.empty() ? kNever : arrivals_.top().at;
  for (const auto& port : owned_) {
    next = std::min(next, port->queues_.done_at());
    if (port->ring_.empty() || !port->Sends()) continue;
    next = std::min(next, port->ring_.front().leaves + port->faults_.delay);
  }
  return next;
}

void SimNetwork::Switch(SimFrame frame) {
  const auto found = ports_.find(FirstSix(frame.bytes.data()) & destination_mask_);
  if (found == ports_.end()) return;
  SimPort* to = found->second;
  if (blocked_.contains({static_cast<const SimPort*>(frame.from), to})) {
    ++frames_lost_;
    return;
  }
  if (!classes_.on) return Deliver(to, std::move(frame));
  const Time now = frame.at;
  if (!to->queues_.Push(std::move(frame), classes_)) ++frames_lost_;
  to->queues_.Begin(now, to->faults_.bits_per_ns, classes_, random_, frames_lost_);
}

void SimNetwork::Deliver(SimPort* to, SimFrame frame) {
  const bool full = to->rx_ring_ != 0 && to->received_.size() >= to->posted_;
  if (!to->up_ || to->receives_nothing_ || full) {
    ++frames_lost_;
    return;
  }
  to->received_.push_back({frame.at, std::move(frame.bytes)});
}

void SimNetwork::Send(const SimPort* from, const Frame& frame, Time leaves) {
  const SimFaults& faults = from->faults_;
  if (!from->up_ || from->sends_nothing_ || frame.length > faults.longest || Chance(faults.loss)) {
    ++frames_lost_;
    return;
  }
  if (passes_ && !passes_({frame.data, frame.length})) {
    ++frames_lost_;
    return;
  }
  std::vector<uint8_t> bytes(frame.data, frame.data + frame.length);
  if (Chance(faults.corrupt)) {
    const uint64_t bit = random_() % (bytes.size() * 8);
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
  const auto late = [&] {
    return Duration(
        static_cast<int64_t>(random_() % static_cast<uint64_t>(faults.reorder_delay.count() + 1)));
  };
  Time at = leaves + faults.delay;
  bool reorder = Chance(faults.reorder);
  if (classes_.on) {
    const SimClasses::OfClass& own = classes_.of[ClassOf(bytes)];
    if (Chance(own.loss)) {
      ++frames_lost_;
      return;
    }
    at += own.delay;
    reorder |= Chance(own.reorder);
  }
  if (Chance(faults.duplicate)) Schedule(from, bytes, at + late());
  if (reorder) at += late();
  Schedule(from, std::move(bytes), at);
}

// Only AFH Gen 2 is forwarded by less than the six bytes of a MAC address.
uint32_t SimNetwork::ClassOf(const std::vector<uint8_t>& bytes) const {
  return SimClassOf(bytes, destination_mask_ >> 47 == 0);
}

void SimNetwork::Schedule(const SimPort* from, std::vector<uint8_t> bytes, Time at) {
  if (from != nullptr && records_ != nullptr && records_->size() < most_records_) {
    records_->push_back(bytes);
  }
  const uint32_t traffic_class = classes_.on ? ClassOf(bytes) : 0;
  arrivals_.push({.at = at,
                  .order = order_++,
                  .from = from,
                  .traffic_class = traffic_class,
                  .bytes = std::move(bytes)});
}

SimPort::SimPort(SimNetwork* network, uint32_t frames, uint32_t tx_ring, const SimFaults& faults,
                 uint32_t rx_ring)
    : network_(network), faults_(faults), frames_(frames), tx_ring_(tx_ring), rx_ring_(rx_ring) {
  Refill();
}

SimPort::~SimPort() = default;

// A device takes frames from the pool as it hands some up.
void SimPort::Refill() {
  while (posted_ < rx_ring_ && frames_out() + posted_ < frames_) ++posted_;
}

uint32_t SimPort::Receive(Frame** frames, uint32_t max) {
  FinishTransmissions();
  uint32_t count = 0;
  while (count < max && !received_.empty()) {
    if (rx_ring_ != 0) --posted_;
    if (!Take(&frames[count])) break;
    const std::vector<uint8_t>& bytes = received_.front().bytes;
    Frame* frame = frames[count++];
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = static_cast<uint32_t>(bytes.size());
    frame->rx_checksum = ChecksumState::kUnknown;
    std::memcpy(frame->data, bytes.data(), bytes.size());
    if (watch_) watch_(bytes);
    received_.pop_front();
  }
  most_frames_out_ = std::max(most_frames_out_, frames_out());
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
    bytes_taken_ += frame->length;
    ring_.push_back({buffer, kNever, Fingerprint(frame->data, frame->length)});
    if (ring_.size() == 1) BeginFirst();
  }
  return taken;
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
  most_frames_out_ = std::max(most_frames_out_, frames_out());
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

// A pool has memory for the frames that were ever needed at once, and most are never.
void SimPort::Grow() {
  buffers_.push_back(std::make_unique<Buffer>());
  Buffer* buffer = buffers_.back().get();
  buffer->frame.buffer = buffer->bytes;
  buffer->frame.capacity = kBufferBytes;
  buffer->owner = this;
  free_.push_back(buffer);
}

void SimPort::Release(Frame* const* frames, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Unreference(reinterpret_cast<Buffer*>(frames[i]));
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
  queues_.SetPaused(classes);
  queues_.Begin(network_->now(), faults_.bits_per_ns, network_->classes_, network_->random_,
                network_->frames_lost_);
}

// A frame that was interrupted starts over.
void SimPort::GoOn(bool sent_before) {
  if (sent_before || !Sends()) return;
  free_at_ = std::max(free_at_, network_->now());
  if (!ring_.empty()) BeginFirst();
}

void SimPort::Restart(std::span<SimPort* const> ports) {
  for (SimPort* port : ports) {
    port->ring_.clear();
    port->left_.clear();
    port->received_.clear();
    port->free_.clear();
    for (const auto& buffer : port->buffers_) {
      buffer->references = 0;
      port->free_.push_back(buffer.get());
    }
    port->posted_ = 0;
    port->Refill();
  }
}

void SimPort::Unreference(Buffer* buffer) {
  Require(buffer->references != 0, "a frame was released twice");
  if (--buffer->references == 0) buffer->owner->free_.push_back(buffer);
}

void SimPort::BeginFirst() {
  OnWire& first = ring_.front();
  const double bits = (first.buffer->frame.length + 24) * 8;  // with preamble, FCS and gap
  first.leaves = std::max(network_->now(), free_at_) +
                 Duration(static_cast<int64_t>(bits / faults_.bits_per_ns));
}

void SimPort::LeaveUntil(Time time) {
  while (!ring_.empty() && Sends() && ring_.front().leaves <= time) {
    const OnWire& first = ring_.front();
    free_at_ = first.leaves;
    bytes_sent_ += first.buffer->frame.length;
    network_->Send(this, first.buffer->frame, first.leaves);
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
