// SPDX-License-Identifier: Apache-2.0
#include "dpdk/relayed_pair.h"

#include <rte_ethdev.h>

#include "dpdk/mbuf_frame.h"

namespace suede {

uint32_t RelayedPair::Transmit(Frame* const* frames, uint32_t count) {
  if (!gate().Enter()) [[unlikely]]
    return 0;
  const uint32_t done =
      internal::TransmitFrames(frames, count, [this](rte_mbuf** mbufs, uint32_t burst) {
        uint32_t taken = 0;
        while (taken < burst && relay_.ring.Push(mbufs[taken])) ++taken;
        return taken;
      });
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
  if (!gate().Enter()) [[unlikely]]
    return;
  relay.next += rte_eth_tx_burst(id(), queue(), relay.taken.data() + relay.next,
                                 static_cast<uint16_t>(relay.count - relay.next));
  gate().Leave();
}

}  // namespace suede
