// SPDX-License-Identifier: Apache-2.0
// The effects that facts about one peer have requested, and that peer. Owned by the lcore.
#ifndef SUEDE_LCORE_PEER_EFFECTS_H_
#define SUEDE_LCORE_PEER_EFFECTS_H_

#include "lcore/lcore.h"

namespace suede {

class PeerEffects {
 public:
  // Returns the effects, for another fact about this peer. All facts until Clear are about one
  // peer.
  Effects& For(const PeerRef& peer) {
    peer_ = peer;
    return effects_;
  }
  bool empty() const { return effects_.empty(); }
  Effects& effects() { return effects_; }
  const PeerRef& peer() const { return peer_; }
  void Clear() { effects_.Clear(); }

 private:
  PeerRef peer_{};
  Effects effects_;
};

}  // namespace suede

#endif  // SUEDE_LCORE_PEER_EFFECTS_H_
