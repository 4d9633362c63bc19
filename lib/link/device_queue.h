// SPDX-License-Identifier: Apache-2.0
// The octets that a port's device has still to send, estimated from the frames given to the device
// and from the speed of the link. If the link loses a frame, all frames behind it in the device are
// sent in vain, so the device is given no more than it sends until the owner's next poll iteration.
#ifndef SUEDE_LINK_DEVICE_QUEUE_H_
#define SUEDE_LINK_DEVICE_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/time.h"

namespace suede {

class DeviceQueue {
 public:
  static constexpr uint32_t kGapOctets = 24;  // preamble, FCS and gap of each frame
  static constexpr Duration kMaxLead = std::chrono::microseconds(50);

  // A poll iteration begins. `speed_bps`: of the link; 0: not known, room is unlimited. An
  // iteration that begins while the device has octets to send, or has just run out, shows the
  // interval of iterations: the longest counts, and is forgotten gradually.
  void OnTurn(uint64_t speed_bps, Time now) {
    ns_per_octet_ = speed_bps == 0 ? 0 : 8e9 / static_cast<double>(speed_bps);
    if (empty_at_ > turn_at_) {
      const Duration apart = std::min(now - turn_at_, kMaxLead);
      lead_ = std::max(apart, lead_ - (lead_ - apart) / kForgets);
    }
    turn_at_ = now;
  }
  // The octets that the device may be given in addition; a frame may exceed them. Zero: no frame
  // may be given.
  int64_t Room(Time now) const {
    if (ns_per_octet_ == 0) return std::numeric_limits<int64_t>::max();
    const Duration room = now + lead_ + lead_ / kSpare - std::max(empty_at_, now);
    return room < Duration{}
               ? 0
               : 1 + static_cast<int64_t>(static_cast<double>(room.count()) / ns_per_octet_);
  }
  // The octets of a frame on the link: `octets`, and preamble, FCS and gap.
  static int64_t CostOf(uint32_t octets) { return int64_t{octets} + kGapOctets; }
  // The device has taken frames, `cost` octets by CostOf.
  void Give(int64_t cost, Time now) {
    const double ns = static_cast<double>(cost) * ns_per_octet_;
    empty_at_ = std::max(empty_at_, now) + Duration(static_cast<int64_t>(ns));
  }

 private:
  static constexpr int kForgets = 16;  // poll iterations
  static constexpr int kSpare = 4;     // the part of the lead that is added to it

  double ns_per_octet_ = 0;
  Duration lead_{};  // from one poll iteration to the next
  Time turn_at_{};   // of the last poll iteration
  Time empty_at_{};  // when the device has sent all octets
};

}  // namespace suede

#endif  // SUEDE_LINK_DEVICE_QUEUE_H_
