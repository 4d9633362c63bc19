// SPDX-License-Identifier: Apache-2.0
// Faults of one direction of a port's link, and the frames on its cable (docs/switch.md,
// "Impairments"). All behaviour follows from the seed, the frames and the time. Owned by one lcore.
#ifndef SUEDE_FABRIC_IMPAIRMENT_H_
#define SUEDE_FABRIC_IMPAIRMENT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "fabric/frame_note.h"
#include "fabric/params.h"
#include "fabric/random.h"
#include "fabric/rewrite.h"
#include "stats/switch_counters.h"

namespace suede::fabric {

// Chances are of 2^32 (ChanceOf), per frame.
struct ImpairmentParams {
  // Additional impairments of frames of one class.
  struct OfClass {
    Duration delay{};  // may reorder frames of different classes
    uint32_t loss = 0;
    uint32_t reorder = 0;
    RewriteParams rewrite;  // its values replace those of all frames
    bool operator==(const OfClass&) const = default;
  };
  uint64_t rate_bps = 0;  // 0: no limit
  Duration delay{};
  Duration jitter{};  // maximum additional delay; frames stay in order
  uint32_t loss = 0;
  // Gilbert-Elliott: two states, each with its own loss, and the chances of a change of state.
  uint32_t to_bad = 0;
  uint32_t to_good = UINT32_MAX;
  uint32_t loss_in_bad = UINT32_MAX;
  uint32_t reorder = 0;  // delayed by up to reorder_delay more than later frames
  Duration reorder_delay = std::chrono::microseconds(20);
  uint32_t duplicate = 0;
  uint32_t bad_fcs = 0;             // frames that the next device would drop
  uint32_t flip = 0;                // one bit of the frame flipped, undetected by an FCS
  uint32_t max_bytes = UINT32_MAX;  // bytes without FCS: longer frames are lost
  bool down = false;
  ClassMask hole_classes = 0;               // frames of these classes are lost
  std::vector<uint64_t> hole_destinations;  // and frames to these forwarding addresses or MAC
                                            // addresses
  RewriteParams rewrite;
  bool strip_tag = false;  // frames lose their VLAN tag
  std::array<OfClass, kClasses> of_class{};

  bool is_clean() const;
  bool rewrites() const;  // whether frames may change before they are flipped
};

class Impairment {
 public:
  // Finds the headers of frames (ViewFrame).
  struct ViewRule {
    Forwarding forwarding = Forwarding::kMac;
    uint16_t esun_ether_type = 0;
  };
  // `max`: max frames on the cable at once.
  Impairment(uint64_t seed, uint32_t max, ViewRule rule, SwitchPortCounters& counters);

  // May be called at any time; frames on the cable keep their times.
  void Set(const ImpairmentParams& params);
  // Sets `params`, and returns the former parameters in it: neither allocates nor frees.
  void Swap(ImpairmentParams& params);
  const ImpairmentParams& params() const { return params_; }

  // Whether frames pass as if there were no impairment.
  bool is_clean() const { return clean_ && cable_.empty(); }

  // When the rate permits the next frame.
  Time free_at() const { return free_at_; }

  enum class Fate : uint8_t {
    kLost,       // the caller releases the frame
    kTaken,      // the frame is on the cable
    kDuplicate,  // the frame is on the cable, and the caller passes a copy of it to Duplicate
  };
  // Sends the frame at `now`. May change its bytes.
  Fate Send(Frame* frame, Time now);
  // Takes a copy of the frame that Send took last.
  void Duplicate(Frame* copy);

  // The next frame that has arrived by `now`; null: none.
  Frame* Arrived(Time now);
  // When the next frame arrives; kNever: the cable is empty.
  Time deadline() const { return cable_.empty() ? kNever : cable_.front().at; }
  size_t on_cable() const { return cable_.size(); }

 private:
  struct OnCable {
    Time at;
    uint64_t order;
    Frame* frame;
    // Order of a heap whose first element arrives first.
    friend bool operator<(const OnCable& a, const OnCable& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  bool IsLost(const Frame* frame);
  const ImpairmentParams::OfClass& OfClass(const Frame* frame) const {
    return params_.of_class[NoteOfFrame(frame).traffic_class];
  }
  bool InHole(const Frame* frame) const;
  void Rewrite(Frame* frame);
  void Push(Frame* frame, Time at);
  Duration UpTo(Duration most) {
    return Duration(static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most.count()) + 1)));
  }

  ImpairmentParams params_;
  bool clean_ = true;
  bool rewrites_ = false;
  bool bad_ = false;  // the state of Gilbert-Elliott
  Random random_;
  const uint32_t max_;
  const ViewRule rule_;
  SwitchPortCounters& counters_;
  Time free_at_{};
  Time last_at_{};  // when the last frame arrives that was not delayed by `reorder`, without its
                    // class's delay
  uint64_t order_ = 0;
  std::vector<OnCable> cable_;
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_IMPAIRMENT_H_
