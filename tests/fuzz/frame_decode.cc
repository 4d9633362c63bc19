// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a received frame of every encapsulation: nothing may be read outside it. And a
// frame that is encoded from arbitrary values decodes to the same values.
//
// The first byte chooses the kind of the rest:
//   bits 2:0  encapsulation, modulo their number
//   bit 3     tagged
//   bit 4     the device has verified the checksums
//   bits 6:5  0: the rest is a frame; 1: likewise, with a good header laid over its head, so that
//             random input gets past it; 2: the same, and then one byte of the header is altered;
//             3: the rest is the values and commands to encode
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/big_endian.h"
#include "wire/command.h"
#include "wire/control_pdu.h"
#include "wire/encap.h"
#include "wire/frame_builder.h"
#include "wire/pfc.h"
#include "wire/rcrc.h"
#include "wire/rh.h"
#include "wire/trimmed.h"

namespace suede {
namespace {

volatile uint32_t sink;

void Require(bool condition) {
  if (!condition) std::abort();
}

struct Choice {
  explicit Choice(uint8_t byte)
      : encap(static_cast<Encap>((byte & 7) % kEncapNames.size())),
        tagged((byte & 0x08) != 0),
        checksums_good((byte & 0x10) != 0),
        content(static_cast<Content>(byte >> 5 & 3)) {}
  enum class Content : uint8_t { kRaw, kMended, kAltered, kValues };
  Encap encap;
  bool tagged;
  bool checksums_good;
  Content content;
};

// Bytes of exactly their size: the address sanitizer sees the first one beyond them.
class ExactBytes {
 public:
  ExactBytes(const uint8_t* from, uint32_t bytes) : data_(new uint8_t[bytes]), bytes_(bytes) {
    if (bytes != 0) std::memcpy(data_.get(), from, bytes);
  }
  uint8_t* data() const { return data_.get(); }
  uint32_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<uint8_t[]> data_;
  uint32_t bytes_;
};

void ReadEveryByte(const uint8_t* begin, uint32_t bytes) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < bytes; ++i) sum += begin[i];
  sink = sum;
}

// The content of a control PDU can be encoded again.
void DecodeControlPdu(const ExactBytes& pdu) {
  ControlMessage message;
  if (DecodeControl(pdu.data(), pdu.bytes(), message) != ControlError::kNone) return;
  uint8_t again[kMaxControlPduBytes];
  const uint32_t bytes = EncodeControl(message, again);
  Require(bytes <= kMaxControlPduBytes && bytes % 2 == 0 && again[0] == pdu.data()[0]);
  const ExactBytes exact(again, bytes);
  ControlMessage reread;
  Require(DecodeControl(exact.data(), bytes, reread) == ControlError::kNone && reread == message);
}

// As it is, and with the head of every type laid over its own, so that any input reaches the
// bodies.
void DecodeControlPdus(const uint8_t* body, uint32_t bytes) {
  DecodeControlPdu(ExactBytes(body, bytes));
  const ExactBytes mended(body, std::min(bytes, kMaxControlPduBytes + 2));
  if (mended.bytes() < kControlHeadBytes) return;
  StoreBe16(mended.data() + 2, static_cast<uint16_t>(mended.bytes() - kControlHeadBytes));
  for (const ControlType type :
       {ControlType::kHello, ControlType::kNotReady, ControlType::kReady, ControlType::kPlane,
        ControlType::kFence, ControlType::kFenced, ControlType::kCredit, ControlType::kCongestion,
        ControlType::kSession, ControlType::kPath}) {
    mended.data()[0] = static_cast<uint8_t>(type);
    DecodeControlPdu(mended);
  }
}

void DecodePdu(const uint8_t* pdu, uint32_t pdu_bytes) {
  sink = RcrcGood(pdu, pdu_bytes);
  const ReliabilityHeader rh = DecodeRh(pdu);
  Require(rh.ver < 4 && rh.xpuid < kMaxXpus && rh.vc < kVcCount && rh.partition <= kMaxPartition);
  const uint8_t* body = pdu + kRhBytes;
  const uint32_t body_bytes = pdu_bytes - kRhBytes - kRcrcBytes;
  DecodeControlPdus(body, body_bytes);
  CommandReader reader(body, body_bytes);
  while (reader.Next()) ReadEveryByte(reader.command(), reader.shape().packed_bytes());
}

// A frame as a switch may have cut it: what is returned is inside it, and the PDU's end is not.
std::optional<ParsedFrame> DecodeTrimmed(const FrameRules& rules, const ExactBytes& frame,
                                         uint8_t dscp) {
  const auto parsed = ParseTrimmed(rules, frame.data(), frame.bytes(), dscp);
  if (!parsed) return parsed;
  const uint8_t* end = frame.data() + frame.bytes();
  Require(TraitsOf(rules.encap).has_length && parsed->error == FrameError::kNone);
  Require(parsed->dscp == dscp && parsed->pdu_bytes >= kMinPduBytes);
  Require(parsed->pdu >= frame.data() && parsed->pdu + kRhBytes <= end);
  Require(parsed->pdu_bytes > static_cast<uint64_t>(end - parsed->pdu));
  ReadEveryByte(parsed->pdu, kRhBytes);
  return parsed;
}

// Encodes a frame, decodes it, and requires everything to be the same.
void RoundTrip(const Choice& choice, const HeaderSpec& spec, const ReliabilityHeader& rh,
               const uint8_t* commands, uint32_t command_bytes) {
  const HeaderTemplate header = MakeTemplate(choice.encap, spec);
  const ExactBytes packed(commands, command_bytes);
  std::vector<uint8_t> buffer(FrameBufferBytes(command_bytes));
  const auto built = BuildFrame(header, rh, {packed.data(), command_bytes}, buffer);
  Require(built.size() >= kMinFrameBytes);
  const ExactBytes frame(built.data(), static_cast<uint32_t>(built.size()));
  const FrameRules rules{.encap = choice.encap,
                         .udp_port = spec.udp_port,
                         .mac_prefix = spec.mac_prefix,
                         .ether_type = spec.ether_type};
  const ExactBytes half(built.data(), frame.bytes() / 2);
  const auto trimmed = DecodeTrimmed(rules, half, spec.traffic_class.dscp);
  const bool has_rh = half.bytes() >= header.length + kRhBytes;
  Require(trimmed.has_value() == (has_rh && TraitsOf(choice.encap).has_length));
  Require(!trimmed || trimmed->pdu_bytes == frame.bytes() - header.length);
  const ParsedFrame parsed = ParseFrame(rules, frame.data(), frame.bytes(), choice.checksums_good);
  Require(parsed.error == FrameError::kNone);
  Require(parsed.source == spec.source && parsed.destination == spec.destination);
  Require(parsed.session == spec.session);
  const uint32_t class_bits = TraitsOf(choice.encap).class_bits;
  Require(parsed.dscp == (spec.traffic_class.dscp & ~(63u >> class_bits)));
  Require(parsed.ecn == (class_bits != 0 ? spec.traffic_class.ecn : 0));
  Require(parsed.pdu == frame.data() + header.length);
  Require(parsed.pdu_bytes == frame.bytes() - header.length);
  Require(RcrcGood(parsed.pdu, parsed.pdu_bytes));
  uint8_t canonical[kRhBytes];
  EncodeRh(rh, canonical);
  Require(std::equal(canonical, canonical + kRhBytes, parsed.pdu));
  Require(std::equal(commands, commands + command_bytes, parsed.pdu + kRhBytes));
}

// The values of any parsed header can be encoded again.
void SayAgain(const Choice& choice, const ParsedFrame& parsed) {
  HeaderSpec spec{.tagged = choice.tagged,
                  .source = parsed.source,
                  .destination = parsed.destination,
                  .session = parsed.session};
  spec.traffic_class = {.dscp = parsed.dscp, .ecn = parsed.ecn};
  const ReliabilityHeader rh = DecodeRh(parsed.pdu);
  const uint32_t commands = std::min(parsed.pdu_bytes - kMinPduBytes, kMaxPackBytes);
  RoundTrip(choice, spec, rh, parsed.pdu + kRhBytes, commands);
}

// A pause that is read can be written again.
void DecodePause(const ExactBytes& frame) {
  const auto pfc = DecodePfc(frame.data(), frame.bytes());
  if (!pfc) return;
  Require(ClaimsPfc(frame.data(), frame.bytes()));
  uint8_t again[PfcFrame::kBytes];
  EncodePfc(*pfc, {}, again);
  Require(DecodePfc(again, PfcFrame::kBytes) == pfc);
  for (const uint16_t quanta : pfc->quanta) Require(PauseOf(quanta, 0).count() >= 0);
}

void Decode(const Choice& choice, const ExactBytes& frame) {
  DecodePause(frame);
  DecodeTrimmed({.encap = choice.encap}, frame, 0);
  DecodeTrimmed({.encap = choice.encap}, ExactBytes(frame.data(), frame.bytes() / 2), 0);
  const ParsedFrame parsed =
      ParseFrame({.encap = choice.encap}, frame.data(), frame.bytes(), choice.checksums_good);
  if (parsed.error != FrameError::kNone) return;
  Require(parsed.pdu_bytes >= kMinPduBytes);
  Require(parsed.pdu >= frame.data());
  Require(parsed.pdu + parsed.pdu_bytes <= frame.data() + frame.bytes());
  DecodePdu(parsed.pdu, parsed.pdu_bytes);
  SayAgain(choice, parsed);
}

// Lays a good header over the frame's head. The bytes in the RH's place are left as they are, but
// for the part that afh2c has in its header.
void MendHeader(const Choice& choice, const ExactBytes& frame) {
  const HeaderTemplate header = MakeTemplate(choice.encap, {.tagged = choice.tagged});
  const uint32_t bytes = frame.bytes();
  if (bytes < header.length + kRhBytes || bytes > 9000) return;
  std::vector<uint8_t> room(HeaderTemplate::kRoomBytes + bytes);
  uint8_t* pdu = room.data() + HeaderTemplate::kRoomBytes;
  std::memcpy(pdu, frame.data() + header.length, bytes - header.length);
  const uint8_t* start = WriteHeader(header, pdu, bytes - header.length, false);
  std::memcpy(frame.data(), start, bytes);
}

// Its first two bytes say which byte of the header differs, and by what.
void MendAndAlter(const Choice& choice, const ExactBytes& frame) {
  if (frame.bytes() < 2) return;
  const uint8_t at = frame.data()[0];
  const uint8_t by = frame.data()[1];
  MendHeader(choice, frame);
  const uint32_t header_bytes = MakeTemplate(choice.encap, {.tagged = choice.tagged}).length;
  const uint32_t altered = at % (header_bytes + kRhBytes);
  if (altered < frame.bytes()) frame.data()[altered] ^= by;
}

NetAddress TakeAddress(Encap encap, const uint8_t* bytes) {
  switch (TraitsOf(encap).addresses) {
    case AddressKind::kIpv6:
      return {.high = LoadBe64(bytes), .low = LoadBe64(bytes + 8)};
    case AddressKind::kIpv4:
      return {.low = LoadBe32(bytes)};
    case AddressKind::kForwarding:
      break;
  }
  return {.low = LoadBe32(bytes) >> (32 - TraitsOf(encap).forwarding_bits)};
}

void Encode(const Choice& choice, const ExactBytes& input) {
  constexpr uint32_t kValueBytes = 64;
  if (input.bytes() < kValueBytes) return;
  const uint8_t* in = input.data();
  HeaderSpec spec{.tagged = choice.tagged,
                  .vid = LoadBe16(in),
                  .source = TakeAddress(choice.encap, in + 2),
                  .destination = TakeAddress(choice.encap, in + 18),
                  .udp_port = LoadBe16(in + 34),
                  .session = LoadBe16(in + 36),
                  .mac_prefix = LoadBe32(in + 38),
                  .ether_type = LoadBe16(in + 42)};
  spec.session = static_cast<uint16_t>(spec.session % SessionCount(choice.encap));
  if (spec.ether_type == 0x8100) spec.ether_type = 0;  // would be a tag
  spec.traffic_class = {.pcp = static_cast<uint8_t>(in[44] & 7),
                        .dscp = static_cast<uint8_t>(in[45] & 0x3f),
                        .ecn = static_cast<uint8_t>(in[46] & 3)};
  std::copy_n(in + 47, 6, spec.source_mac.begin());
  std::copy_n(in + 47, 6, spec.destination_mac.begin());
  ReliabilityHeader rh = DecodeRh(in + 53);
  if (TraitsOf(choice.encap).holds_rh) rh.xpuid = static_cast<uint16_t>(spec.source.low & 0x3ff);
  const uint32_t command_bytes = std::min(input.bytes() - kValueBytes, kMaxPackBytes);
  RoundTrip(choice, spec, rh, in + kValueBytes, command_bytes);
}

}  // namespace
}  // namespace suede

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace suede;
  if (size == 0) return 0;
  const Choice choice(data[0]);
  const ExactBytes rest(data + 1, static_cast<uint32_t>(size - 1));
  switch (choice.content) {
    case Choice::Content::kRaw:
      break;
    case Choice::Content::kMended:
      MendHeader(choice, rest);
      break;
    case Choice::Content::kAltered:
      MendAndAlter(choice, rest);
      break;
    case Choice::Content::kValues:
      Encode(choice, rest);
      return 0;
  }
  if (choice.tagged && rest.bytes() >= 16) {
    // A pause whose times are the input.
    const ExactBytes pause(data + 1, rest.bytes());
    const uint8_t head[] = {0x01, 0x80, 0xc2, 0, 0, 1};
    std::copy_n(head, sizeof head, pause.data());
    StoreBe16(pause.data() + 12, kTypeMacControl);
    StoreBe16(pause.data() + 14, 0x0101);
    DecodePause(pause);
  }
  Decode(choice, rest);
  if (rest.bytes() >= kMinPduBytes) DecodePdu(rest.data(), rest.bytes());
  return 0;
}
