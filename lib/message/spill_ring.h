// SPDX-License-Identifier: Apache-2.0
// Ring of received data that the program has not read, and its credit accounting (docs/sockets.md,
// "Credit").
//
// Only the constructor allocates memory. The ring contains records: a header of 8 octets, then the
// data of one command, padded to a multiple of 8.
#ifndef SUEDE_MESSAGE_SPILL_RING_H_
#define SUEDE_MESSAGE_SPILL_RING_H_

#include <cstdint>
#include <memory>

namespace suede::message {

inline constexpr uint32_t kRecordHeadBytes = 8;
inline constexpr uint32_t kMinRingBytes = 4096;
inline constexpr uint32_t kMaxRingBytes = uint32_t{1} << 30;

// Credit that a command with `data_bytes` consumes, in octets.
constexpr uint32_t CostOf(uint32_t data_bytes) {
  return kRecordHeadBytes + (data_bytes + 7) / 8 * 8;
}

class SpillRing {
 public:
  // `bytes`: a multiple of 8, kMinRingBytes to kMaxRingBytes.
  SpillRing(uint32_t bytes, bool is_datagram);

  uint32_t bytes() const { return bytes_; }
  // Cumulative cost of all received and of all released data.
  uint64_t received() const { return received_; }
  uint64_t released() const { return released_; }
  bool Fits(uint32_t data_bytes) const {
    return received_ - released_ + CostOf(data_bytes) <= bytes_;
  }
  bool is_empty() const { return received_ == released_; }

  // Appends the data of a command, which must fit. `is_last`: the command ends a datagram; ignored
  // for a stream.
  void Push(const uint8_t* data, uint32_t data_bytes, bool is_last);
  // Accounts for data that bypassed the ring. The ring must be empty.
  void Pass(uint32_t data_bytes);

  // Copies up to `max` octets of a stream to `room`. Returns the number copied.
  uint32_t TakeOctets(uint8_t* room, uint32_t max);
  // Buffered octets.
  uint64_t octets() const { return octets_; }

  // Number of complete datagrams.
  uint32_t messages() const { return messages_; }
  // Length of the first datagram. Requires messages() != 0.
  uint32_t FirstMessageBytes() const;
  void TakeMessage(uint8_t* room);
  // Whether the newest datagram is incomplete.
  bool has_partial() const { return partial_cost_ != 0; }
  void DropPartial();

  // Aborts if the state is inconsistent.
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
  uint64_t first_ = 0;   // position of the oldest record; positions index the ring modulo bytes_
  uint64_t end_ = 0;     // position behind the newest record
  uint32_t taken_ = 0;   // octets already read of a stream's oldest record
  uint64_t octets_ = 0;  // unread octets in the ring
  uint32_t messages_ = 0;
  uint32_t partial_cost_ = 0;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SPILL_RING_H_
