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
      levels_(params.levels != 0),
      buffer_(buffer),
      counters_(counters),
      scheduler_(params),
      pauses_(params.ports[port].pfc, params.ports[port].rate_bps),
      random_(params.seed ^ (uint64_t{port} + 1) << 32) {
  if (params.forwarding == Forwarding::kMesh)
    patience_ -= static_cast<int64_t>(random_.Below(kPatience / 8));
  for (uint32_t queue = 0; queue < params.queue_count(); ++queue) {
    needs_[queue].link_vc = static_cast<uint8_t>(queue);
    if (params.of_class[params.ClassOfQueue(queue)].max_wait != Duration::zero()) {
      aging_ |= QueueMask{1} << queue;
    }
  }
}

// Marks an ECN-capable frame (RFC 3168) by the depth of its queue.
void Output::Mark(Frame* frame, const FrameView& view, uint32_t depth) {
  const FrameNote& note = NoteOfFrame(frame);
  const EcnParams& ecn = params_.of_class[note.traffic_class].ecn;
  if (depth <= ecn.least_bytes || view.network == NetworkHeader::kNone) [[likely]]
    return;
  if (!params_.ports[port_].marks) return;
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
  const uint32_t queue = NoteOfFrame(frame).queue;
  const uint32_t depth = buffer_.queued(port_, queue);
  Mark(frame, view, depth);
  max_queued_[queue] = std::max(max_queued_[queue], depth);
  queues_[queue].PushBack(frame);
  waiting_ |= QueueMask{1} << queue;
}

[[gnu::always_inline]] inline Frame* Output::Take(uint32_t queue) {
  Frame* const frame = queues_[queue].PopFront();
  FrameNote& note = NoteOfFrame(frame);
  if (note.credits != 0) [[unlikely]]
    inputs_[note.in]->OnDrained(note.link_vc, std::exchange(note.credits, uint16_t{0}), now_);
  note.credited ? buffer_.ReleaseCredited(PortIndex(port_), note)
                : buffer_.Release(PortIndex(note.in), PortIndex(port_), queue, note.charge);
  if (queues_[queue].empty()) {
    waiting_ &= ~(QueueMask{1} << queue);
    scheduler_.OnEmpty(queue);
  }
  return frame;
}

// Checks whether the first frame of a queue has the credit that it needs. A storm ends when its
// last dropped frame would have credit.
[[gnu::always_inline]] inline void Output::CheckFirst(uint32_t queue) {
  const QueueMask bit = QueueMask{1} << queue;
  Need& need = needs_[queue];
  if (const Frame* const frame = queues_[queue].head(); frame != nullptr) {
    if (!levels_) need.link_vc = LinkVcOf(ClassRuleOf(params_), frame->data, frame->length);
    need.credits = credit_->rule().CreditsOf(frame->length);
  } else if ((starved_ & bit) == 0) {
    need.since = kNever;
    return;
  }
  if (!credit_->MaySend(need.link_vc, need.credits)) [[unlikely]]
    return NoteWithoutCredit(queue);
  if (need.since == kNever) [[likely]]
    return;
  need.since = kNever;
  starved_ &= ~bit;
}

// The watchdog: frames that wait for credit too long block the buffer, and thereby other outputs.
[[gnu::noinline]] void Output::NoteWithoutCredit(uint32_t queue) {
  const QueueMask bit = QueueMask{1} << queue;
  without_credit_ |= bit;
  held_ |= bit;
  const Duration storm = params_.ports[port_].pfc.storm;
  Need& need = needs_[queue];
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
  // A queue that neither waits nor waited for credit needs none.
  QueueMask left = waiting_ | starved_ | std::exchange(without_credit_, 0);
  storm_due_ = kNever;
  if (!credit_->is_on()) {
    starved_ = 0;
    for (; left != 0; left &= left - 1) needs_[std::countr_zero(left)].since = kNever;
    return;
  }
  for (; left != 0; left &= left - 1) CheckFirst(static_cast<uint32_t>(std::countr_zero(left)));
}

// A frame leaves on credit. Frames behind it may need more credit than is left, and so may the
// first frames of other queues that share its link VC.
void Output::Spend(uint32_t queue, Time now) {
  credit_->OnSent(needs_[queue].link_vc, needs_[queue].credits, now);
  levels_ ? CheckFirst(queue) : CheckCredit();
}

Frame* Output::Pop(Time now) {
  if (waiting_ == 0 || !MaySend(now)) return nullptr;
  const uint32_t queue = scheduler_.Next(waiting_ & ~(held_ | stormy()),
                                         [&](uint32_t q) { return queues_[q].head()->length; });
  if (queue == ClassScheduler::kNone) {
    held_until_ = now;
    return nullptr;
  }
  Frame* const frame = Take(queue);
  if (credit_ != nullptr && credit_->is_on()) [[unlikely]]
    Spend(queue, now);
  if (rate_bps_ != 0) {
    // The time since when the frame could have left: a late poll iteration compensates its delay,
    // but no credit accumulates during a pause or while the queue is empty.
    const Time begin = std::max({free_at_, NoteOfFrame(frame).at, held_until_});
    const uint64_t bits = uint64_t{frame->length + kWireOctets} * 8;
    free_at_ = begin + Duration(static_cast<int64_t>(bits * 1'000'000'000 / rate_bps_));
  }
  SwitchClassCounters& counters = counters_[NoteOfFrame(frame).traffic_class];
  counters.Add(SwitchClassCounter::kFrames);
  counters.Add(SwitchClassCounter::kFrameBytes, frame->length);
  return frame;
}

[[gnu::noinline]] Frame* Output::TakeStormy(QueueMask lost) {
  Frame* const frame = Take(static_cast<uint32_t>(std::countr_zero(lost)));
  counters_[NoteOfFrame(frame).traffic_class].Add(SwitchClassCounter::kStormDrop);
  return frame;
}

WaitCause Output::CauseOf(uint32_t queue) const {
  const QueueMask bit = QueueMask{1} << queue;
  if (((without_credit_ | lacked_credit_) & bit) != 0) return WaitCause::kCredit;
  if ((held_ & bit) != 0) return WaitCause::kPause;
  return rate_bps_ != 0 ? WaitCause::kRate : WaitCause::kDown;
}

[[gnu::noinline]] Frame* Output::TakeOld(QueueMask left, Time now) {
  for (; left != 0; left &= left - 1) {
    const auto queue = static_cast<uint32_t>(std::countr_zero(left));
    const FrameNote& note = NoteOfFrame(queues_[queue].head());
    const Duration waits = now - note.at;
    if (waits <= params_.of_class[note.traffic_class].max_wait * patience_ / kPatience) continue;
    counters_[note.traffic_class].Add(SwitchClassCounter::kAgeDrop);
    too_old_ = {.count = too_old_.count + 1,
                .destination = note.destination,
                .traffic_class = note.traffic_class,
                .cause = CauseOf(queue)};
    Frame* const frame = Take(queue);
    // The frame behind it may need more credit.
    if (credit_ != nullptr) CheckCredit();
    return frame;
  }
  return nullptr;
}

Frame* Output::PopAny() {
  if (waiting_ == 0) return nullptr;
  return Take(static_cast<uint32_t>(std::countr_zero(waiting_)));
}

Time Output::deadline(Time now) const {
  if (waiting_ == 0) return kNever;
  if ((waiting_ & ~held_) == 0) return std::min(pauses_.deadline(), storm_due_);
  return rate_bps_ == 0 ? now : std::max(now, free_at_);
}

}  // namespace suede::fabric
