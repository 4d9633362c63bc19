// SPDX-License-Identifier: Apache-2.0
#include "lcore/seal_state.h"

#include <cstdlib>

namespace suede {

void SealState::Begin(const InstanceParams& params, Crypto* crypto, SealTurn* turn) {
  own.reset(new SealOwn);
  if (own == nullptr) std::abort();
  own->crypto = crypto;
  own->turn = turn;
  own->params = params.seal;
  own->partition = params.partition;
  own->xpuid = params.xpuid;
  cells = std::vector<SealCell>(params.peers.size());
  for (size_t i = 0; i < params.peers.size(); ++i) {
    peers.emplace_back(new SealedPeer(*own, params.peers[i].xpuid, &cells[i]));
    if (peers.back() == nullptr) std::abort();
  }
}

}  // namespace suede
