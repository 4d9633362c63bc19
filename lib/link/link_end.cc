// SPDX-License-Identifier: Apache-2.0
#include "link/link_end.h"

#include "wire/pfc.h"

namespace suede {
namespace {

LinkOffer OfferOf(const LinkParams& params) {
  LinkOffer offer = params.credit;
  offer.llr = params.retry.on;
  if (offer.llr) {
    offer.window_frames = static_cast<uint16_t>(params.retry.window_frames);
    offer.window_octets = params.retry.window_octets;
  }
  return offer;
}

}  // namespace

LinkEnd::LinkEnd(const LinkParams& params)
    : params_(params),
      hello_(OfferOf(params), params.secret, params.hello),
      sender_(params.retry),
      receiver_(params.retry) {}

// ---- Received frames.

LinkEnd::Fate LinkEnd::OnFrame(Frame& frame, Time now) {
  if (!HasLinkType(frame.data, frame.length, params_.ether_type)) return OnPlain(frame);
  if (frame.length < kLinkBodyAt) return Over(LinkCounter::kRxMalformed);
  const LinkWord word = LoadLinkWord(frame.data);
  if (word.kind == LinkKind::kData) [[likely]]
    return OnData(frame, word, now);
  return OnLinkFrame(frame, word, now);
}

LinkEnd::Fate LinkEnd::OnPlain(const Frame& frame) {
  if (sender_.numbers() && !HasLinkType(frame.data, frame.length, kTypeMacControl)) {
    counters_.Add(LinkCounter::kLlrRxPlain);
  }
  return Fate::kUp;
}

LinkEnd::Fate LinkEnd::OnData(Frame& frame, const LinkWord& word, Time now) {
  if (receiver_.state() == RetryReceiver::State::kOff || word.tag != hello_.rx_tag()) {
    return Over(LinkCounter::kLlrRxStale);
  }
  hello_.OnFrame(now);
  OnAck(Psn(word.acknowledged), false, now);
  switch (receiver_.OnData(Psn(word.sequence), now)) {
    case RetryReceiver::Verdict::kAccept:
      break;
    case RetryReceiver::Verdict::kDuplicate:
      return Over(LinkCounter::kLlrRxDuplicate);
    case RetryReceiver::Verdict::kGap:
      return Over(LinkCounter::kLlrRxGap);
    case RetryReceiver::Verdict::kBeyond:
      return Over(LinkCounter::kLlrRxBeyond);
  }
  counters_.Add(LinkCounter::kLlrRxFrames);
  frame.data = RemoveShim(frame.data);
  frame.length -= kLinkShimBytes;
  return Fate::kUp;
}

LinkEnd::Fate LinkEnd::OnLinkFrame(const Frame& frame, const LinkWord& word, Time now) {
  if (!IsToNeighbour(frame.data)) return Over(LinkCounter::kRxMalformed);
  if (word.kind == LinkKind::kHello) {
    OnHello(frame, now);
    return Fate::kOver;
  }
  const bool is_answer = word.kind == LinkKind::kAck || word.kind == LinkKind::kNack;
  const bool is_credit = word.kind == LinkKind::kCfUpdate || word.kind == LinkKind::kCcUpdate;
  if (!is_answer && !(is_credit && params_.credit.cbfc)) return Over(LinkCounter::kRxUnknown);
  if (!hello_.has_session() || word.tag != hello_.rx_tag()) return Over(LinkCounter::kLlrRxStale);
  hello_.OnFrame(now);
  if (is_credit) return Fate::kUp;
  const bool is_nack = word.kind == LinkKind::kNack;
  counters_.Add(is_nack ? LinkCounter::kLlrRxNacks : LinkCounter::kLlrRxAcks);
  OnAck(Psn(word.acknowledged), is_nack, now);
  return Fate::kOver;
}

void LinkEnd::OnAck(Psn last_good, bool is_nack, Time now) {
  const RetrySender::AckVerdict verdict =
      is_nack ? sender_.OnNack(last_good, now) : sender_.OnAck(last_good, now);
  if (verdict == RetrySender::AckVerdict::kImplausible)
    counters_.Add(LinkCounter::kLlrRxAckImplausible);
  if (verdict == RetrySender::AckVerdict::kCopy) counters_.Add(LinkCounter::kLlrRxNackCopies);
  if (verdict == RetrySender::AckVerdict::kReplay) counters_.Add(LinkCounter::kLlrReplays);
}

void LinkEnd::OnHello(const Frame& frame, Time now) {
  const auto body = DecodeLinkHello(frame.data, frame.length);
  if (!body) return counters_.Add(LinkCounter::kRxMalformed);
  switch (hello_.OnHello(*body, now)) {
    case LinkHello::Outcome::kStale:
      return counters_.Add(LinkCounter::kRxHelloStale);
    case LinkHello::Outcome::kBegun:
      BeginSession();
      break;
    case LinkHello::Outcome::kTaken:
      break;
  }
  counters_.Add(LinkCounter::kRxHellos);
  SetSpeaking();
}

// ---- The session.

void LinkEnd::BeginSession() {
  counters_.Add(LinkCounter::kSessions);
  ++sessions_;
  if (!params_.retry.on) return;
  GiveUp(RetrySender::State::kInit);
  receiver_.Begin(hello_.peer_offer().window_frames);
}

// Starts or stops numbering according to the neighbour's HELLO.
void LinkEnd::SetSpeaking() {
  if (!params_.retry.on) return;
  const bool wants = hello_.speaks() && hello_.peer_offer().llr;
  if (wants && !sender_.numbers()) {
    sender_.Begin(hello_.peer_offer().window_frames, hello_.peer_offer().window_octets);
  }
  if (hello_.has_session() && !hello_.peer_offer().llr) {
    GiveUp(RetrySender::State::kOff);
    receiver_.Stop();
  }
}

void LinkEnd::GiveUp(RetrySender::State to) {
  counters_.Add(LinkCounter::kLlrGivenUp, sender_.held());
  sender_.Stop(to);
}

void LinkEnd::Fail(LinkCounter reason, Time now) {
  counters_.Add(reason);
  if (params_.retry.on) GiveUp(RetrySender::State::kFlush);
  receiver_.Stop();
  hello_.BeginAnew(now);
}

void LinkEnd::Poll(Time now) {
  if (sender_.state() == RetrySender::State::kFlush) sender_.Stop(RetrySender::State::kInit);
  switch (sender_.OnTime(now)) {
    case RetrySender::Due::kNothing:
      break;
    case RetrySender::Due::kReplay:
      counters_.Add(LinkCounter::kLlrTimeouts);
      counters_.Add(LinkCounter::kLlrReplays);
      break;
    case RetrySender::Due::kAged:
      counters_.Add(LinkCounter::kLlrAged);
      [[fallthrough]];
    case RetrySender::Due::kFailed:
      return Fail(LinkCounter::kFailures, now);
  }
  if (hello_.IsSilent(now)) Fail(LinkCounter::kSilences, now);
}

// ---- Frames to send.

LinkEnd::Passage LinkEnd::Pass(Frame& frame, bool is_busy, uint32_t max_frame_bytes) {
  const bool has_type = HasLinkType(frame.data, frame.length, params_.ether_type);
  // A CC_Update keeps its place behind the frames that it counts.
  const bool is_own = has_type && IsToNeighbour(frame.data);
  if (is_own && LoadLinkWord(frame.data).kind != LinkKind::kCcUpdate) return Passage::kBypass;
  if (has_type && is_busy && !is_own) {
    if (sender_.Holds(&frame)) {
      counters_.Add(LinkCounter::kLlrTxHeld);
      return Passage::kHeld;
    }
    return Passage::kStale;
  }
  if (!sender_.numbers() || HasLinkType(frame.data, frame.length, kTypeMacControl)) {
    return Passage::kBypass;
  }
  const auto headroom = static_cast<size_t>(frame.data - frame.buffer);
  if (is_busy || headroom < kLinkShimBytes || frame.length < kLinkTypeAt ||
      frame.length + kLinkShimBytes > max_frame_bytes) {
    return Passage::kPlain;
  }
  if (!takes_ || !sender_.Fits(frame.length + kLinkShimBytes)) {
    counters_.Add(LinkCounter::kLlrTxFull);
    return Passage::kFull;
  }
  frame.data = InsertShim(frame.data);
  frame.length += kLinkShimBytes;
  StoreLinkWord(frame.data, params_.ether_type,
                {.kind = LinkKind::kData,
                 .tag = hello_.tx_tag(),
                 .sequence = sender_.next().value(),
                 .acknowledged = receiver_.last_good().value()});
  receiver_.OnAckSent();
  sender_.Take(&frame, frame.length);
  return Passage::kNumbered;
}

void LinkEnd::OnSent(uint32_t count, Time now) {
  const uint32_t again = sender_.OnSent(count, now);
  counters_.Add(LinkCounter::kLlrTxReplayed, again);
  counters_.Add(LinkCounter::kLlrTxFrames, count - again);
}

uint32_t LinkEnd::Next(uint8_t* at, Time now) {
  if (receiver_.HasAnswer(now)) {
    const bool is_nack = receiver_.answers_by_nack();
    BeginLinkFrame(params_.ether_type, params_.mac,
                   {.kind = is_nack ? LinkKind::kNack : LinkKind::kAck,
                    .tag = hello_.tx_tag(),
                    .acknowledged = receiver_.last_good().value()},
                   at);
    receiver_.OnAnswered();
    counters_.Add(is_nack ? LinkCounter::kLlrTxNacks : LinkCounter::kLlrTxAcks);
    return kMinLinkFrameBytes;
  }
  LinkHelloBody hello = hello_.Next(now);
  hello.place = params_.place;
  counters_.Add(LinkCounter::kTxHellos);
  return EncodeLinkHello(params_.ether_type, params_.mac, hello, at);
}

void LinkEnd::Show() {
  counters_.Set(LinkGauge::kUp, hello_.speaks() ? 1 : 0);
  counters_.Set(LinkGauge::kLlrTxState, static_cast<uint64_t>(sender_.state()));
  counters_.Set(LinkGauge::kLlrRxState, static_cast<uint64_t>(receiver_.state()));
  counters_.Set(LinkGauge::kLlrHeldFrames, sender_.held());
  counters_.Set(LinkGauge::kLlrHeldBytes, sender_.held_octets());
}

}  // namespace suede
