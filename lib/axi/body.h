// SPDX-License-Identifier: Apache-2.0
// Body of a transaction: the octets of its commands' data (docs/axi.md, "Commands").
//
// A sender collects beats (AddBeat), then puts the fields in front of the active octets (Finish…).
// A receiver stores parts in any order (Store), then parses the whole (Parse…). One owner at a
// time. Only the constructor allocates; memory that is not used is not touched.
#ifndef SUEDE_AXI_BODY_H_
#define SUEDE_AXI_BODY_H_

#include <cstdint>
#include <memory>

#include "axi/command.h"
#include "axi/transfer.h"
#include "base/sue.h"

namespace suede::axi {

inline constexpr uint8_t kLockFlag = 0x80;  // of octet 0 of the attributes
inline constexpr uint8_t kStrobesFlag = 0x40;
inline constexpr uint32_t kAttributeBytes = 6;
inline constexpr uint32_t kMaxAttributeBytes = kAttributeBytes + kMaxUserBytes;
inline constexpr uint32_t kMaxPrefixBytes =
    kMaxAttributeBytes + kMaxBeats * kMaxBeatUserBytes + kMaxBurstBytes / 8;
inline constexpr uint32_t kMaxBodyBytes = kMaxPrefixBytes + kMaxBurstBytes;
inline constexpr uint32_t kPartBytes = kMaxDataBytes;
inline constexpr uint32_t kMaxParts = (kMaxBodyBytes + kPartBytes - 1) / kPartBytes;

constexpr uint32_t PartsOf(uint32_t body_bytes) {
  return body_bytes == 0 ? 1 : (body_bytes + kPartBytes - 1) / kPartBytes;
}

class Body {
 public:
  Body();

  // ---- Sender
  // Empties the body, for the beats of `burst`.
  void Begin(const Address& burst);
  // Adds the active octets of the next beat from the lanes of a bus of `bus_bytes`. Fewer than
  // BeatsOf(burst) beats have been added.
  void AddBeat(const WriteBeat& beat, uint32_t bus_bytes);
  void AddBeat(const ReadBeat& beat, uint32_t bus_bytes);
  uint32_t beats() const { return beats_; }
  // Completes the body of a write whose beats have been added. Returns its kind.
  Kind FinishWrite(uint32_t beat_user_bytes);
  // Completes the body of a read request, which has no beats.
  void FinishRead(const Address& burst);
  // Completes the body of an answer. `answer` gets the response and the flags.
  void FinishReadAnswer(uint32_t beat_user_bytes, Answer* answer);
  void FinishWriteAnswer(const uint64_t user[2], Answer* answer);

  // ---- Both: octets of the completed body, and its parts 0 to PartsOf(bytes()) - 1.
  uint32_t bytes() const { return end_ - begin_; }
  const uint8_t* Part(uint32_t part) const { return octets_.get() + begin_ + part * kPartBytes; }
  uint32_t PartBytes(uint32_t part) const;

  // ---- Receiver
  void BeginParts();
  // Copies a part. Returns false if it is there already, is too long, or ends beyond the longest
  // body.
  bool Store(uint32_t part, const uint8_t* data, uint32_t data_bytes);
  bool HasPart(uint32_t part) const { return (parts_ >> part & 1) != 0; }

  enum class Whole : uint8_t { kNotYet, kComplete, kMalformed };
  // Whether all parts of a write are there, from the length that its first command and attributes
  // name. Needs part 0. Adds the attributes to *burst, and checks `burst` (FindViolation, on the
  // widest bus).
  Whole ParseWrite(Kind kind, Address* burst);
  // Adds the attributes of a read request to *burst and checks it. Returns false: malformed.
  bool ParseRead(Address* burst);
  // Parses the answer to the read `burst` as ParseWrite does a write.
  Whole ParseReadAnswer(const Answer& answer, const Address& burst);
  // Stores BUSER in `user`. Returns false: malformed.
  bool ParseWriteAnswer(const Answer& answer, uint64_t user[2]) const;

  // ---- Content of a parsed body, or of one that is being collected.
  const uint8_t* data() const { return octets_.get() + data_; }  // active octets
  bool IsStrobed(uint32_t octet) const {
    return strobes_ == 0 || (octets_[strobes_ + octet / 8] >> octet % 8 & 1) != 0;
  }
  // Adds the strobes of up to kMaxBusBytes active octets to those of a bus, from `lane` on.
  void LoadStrobes(uint32_t octet, uint32_t count, uint32_t lane, uint64_t strobes[2]) const;
  uint32_t BeatUser(uint32_t beat) const;
  uint8_t BeatResponse(uint32_t beat, uint8_t otherwise) const;

 private:
  // Adds the next beat's active octets from the lanes of a bus. Returns the first active lane.
  uint32_t AddOctets(const uint8_t* lanes, uint32_t bus_bytes);
  uint8_t* Prepend(uint32_t bytes) { return octets_.get() + (begin_ -= bytes); }
  // Adds the strobes of `count` active octets, up to 64, to those collected.
  void StoreStrobes(uint32_t octet, uint32_t count, uint64_t strobes);
  void PrependAttributes(const Address& burst, uint32_t beat_user_bytes, bool has_strobes);
  void PrependBeatUsers(uint32_t beat_user_bytes);
  bool ParseAttributes(Address* burst, bool is_write, uint32_t* bytes);
  Whole CheckParts(uint32_t total_bytes) const;
  // Check the one form that the strobes of a whole body, and the responses of its beats, have.
  bool AreStrobesGood(uint32_t active_bytes) const;
  bool AreBeatResponsesGood(uint32_t beats, uint8_t worst) const;

  static constexpr uint32_t kNoPart = UINT32_MAX;

  // The body of a sender ends where the active octets do, at kMaxPrefixBytes + their number; one of
  // a receiver begins at 0.
  std::unique_ptr<uint8_t[]> octets_;  // kMaxBodyBytes
  uint32_t begin_ = 0;
  uint32_t end_ = 0;

  // Fields of the content, as indices of octets_.
  uint32_t data_ = 0;       // active octets
  uint32_t strobes_ = 0;    // 0: all are 1
  uint32_t users_ = 0;      // of the beats, beat_user_bytes_ each
  uint32_t responses_ = 0;  // of the beats; 0: all are the same
  uint32_t beat_user_bytes_ = 0;

  // Sender: what the beats had besides active octets.
  struct Side {
    uint8_t strobes[kMaxBurstBytes / 8 + sizeof(uint64_t)];  // stored by words
    uint32_t users[kMaxBeats];
    uint8_t responses[kMaxBeats];
  };
  std::unique_ptr<Side> side_;
  Address burst_ = {};
  uint32_t beats_ = 0;
  bool has_all_strobes_ = true;
  bool has_beat_responses_ = false;

  // Receiver.
  uint32_t parts_ = 0;             // mask of the parts stored
  uint32_t short_part_ = kNoPart;  // the one with fewer than kPartBytes
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_BODY_H_
