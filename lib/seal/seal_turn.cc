// SPDX-License-Identifier: Apache-2.0
#include "seal/seal_turn.h"

#include <utility>

#include "seal/sealed_peer.h"

namespace suede {

bool SealTurn::Begin() {
  rotations_ = kRotations;
  first_keys_ = kFirstKeys;
  hello_switches_ = kHelloSwitches;
  hellos_ = kHellos;
  for (uint32_t left = kOwing; left != 0 && first_owing_ != nullptr; --left) {
    SealedPeer& peer = *first_owing_;
    first_owing_ = std::exchange(peer.next_owing_, nullptr);
    if (first_owing_ == nullptr) last_owing_ = nullptr;
    peer.owes_ = false;
    peer.MakePending();
  }
  return first_owing_ != nullptr;
}

void SealTurn::Enqueue(SealedPeer& peer) {
  if (std::exchange(peer.owes_, true)) return;
  (last_owing_ == nullptr ? first_owing_ : last_owing_->next_owing_) = &peer;
  last_owing_ = &peer;
}

}  // namespace suede
