// SPDX-License-Identifier: Apache-2.0
// The words in which the daemon shows a client the load of the instance of one of its queues
// (docs/shared-memory.md, "Load").
//
// One LoadWriter per client queue, owned by the lcore that serves it. Nothing that it has
// written is read back; of the client's words it reads the wishes, each once.
#ifndef SUEDE_CLIENT_LOAD_H_
#define SUEDE_CLIENT_LOAD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "client/segment.h"

namespace suede {

// As suede_load_state, by value.
struct LoadState {
  uint32_t flags = 0;  // SUEDE_LOAD_…
  uint32_t load = 0;
  uint32_t queued_pdus = 0;
  uint32_t inflight_pdus = 0;
  uint32_t inflight_bytes = 0;
  uint32_t credit_lines = 0;
  uint32_t paused = 0;
  uint32_t unreachable = 0;
  friend bool operator==(const LoadState&, const LoadState&) = default;
};

// As suede_destination_state, by value.
struct DestinationState {
  uint32_t flags = 0;  // SUEDE_DESTINATION_…
  uint32_t queued_lines = 0;
  uint32_t inflight_pdus = 0;
  uint32_t inflight_bytes = 0;
  friend bool operator==(const DestinationState&, const DestinationState&) = default;
};

// A bit for each XPU.
class DestinationMap {
 public:
  bool Has(uint16_t xpuid) const { return (words_[xpuid / 32] >> xpuid % 32 & 1) != 0; }
  // Returns whether it was otherwise before.
  bool Set(uint16_t xpuid, bool value) {
    uint32_t& word = words_[xpuid / 32];
    const uint32_t bit = 1u << xpuid % 32;
    if (((word & bit) != 0) == value) return false;
    word ^= bit;
    return true;
  }
  uint32_t word(uint32_t index) const { return words_[index]; }

 private:
  std::array<uint32_t, SUEDE_MAP_WORDS> words_{};
};

// A destination that a client wants to know of.
struct Wish {
  uint32_t slot = 0;
  uint32_t word = 0;  // as the client wrote it
  uint16_t xpuid() const { return static_cast<uint16_t>(word); }  // 0 to 1023
};

class LoadWriter {
 public:
  LoadWriter() = default;
  LoadWriter(void* segment, const SegmentShape& shape, uint32_t queue)
      : area_(AtOffset<suede_load_area>(segment, SegmentOffsets(shape).load) + queue) {}

  void Show(const LoadState& state);
  // Writes the words that differ from those shown before.
  void ShowMaps(const DestinationMap& unreachable, const DestinationMap& paused);
  // The wish whose turn it is, round about.
  std::optional<Wish> NextWish();
  void Answer(const Wish& wish, const DestinationState& state);

 private:
  suede_load_area* area_ = nullptr;
  uint32_t sequence_ = 0;  // as stored
  uint32_t turn_ = 0;
  std::array<uint32_t, SUEDE_WISHES> answers_{};  // sequences of the answers, as stored
  DestinationMap unreachable_;                    // as shown
  DestinationMap paused_;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_LOAD_H_
