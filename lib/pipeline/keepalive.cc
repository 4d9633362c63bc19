// SPDX-License-Identifier: Apache-2.0
#include "pipeline/keepalive.h"

#include <algorithm>

#include "send/speaker.h"

namespace suede {
namespace {

// Acknowledgements of an instance in `planes.hello_idle_us`: some come before a sender that gets no
// answer gives up.
constexpr uint32_t kInIdle = 4;
// Peers that are looked at for one that may be sent to.
constexpr uint32_t kMaxLooks = 32;

// Acknowledges again what the peer has sent. False where that could overtake PDUs, or the peer is
// sent to anyway: PDUs are in flight to it, or HELLOs ask for an association.
bool Acknowledge(Instance& instance, uint32_t peer) {
  if (!instance.peers[peer].handshake().associated()) return false;
  const uint32_t number = instance.ConnectionAt(peer, 0, 0);
  Connection& connection = instance.connections[number];
  if (connection.unacked_count() != 0) return false;
  const RpsnField field = connection.TakeRpsn();
  if (!Speaker::SendUnsequenced(instance, number, field, connection.UnsequencedPsn(),
                                Instance::kAckClass)) {
    return false;
  }
  instance.counters.Add(Counter::kTxAcks);
  if (field.op == RhOp::kNack) instance.counters.Add(Counter::kTxNacks);
  return true;
}

}  // namespace

[[gnu::noinline]] void Keepalive::Serve(Time now) {
  if (turns_.empty()) {
    due_ = kNever;
    return;
  }
  next_ = next_ + 1 < turns_.size() ? next_ + 1 : 0;
  Turn& turn = turns_[next_];
  Instance& instance = *lcore_.instances[turn.instance];
  const bool is_first = due_ == Time{};
  due_ = now + instance.params.paths.hello_idle / (kInIdle * turns_.size());
  const auto peers = static_cast<uint32_t>(instance.peers.size());
  const bool is_silent = is_first || instance.down || instance.own.admin[0] == PlaneAdmin::kDown ||
                       !instance.ports[0]->link.state().up;
  if (is_silent) return;
  for (uint32_t looks = std::min(peers, kMaxLooks); looks != 0; --looks) {
    turn.next_peer = turn.next_peer + 1 < peers ? turn.next_peer + 1 : 0;
    if (Acknowledge(instance, turn.next_peer)) return;
  }
}

}  // namespace suede
