// SPDX-License-Identifier: Apache-2.0
// The frames of a poll iteration that wait for the port: data, and in front of it acknowledgements
// and control PDUs. Owned by the lcore of the queue pair.
#ifndef SUEDE_LINK_STAGED_BURST_H_
#define SUEDE_LINK_STAGED_BURST_H_

#include <array>
#include <cstdint>
#include <span>

#include "link/pdu_frame.h"

namespace suede {

inline constexpr uint32_t kBurst = 32;
inline constexpr uint32_t kFront = 32;  // places in front of a burst's data

class StagedBurst {
 public:
  bool empty() const { return data_count_ + front_count_ == 0; }
  bool HasFrontRoom() const { return front_count_ < kFront; }
  // Whether all places in front are taken, and the port takes frames: the next burst frees some.
  bool IsFrontUsedUp() const { return front_count_ == kFront && !refused_; }
  uint32_t data_count() const { return data_count_; }
  std::span<Frame* const> data() const { return {places_.data() + kFront, data_count_}; }
  std::span<Frame* const> front() const { return {front_.data(), front_count_}; }

  // HasFrontRoom must be true. The frame has its note.
  void AddFront(Frame* frame) { front_[front_count_++] = frame; }
  // data_count() < kBurst must be true. The frame has its note.
  void Add(Frame* frame) { places_[kFront + data_count_++] = frame; }

  // Removes withdrawn frames of data.
  void RemoveWithdrawn();

  // The frames that a port is offered, in order.
  struct Offer {
    Frame** first;
    uint32_t count;
    bool data_leads;  // a frame of data is in front of all others
  };
  Offer Begin() {
    if (front_count_ == 0) [[likely]]
      return {data_begin(), data_count_, false};
    return BeginInFront();
  }
  // The port has taken the first `taken` of the offer: the rest stays, in order.
  void End(const Offer& offer, uint32_t taken) {
    if (taken == offer.count) [[likely]] {
      data_count_ = front_count_ = 0;
      data_first_ = refused_ = false;
    } else {
      KeepRest(offer, taken);
    }
  }

 private:
  Frame** data_begin() { return places_.data() + kFront; }
  Offer BeginInFront();
  void KeepRest(const Offer& offer, uint32_t taken);

  std::array<Frame*, kFront> front_{};
  uint32_t front_count_ = 0;
  std::array<Frame*, kFront + kBurst> places_{};  // data, behind room for frames in front of it
  uint32_t data_count_ = 0;
  bool data_first_ = false;  // the last burst took only front frames
  bool refused_ = false;     // the port took nothing of the last burst
};

}  // namespace suede

#endif  // SUEDE_LINK_STAGED_BURST_H_
