// SPDX-License-Identifier: Apache-2.0
#include "wire/control_pdu.h"

#include <algorithm>
#include <cstring>

#include "base/big_endian.h"
#include "base/sue.h"

namespace suede {
namespace {

// Sizes of the bodies in bytes, identities included.
constexpr uint32_t kIdentitiesBytes = 16;
constexpr uint32_t kHelloBytes = 68;
constexpr uint32_t kNotReadyBytes = 24;
constexpr uint32_t kReadyBytes = 20;
constexpr uint32_t kPlaneBytes = 40;
constexpr uint32_t kFenceBytes = 28;
constexpr uint32_t kFencedBytes = 28;
constexpr uint32_t kCreditBytes = 36;
constexpr uint32_t kCongestionBytes = 44;
constexpr uint32_t kCongestionOfSessionsBytes = kCongestionMessageBytes - kControlHeadBytes;
constexpr uint32_t kSessionBytes = 36;
constexpr uint8_t kReplyWanted = 0x01;
constexpr uint8_t kHeard = 0x02;
constexpr uint8_t kHeldUp = 0x04;
constexpr uint8_t kPaired = 0x08;
// Bits of the PLANE byte whose lower bits are the mask of failed planes.
constexpr uint32_t kHeardPlaneShift = 4;
constexpr uint8_t kHeardPlaneMask = 0x07;
constexpr uint8_t kGrant = 0x01;
constexpr uint8_t kGiveBack = 0x02;
constexpr uint8_t kAnswerWanted = 0x04;  // of a CREDIT
constexpr uint8_t kOnDemand = 0x08;
constexpr uint8_t kRequest = 0x01;  // of a CONGESTION
constexpr uint8_t kGrantOfRate = 0x02;
constexpr uint8_t kEcho = 0x04;
constexpr uint8_t kAnswer = 0x02;  // of a SESSION
constexpr uint8_t kFenceOfSession = 0x04;
constexpr uint8_t kAnew = 0x08;
constexpr uint8_t kAnswersPlanes = 0x01;
constexpr uint8_t kSendsGenerations = 0x02;
constexpr uint8_t kCountsCredit = 0x04;
constexpr uint8_t kHearsPauses = 0x08;
constexpr uint8_t kAnswersCongestion = 0x10;
constexpr uint8_t kWantsEchoes = 0x20;
constexpr uint8_t kPlanes = 4;  // plane numbers are below this
constexpr uint8_t kEveryPlane = (1u << kPlanes) - 1;
constexpr uint8_t kLastPsnScope = 1;
constexpr uint8_t kSlots = 64;  // slot numbers are below this

// Writes the head, the identities and zeros for the rest of the body; returns the body.
uint8_t* StartControl(ControlType type, uint8_t flags, const Identities& identities,
                      uint32_t body_bytes, uint8_t* out) {
  out[0] = static_cast<uint8_t>(type);
  out[1] = flags;
  StoreBe16(out + 2, static_cast<uint16_t>(body_bytes));
  uint8_t* body = out + kControlHeadBytes;
  StoreBe64(body, identities.own);
  StoreBe64(body + 8, identities.peer);
  std::memset(body + kIdentitiesBytes, 0, body_bytes - kIdentitiesBytes);
  return body;
}

void StorePsns(uint8_t* out, const VcPsns& psns) {
  for (size_t vc = 0; vc < psns.size(); ++vc) StoreBe16(out + 2 * vc, psns[vc].value());
}

uint32_t BytesOf(const MorePsns& more) { return 2 * uint32_t{more.count}; }

void StoreMore(uint8_t* out, const MorePsns& more) {
  for (uint32_t i = 0; i < more.count; ++i) StoreBe16(out + 2 * i, more.psns[i].value());
}

// Reads the PSNs behind the fixed fields of a body.
MorePsns LoadMore(const uint8_t* in, uint32_t bytes) {
  MorePsns more;
  more.count = static_cast<uint8_t>(std::min(bytes / 2, MorePsns::kMax));
  for (uint32_t i = 0; i < more.count; ++i) more.psns[i] = Psn(LoadBe16(in + 2 * i));
  return more;
}

VcPsns LoadPsns(const uint8_t* in) {
  VcPsns psns;
  for (size_t vc = 0; vc < psns.size(); ++vc) psns[vc] = Psn(LoadBe16(in + 2 * vc));
  return psns;
}

uint32_t Encode(const Hello& hello, uint8_t* out) {
  uint8_t* body = StartControl(ControlType::kHello, hello.reply_wanted ? kReplyWanted : 0,
                               hello.identities, kHelloBytes, out);
  StoreBe64(body + 16, hello.nonce);
  StoreBe64(body + 24, hello.echo);
  body[32] = hello.psn_scope;
  body[33] = static_cast<uint8_t>((hello.answers_planes ? kAnswersPlanes : 0) |
                                  (hello.sends_generations ? kSendsGenerations : 0) |
                                  (hello.counts_credit ? kCountsCredit : 0) |
                                  (hello.hears_pauses ? kHearsPauses : 0) |
                                  (hello.answers_congestion ? kAnswersCongestion : 0) |
                                  (hello.wants_echoes ? kWantsEchoes : 0));
  StoreBe16(body + 34, hello.window_pdus);
  StoreBe16(body + 36, hello.pack_limit_bytes);
  StoreBe16(body + 38, hello.receive_bytes);
  StoreBe16(body + 40, hello.receive_lines);
  StoreBe16(body + 42, hello.sessions);
  StorePsns(body + 44, hello.first);
  for (size_t vc = 0; vc < kVcCount; ++vc) StoreBe32(body + 52 + 4 * vc, hello.credit_lines[vc]);
  return kControlHeadBytes + kHelloBytes;
}

uint32_t Encode(const NotReady& not_ready, uint8_t* out) {
  uint8_t* body =
      StartControl(ControlType::kNotReady, 0, not_ready.identities, kNotReadyBytes, out);
  body[16] = not_ready.vc;
  StoreBe16(body + 18, not_ready.expected.value());
  StoreBe32(body + 20, not_ready.backoff_us);
  return kControlHeadBytes + kNotReadyBytes;
}

uint32_t Encode(const Ready& ready, uint8_t* out) {
  uint8_t* body = StartControl(ControlType::kReady, 0, ready.identities, kReadyBytes, out);
  body[16] = ready.vc;
  StoreBe16(body + 18, ready.expected.value());
  return kControlHeadBytes + kReadyBytes;
}

uint32_t Encode(const PlaneHello& plane, uint8_t* out) {
  const auto flags = static_cast<uint8_t>(
      (plane.reply_wanted ? kReplyWanted : 0) | (plane.has_heard ? kHeard : 0) |
      (plane.held_up ? kHeldUp : 0) | (plane.paired ? kPaired : 0));
  const uint32_t bytes = kPlaneBytes + BytesOf(plane.more);
  uint8_t* body = StartControl(ControlType::kPlane, flags, plane.identities, bytes, out);
  body[16] = static_cast<uint8_t>(plane.state);
  body[17] = plane.plane;
  StoreBe16(body + 18, plane.tx_generation);
  StoreBe16(body + 20, plane.rx_generation);
  body[22] = static_cast<uint8_t>(plane.failed | plane.heard_plane << kHeardPlaneShift);
  body[23] = plane.hops;
  StoreBe32(body + 24, plane.sequence);
  StoreBe32(body + 28, plane.heard);
  StorePsns(body + 32, plane.first);
  StoreMore(body + kPlaneBytes, plane.more);
  return kControlHeadBytes + bytes;
}

uint32_t Encode(const Fence& fence, uint8_t* out) {
  const uint32_t bytes = kFenceBytes + BytesOf(fence.more);
  uint8_t* body = StartControl(ControlType::kFence, 0, fence.identities, bytes, out);
  body[16] = fence.plane;
  body[17] = fence.own ? 1 : 0;
  StoreBe16(body + 18, fence.generation);
  StorePsns(body + 20, fence.oldest);
  StoreMore(body + kFenceBytes, fence.more);
  return kControlHeadBytes + bytes;
}

uint32_t Encode(const Fenced& fenced, uint8_t* out) {
  const uint32_t bytes = kFencedBytes + BytesOf(fenced.more);
  uint8_t* body = StartControl(ControlType::kFenced, 0, fenced.identities, bytes, out);
  body[16] = fenced.plane;
  StoreBe16(body + 18, fenced.generation);
  StorePsns(body + 20, fenced.expected);
  StoreMore(body + kFencedBytes, fenced.more);
  return kControlHeadBytes + bytes;
}

uint32_t Encode(const Credit& credit, uint8_t* out) {
  const auto flags = static_cast<uint8_t>(
      (credit.grant ? kGrant : 0) | (credit.give_back ? kGiveBack : 0) |
      (credit.reply_wanted ? kAnswerWanted : 0) | (credit.on_demand ? kOnDemand : 0));
  uint8_t* body = StartControl(ControlType::kCredit, flags, credit.identities, kCreditBytes, out);
  body[16] = credit.vc;
  StoreBe16(body + 18, credit.round);
  StoreBe32(body + 20, credit.limit);
  StoreBe32(body + 24, credit.accepted);
  StoreBe32(body + 28, credit.sent);
  StoreBe32(body + 32, credit.wanted);
  return kControlHeadBytes + kCreditBytes;
}

uint32_t Encode(const Congestion& congestion, uint8_t* out) {
  const auto flags =
      static_cast<uint8_t>((congestion.request ? kRequest : 0) |
                           (congestion.grant ? kGrantOfRate : 0) | (congestion.echo ? kEcho : 0));
  uint8_t* body = StartControl(ControlType::kCongestion, flags, congestion.identities,
                               kCongestionOfSessionsBytes, out);
  StoreBe32(body + 16, congestion.target & Congestion::kMaxCredit);
  StoreBe32(body + 20, congestion.sent & Congestion::kMaxCredit);
  StoreBe32(body + 24, congestion.limit & Congestion::kMaxCredit);
  StoreBe32(body + 28, congestion.granted & Congestion::kMaxCredit);
  StoreBe32(body + 32, congestion.received);
  StoreBe32(body + 36, congestion.marked);
  StoreBe32(body + 40, congestion.trimmed);
  StoreBe64(body + 44, congestion.sessions);
  return kCongestionMessageBytes;
}

uint32_t Encode(const SessionNumber& session, uint8_t* out) {
  const auto flags =
      static_cast<uint8_t>((session.answer ? kAnswer : 0) | (session.fence ? kFenceOfSession : 0) |
                           (session.anew ? kAnew : 0));
  uint8_t* body =
      StartControl(ControlType::kSession, flags, session.identities, kSessionBytes, out);
  body[16] = session.slot;
  StoreBe16(body + 18, session.number);
  StoreBe16(body + 20, session.in_use);
  StoreBe32(body + 24, session.turn);
  StorePsns(body + 28, session.psns);
  return kControlHeadBytes + kSessionBytes;
}

// Each Decode function reads a body of at least the bytes of its type.

ControlError DecodeHello(uint8_t flags, const uint8_t* body, const Identities& identities,
                         ControlMessage& out) {
  Hello hello{.identities = identities,
              .nonce = LoadBe64(body + 16),
              .echo = LoadBe64(body + 24),
              .psn_scope = body[32],
              .answers_planes = (body[33] & kAnswersPlanes) != 0,
              .sends_generations = (body[33] & kSendsGenerations) != 0,
              .counts_credit = (body[33] & kCountsCredit) != 0,
              .window_pdus = LoadBe16(body + 34),
              .pack_limit_bytes = LoadBe16(body + 36),
              .receive_bytes = LoadBe16(body + 38),
              .receive_lines = LoadBe16(body + 40),
              .sessions = LoadBe16(body + 42),
              .first = LoadPsns(body + 44),
              .reply_wanted = (flags & kReplyWanted) != 0,
              .hears_pauses = (body[33] & kHearsPauses) != 0,
              .answers_congestion = (body[33] & kAnswersCongestion) != 0,
              .wants_echoes = (body[33] & kWantsEchoes) != 0};
  for (size_t vc = 0; vc < kVcCount; ++vc) hello.credit_lines[vc] = LoadBe32(body + 52 + 4 * vc);
  if (hello.nonce == 0 || hello.psn_scope > kLastPsnScope || hello.sessions == 0) {
    return ControlError::kMalformed;
  }
  out = hello;
  return ControlError::kNone;
}

ControlError DecodeNotReady(const uint8_t* body, const Identities& identities,
                            ControlMessage& out) {
  if (body[16] >= kVcCount) return ControlError::kMalformed;
  out.emplace<NotReady>(NotReady{.identities = identities,
                                 .vc = body[16],
                                 .expected = Psn(LoadBe16(body + 18)),
                                 .backoff_us = LoadBe32(body + 20)});
  return ControlError::kNone;
}

ControlError DecodeReady(const uint8_t* body, const Identities& identities, ControlMessage& out) {
  if (body[16] >= kVcCount) return ControlError::kMalformed;
  out.emplace<Ready>(
      Ready{.identities = identities, .vc = body[16], .expected = Psn(LoadBe16(body + 18))});
  return ControlError::kNone;
}

ControlError DecodePlane(uint8_t flags, const uint8_t* body, uint32_t bytes,
                         const Identities& identities, ControlMessage& out) {
  const uint8_t heard_plane = body[22] >> kHeardPlaneShift & kHeardPlaneMask;
  if (body[16] > static_cast<uint8_t>(PlaneState::kUp) || body[17] >= kPlanes ||
      heard_plane > kPlanes) {
    return ControlError::kMalformed;
  }
  out.emplace<PlaneHello>(PlaneHello{.identities = identities,
                                     .state = static_cast<PlaneState>(body[16]),
                                     .plane = body[17],
                                     .tx_generation = LoadBe16(body + 18),
                                     .rx_generation = LoadBe16(body + 20),
                                     .sequence = LoadBe32(body + 24),
                                     .heard = LoadBe32(body + 28),
                                     .has_heard = (flags & kHeard) != 0,
                                     .reply_wanted = (flags & kReplyWanted) != 0,
                                     .first = LoadPsns(body + 32),
                                     .more = LoadMore(body + kPlaneBytes, bytes - kPlaneBytes),
                                     .held_up = (flags & kHeldUp) != 0,
                                     .failed = static_cast<uint8_t>(body[22] & kEveryPlane),
                                     .hops = body[23],
                                     .heard_plane = heard_plane,
                                     .paired = (flags & kPaired) != 0});
  return ControlError::kNone;
}

ControlError DecodeFence(const uint8_t* body, uint32_t bytes, const Identities& identities,
                         ControlMessage& out) {
  if (body[16] >= kPlanes || body[17] > 1) return ControlError::kMalformed;
  out.emplace<Fence>(Fence{.identities = identities,
                           .plane = body[16],
                           .own = body[17] == 1,
                           .generation = LoadBe16(body + 18),
                           .oldest = LoadPsns(body + 20),
                           .more = LoadMore(body + kFenceBytes, bytes - kFenceBytes)});
  return ControlError::kNone;
}

ControlError DecodeFenced(const uint8_t* body, uint32_t bytes, const Identities& identities,
                          ControlMessage& out) {
  if (body[16] >= kPlanes) return ControlError::kMalformed;
  out.emplace<Fenced>(Fenced{.identities = identities,
                             .plane = body[16],
                             .generation = LoadBe16(body + 18),
                             .expected = LoadPsns(body + 20),
                             .more = LoadMore(body + kFencedBytes, bytes - kFencedBytes)});
  return ControlError::kNone;
}

// The upper octet of each credit is reserved, and masked off.
ControlError DecodeCongestion(uint8_t flags, const uint8_t* body, uint32_t bytes,
                              const Identities& identities, ControlMessage& out) {
  const bool names_sessions = bytes >= kCongestionOfSessionsBytes;
  out.emplace<Congestion>(Congestion{.identities = identities,
                                     .request = (flags & kRequest) != 0,
                                     .grant = (flags & kGrantOfRate) != 0,
                                     .echo = (flags & kEcho) != 0,
                                     .target = LoadBe32(body + 16) & Congestion::kMaxCredit,
                                     .sent = LoadBe32(body + 20) & Congestion::kMaxCredit,
                                     .limit = LoadBe32(body + 24) & Congestion::kMaxCredit,
                                     .granted = LoadBe32(body + 28) & Congestion::kMaxCredit,
                                     .received = LoadBe32(body + 32),
                                     .marked = LoadBe32(body + 36),
                                     .trimmed = LoadBe32(body + 40),
                                     .sessions = names_sessions ? LoadBe64(body + 44) : 0});
  return ControlError::kNone;
}

ControlError DecodeCredit(uint8_t flags, const uint8_t* body, const Identities& identities,
                          ControlMessage& out) {
  if (body[16] >= kVcCount) return ControlError::kMalformed;
  out.emplace<Credit>(Credit{.identities = identities,
                             .vc = body[16],
                             .grant = (flags & kGrant) != 0,
                             .give_back = (flags & kGiveBack) != 0,
                             .reply_wanted = (flags & kAnswerWanted) != 0,
                             .on_demand = (flags & kOnDemand) != 0,
                             .round = LoadBe16(body + 18),
                             .limit = LoadBe32(body + 20),
                             .accepted = LoadBe32(body + 24),
                             .sent = LoadBe32(body + 28),
                             .wanted = LoadBe32(body + 32)});
  return ControlError::kNone;
}

ControlError DecodeSession(uint8_t flags, const uint8_t* body, const Identities& identities,
                           ControlMessage& out) {
  const bool fence = (flags & kFenceOfSession) != 0;
  const bool anew = (flags & kAnew) != 0;
  if (body[16] >= kSlots || (fence && anew)) return ControlError::kMalformed;
  out.emplace<SessionNumber>(SessionNumber{.identities = identities,
                                           .slot = body[16],
                                           .number = LoadBe16(body + 18),
                                           .in_use = LoadBe16(body + 20),
                                           .turn = LoadBe32(body + 24),
                                           .answer = (flags & kAnswer) != 0,
                                           .fence = fence,
                                           .anew = anew,
                                           .psns = LoadPsns(body + 28)});
  return ControlError::kNone;
}

// Returns the minimum bytes of a type's body; 0: unknown type.
uint32_t BodyBytes(uint8_t type) {
  switch (static_cast<ControlType>(type)) {
    case ControlType::kHello:
      return kHelloBytes;
    case ControlType::kNotReady:
      return kNotReadyBytes;
    case ControlType::kReady:
      return kReadyBytes;
    case ControlType::kPlane:
      return kPlaneBytes;
    case ControlType::kFence:
      return kFenceBytes;
    case ControlType::kFenced:
      return kFencedBytes;
    case ControlType::kCredit:
      return kCreditBytes;
    case ControlType::kCongestion:
      return kCongestionBytes;
    case ControlType::kSession:
      return kSessionBytes;
  }
  return 0;
}

}  // namespace

uint32_t EncodeControl(const ControlMessage& message, uint8_t* out) {
  return std::visit([out](const auto& body) { return Encode(body, out); }, message);
}

ControlError DecodeControl(const uint8_t* in, uint32_t bytes, ControlMessage& message) {
  if (bytes < kControlHeadBytes) return ControlError::kMalformed;
  const uint32_t body_bytes = LoadBe16(in + 2);
  if (body_bytes > bytes - kControlHeadBytes) return ControlError::kMalformed;
  const uint32_t min = BodyBytes(in[0]);
  if (min == 0) return ControlError::kUnknownType;
  const uint8_t* body = in + kControlHeadBytes;
  if (body_bytes < min) return ControlError::kMalformed;
  const Identities identities{.own = LoadBe64(body), .peer = LoadBe64(body + 8)};
  if (identities.own == 0) return ControlError::kMalformed;
  switch (static_cast<ControlType>(in[0])) {
    case ControlType::kHello:
      return DecodeHello(in[1], body, identities, message);
    case ControlType::kNotReady:
      return DecodeNotReady(body, identities, message);
    case ControlType::kReady:
      return DecodeReady(body, identities, message);
    case ControlType::kPlane:
      return DecodePlane(in[1], body, body_bytes, identities, message);
    case ControlType::kFence:
      return DecodeFence(body, body_bytes, identities, message);
    case ControlType::kFenced:
      return DecodeFenced(body, body_bytes, identities, message);
    case ControlType::kCredit:
      return DecodeCredit(in[1], body, identities, message);
    case ControlType::kCongestion:
      return DecodeCongestion(in[1], body, body_bytes, identities, message);
    case ControlType::kSession:
      return DecodeSession(in[1], body, identities, message);
  }
  return ControlError::kUnknownType;
}

}  // namespace suede
