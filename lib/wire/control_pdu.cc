// SPDX-License-Identifier: Apache-2.0
#include "wire/control_pdu.h"

#include <algorithm>
#include <cstring>

#include "base/big_endian.h"
#include "wire/control_fields.h"

namespace suede {
namespace {

constexpr uint32_t kIdentitiesBytes = 16;

static_assert(ControlBodyBytes<Congestion>(false) + kControlHeadBytes == kCongestionMessageBytes);
static_assert(ControlBodyBytes<PlaneHello>(false) + kControlHeadBytes + 2 * MorePsns::kMax <=
              kMaxControlPduBytes);
static_assert(kControlHeadBytes + ControlBodyBytes<Repair>(false) + sizeof(PsnMarks::words) ==
              kMaxReportBytes);

// ---- Values, by the type of their member. Load returns whether the value is in the range; `bytes`
// are those of the body.

template <class Number>
[[gnu::always_inline]] inline void Store(uint8_t* body, const ControlPlace& place, Number value) {
  const uint64_t bits = (static_cast<uint64_t>(value) & place.mask()) << place.shift;
  uint8_t* out = body + place.at;
  if constexpr (sizeof value == 1) {
    *out |= static_cast<uint8_t>(bits);  // other fields share the byte
  } else if constexpr (sizeof value == 2) {
    StoreBe16(out, static_cast<uint16_t>(bits));
  } else if constexpr (sizeof value == 4) {
    StoreBe32(out, static_cast<uint32_t>(bits));
  } else {
    StoreBe64(out, bits);
  }
}

template <class Number>
[[gnu::always_inline]] inline bool Load(const uint8_t* body, uint32_t bytes,
                                        const ControlPlace& place, Number& value) {
  const uint8_t* in = body + place.at;
  uint64_t bits;
  if constexpr (sizeof value == 1) {
    bits = *in;
  } else if constexpr (sizeof value == 2) {
    bits = LoadBe16(in);
  } else if constexpr (sizeof value == 4) {
    bits = LoadBe32(in);
  } else {
    if (place.optional && bytes < place.at + sizeof value) return true;
    bits = LoadBe64(in);
  }
  bits = bits >> place.shift & place.mask();
  value = static_cast<Number>(bits);
  return bits >= place.min && bits <= place.max;
}

inline void Store(uint8_t* body, const ControlPlace& place, Psn psn) {
  StoreBe16(body + place.at, psn.value());
}
inline bool Load(const uint8_t* body, uint32_t, const ControlPlace& place, Psn& psn) {
  psn = Psn(LoadBe16(body + place.at));
  return true;
}

template <class Value, size_t kSize>
inline void Store(uint8_t* body, ControlPlace place, const std::array<Value, kSize>& values) {
  for (const Value value : values) {
    Store(body, place, value);
    place.at += sizeof(Value);
  }
}
template <class Value, size_t kSize>
inline bool Load(const uint8_t* body, uint32_t bytes, ControlPlace place,
                 std::array<Value, kSize>& values) {
  for (Value& value : values) {
    Load(body, bytes, place, value);
    place.at += sizeof(Value);
  }
  return true;
}

inline void Store(uint8_t* body, const ControlPlace& place, const MorePsns& more) {
  for (uint32_t i = 0; i < more.count; ++i)
    StoreBe16(body + place.at + 2 * i, more.psns[i].value());
}
inline bool Load(const uint8_t* body, uint32_t bytes, const ControlPlace& place, MorePsns& more) {
  const uint32_t behind = bytes - static_cast<uint32_t>(place.at);
  more.count = static_cast<uint8_t>(std::min(behind / 2, MorePsns::kMax));
  for (uint32_t i = 0; i < more.count; ++i) more.psns[i] = Psn(LoadBe16(body + place.at + 2 * i));
  return true;
}

inline void Store(uint8_t* body, const ControlPlace& place, const PsnMarks& marks) {
  for (uint32_t i = 0; i < marks.count; ++i) {
    StoreBe64(body + place.at + 16 * i, marks.words[i].received);
    StoreBe64(body + place.at + 16 * i + 8, marks.words[i].wanted);
  }
}
inline bool Load(const uint8_t* body, uint32_t bytes, const ControlPlace& place, PsnMarks& marks) {
  const uint32_t behind = bytes - static_cast<uint32_t>(place.at);
  marks.count = static_cast<uint8_t>(std::min(behind / 16, kPsnWords));
  for (uint32_t i = 0; i < marks.count; ++i) {
    marks.words[i] = {.received = LoadBe64(body + place.at + 16 * i),
                      .wanted = LoadBe64(body + place.at + 16 * i + 8)};
  }
  return true;
}

// ---- Messages.

template <class Message>
uint32_t Encode(const Message& message, uint8_t* out) {
  uint32_t body_bytes = ControlBodyBytes<Message>(false);
  if constexpr (requires { message.more; }) body_bytes += 2 * uint32_t{message.more.count};
  if constexpr (requires { message.marks; }) body_bytes += 16 * uint32_t{message.marks.count};
  out[0] = static_cast<uint8_t>(Message::kType);
  out[1] = 0;
  StoreBe16(out + 2, static_cast<uint16_t>(body_bytes));
  uint8_t* body = out + kControlHeadBytes;
  StoreBe64(body, message.identities.own);
  StoreBe64(body + 8, message.identities.peer);
  std::memset(body + kIdentitiesBytes, 0, body_bytes - kIdentitiesBytes);
  VisitControlFields(
      message, [body](auto, auto, const ControlPlace& place, const auto& value)
                   __attribute__((always_inline)) { Store(body, place, value); });
  return kControlHeadBytes + body_bytes;
}

template <class Message>
ControlError Decode(const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  constexpr uint32_t kRequired = ControlBodyBytes<Message>(true);
  if (bytes < kRequired) return ControlError::kMalformed;
  Message message;
  message.identities = {.own = LoadBe64(body), .peer = LoadBe64(body + 8)};
  bool good = message.identities.own != 0;
  VisitControlFields(
      message, [&](auto, auto, const ControlPlace& place, auto& value)
                   __attribute__((always_inline)) { good &= Load(body, bytes, place, value); });
  // A session cannot both end and begin.
  if constexpr (requires { message.anew; }) good &= !(message.fence && message.anew);
  if (!good) return ControlError::kMalformed;
  out = message;
  return ControlError::kNone;
}

// Decodes the body as the alternative of ControlMessage whose type it is.
template <size_t kIndex = 0>
ControlError DecodeAs(uint8_t type, const uint8_t* body, uint32_t bytes, ControlMessage& out) {
  if constexpr (kIndex == std::variant_size_v<ControlMessage>) {
    return ControlError::kUnknownType;
  } else {
    using Message = std::variant_alternative_t<kIndex, ControlMessage>;
    if (type == static_cast<uint8_t>(Message::kType)) return Decode<Message>(body, bytes, out);
    return DecodeAs<kIndex + 1>(type, body, bytes, out);
  }
}

}  // namespace

uint32_t EncodeControl(const ControlMessage& message, uint8_t* out) {
  return std::visit([out](const auto& body) { return Encode(body, out); }, message);
}

ControlError DecodeControl(const uint8_t* in, uint32_t bytes, ControlMessage& message) {
  if (bytes < kControlHeadBytes) return ControlError::kMalformed;
  const uint32_t body_bytes = LoadBe16(in + 2);
  if (body_bytes > bytes - kControlHeadBytes) return ControlError::kMalformed;
  return DecodeAs(in[0], in + kControlHeadBytes, body_bytes, message);
}

}  // namespace suede
