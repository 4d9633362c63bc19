// SPDX-License-Identifier: Apache-2.0
// The configuration of one end of a link (docs/link.md).
#ifndef SUEDE_LINK_LINK_PARAMS_H_
#define SUEDE_LINK_LINK_PARAMS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/secret_numbers.h"
#include "base/time.h"
#include "link/link_credit.h"
#include "wire/frame_class.h"
#include "wire/link_frame.h"
#include "wire/pfc.h"

namespace suede {

// Link-level retry.
struct RetryParams {
  static constexpr uint32_t kMaxWindowFrames = 1u << 14;

  bool on = false;
  uint32_t window_frames = 264;      // max frames held, 1 to kMaxWindowFrames,
  uint32_t window_octets = 135'000;  // and max octets of them; one frame may always be held
  uint32_t replay_count = 3;         // max expiries of the replay timer in a row without progress
  Duration replay_timeout = std::chrono::microseconds(50);
  Duration max_age = std::chrono::milliseconds(5);    // of a held frame
  uint32_t ack_frames = 16;                           // received frames after which an ACK leaves,
  Duration ack_delay = std::chrono::microseconds(2);  // or after this time
  friend bool operator==(const RetryParams&, const RetryParams&) = default;
};

struct LinkParams {
  uint16_t ether_type = kDefaultLinkEtherType;
  std::array<uint8_t, 6> mac{};  // source of link frames
  Duration hello = std::chrono::milliseconds(10);
  SecretKey secret{};  // of the nonces: differs in each boot
  RetryParams retry;
  LinkOffer credit;  // the offer of credit-based flow control; `cbfc`: whether it is on
  CreditTimes credit_times;
  // Time for which frames wait for credit, while the neighbour returns none, until a storm begins;
  // 0: never.
  Duration credit_storm = std::chrono::milliseconds(100);
  FrameClassRule class_rule;       // rule for the link VC of a frame
  std::optional<LinkPlace> place;  // of this end in the meshes: announced to the neighbour

  // Whether this end exchanges link frames; only HELLOs if it has nothing but a place.
  bool on() const { return retry.on || credit.cbfc || place.has_value(); }
};

// The multicast groups of frames that this end receives from the neighbour, to be registered with a
// device that filters multicast frames. `takes_pfc`: this end obeys PFC frames (docs/pfc.md).
inline std::vector<std::array<uint8_t, 6>> GroupsOf(const LinkParams& params, bool takes_pfc) {
  std::vector<std::array<uint8_t, 6>> groups;
  if (params.on()) groups.push_back(kLinkGroup);
  if (takes_pfc) groups.push_back(kPfcGroup);
  return groups;
}

}  // namespace suede

#endif  // SUEDE_LINK_LINK_PARAMS_H_
