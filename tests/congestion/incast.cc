// SPDX-License-Identifier: Apache-2.0
#include "incast.h"

#include <algorithm>
#include <utility>

namespace suede {
namespace {

constexpr Duration kTimeout = std::chrono::microseconds(500);
constexpr uint32_t kAckEvery = 2;
constexpr Duration kAckDelay = std::chrono::nanoseconds(500);

TargetParams TargetOf(const IncastOptions& options) {
  TargetParams params;
  params.rate_bps = options.rate_bps / 1000 * 995;
  params.base_rtt = options.params.base_rtt;
  params.initial_percent = options.params.initial_percent;
  params.largest_octets = options.octets;
  return params;
}

}  // namespace

Incast::Incast(const IncastOptions& options)
    : options_(options),
      random_(options.seed),
      sources_(options.sources),
      target_(TargetOf(options)) {
  target_.Resize(options.sources);
  for (uint32_t source = 0; source != options.sources; ++source) {
    const int64_t spread = options.start_spread.count();
    Push(Kind::kStart, TimeFromNs(spread == 0 ? 0 : random_() % spread), source);
  }
}

IncastResult Incast::Run() {
  while (!events_.empty() && !Done() && now_ < Time(options_.limit)) {
    Event event = events_.top();
    events_.pop();
    now_ = event.at;
    Do(event);
    result_.outstanding_max = std::max(result_.outstanding_max, target_.outstanding());
  }
  return Result();
}

void Incast::Do(Event& event) {
  Source& source = sources_[event.source];
  switch (event.kind) {
    case Kind::kStart:
      source.context.Start(options_.params.control, options_.params,
                           {options_.rate_bps, options_.octets}, now_);
      source.started = source.progress_at = now_;
      Send(event.source);
      break;
    case Kind::kSend:
      source.waits_for_port = false;
      Send(event.source);
      break;
    case Kind::kTimer:
      OnTimer(event.source);
      break;
    case Kind::kAtQueue:
      Enqueue(event);
      break;
    case Kind::kLeaves:
      Dequeue();
      break;
    case Kind::kArrives:
      Arrive(event);
      break;
    case Kind::kRequest:
      target_.OnRequest(event.source, event.request, now_);
      PollTarget();
      break;
    case Kind::kGrant:
      source.context.OnGrant(event.request.limit, now_);
      if (!source.dead) Send(event.source);
      break;
    case Kind::kAnswer:
      if (!source.dead) OnAnswer(event);
      break;
    case Kind::kAckDue:
      if (source.unacked != 0) Answer(event, false);
      break;
    case Kind::kPoll:
      if (now_ == poll_at_) poll_at_ = kNever;
      PollTarget();
      break;
  }
}

void Incast::Push(Kind kind, Time at, uint32_t source) {
  Event event;
  event.kind = kind;
  event.source = source;
  Schedule(event, at);
}

void Incast::Schedule(Event event, Time at) {
  event.at = at;
  event.order = ++order_;
  events_.push(event);
}

void Incast::Send(uint32_t number) {
  Source& source = sources_[number];
  if (number == options_.dies && now_ >= options_.dies_at && !source.dead) {
    source.dead = true;
    ++done_;
  }
  if (source.dead || source.done != kNever) return;
  if (!source.waits_for_port && source.next < PdusOf(number) &&
      source.context.Allows(options_.octets)) {
    Event event;
    event.kind = Kind::kAtQueue;
    event.source = number;
    if (source.next == source.acked) source.progress_at = now_;
    event.psn = source.next++;
    event.resent = event.psn < source.highest;
    event.sent_at = now_;
    result_.resent += event.resent;
    source.highest = std::max(source.highest, source.next);
    source.context.OnSent(options_.octets, now_);
    if (!Lost(options_.data_loss_permille)) {
      Schedule(event, now_ + TimeOf(options_.octets) + options_.rtt / 4);
    }
    source.waits_for_port = true;
    Push(Kind::kSend, now_ + TimeOf(options_.octets), number);
  }
  Ask(number);
  ArmTimer(number);
}

void Incast::Ask(uint32_t number) {
  Source& source = sources_[number];
  const uint64_t backlog = uint64_t{PdusOf(number) - source.next} * options_.octets;
  const auto request = source.context.PollRequest(backlog, now_);
  source.context.CheckInvariants();
  if (!request) return;
  ++result_.requests;
  if (Lost(options_.loss_permille)) return;
  Event event;
  event.kind = Kind::kRequest;
  event.source = number;
  event.request = *request;
  Schedule(event, now_ + options_.rtt / 2 + Jitter());
}

void Incast::ArmTimer(uint32_t number) {
  Source& source = sources_[number];
  const Time due = std::min(source.context.deadline(), source.progress_at + kTimeout);
  if (due >= source.timer && source.timer > now_) return;
  source.timer = std::max(due, now_ + Duration(1));
  Push(Kind::kTimer, source.timer, number);
}

void Incast::OnTimer(uint32_t number) {
  Source& source = sources_[number];
  if (source.dead || source.done != kNever) return;
  if (now_ >= source.timer) source.timer = kNever;
  source.context.OnTimer(now_);
  if (now_ >= source.progress_at + kTimeout) {
    source.progress_at = now_;
    if (source.acked != source.next) GoBack(source);
  }
  Send(number);
}

void Incast::GoBack(Source& source) {
  source.context.OnGoBack(static_cast<uint32_t>(source.context.in_flight()), now_);
  source.next = source.acked;
}

void Incast::Enqueue(Event event) {
  int64_t octets = options_.octets;
  if (options_.queue_limit != 0 && queued_ + octets > options_.queue_limit) {
    if (!options_.trims) return;
    event.trimmed = true;
    octets = kTrimmedOctets;
  }
  event.marked = options_.mark_above != 0 && queued_ > options_.mark_above;
  queue_.push_back(event);
  queued_ += octets;
  result_.queue_max = std::max(result_.queue_max, queued_);
  if (queue_.size() == 1) Push(Kind::kLeaves, now_ + TimeOf(octets), 0);
}

void Incast::Dequeue() {
  Event first = queue_.front();
  queue_.pop_front();
  queued_ -= OctetsOf(first);
  first.kind = Kind::kArrives;
  Schedule(first, now_ + options_.rtt / 4);
  if (!queue_.empty()) Push(Kind::kLeaves, now_ + TimeOf(OctetsOf(queue_.front())), 0);
  if (now_ >= Time(options_.rtt)) samples_.push_back(queued_);
}

void Incast::Arrive(const Event& event) {
  Source& source = sources_[event.source];
  ++source.echo.received;
  source.echo.marked += event.marked;
  source.echo.trimmed += event.trimmed;
  if (options_.params.control == CongestionControl::kRccc) {
    target_.OnArrived(event.source, options_.octets);
  }
  if (event.trimmed || event.psn > source.expected) {
    if (event.psn >= source.expected && !source.nacked) Answer(event, true);
  } else if (event.psn < source.expected) {
    Answer(event, false);
  } else {
    ++source.expected;
    source.nacked = false;
    if (++source.unacked >= kAckEvery || source.expected == PdusOf(event.source)) {
      Answer(event, false);
    } else {
      Event due = event;
      due.kind = Kind::kAckDue;
      Schedule(due, now_ + kAckDelay);
    }
  }
  PollTarget();
}

void Incast::Answer(const Event& data, bool nack) {
  Source& source = sources_[data.source];
  source.unacked = 0;
  source.nacked |= nack;
  Event event = data;
  event.kind = Kind::kAnswer;
  event.psn = source.expected;
  event.nack = nack;
  event.echo = std::exchange(source.echo, EcnEcho());
  Schedule(event, now_ + options_.rtt / 2 - TimeOf(options_.octets));
}

void Incast::OnAnswer(const Event& event) {
  Source& source = sources_[event.source];
  source.context.OnEcho(event.echo);
  if (event.psn > source.acked) {
    const uint32_t octets = (event.psn - source.acked) * options_.octets;
    source.acked = event.psn;
    source.next = std::max(source.next, source.acked);
    const bool sampled = !event.nack && !event.resent;
    source.context.OnAcked(octets,
                           sampled ? std::optional<Duration>(now_ - event.sent_at) : std::nullopt,
                           source.acked == source.next, now_);
    source.progress_at = now_;
    if (source.acked == PdusOf(event.source)) {
      source.done = now_;
      ++done_;
      return;
    }
  }
  if (event.nack && source.next > source.acked) GoBack(source);
  Send(event.source);
}

void Incast::PollTarget() {
  if (options_.params.control != CongestionControl::kRccc) return;
  while (const auto grant = target_.Poll(now_, options_.room)) {
    ++result_.grants;
    if (Lost(options_.loss_permille)) continue;
    Event event;
    event.kind = Kind::kGrant;
    event.source = grant->sender;
    event.request.limit = grant->limit;
    Schedule(event, now_ + options_.rtt / 2 - TimeOf(options_.octets) + Jitter());
  }
  const Time due = target_.deadline();
  if (due == kNever || (poll_at_ != kNever && poll_at_ <= due && poll_at_ > now_)) return;
  poll_at_ = due > now_ ? due : now_ + std::chrono::microseconds(1);
  Push(Kind::kPoll, poll_at_, 0);
}

IncastResult Incast::Result() {
  double sum = 0;
  double squares = 0;
  int64_t octets = 0;
  uint32_t lives = 0;
  for (uint32_t number = 0; number != options_.sources; ++number) {
    const Source& source = sources_[number];
    if (source.dead) continue;
    ++lives;
    octets += int64_t{PdusOf(number)} * options_.octets;
    const Time done = source.done == kNever ? now_ : source.done;
    const auto took = static_cast<double>((done - source.started).count());
    sum += took;
    squares += took * took;
    result_.finished = std::max(result_.finished, done);
  }
  result_.complete = Done();
  if (lives != 0) {
    result_.jain = sum * sum / (lives * squares);
    result_.efficiency = static_cast<double>(TimeOf(octets).count()) /
                         static_cast<double>(result_.finished.time_since_epoch().count());
  }
  if (!samples_.empty()) {
    const auto at = samples_.begin() + static_cast<int64_t>(samples_.size() * 99 / 100);
    std::nth_element(samples_.begin(), at, samples_.end());
    result_.queue_p99 = *at;
  }
  // Credit of a source that is gone is written off in time.
  while (target_.deadline() != kNever && now_ < result_.finished + std::chrono::seconds(1)) {
    now_ += std::chrono::milliseconds(1);
    while (target_.Poll(now_, options_.room)) {
    }
    target_.CheckInvariants();
  }
  result_.outstanding = target_.outstanding();
  return result_;
}

}  // namespace suede
