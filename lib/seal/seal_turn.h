// SPDX-License-Identifier: Apache-2.0
// Limits the keys that an lcore derives in a poll iteration (docs/sealing.md, "Keys in a poll
// iteration"): a key costs as much as the sealing of dozens of PDUs. Shared by the instances of an
// lcore, and owned by it.
#ifndef SUEDE_SEAL_SEAL_TURN_H_
#define SUEDE_SEAL_SEAL_TURN_H_

#include <cstdint>

#include "base/time.h"
#include "base/token_bucket.h"

namespace suede {

class SealedPeer;

class SealTurn {
 public:
  // Limits of a poll iteration: epochs that this end begins to send in by itself,
  static constexpr uint32_t kRotations = 16;
  // peers whose pending keys are made,
  static constexpr uint32_t kOwing = 16;
  // keys made because a PDU, not authenticated yet, names them,
  static constexpr uint32_t kFirstKeys = 32;
  // keys of HELLOs with another secret than the last HELLO to that peer,
  static constexpr uint32_t kHelloSwitches = 32;
  // and keys for HELLOs of unknown identities.
  static constexpr uint32_t kHellos = 32;
  // Limits of keys for HELLOs of unknown identities in a second, and in a short time.
  static constexpr uint32_t kHellosPerSecond = 10'000;
  static constexpr uint32_t kHelloBurst = 4096;

  // Makes pending keys; called before the first PDU of a poll iteration. Returns whether peers with
  // pending keys are left.
  bool Begin();

  // Each returns whether another may be made in this poll iteration.
  bool TakeRotation() { return TakeOne(rotations_); }
  bool TakeFirstKey() { return TakeOne(first_keys_); }
  bool TakeHelloSwitch() { return TakeOne(hello_switches_); }
  bool HasHello() const { return hellos_ != 0; }
  bool TakeHello(Time now) { return hello_rate_.Take(now) && TakeOne(hellos_); }

  // Schedules the peer's keys (SealedPeer::MakePending) for a later poll iteration, behind peers
  // that are already scheduled. The peer outlives this object.
  void Enqueue(SealedPeer& peer);

 private:
  static bool TakeOne(uint32_t& left) {
    if (left == 0) return false;
    --left;
    return true;
  }

  uint32_t rotations_ = kRotations;
  uint32_t first_keys_ = kFirstKeys;
  uint32_t hello_switches_ = kHelloSwitches;
  uint32_t hellos_ = kHellos;
  TokenBucket hello_rate_{kHellosPerSecond, kHelloBurst};
  // Peers with pending keys, in the order in which they are served.
  SealedPeer* first_owing_ = nullptr;
  SealedPeer* last_owing_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_SEAL_SEAL_TURN_H_
