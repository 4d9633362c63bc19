// SPDX-License-Identifier: Apache-2.0
#include "pipeline/seal_work.h"

#include <utility>

namespace suede {

template <typename Visit>
void SealWork::Walk::Go(Lcore& lcore, uint32_t max, Visit&& visit) {
  for (; instance < lcore.instances.size(); ++instance, peer = 0) {
    Instance& at = *lcore.instances[instance];
    for (; peer < at.sealing.peers.size(); ++peer) {
      if (max == 0) return;
      --max;
      if (!visit(at, peer)) max = 0;
    }
  }
  under_way = false;
}

bool SealWork::Begin(Time now) {
  bool soon = false;
  for (const auto& instance : lcore_.instances) {
    if (!instance->sealing.on()) continue;
    instance->sealing.own->now = now;
    soon |= std::exchange(instance->sealing.own->wants_query, false);
  }
  if (updates_.under_way) [[unlikely]] {
    updates_.Go(lcore_, kMaxUpdates, [](Instance& instance, PeerIndex peer) {
      instance.SealOf(peer).OnSecrets();
      return true;
    });
    if (!updates_.under_way) EndUpdate();
  }
  const bool keys_left = lcore_.seal_turn.Begin();
  if (soon) query_at_ = now;
  if (now >= query_at_ && !queries_.under_way) {
    query_at_ = now + kQueryInterval;
    queries_.Start();
  }
  if (queries_.under_way) {
    uint32_t left = kMaxQueries;
    queries_.Go(lcore_, kMaxChecks, [&](Instance& instance, PeerIndex peer) {
      if (Query(instance, peer)) --left;
      return left != 0;
    });
  }
  return keys_left || updates_.under_way || queries_.under_way;
}

// Sends the peer a HELLO if sealing needs one now. Returns whether it did.
bool SealWork::Query(Instance& instance, PeerIndex peer) {
  if (!instance.peers[peer].handshake().associated()) return false;
  SealedPeer& sealed = instance.SealOf(peer);
  if (!sealed.WantsQuery()) return false;
  Effects effects;
  instance.peers[peer].association().RequestHello(effects);
  effector_.Apply(instance, peer, effects);
  return true;
}

void SealWork::Flush() {
  for (const auto& port : lcore_.ports) {
    if (!port->seals.empty()) port->seals.Flush(*lcore_.crypto);
  }
  for (const auto& instance : lcore_.instances) {
    if (!instance->sealing.on()) continue;
    SealOwn& own = *instance->sealing.own;
    own.retired.clear();
    if ((own.rotations | own.advances) == 0) continue;
    instance->stats.counters.Add(Counter::kSealRotations, std::exchange(own.rotations, 0));
    instance->stats.counters.Add(Counter::kSealEpochs, std::exchange(own.advances, 0));
  }
}

// Instances get the secrets at once, peers one after the other.
void SealWork::Take(SecretsUpdate& update, std::optional<uint32_t> only) {
  for (const auto& instance : lcore_.instances) {
    if (only.value_or(instance->number) != instance->number) continue;
    if (instance->sealing.on()) instance->sealing.own->secrets = update.secrets;
  }
  update.secrets.Clear();
  if (update_ != nullptr && update_ != &update)
    update_->done.store(true, std::memory_order_release);
  update_ = &update;
  updates_.Start();
}

// Queries peers at once whether they have the secrets.
void SealWork::EndUpdate() {
  std::exchange(update_, nullptr)->done.store(true, std::memory_order_release);
  query_at_ = {};
}

void SealWork::Take(Instance& instance, PeerIndex peer, SecretsUpdate& update) {
  if (peer < instance.sealing.peers.size()) instance.SealOf(peer).SetAgreed(update.secrets);
  update.secrets.Clear();
  update.done.store(true, std::memory_order_release);
  query_at_ = {};
}

void SealWork::Rotate() {
  for (const auto& instance : lcore_.instances) {
    if (instance->sealing.on()) ++instance->sealing.own->rotations_asked;
  }
}

}  // namespace suede
