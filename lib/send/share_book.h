// SPDX-License-Identifier: Apache-2.0
// Shares of frames: client queues have shares of packed PDUs, destinations of PDUs that have left
// and are not acknowledged. pack/shares.h defines how shares are given. Owned by the lcore.
#ifndef SUEDE_SEND_SHARE_BOOK_H_
#define SUEDE_SEND_SHARE_BOOK_H_

#include <cstddef>
#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "send/run_queue.h"

namespace suede {

class ShareBook {
 public:
  // Both arguments outlive this object.
  ShareBook(Lcore& lcore, RunQueue& run_queue) : lcore_(lcore), run_queue_(run_queue) {}

  // An instance was added, before the first poll iteration: sets the own share of each destination.
  void ShareOut(FrameShares& shares);
  // Bounds have changed: keeps own shares, and rechecks waiting queues.
  void Resize();

  // Whether one more PDU to a {peer, VC} may leave.
  static bool MayHold(const TransmitState& tx, PeerIndex peer, Vc vc);
  // How many more PDUs may leave.
  static uint32_t RoomOf(const TransmitState& tx, PeerIndex peer, Vc vc);
  // No PDU may leave: the transmit queue waits until PDUs of its destination, or of others, end.
  void Wait(TransmitState& tx, CounterBlock& counters, uint32_t index);
  // `count` PDUs to a {peer, VC} have ended.
  void Return(TransmitState& tx, PeerIndex peer, Vc vc, uint32_t count);

  // Recounts the PDUs; aborts if the counts differ.
  void CheckInvariants() const;

 private:
  void GoOnWaiting(TransmitState& tx, PeerIndex peer, Vc vc, uint32_t count);
  void Recheck(TransmitState& tx, uint32_t index);
  void Recheck(FrameShares& shares, size_t count);

  Lcore& lcore_;
  RunQueue& run_queue_;
};

}  // namespace suede

#endif  // SUEDE_SEND_SHARE_BOOK_H_
