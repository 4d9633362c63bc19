// SPDX-License-Identifier: Apache-2.0
// The sealing of an instance's PDUs, some or all (docs/sealing.md). Empty if nothing is sealed.
#ifndef SUEDE_LCORE_SEAL_STATE_H_
#define SUEDE_LCORE_SEAL_STATE_H_

#include <memory>
#include <vector>

#include "base/coordinates.h"
#include "lcore/params.h"
#include "lcore/peer_arrays.h"
#include "seal/sealed_peer.h"

namespace suede {

struct SealState {
  // Whether PDUs of the instance are sealed, some or all.
  bool on() const { return own != nullptr; }
  // The sealing state of the peer, with the identities that are valid now.
  SealedPeer& Of(const PeerArrays& all, PeerIndex peer) {
    SealedPeer& sealed = *peers[peer];
    sealed.Sync(all[peer].handshake().identities());
    return sealed;
  }
  // Begins sealing, before the first poll iteration. Aborts if locked memory is too small.
  void Begin(const InstanceParams& params, Crypto* crypto, SealTurn* turn);

  std::unique_ptr<SealOwn> own;
  std::vector<std::unique_ptr<SealedPeer>> peers;  // [peer]
  std::vector<SealCell> cells;                     // [peer]: read by any thread
};

}  // namespace suede

#endif  // SUEDE_LCORE_SEAL_STATE_H_
