// SPDX-License-Identifier: Apache-2.0
#include "receive/look_ahead.h"

#include <array>

namespace suede {
namespace {

constexpr uint32_t kLineBytes = 64;  // of the cache

template <typename T>
[[gnu::always_inline]] inline void Prefetch(const T& what) {
  __builtin_prefetch(&what);
}

// The parts of an instance that do not depend on the peer.
[[gnu::always_inline]] inline void PrefetchInstance(const Instance& instance, uint32_t xpuid) {
  Prefetch(instance.params.partition);
  Prefetch(instance.down);
  Prefetch(instance.peers.own.admin);
  Prefetch(instance.peers.connections);
  Prefetch(instance.peers.of_xpu[xpuid]);
  Prefetch(instance.rx.sources);
  Prefetch(instance.rx.ack_flags);
  Prefetch(instance.rx.credit.queues);
  Prefetch(instance.rx.credit.ring);
  Prefetch(instance.rx.unclaimed);
  Prefetch(instance.sealing);
}

// The peer's connection and credit, and the counters.
[[gnu::always_inline]] inline void PrefetchPeer(const Instance& instance, PlaneIndex plane,
                                                RhWord rh) {
  const PeerIndex peer = instance.peers.OfXpu(rh.xpuid());
  if (peer == Instance::kNoPeer) return;
  const Vc vc(rh.vc());
  const ConnectionIndex number = instance.map.At(peer, plane, 0, vc);
  const auto* const connection =
      reinterpret_cast<const uint8_t*>(&instance.peers.connections[number]);
  __builtin_prefetch(connection + kLineBytes, 1);
  __builtin_prefetch(connection + 2 * kLineBytes);
  Prefetch(instance.rx.sources[instance.map.PathAt(peer, plane)]);
  Prefetch(instance.rx.ack_flags[number]);
  __builtin_prefetch(&instance.rx.credit.At(peer, vc), 1);
  __builtin_prefetch(&instance.stats.counters.Cell(Counter::kRxPdus), 1);
}

}  // namespace

void LookAhead(const Lcore& lcore, const ReceivedBurst& burst) {
  std::array<const Instance*, ReceivedBurst::kMaxFrames> instances;
  for (uint32_t i = 0; i < burst.count(); ++i) {
    const bool here = burst.series(i).error() == FrameError::kNone &&
                      burst.place(i).instance < PortContext::Location::kElsewhere;
    instances[i] = here ? lcore.instances[burst.place(i).instance].get() : nullptr;
    if (here) PrefetchInstance(*instances[i], burst.rh(i).xpuid());
  }
  for (uint32_t i = 0; i < burst.count(); ++i) {
    if (instances[i] != nullptr) PrefetchPeer(*instances[i], burst.place(i).plane, burst.rh(i));
  }
}

}  // namespace suede
