// SPDX-License-Identifier: Apache-2.0
// Ends PDUs: acknowledged, given up, or requeued for another plane. Completes tagged commands,
// returns frames, credit and shares. Owned by the lcore.
#ifndef SUEDE_SEND_COMPLETIONS_H_
#define SUEDE_SEND_COMPLETIONS_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "send/run_queue.h"
#include "send/share_book.h"

namespace suede {

class Completions {
 public:
  // All arguments outlive this object.
  Completions(Lcore& lcore, RunQueue& run_queue, ShareBook& shares)
      : lcore_(lcore), run_queue_(run_queue), shares_(shares) {}

  // The commands of `count` PDUs to a VC of a peer, from `first` on, have left the packing buffers:
  // returns their clients' credit, and counts the PDUs as held until they end. `lines`: of all
  // commands. `alike`: each PDU has one run, and all are of one client queue.
  void OnLeft(TransmitState& tx, Pdu* first, uint32_t count, uint32_t lines, bool alike);

  // Takes the samples of newly acknowledged PDUs of a connection; then ends them. `link`: of the
  // plane on which they were in flight.
  void EndAcked(TransmitState& tx, InstanceStats& stats, Link& link, Connection& connection,
                PduList& acked);
  // Ends PDUs in flight on the plane of `link` without an acknowledgement. A PDU in doubt that has
  // never left ends as unreachable.
  void GiveUp(TransmitState& tx, InstanceStats& stats, Link& link, PduList& pdus, uint8_t status);
  // Returns PDUs that the dead plane of `link` did not deliver to the heads of their queues, in
  // order.
  void Requeue(TransmitState& tx, Link& link, PeerIndex peer, PduList& rest);

  // Ends PDUs that are queued to a peer on the VCs of the mask.
  void GiveUpQueued(TransmitState& tx, InstanceStats& stats, PeerIndex peer, uint32_t vcs,
                    uint8_t status);
  // Ends the first PDU of a queue.
  void GiveUpFirst(TransmitState& tx, InstanceStats& stats, TxQueue& queue, uint8_t status);

  // The last frame of a connection that was given up, which shows whether the device has returned
  // all.
  void HoldLast(TransmitState& tx, ConnectionIndex connection, const PduList& given_up);
  bool IsHeld(TransmitState& tx, const PlanePorts& ports, ConnectionIndex connection);
  void LetGo(TransmitState& tx, ConnectionIndex connection);
  // Calls LetGo for the connections of [`first`, `end`) that are no longer lost, however that
  // ended.
  void LetGoOfEnded(const PeerArrays& peers, TransmitState& tx, ConnectionIndex first,
                    ConnectionIndex end);

 private:
  void Complete(TransmitState& tx, InstanceStats& stats, PduList& pdus, uint8_t ending);
  void GiveBackCredit(uint16_t queue, uint16_t xpuid, Vc vc, uint32_t lines);
  void GiveBackRuns(FrameShares& shares, uint16_t xpuid, Vc vc, Pdu* first, uint32_t count);
  void GiveBackPacked(FrameShares& shares, uint16_t queue, uint32_t count);

  Lcore& lcore_;
  RunQueue& run_queue_;
  ShareBook& shares_;
};

}  // namespace suede

#endif  // SUEDE_SEND_COMPLETIONS_H_
