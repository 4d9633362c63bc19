// SPDX-License-Identifier: Apache-2.0
#include "fabric/output.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "wire/frame_class.h"

namespace suede::fabric {

Output::Output(const SwitchParams& params, uint32_t port, SharedBuffer& buffer,
               ClassCounters& counters)
    : params_(params),
      port_(port),
      rate_bps_(params.ports[port].rate_bps),
      buffer_(buffer),
      counters_(counters),
      scheduler_(params.of_class),
      pauses_(params.ports[port].pfc, params.ports[port].rate_bps),
      random_(params.seed ^ (uint64_t{port} + 1) << 32) {
  for (uint32_t c = 0; c < kClasses; ++c) {
    if (params.of_class[c].max_wait != Duration::zero()) aging_ |= static_cast<ClassMask>(1u << c);
  }
}

// Marks an ECN-capable frame (RFC 3168) by the depth of its queue.
void Output::Mark(Frame* frame, const FrameView& view, uint32_t depth) {
  const FrameNote& note = NoteOfFrame(frame);
  const EcnParams& ecn = params_.of_class[note.traffic_class].ecn;
  if (depth <= ecn.least_bytes || view.network == NetworkHeader::kNone) [[likely]]
    return;
  if (depth < ecn.most_bytes) {
    const uint64_t range = ecn.most_bytes - ecn.least_bytes;
    const uint64_t part = (uint64_t{depth - ecn.least_bytes} << 16) / range;
    if ((random_.Next() & 0xffff) >= (part * ecn.probability >> 16)) return;
  }
  const uint8_t ds = view.ds_byte(frame->data);
  if ((ds & 3) == 0 || (ds & 3) == 3) return;  // not ECN-capable, or already marked
  view.set_ds_byte(frame->data, ds | 3);
  counters_[note.traffic_class].Add(SwitchClassCounter::kMarked);
}

void Output::Push(Frame* frame, const FrameView& view) {
  const uint32_t traffic_class = NoteOfFrame(frame).traffic_class;
  const uint32_t depth = buffer_.queued(port_, traffic_class);
  Mark(frame, view, depth);
  max_queued_[traffic_class] = std::max(max_queued_[traffic_class], depth);
  queues_[traffic_class].PushBack(frame);
  waiting_ |= static_cast<ClassMask>(1u << traffic_class);
}

Frame* Output::Take(uint32_t traffic_class) {
  Frame* const frame = queues_[traffic_class].PopFront();
  FrameNote& note = NoteOfFrame(frame);
  if (note.credits != 0) [[unlikely]]
    inputs_[note.in]->OnDrained(note.link_vc, std::exchange(note.credits, uint16_t{0}), now_);
  note.credited ? buffer_.ReleaseCredited(PortIndex(port_), note)
                : buffer_.Release(PortIndex(note.in), PortIndex(port_), traffic_class, note.charge);
  if (queues_[traffic_class].empty()) {
    waiting_ &= static_cast<ClassMask>(~(1u << traffic_class));
    scheduler_.OnEmpty(traffic_class);
  }
  return frame;
}

// Checks whether the first frame of a class has the credit that it needs. A storm ends when its
// last dropped frame would have credit.
void Output::CheckFirst(uint32_t traffic_class) {
  const auto bit = static_cast<ClassMask>(1u << traffic_class);
  Need& need = needs_[traffic_class];
  if (const Frame* const frame = queues_[traffic_class].head(); frame != nullptr) {
    need.link_vc = LinkVcOf(ClassRuleOf(params_), frame->data, frame->length);
    need.credits = credit_->rule().CreditsOf(frame->length);
  } else if ((starved_ & bit) == 0) {
    need.since = kNever;
    return;
  }
  if (!credit_->MaySend(need.link_vc, need.credits)) return NoteWithoutCredit(traffic_class);
  need.since = kNever;
  starved_ &= static_cast<ClassMask>(~bit);
}

// The watchdog: frames that wait for credit too long block the buffer, and thereby other outputs.
void Output::NoteWithoutCredit(uint32_t traffic_class) {
  const auto bit = static_cast<ClassMask>(1u << traffic_class);
  without_credit_ |= bit;
  const Duration storm = params_.ports[port_].pfc.storm;
  Need& need = needs_[traffic_class];
  if (need.since == kNever) need.since = now_;
  if ((starved_ & bit) != 0 || storm == Duration::zero()) return;
  if (now_ - need.since < storm) {
    storm_due_ = std::min(storm_due_, need.since + storm);
    return;
  }
  starved_ |= bit;
  link_counters_->Add(LinkCounter::kCreditStorms);
}

void Output::CheckCredit() {
  without_credit_ = 0;
  storm_due_ = kNever;
  if (!credit_->is_on()) {
    starved_ = 0;
    for (Need& need : needs_) need.since = kNever;
    return;
  }
  for (uint32_t c = 0; c < kClasses; ++c) CheckFirst(c);
  held_ |= without_credit_;
}

// A frame leaves on credit. Frames behind it may need more credit than is left, and so may the
// first frames of other classes that share its link VC.
void Output::Spend(const Frame& frame, Time now) {
  const uint32_t vc = LinkVcOf(ClassRuleOf(params_), frame.data, frame.length);
  credit_->OnSent(vc, credit_->rule().CreditsOf(frame.length), now);
  CheckCredit();
}

Frame* Output::Pop(Time now) {
  if (waiting_ == 0 || !MaySend(now)) return nullptr;
  const uint32_t traffic_class =
      scheduler_.Next(static_cast<ClassMask>(waiting_ & ~(held_ | stormy())),
                      [&](uint32_t c) { return queues_[c].head()->length; });
  if (traffic_class == ClassScheduler::kNone) {
    held_until_ = now;
    return nullptr;
  }
  Frame* const frame = Take(traffic_class);
  if (credit_ != nullptr && credit_->is_on()) [[unlikely]]
    Spend(*frame, now);
  if (rate_bps_ != 0) {
    // The time since when the frame could have left: a late poll iteration compensates its delay,
    // but no credit accumulates during a pause or while the queue is empty.
    const Time begin = std::max({free_at_, NoteOfFrame(frame).at, held_until_});
    const uint64_t bits = uint64_t{frame->length + kWireOctets} * 8;
    free_at_ = begin + Duration(static_cast<int64_t>(bits * 1'000'000'000 / rate_bps_));
  }
  counters_[traffic_class].Add(SwitchClassCounter::kFrames);
  counters_[traffic_class].Add(SwitchClassCounter::kFrameBytes, frame->length);
  return frame;
}

Frame* Output::PopStormy() {
  const auto lost = static_cast<ClassMask>(stormy() & waiting_);
  if (lost == 0) [[likely]]
    return nullptr;
  const auto traffic_class = static_cast<uint32_t>(std::countr_zero(uint32_t{lost}));
  counters_[traffic_class].Add(SwitchClassCounter::kStormDrop);
  return Take(traffic_class);
}

WaitCause Output::CauseOf(uint32_t traffic_class) const {
  const auto bit = static_cast<ClassMask>(1u << traffic_class);
  if ((without_credit_ & bit) != 0) return WaitCause::kCredit;
  if ((held_ & bit) != 0) return WaitCause::kPause;
  return rate_bps_ != 0 ? WaitCause::kRate : WaitCause::kDown;
}

Frame* Output::PopOld(Time now) {
  auto left = static_cast<ClassMask>(waiting_ & aging_);
  for (; left != 0; left &= static_cast<ClassMask>(left - 1)) {
    const auto traffic_class = static_cast<uint32_t>(std::countr_zero(uint32_t{left}));
    const FrameNote& note = NoteOfFrame(queues_[traffic_class].head());
    const Duration waits = now - note.at;
    if (waits <= params_.of_class[traffic_class].max_wait) continue;
    counters_[traffic_class].Add(SwitchClassCounter::kAgeDrop);
    too_old_ = {.count = too_old_.count + 1,
                .destination = note.destination,
                .traffic_class = note.traffic_class,
                .cause = CauseOf(traffic_class)};
    return Take(traffic_class);
  }
  return nullptr;
}

Frame* Output::PopAny() {
  if (waiting_ == 0) return nullptr;
  return Take(static_cast<uint32_t>(std::countr_zero(uint32_t{waiting_})));
}

Time Output::deadline(Time now) const {
  if (waiting_ == 0) return kNever;
  if ((waiting_ & ~held_) == 0) return std::min(pauses_.deadline(), storm_due_);
  return rate_bps_ == 0 ? now : std::max(now, free_at_);
}

}  // namespace suede::fabric
