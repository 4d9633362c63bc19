// SPDX-License-Identifier: Apache-2.0
#include "receive/early_keeper.h"

#include <new>

namespace suede {

bool EarlyKeeper::Keep(Instance& instance, ConnectionIndex number, const ReceivedPdu& pdu) {
  if (instance.rx.kept_early >= kMaxEarlyPdus) return false;
  EarlyPdus& early = instance.peers.early[number];
  if (!early.HoldsFrames()) keeping_.push_back({instance.number, number});
  Pdu* const kept = new (pdu.frame->notes) Pdu;
  kept->commands = const_cast<uint8_t*>(pdu.commands);
  kept->bytes = static_cast<uint16_t>(pdu.bytes);
  kept->peer = static_cast<uint16_t>(pdu.peer);
  kept->vc = pdu.rh.vc();
  kept->psn = pdu.rh.psn();
  early.Keep(kept);
  ++instance.rx.kept_early;
  return true;
}

Pdu* EarlyKeeper::TakeFirst(Instance& instance, ConnectionIndex number) {
  --instance.rx.kept_early;
  return instance.peers.early[number].TakeFirstKept();
}

void EarlyKeeper::ReleaseDiscarded() {
  for (size_t left = keeping_.size(); left != 0; --left) {
    const ConnectionRef ref = keeping_.front();
    keeping_.pop_front();
    Instance& instance = *lcore_.instances[ref.instance];
    EarlyPdus& early = instance.peers.early[ref.connection];
    for (PduList& discarded = early.discarded(); !discarded.empty();) {
      instance.home().link.frames().ReleasePdu(discarded.PopFront());
      --instance.rx.kept_early;
    }
    if (early.HoldsFrames()) keeping_.push_back(ref);
  }
}

}  // namespace suede
