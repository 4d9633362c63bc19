// SPDX-License-Identifier: Apache-2.0
// A frame as the data path sees it: bytes, a length, and room for the owner's own notes.
//
// Drivers create frames and own their memory; the holder of a frame owns one reference to it.
// Frame sits beside the driver's buffer (in the private area of an mbuf on DPDK), so turning one
// into the other is address arithmetic.
#ifndef SUEDE_PORT_FRAME_H_
#define SUEDE_PORT_FRAME_H_

#include <cstddef>
#include <cstdint>

namespace suede {

// The device's verdict on a received frame's IP and UDP checksums.
enum class ChecksumState : uint8_t { kUnknown, kGood, kBad };

// The fields that the device is asked to fill in on transmission.
enum class TxOffload : uint8_t {
  kNone,
  kIpv4Checksum,  // of the IPv4 header
  kUdp6Checksum,  // UDP's over IPv6, in whose place the pseudo-header's sum stands
};

struct alignas(64) Frame {
  // Bytes of the owner's notes: the data path's PDU descriptor lives here, or the note of a staged
  // frame that has none.
  static constexpr size_t kNoteBytes = 640;
  // Offset in `buffer` at which packed commands start, whatever the network header: the headers go
  // in front of it, and a frame's data starts where they start.
  static constexpr uint32_t kCommandOffset = 128;
  // Bytes behind the largest frame that may be scribbled on, so that copies can be in whole words.
  static constexpr uint32_t kSlackBytes = 64;

  uint8_t* buffer = nullptr;  // start of the memory; constant for the frame's life
  uint8_t* data = nullptr;    // first byte of the Ethernet header, inside the buffer
  uint32_t length = 0;        // bytes from data on, without FCS
  uint32_t capacity = 0;      // bytes from buffer on, slack included; constant
  ChecksumState rx_checksum = ChecksumState::kUnknown;
  TxOffload tx_offload = TxOffload::kNone;
  uint8_t l2_length = 0;  // bytes of Ethernet header and tag, where an offload is asked for
  uint8_t l3_length = 0;  // bytes of the IP header, where an offload is asked for
  // The frame that leaves in place of this one, which keeps the plain PDU; its owner is this one's.
  Frame* sealed = nullptr;

  alignas(64) std::byte notes[kNoteBytes];
};
static_assert(offsetof(Frame, notes) == 64);

}  // namespace suede

#endif  // SUEDE_PORT_FRAME_H_
