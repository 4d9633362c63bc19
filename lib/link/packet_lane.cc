// SPDX-License-Identifier: Apache-2.0
#include "link/packet_lane.h"

#include <cstring>

#include "link/pdu_frame.h"
#include "wire/ethernet.h"

namespace suede {
namespace {

// Bytes that determine whether a frame is a SUE frame, with room for a parser that reads ahead.
constexpr size_t kMaxParsedBytes = 256;

}  // namespace

PacketLane::PacketLane(const FrameRules& rules, uint32_t frame_bytes, uint32_t burst)
    : rules_(rules),
      down_bucket_(kPacketsPerSecond, burst),
      down_(kLanePackets, frame_bytes),
      up_bucket_(kPacketsPerSecond, burst),
      up_(kLanePackets, frame_bytes) {}

Counter PacketLane::Refusal(std::span<const uint8_t> frame) const {
  const auto bytes = static_cast<uint32_t>(frame.size());
  if (EthernetBytes(frame.data(), bytes) == 0) return Counter::kMgmtTxMalformed;
  if (bytes > frame_bytes()) return Counter::kMgmtTxTooLong;
  // The copy protects the frame from a parser that writes to a supposed PDU. The rest of a longer
  // frame is not needed: its lengths and checksums could make it a broken SUE frame, but never a
  // frame that is not SUE's.
  uint8_t head[kMaxParsedBytes];
  const auto parsed_bytes = static_cast<uint32_t>(std::min(frame.size(), kMaxParsedBytes));
  std::memcpy(head, frame.data(), parsed_bytes);
  if (ParseFrame(rules_, head, parsed_bytes, false).error != FrameError::kNotSue) {
    return Counter::kMgmtTxSue;
  }
  return Counter::kCount;
}

bool PacketLane::Send(std::span<const uint8_t> frame, Time now) {
  Counter refusal = Refusal(frame);
  if (refusal == Counter::kCount && !down_bucket_.Take(now)) refusal = Counter::kMgmtTxRate;
  if (refusal == Counter::kCount && !down_.Push(frame)) refusal = Counter::kMgmtTxRingFull;
  if (refusal == Counter::kCount) return true;
  control_counters_.Add(refusal);
  return false;
}

void PacketLane::OfferUp(const Frame& frame, Time now, CounterBlock& counters) {
  if (!up_bucket_.Take(now)) {
    counters.Add(Counter::kMgmtRxRate);
  } else if (!up_.Push({frame.data, frame.length})) {
    counters.Add(Counter::kMgmtRxRingFull);
  } else {
    counters.Add(Counter::kMgmtRxPackets);
  }
}

void PacketLane::TakePacket(Frame& frame) {
  const std::span<const uint8_t> bytes = down_.Front();
  BeginOwnFrame(&frame);
  frame.length = static_cast<uint32_t>(bytes.size());
  std::memcpy(frame.data, bytes.data(), bytes.size());
  down_.Pop();
}

}  // namespace suede
