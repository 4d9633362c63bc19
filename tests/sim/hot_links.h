// SPDX-License-Identifier: Apache-2.0
// The links between two leaf switches in virtual time: a leaf chooses one of them by the hash of a
// frame's addresses and ports (ECMP). Each has a rate, a queue of its own at either leaf, which
// drops what it has no room for and marks what it has little room for, and background traffic that
// nothing slows down and that has room of its own.
#ifndef SUEDE_TESTS_SIM_HOT_LINKS_H_
#define SUEDE_TESTS_SIM_HOT_LINKS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "dice.h"

namespace suede {

struct HotLinksParams {
  uint32_t links = 8;
  double bits_per_ns = 100;           // of each link
  Duration cable{438};                // delay of the cable to a leaf, and of that between leaves
  uint32_t queue_bytes = 256u << 10;  // of a queue: what has no room is lost
  uint32_t mark_min_bytes = 5'000;    // ECN: from here on some are marked,
  uint32_t mark_max_bytes = 20'000;   // and from here on all
  uint32_t background_bytes = 4160;   // of a frame of the background
  uint64_t seed = 1;                  // of the hash, and of the background's times
};

class HotLinks {
 public:
  // Towards the second leaf, and back.
  static constexpr uint32_t kThere = 0;
  static constexpr uint32_t kBack = 1;

  explicit HotLinks(const HotLinksParams& params);

  // From `now` on, background of so much of the rate takes the link, 0 to 1, with frames at random
  // times.
  void SetLoad(uint32_t direction, uint32_t link, double load, Time now);
  // From now on the link loses so much of the frames, by chance.
  void SetLoss(uint32_t direction, uint32_t link, double loss) {
    links_[direction][link].loss = loss;
  }
  // When a UDP frame that leaves its host at `leaves` has passed; kNever: its queue had no room, or
  // the link has lost it. It may be marked.
  Time Pass(uint32_t direction, std::span<uint8_t> frame, Time leaves);
  // The link that frames of these addresses and ports take. 42 octets or more.
  uint32_t LinkOf(std::span<const uint8_t> frame) const;

  // Frames' octets that came for a link, without the background, and of these the lost ones.
  uint64_t offered(uint32_t direction, uint32_t link) const {
    return links_[direction][link].offered;
  }
  uint64_t lost() const { return lost_; }  // frames
  uint64_t marked() const { return marked_; }

 private:
  struct Link {
    Time free_at{};  // what is queued has left then
    double load = 0;
    double loss = 0;
    Time next_background = kNever;
    uint64_t offered = 0;
  };
  Duration TimeOf(uint32_t bytes) const;
  uint32_t QueuedAt(const Link& link, Time at) const;
  void CatchUp(Link& link, Time until);
  void Join(Link& link, uint32_t bytes, Time at);
  Duration Gap(const Link& link);
  void MayMark(uint32_t queued, std::span<uint8_t> frame);

  const HotLinksParams params_;
  Dice dice_;
  std::array<std::vector<Link>, 2> links_;
  uint64_t lost_ = 0;
  uint64_t marked_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_HOT_LINKS_H_
