// SPDX-License-Identifier: Apache-2.0
// The sealing state that an instance has once for all of its peers. Owned by one lcore.
#ifndef SUEDE_SEAL_SEAL_OWN_H_
#define SUEDE_SEAL_SEAL_OWN_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "base/token_bucket.h"
#include "seal/keys.h"
#include "seal/seal_turn.h"

namespace suede {

enum class SealMode : uint8_t { kOff, kPreferred, kRequired };

struct SealParams {
  SealMode mode = SealMode::kOff;
  SealCipher cipher = SealCipher::kAes128Gcm;
  Duration rotate = std::chrono::hours(1);   // max time of an epoch; 0: no limit
  uint64_t rotate_pdus = uint64_t{1} << 28;  // and max frames, min 1
};

// The instance's own end: the state common to all of its peers. The secrets may change.
struct SealOwn : InLockedMemory {
  // Max key derivations for HELLOs of unknown identities, in a second and at once: the latter is
  // the max number of peers of an instance, which may all restart.
  static constexpr uint32_t kHellosPerSecond = 1000;
  static constexpr uint32_t kHelloBurst = 1024;

  Crypto* crypto = nullptr;  // null: nothing is sealed
  SealTurn* turn = nullptr;  // the lcore's; outlives this object
  SealParams params;
  uint16_t partition = 0;
  uint16_t xpuid = 0;
  SealSecrets secrets;
  TokenBucket hello_budget{kHellosPerSecond, kHelloBurst};
  Time now{};              // of this poll iteration
  uint64_t rotations = 0;  // in this poll iteration: epochs begun for sending,
  uint64_t advances = 0;   // and by peers
  // Keys that jobs of the poll iteration may still use; they end with it.
  std::vector<SealKey> retired;
  bool wants_query = false;      // a peer is to be queried soon: SealedPeer::WantsQuery
  uint32_t rotations_asked = 0;  // by command: a peer rotates when its own count differs
};

}  // namespace suede

#endif  // SUEDE_SEAL_SEAL_OWN_H_
