// SPDX-License-Identifier: Apache-2.0
#include "credit_channel.h"

#include <algorithm>
#include <utility>

namespace suede {
namespace {

constexpr Duration kRestartSpan = std::chrono::microseconds(400);  // in which restarts happen
constexpr Duration kMax = std::chrono::seconds(2);                 // by then all has passed
constexpr uint32_t kSendNs = 80;                                   // a frame of 1000 octets
constexpr uint32_t kStalledNs = 1000;  // until an end without credit looks again

}  // namespace

CreditChannel::CreditChannel(uint64_t seed) : dice_(seed) {
  data_loss_ = Chance(0.3) ? 0 : Between(0, 100) / 1000.0;
  update_loss_ = Between(0, 50) / 100.0;
  delay_ns_ = Between(0, 5'000);
  jitter_ns_ = Chance(0.3) ? 0 : Between(0, 20'000);
  max_octets_ = Between(60, 4096);
  times_.repeat = Duration(Between(20'000, 300'000));
  times_.max_wait = Duration(Between(0, 20'000));
  times_.spacing_octets = Between(800, 20'000);
  for (uint32_t& ns : drain_ns_) ns = Between(0, 3) == 0 ? Between(500, 5'000) : Between(0, 200);
  for (End& end : ends_) {
    end.grant.rule = {.shift = static_cast<uint8_t>(Between(5, 12)),
                      .overhead = static_cast<int16_t>(static_cast<int>(Between(0, 143)) - 16)};
    for (uint32_t vc = 0; vc < kVcs; ++vc) {
      end.grant.limits[vc] = end.grant.rule.CreditsOf(max_octets_) * Between(1, 20);
      end.left[vc] = Between(10, 200);
      end.next[vc] = Between(14, max_octets_);
    }
    end.sender = std::make_unique<CreditSender>(times_.repeat);
    end.receiver = std::make_unique<CreditReceiver>(end.grant, times_);
  }
  ++epoch_;
  for (uint32_t e = 0; e < 2; ++e) {
    At(now_ + Jitter(), {.kind = Event::Kind::kStart, .end = e, .epoch = epoch_});
    At(now_, {.kind = Event::Kind::kSend, .end = e});
  }
  for (uint32_t i = Chance(0.5) ? 0 : Between(1, 3); i != 0; --i) {
    last_restart_ = now_ + kRestartSpan;
    At(now_ + Duration(Between(0, static_cast<uint32_t>(kRestartSpan.count()))),
       {.kind = Event::Kind::kRestart, .end = Between(0, 1)});
  }
}

void CreditChannel::Fail(const std::string& what) {
  if (result_.error.empty()) result_.error = what;
}

// Both ends begin an epoch, each when the hellos have told it; `end` has heard of it.
void CreditChannel::Begin(uint32_t end, uint32_t epoch) {
  End& own = ends_[end];
  if (epoch <= own.epoch) return;
  own.epoch = epoch;
  own.under_way.fill(0);
  own.sender->Start(ends_[1 - end].grant, now_);
  own.receiver->Start();
}

// An end begins anew, with its buffer empty or not, and the other hears of it later.
void CreditChannel::Restart(uint32_t end) {
  End& own = ends_[end];
  ++result_.restarts;
  ++epoch_;
  if (Chance(0.5)) {
    own.sender = std::make_unique<CreditSender>(times_.repeat);
    own.receiver = std::make_unique<CreditReceiver>(own.grant, times_);
    for (auto& frames : own.buffer) frames.clear();
    own.buffered.fill(0);
  }
  Begin(end, epoch_);
  At(now_ + Duration(Between(0, 60'000)),
     {.kind = Event::Kind::kStart, .end = 1 - end, .epoch = epoch_});
}

// The end sends a frame of some link VC that has one and has credit.
void CreditChannel::Send(uint32_t end) {
  End& own = ends_[end];
  Time next = now_ + Duration(kStalledNs);
  const uint32_t first = Between(0, kVcs - 1);
  for (uint32_t i = 0; i < kVcs && own.sender->is_on(); ++i) {
    const uint32_t vc = (first + i) % kVcs;
    if (own.left[vc] == 0) continue;
    const uint32_t octets = own.next[vc];
    const uint32_t credits = own.sender->rule().CreditsOf(octets);
    if (!own.sender->MaySend(vc, credits)) {
      ++result_.stalls;
      continue;
    }
    own.sender->OnSent(vc, credits, now_);
    next = now_ + Duration(kSendNs);
    ++result_.frames;
    --own.left[vc];
    own.next[vc] = Between(14, max_octets_);
    if (Chance(data_loss_)) {
      ++result_.lost_frames;
    } else {
      const Time arrives = now_ + Duration(delay_ns_) + Jitter();
      own.data_end = std::max(own.data_end, arrives);
      own.under_way[vc] += credits;
      At(arrives, {.kind = Event::Kind::kData,
                   .end = 1 - end,
                   .vc = vc,
                   .octets = octets,
                   .epoch = own.epoch});
    }
    break;
  }
  const bool all = std::ranges::all_of(own.left, [](uint32_t left) { return left == 0; });
  if (!all || now_ < last_restart_) At(next, {.kind = Event::Kind::kSend, .end = end});
}

void CreditChannel::OnData(uint32_t end, const Event& event) {
  End& own = ends_[end];
  if (const End& other = ends_[1 - end]; other.epoch == event.epoch) {
    ends_[1 - end].under_way[event.vc] -= other.sender->rule().CreditsOf(event.octets);
  }
  const uint32_t credits = own.receiver->OnFrame(event.vc, event.octets);
  if (credits == 0) return;  // it has not begun: such frames are nobody's credit
  if (own.buffer[event.vc].empty()) {
    At(now_ + Duration(drain_ns_[event.vc]),
       {.kind = Event::Kind::kDrain, .end = end, .vc = event.vc});
  }
  own.buffer[event.vc].push_back(credits);
  own.buffered[event.vc] += credits;
  const uint32_t limit = own.grant.limits[event.vc];
  result_.max_held =
      std::max<uint64_t>(result_.max_held, uint64_t{own.buffered[event.vc]} * 1000 / limit);
  if (own.buffered[event.vc] > limit) Fail("overrun");
  if (!own.receiver->IsWithin(event.vc)) Fail("the receiver sees an overrun");
}

void CreditChannel::Drain(uint32_t end, uint32_t vc) {
  End& own = ends_[end];
  if (own.buffer[vc].empty()) return;  // the end began anew
  const uint32_t credits = own.buffer[vc].front();
  own.buffer[vc].pop_front();
  own.buffered[vc] -= credits;
  own.receiver->OnDrained(vc, credits, now_);
  if (own.buffer[vc].empty()) return;
  At(now_ + Duration(drain_ns_[vc]), {.kind = Event::Kind::kDrain, .end = end, .vc = vc});
}

void CreditChannel::SendUpdate(uint32_t from, Event::Kind kind, const CreditUpdate& update) {
  ++result_.updates;
  if (Chance(update_loss_)) {
    ++result_.lost_updates;
    return;
  }
  uint8_t body[CreditUpdate::kMaxBytes];
  auto decoded = DecodeCreditUpdate(body, EncodeCreditUpdate(update, body));
  if (decoded) decoded->serial = update.serial;
  if (decoded != update) Fail("an update changed on its way");
  Time arrives = now_ + Duration(delay_ns_) + Jitter();
  if (kind == Event::Kind::kCc) arrives = std::max(arrives, ends_[from].data_end) + Jitter();
  At(arrives, {.kind = kind, .end = 1 - from, .epoch = ends_[from].epoch, .update = update});
}

void CreditChannel::Poll(uint32_t end) {
  End& own = ends_[end];
  if (const auto update = own.sender->Poll(now_)) SendUpdate(end, Event::Kind::kCc, *update);
  if (const auto update = own.receiver->Poll(now_)) SendUpdate(end, Event::Kind::kCf, *update);
}

void CreditChannel::Handle(const Event& event) {
  End& own = ends_[event.end];
  CreditVerdict verdict;
  // The tag of the session keeps the updates of another one away.
  const bool is_update = event.kind == Event::Kind::kCf || event.kind == Event::Kind::kCc;
  if (is_update && event.epoch != own.epoch) return;
  switch (event.kind) {
    case Event::Kind::kData:
      return OnData(event.end, event);
    case Event::Kind::kCf:
      verdict = own.sender->OnFreed(event.update);
      break;
    case Event::Kind::kCc:
      verdict = own.receiver->OnConsumed(event.update, now_);
      result_.repaired += verdict.repaired;
      break;
    case Event::Kind::kSend:
      return Send(event.end);
    case Event::Kind::kDrain:
      return Drain(event.end, event.vc);
    case Event::Kind::kStart:
      return Begin(event.end, event.epoch);
    case Event::Kind::kRestart:
      return Restart(event.end);
  }
  if (verdict.kind == CreditVerdict::Kind::kStale) ++result_.late_updates;
  // On a channel that keeps its order nothing is ever impossible.
  if (jitter_ns_ == 0 && !heals_ && verdict.impossible != 0)
    Fail("an impossible counter without cause");
}

// Credit is never made: what the sender thinks is in use covers what is under way, what the
// receiver holds, and what is not repaired yet.
void CreditChannel::Check() {
  for (uint32_t e = 0; e < 2; ++e) {
    const End& from = ends_[e];
    const End& to = ends_[1 - e];
    from.sender->CheckInvariants();
    from.receiver->CheckInvariants();
    if (from.epoch != to.epoch || from.epoch == 0) continue;
    for (uint32_t vc = 0; vc < kVcs; ++vc) {
      if ((from.sender->waiting() >> vc & 1) != 0) continue;
      const uint32_t used = from.sender->used(vc);
      if (used < from.under_way[vc] + to.receiver->held(vc)) Fail("credit was made");
      const int32_t ahead = from.sender->consumed(vc).DistanceFrom(to.receiver->counted(vc));
      if (ahead < static_cast<int32_t>(from.under_way[vc])) Fail("frames taken for lost");
    }
  }
}

// All is repaired: every credit is free, at both ends, and nobody speaks.
void CreditChannel::CheckRest() {
  for (uint32_t e = 0; e < 2; ++e) {
    const End& from = ends_[e];
    const End& to = ends_[1 - e];
    for (uint32_t vc = 0; vc < kVcs; ++vc) {
      if (from.left[vc] != 0) Fail("frames have not passed");
      if (from.sender->used(vc) != 0) Fail("credit is lost");
      if (from.sender->consumed(vc) != to.receiver->freed(vc)) Fail("counters differ at rest");
    }
  }
}

// When an update is due.
Time CreditChannel::deadline() const {
  Time next = kNever;
  for (const End& end : ends_) {
    next = std::min({next, end.sender->deadline(), end.receiver->deadline()});
  }
  return next;
}

void CreditChannel::RunToRest() {
  const Time begin = now_;
  while (result_.error.empty()) {
    const Time due = deadline();
    if (due == kNever && events_.empty()) return;
    if (events_.empty() || due <= events_.begin()->first) {
      now_ = std::max(now_, due);
      for (uint32_t e = 0; e < 2; ++e) Poll(e);
    } else {
      const auto first = events_.begin();
      now_ = first->first;
      const Event event = first->second;
      events_.erase(first);
      Handle(event);
    }
    if (now_ - begin > kMax) Fail("it has stopped");
    Check();
  }
}

CreditChannelResult CreditChannel::Run() {
  RunToRest();
  // A late CC_Update may have been the last thing that a receiver heard: it takes frames for lost
  // until the next one. So one more frame of each link VC goes, over a channel that is good now.
  data_loss_ = update_loss_ = 0;
  jitter_ns_ = 0;
  for (uint32_t e = 0; e < 2; ++e) {
    for (uint32_t& left : ends_[e].left) ++left;
    At(now_, {.kind = Event::Kind::kSend, .end = e});
  }
  heals_ = true;
  RunToRest();
  if (result_.error.empty()) CheckRest();
  return std::move(result_);
}

}  // namespace suede
