// SPDX-License-Identifier: Apache-2.0
#include "pipeline/seal_work.h"

#include <utility>

namespace suede {

void SealWork::Begin(Time now) {
  bool soon = false;
  for (const auto& instance : lcore_.instances) {
    if (!instance->seals()) continue;
    instance->seal_own->now = now;
    soon |= std::exchange(instance->seal_own->asks, false);
  }
  if (now < ask_at_ && !soon) return;
  ask_at_ = now + kAskEvery;
  AskPeers(now);
}

void SealWork::AskPeers(Time now) {
  for (const auto& instance : lcore_.instances) {
    if (!instance->seals()) continue;
    for (uint32_t peer = 0; peer < instance->peers.size(); ++peer) {
      if (!instance->peers[peer].handshake().associated()) continue;
      SealedPeer& sealed = instance->SealOf(peer);
      const bool is_lost = sealed.TakeLost();
      if (!is_lost && !sealed.WantsAsking()) continue;
      Effects effects;
      if (is_lost) {
        instance->peers[peer].OnKeysLost(now, effects);
      } else {
        instance->peers[peer].Ask(effects);
      }
      effector_.Apply(*instance, peer, effects);
    }
  }
}

void SealWork::Flush() {
  for (const auto& port : lcore_.ports) {
    if (!port->seals.empty()) port->seals.Flush(*lcore_.crypto);
  }
  for (const auto& instance : lcore_.instances) {
    if (!instance->seals()) continue;
    SealOwn& own = *instance->seal_own;
    own.retired.clear();
    if ((own.rotations | own.advances) == 0) continue;
    instance->counters.Add(Counter::kSealRotations, std::exchange(own.rotations, 0));
    instance->counters.Add(Counter::kSealEpochs, std::exchange(own.advances, 0));
  }
}

void SealWork::Take(SecretsUpdate& update) {
  for (const auto& instance : lcore_.instances) {
    if (!instance->seals()) continue;
    instance->seal_own->secrets = update.secrets;
    for (uint32_t peer = 0; peer < instance->peers.size(); ++peer) {
      instance->SealOf(peer).OnSecrets();
    }
  }
  End(update);
}

void SealWork::Take(Instance& instance, uint32_t peer, SecretsUpdate& update) {
  if (peer < instance.sealed_peers.size()) instance.SealOf(peer).SetAgreed(update.secrets);
  End(update);
}

// Peers are asked at once whether they have them.
void SealWork::End(SecretsUpdate& update) {
  update.secrets.Clear();
  update.done.store(true, std::memory_order_release);
  ask_at_ = {};
}

void SealWork::Rotate() {
  for (const auto& instance : lcore_.instances) {
    if (instance->seals()) ++instance->seal_own->rotations_asked;
  }
}

}  // namespace suede
