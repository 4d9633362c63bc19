// SPDX-License-Identifier: Apache-2.0
// A frame on the data path: bytes, a length, and room for the owner's notes.
//
// Drivers create frames and own their memory; the holder of a frame owns one reference to it. Frame
// is adjacent to the driver's buffer (in the private area of an mbuf on DPDK), so that conversion
// between the two is address arithmetic.
#ifndef SUEDE_PORT_FRAME_H_
#define SUEDE_PORT_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace suede {

// Result of the device's verification of a received frame's IP and UDP checksums.
enum class ChecksumState : uint8_t { kUnknown, kGood, kBad };

// Checksum that the device computes on transmission.
enum class TxOffload : uint8_t {
  kNone,
  kUdp6Checksum,  // of UDP over IPv6; the field holds the pseudo-header's sum
};

struct alignas(64) Frame {
  // Bytes of the owner's notes: the data path's PDU descriptor, or the note of a staged frame
  // without one.
  static constexpr size_t kNoteBytes = 640;
  // Offset in `buffer` at which packed commands start, whatever the network header: the headers end
  // there, and `data` is the start of the headers.
  static constexpr uint32_t kCommandOffset = 128;
  // Bytes behind the largest frame that may be overwritten, so that copies can use whole words.
  static constexpr uint32_t kSlackBytes = 64;

  uint8_t* buffer = nullptr;  // start of the memory; constant for the frame's life
  uint8_t* data = nullptr;    // first byte of the Ethernet header, inside the buffer
  uint32_t length = 0;        // bytes from data on, without FCS
  uint32_t capacity = 0;      // bytes from buffer on, slack included; constant
  ChecksumState rx_checksum = ChecksumState::kUnknown;
  TxOffload tx_offload = TxOffload::kNone;
  uint8_t l2_length = 0;  // bytes of Ethernet header and tag, if an offload is requested
  uint8_t l3_length = 0;  // bytes of the IP header, if an offload is requested
  // Frame that is sent in place of this one, which keeps the plain PDU; both have the same owner.
  Frame* sealed = nullptr;

  alignas(64) std::byte notes[kNoteBytes];
};
static_assert(offsetof(Frame, notes) == 64);

// Copies the bytes of a frame to the same place in the buffer of another one. Returns false, and
// copies nothing, if they do not fit.
inline bool CopyFrame(const Frame& from, Frame* to) {
  const auto offset = static_cast<size_t>(from.data - from.buffer);
  if (to->capacity < offset + from.length) return false;
  to->data = to->buffer + offset;
  to->length = from.length;
  std::memcpy(to->data, from.data, from.length);
  return true;
}

}  // namespace suede

#endif  // SUEDE_PORT_FRAME_H_
