// SPDX-License-Identifier: Apache-2.0
// The keys that an lcore derives in a turn (docs/sealing.md, "Keys in a poll iteration"): a key
// costs as much as the sealing of dozens of PDUs, so a turn makes few, whoever wants them. Shared
// by the instances of an lcore, and owned by it.
#ifndef SUEDE_SEAL_SEAL_TURN_H_
#define SUEDE_SEAL_SEAL_TURN_H_

#include <cstdint>

#include "base/time.h"
#include "base/token_bucket.h"

namespace suede {

class SealedPeer;

class SealTurn {
 public:
  // Limits of a turn: epochs that are begun for sending by this end's own need,
  static constexpr uint32_t kRotations = 16;
  // peers whose owed keys are made,
  static constexpr uint32_t kOwing = 16;
  // keys that are made because a PDU, not authentic yet, names them,
  static constexpr uint32_t kFirstKeys = 32;
  // keys of HELLOs of another secret than the last HELLO to that peer had,
  static constexpr uint32_t kHelloSwitches = 32;
  // and keys for HELLOs of unknown identities.
  static constexpr uint32_t kHellos = 32;
  // Limits of keys for HELLOs of unknown identities in a second, and in a short time.
  static constexpr uint32_t kHellosPerSecond = 10'000;
  static constexpr uint32_t kHelloBurst = 4096;

  // Before the first PDU of a turn. Makes owed keys; returns whether peers are left that owe some.
  bool Begin();

  // Each returns whether one more may be made in this turn.
  bool TakeRotation() { return TakeOne(rotations_); }
  bool TakeFirstKey() { return TakeOne(first_keys_); }
  bool TakeHelloSwitch() { return TakeOne(hello_switches_); }
  bool HasHello() const { return hellos_ != 0; }
  bool TakeHello(Time now) { return hello_rate_.Take(now) && TakeOne(hellos_); }

  // The peer makes keys in a later turn, behind those that owe some already:
  // SealedPeer::MakePending. The peer outlives this.
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
  // Peers that owe keys, in the order in which they are served.
  SealedPeer* first_owing_ = nullptr;
  SealedPeer* last_owing_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_SEAL_SEAL_TURN_H_
