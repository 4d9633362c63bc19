#include "wire/control_pdu.h"

#include <cstring>

#include "base/big_endian.h"
#include "base/sue.h"

namespace suede {
namespace {

constexpr uint32_t kHelloBytes = 16;
constexpr uint32_t kNotReadyBytes = 8;
constexpr uint32_t kReadyBytes = 4;
constexpr uint32_t kPlaneBytes = 28;
constexpr uint32_t kFenceBytes = 20;
constexpr uint32_t kFencedBytes = 20;
constexpr uint8_t kReplyWanted = 0x01;
constexpr uint8_t kContinuing = 0x02;
constexpr uint8_t kHeard = 0x02;
constexpr uint8_t kAnswersPlanes = 0x01;
constexpr uint8_t kSendsGenerations = 0x02;
constexpr uint8_t kPlanes = 4;  // numbers of planes are below
constexpr uint8_t kLastPsnScope = 1;

// Writes the head and a zeroed body; returns the body.
uint8_t* StartControl(ControlType type, uint8_t flags, uint32_t body_bytes, uint8_t* out) {
  out[0] = static_cast<uint8_t>(type);
  out[1] = flags;
  StoreBe16(out + 2, static_cast<uint16_t>(body_bytes));
  std::memset(out + kControlHeadBytes, 0, body_bytes);
  return out + kControlHeadBytes;
}

uint32_t Encode(const Hello& hello, uint8_t* out) {
  const auto flags = static_cast<uint8_t>((hello.reply_wanted ? kReplyWanted : 0) |
                                          (hello.continuing ? kContinuing : 0));
  uint8_t* body = StartControl(ControlType::kHello, flags, kHelloBytes, out);
  StoreBe32(body, hello.epoch);
  StoreBe32(body + 4, hello.peer_epoch);
  body[8] = hello.psn_scope;
  body[9] = static_cast<uint8_t>((hello.answers_planes ? kAnswersPlanes : 0) |
                                 (hello.sends_generations ? kSendsGenerations : 0));
  StoreBe16(body + 10, hello.window_pdus);
  StoreBe16(body + 12, hello.pack_limit_bytes);
  StoreBe16(body + 14, hello.receive_bytes);
  return kControlHeadBytes + kHelloBytes;
}

uint32_t Encode(const NotReady& not_ready, uint8_t* out) {
  uint8_t* body = StartControl(ControlType::kNotReady, 0, kNotReadyBytes, out);
  body[0] = not_ready.vc;
  StoreBe16(body + 2, not_ready.expected.value());
  StoreBe32(body + 4, not_ready.backoff_us);
  return kControlHeadBytes + kNotReadyBytes;
}

uint32_t Encode(const Ready& ready, uint8_t* out) {
  uint8_t* body = StartControl(ControlType::kReady, 0, kReadyBytes, out);
  body[0] = ready.vc;
  StoreBe16(body + 2, ready.expected.value());
  return kControlHeadBytes + kReadyBytes;
}

void StorePsns(uint8_t* out, const VcPsns& psns) {
  for (size_t vc = 0; vc < psns.size(); ++vc) StoreBe16(out + 2 * vc, psns[vc].value());
}

VcPsns LoadPsns(const uint8_t* in) {
  VcPsns psns;
  for (size_t vc = 0; vc < psns.size(); ++vc) psns[vc] = Psn(LoadBe16(in + 2 * vc));
  return psns;
}

uint32_t Encode(const PlaneHello& plane, uint8_t* out) {
  const auto flags = static_cast<uint8_t>((plane.reply_wanted ? kReplyWanted : 0) |
                                          (plane.has_heard ? kHeard : 0));
  uint8_t* body = StartControl(ControlType::kPlane, flags, kPlaneBytes, out);
  StoreBe32(body, plane.epoch);
  StoreBe32(body + 4, plane.peer_epoch);
  body[8] = static_cast<uint8_t>(plane.state);
  body[9] = plane.plane;
  StoreBe16(body + 10, plane.tx_generation);
  StoreBe16(body + 12, plane.rx_generation);
  StoreBe16(body + 14, plane.sequence);
  StoreBe16(body + 16, plane.heard);
  StorePsns(body + 20, plane.first);
  return kControlHeadBytes + kPlaneBytes;
}

uint32_t Encode(const Fence& fence, uint8_t* out) {
  uint8_t* body = StartControl(ControlType::kFence, 0, kFenceBytes, out);
  StoreBe32(body, fence.epoch);
  StoreBe32(body + 4, fence.peer_epoch);
  body[8] = fence.plane;
  body[9] = fence.own ? 1 : 0;
  StoreBe16(body + 10, fence.generation);
  StorePsns(body + 12, fence.oldest);
  return kControlHeadBytes + kFenceBytes;
}

uint32_t Encode(const Fenced& fenced, uint8_t* out) {
  uint8_t* body = StartControl(ControlType::kFenced, 0, kFencedBytes, out);
  StoreBe32(body, fenced.epoch);
  StoreBe32(body + 4, fenced.peer_epoch);
  body[8] = fenced.plane;
  StoreBe16(body + 10, fenced.generation);
  StorePsns(body + 12, fenced.expected);
  return kControlHeadBytes + kFencedBytes;
}

ControlError DecodePlane(uint8_t flags, const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if (bytes < kPlaneBytes || body[8] > static_cast<uint8_t>(PlaneState::kUp) ||
      body[9] >= kPlanes || LoadBe32(body) == 0) {
    return ControlError::kMalformed;
  }
  out = PlaneHello{.epoch = LoadBe32(body),
                   .peer_epoch = LoadBe32(body + 4),
                   .state = static_cast<PlaneState>(body[8]),
                   .plane = body[9],
                   .tx_generation = LoadBe16(body + 10),
                   .rx_generation = LoadBe16(body + 12),
                   .sequence = LoadBe16(body + 14),
                   .heard = LoadBe16(body + 16),
                   .has_heard = (flags & kHeard) != 0,
                   .reply_wanted = (flags & kReplyWanted) != 0,
                   .first = LoadPsns(body + 20)};
  return ControlError::kNone;
}

ControlError DecodeFence(const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if (bytes < kFenceBytes || body[8] >= kPlanes || body[9] > 1 || LoadBe32(body) == 0) {
    return ControlError::kMalformed;
  }
  out = Fence{.epoch = LoadBe32(body),
              .peer_epoch = LoadBe32(body + 4),
              .plane = body[8],
              .own = body[9] == 1,
              .generation = LoadBe16(body + 10),
              .oldest = LoadPsns(body + 12)};
  return ControlError::kNone;
}

ControlError DecodeFenced(const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if (bytes < kFencedBytes || body[8] >= kPlanes || LoadBe32(body) == 0) {
    return ControlError::kMalformed;
  }
  out = Fenced{.epoch = LoadBe32(body),
               .peer_epoch = LoadBe32(body + 4),
               .plane = body[8],
               .generation = LoadBe16(body + 10),
               .expected = LoadPsns(body + 12)};
  return ControlError::kNone;
}

ControlError DecodeHello(uint8_t flags, const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if (bytes < kHelloBytes) return ControlError::kMalformed;
  const Hello hello{.epoch = LoadBe32(body),
                    .peer_epoch = LoadBe32(body + 4),
                    .psn_scope = body[8],
                    .window_pdus = LoadBe16(body + 10),
                    .pack_limit_bytes = LoadBe16(body + 12),
                    .receive_bytes = LoadBe16(body + 14),
                    .answers_planes = (body[9] & kAnswersPlanes) != 0,
                    .sends_generations = (body[9] & kSendsGenerations) != 0,
                    .reply_wanted = (flags & kReplyWanted) != 0,
                    .continuing = (flags & kContinuing) != 0};
  if (hello.epoch == 0 || hello.psn_scope > kLastPsnScope) return ControlError::kMalformed;
  out = hello;
  return ControlError::kNone;
}

ControlError DecodeNotReady(const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if (bytes < kNotReadyBytes || body[0] >= kVcCount) return ControlError::kMalformed;
  out = NotReady{
      .vc = body[0], .expected = Psn(LoadBe16(body + 2)), .backoff_us = LoadBe32(body + 4)};
  return ControlError::kNone;
}

ControlError DecodeReady(const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if (bytes < kReadyBytes || body[0] >= kVcCount) return ControlError::kMalformed;
  out = Ready{.vc = body[0], .expected = Psn(LoadBe16(body + 2))};
  return ControlError::kNone;
}

}  // namespace

uint32_t EncodeControl(const ControlMessage& message, uint8_t* out) {
  return std::visit([out](const auto& body) { return Encode(body, out); }, message);
}

ControlError DecodeControl(const uint8_t* in, uint32_t bytes, ControlMessage& message) {
  if (bytes < kControlHeadBytes) return ControlError::kMalformed;
  const uint32_t body_bytes = LoadBe16(in + 2);
  if (body_bytes > bytes - kControlHeadBytes) return ControlError::kMalformed;
  const uint8_t* body = in + kControlHeadBytes;
  switch (static_cast<ControlType>(in[0])) {
    case ControlType::kHello:
      return DecodeHello(in[1], body, body_bytes, message);
    case ControlType::kNotReady:
      return DecodeNotReady(body, body_bytes, message);
    case ControlType::kReady:
      return DecodeReady(body, body_bytes, message);
    case ControlType::kPlane:
      return DecodePlane(in[1], body, body_bytes, message);
    case ControlType::kFence:
      return DecodeFence(body, body_bytes, message);
    case ControlType::kFenced:
      return DecodeFenced(body, body_bytes, message);
  }
  return ControlError::kUnknownType;
}

}  // namespace suede
