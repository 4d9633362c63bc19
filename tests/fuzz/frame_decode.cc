// Arbitrary octets as a received frame: nothing may be read outside it.
//
// The first octet chooses what the device says of checksums and whether the headers are set right,
// so that random input gets past them; the rest is the frame.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "wire/command.h"
#include "wire/control_pdu.h"
#include "wire/encap.h"
#include "wire/frame_builder.h"
#include "wire/rcrc.h"
#include "wire/rh.h"

namespace {

volatile uint32_t sink;

void Require(bool condition) {
  if (!condition) std::abort();
}

void ReadEveryOctet(const uint8_t* begin, uint32_t bytes) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < bytes; ++i) sum += begin[i];
  sink = sum;
}

void DecodePdu(const uint8_t* pdu, uint32_t pdu_bytes) {
  using namespace suede;
  sink = RcrcGood(pdu, pdu_bytes);
  const ReliabilityHeader rh = DecodeRh(pdu);
  Require(rh.ver < 4 && rh.xpuid < kMaxXpus && rh.vc < kVcCount && rh.partition <= kMaxPartition);
  const uint8_t* body = pdu + kRhBytes;
  const uint32_t body_bytes = pdu_bytes - kRhBytes - kRcrcBytes;
  ControlMessage message;
  if (DecodeControl(body, body_bytes, message) == ControlError::kNone) {
    uint8_t again[kMaxControlPduBytes];
    ControlMessage reread;
    const uint32_t bytes = EncodeControl(message, again);
    Require(DecodeControl(again, bytes, reread) == ControlError::kNone && reread == message);
  }
  CommandReader reader(body, body_bytes);
  while (reader.Next()) ReadEveryOctet(reader.command(), reader.shape().packed_bytes());
}

void ParseFrame(const uint8_t* frame, uint32_t bytes, bool checksums_good) {
  const suede::ParsedFrame parsed = suede::Udp4::Parse(frame, bytes, 3333, checksums_good);
  if (parsed.error != suede::FrameError::kNone) return;
  Require(parsed.pdu_bytes >= suede::kRhBytes + suede::kRcrcBytes);
  Require(parsed.pdu >= frame && parsed.pdu + parsed.pdu_bytes <= frame + bytes);
  DecodePdu(parsed.pdu, parsed.pdu_bytes);
}

// Lays a good header over the frame's head.
void MendHeader(uint8_t* frame, uint32_t bytes, bool tagged) {
  using suede::HeaderTemplate;
  const HeaderTemplate header = suede::Udp4::MakeTemplate({.tagged = tagged});
  if (bytes < header.length || bytes > 9000) return;
  uint8_t room[HeaderTemplate::kMaxBytes];
  uint8_t* end = room + sizeof room;
  const uint8_t* written = suede::Udp4::Write(header, end, bytes - header.length, false);
  std::memcpy(frame, written, header.length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const auto bytes = static_cast<uint32_t>(size - 1);
  // Exactly as large as the frame: the address sanitizer sees the first octet beyond it.
  const std::unique_ptr<uint8_t[]> frame(new uint8_t[bytes]);
  if (bytes != 0) std::memcpy(frame.get(), data + 1, bytes);
  if ((choice & 2) != 0) MendHeader(frame.get(), bytes, (choice & 4) != 0);
  ParseFrame(frame.get(), bytes, (choice & 1) != 0);
  if (bytes >= suede::kRhBytes + suede::kRcrcBytes) DecodePdu(frame.get(), bytes);
  return 0;
}
