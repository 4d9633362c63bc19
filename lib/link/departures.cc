// SPDX-License-Identifier: Apache-2.0
// Departures: checks that run when an answer is missing, and now and then when an answer arrives.
#include "link/departures.h"

namespace suede {
namespace {

// Interval of the checks whether the device reports which frames have left it.
constexpr Duration kSampleEvery = std::chrono::milliseconds(10);
constexpr Duration kEmitEvery = std::chrono::milliseconds(100);
// A caller that waits for an answer checks more often: an older hold was a different hold.
constexpr Duration kForget = std::chrono::seconds(1);

}  // namespace

void Departures::OnSample(bool busy, Time sent_at, bool once, Time now) {
  sample_at_ = now + kSampleEvery;
  if (once) reports_ = !busy;
  if (!busy && sent_at >= held_since_) held_since_ = kNever;
}

Time Departures::HeldSince(const Device& device, const Waiting& waiting, Duration min, Time now,
                           Frame*& unused) {
  const bool reports = device.reclaims && reports_;
  unused = nullptr;
  if (marker_ != nullptr && !device.marker_busy) {
    if (handed_at_ >= held_since_) held_since_ = kNever;
    unused = std::exchange(marker_, nullptr);
  }
  if (!device.up) return held_since_ = kNever;
  Time since = refused_since_;
  if (reports && marker_ != nullptr) since = std::min(since, handed_at_);
  if (waiting.exists) {
    if (waiting.staged || (reports && waiting.busy)) {
      since = std::min(since, waiting.sent_at);
    } else if (waiting.sent_at >= held_since_) {
      held_since_ = kNever;  // the frame has left, and was sent later than the held frames
    }
  }
  if (since == kNever || now - since < min) return kNever;
  if (held_since_ == kNever || now - seen_at_ > kForget) {
    held_since_ = since;
    news_ = true;
  }
  held_since_ = std::min(held_since_, since);
  seen_at_ = now;
  sample_at_ = now;
  return held_since_;
}

bool Departures::MayEmit(Time now) {
  if (now < emit_at_) return false;
  emit_at_ = now + kEmitEvery;
  return true;
}

}  // namespace suede
