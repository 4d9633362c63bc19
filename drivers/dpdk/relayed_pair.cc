// SPDX-License-Identifier: Apache-2.0
#include "dpdk/relayed_pair.h"

namespace suede {

uint32_t RelayedPair::Transmit(Frame* const* frames, uint32_t count) {
  if (!gate().Enter()) [[unlikely]]
    return 0;
  uint32_t done = 0;
  while (done < count && relay_.ring.Push(frames[done])) ++done;
  Hold(frames, done);  // before the first lcore sees them
  relay_.ring.Publish();
  gate().Leave();
  return done;
}

void RelayingPair::Flush() {
  for (Relay* const relay : relays_) Send(*relay);
}

// Sends at most one burst, so that one lcore's frames do not delay the others'.
void RelayingPair::Send(Relay& relay) {
  if (relay.next == relay.count) {
    relay.next = 0;
    relay.count = relay.ring.Pop(relay.taken.data(), Relay::kTaken);
    if (relay.count == 0) return;
  }
  relay.next += SendQueued(relay.taken.data() + relay.next, relay.count - relay.next);
}

}  // namespace suede
