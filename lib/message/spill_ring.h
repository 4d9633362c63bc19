// SPDX-License-Identifier: Apache-2.0
// The data that a receive socket has received and its program has not read: a ring in ordinary
// memory, and the account of the credit that covers it (docs/sockets.md, "Credit").
//
// Memory is allocated by the constructor alone. The ring contains records: a head of 8 octets, then
// the data of one command, up to a multiple of 8.
#ifndef SUEDE_MESSAGE_SPILL_RING_H_
#define SUEDE_MESSAGE_SPILL_RING_H_

#include <cstdint>
#include <memory>

namespace suede::message {

inline constexpr uint32_t kRecordHeadBytes = 8;
inline constexpr uint32_t kMinRingBytes = 4096;
inline constexpr uint32_t kMaxRingBytes = uint32_t{1} << 30;

// Octets of credit that a command with `data_bytes` takes.
constexpr uint32_t CostOf(uint32_t data_bytes) {
  return kRecordHeadBytes + (data_bytes + 7) / 8 * 8;
}

class SpillRing {
 public:
  // `bytes`: a multiple of 8, kMinRingBytes to kMaxRingBytes.
  SpillRing(uint32_t bytes, bool is_datagram);

  uint32_t bytes() const { return bytes_; }
  // Cost of all that was received, and of all that was released, since the beginning.
  uint64_t received() const { return received_; }
  uint64_t released() const { return released_; }
  bool Fits(uint32_t data_bytes) const {
    return received_ - released_ + CostOf(data_bytes) <= bytes_;
  }
  bool is_empty() const { return received_ == released_; }

  // Adds the data of a command; it fits. `is_last`: a datagram ends with it; of no meaning to a
  // stream.
  void Push(const uint8_t* data, uint32_t data_bytes, bool is_last);
  // Data that went to the program at once: it costs nothing any more. The ring is empty.
  void Pass(uint32_t data_bytes);

  // A stream's octets, `max` at most; how many there were.
  uint32_t TakeOctets(uint8_t* room, uint32_t max);
  // Octets of a stream that can be taken.
  uint64_t octets() const { return octets_; }

  // Whole datagrams that can be taken.
  uint32_t messages() const { return messages_; }
  // Length of the first datagram; there is one.
  uint32_t FirstMessageBytes() const;
  void TakeMessage(uint8_t* room);
  // Whether a datagram has begun, and its end has not come.
  bool has_partial() const { return partial_cost_ != 0; }
  void DropPartial();

  // Aborts where the state contradicts itself.
  void CheckInvariants() const;

 private:
  struct Record {
    uint16_t bytes;
    uint8_t is_last;
    uint8_t reserved[5];
  };
  static_assert(sizeof(Record) == kRecordHeadBytes);

  Record HeadAt(uint64_t at) const;
  void Copy(uint64_t at, uint8_t* room, uint32_t bytes) const;
  void Release(uint32_t cost);

  const uint32_t bytes_;
  const bool is_datagram_;
  std::unique_ptr<uint8_t[]> memory_;
  uint64_t received_ = 0;
  uint64_t released_ = 0;
  uint64_t first_ = 0;   // position of the oldest record; of all positions modulo bytes_ counts
  uint64_t end_ = 0;     // position behind the newest
  uint32_t taken_ = 0;   // octets of the oldest record that a stream's reader has
  uint64_t octets_ = 0;  // octets that are in the ring and were not taken
  uint32_t messages_ = 0;
  uint32_t partial_cost_ = 0;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SPILL_RING_H_
