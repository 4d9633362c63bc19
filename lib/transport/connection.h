// SPDX-License-Identifier: Apache-2.0
// One connection's sequencing in both directions: PSNs, ACK and NACK, go-back-N, timers (SUE
// framework §4.2 steps 4 and 8, wire profile §6).
//
// Takes facts and the time, returns verdicts and a deadline; sends nothing, frees nothing, reads no
// clock. Owned by one lcore. A connection owns its PDUs until it returns them.
#ifndef SUEDE_TRANSPORT_CONNECTION_H_
#define SUEDE_TRANSPORT_CONNECTION_H_

#include <algorithm>

#include "base/time.h"
#include "pdu/pdu_list.h"
#include "transport/in_flight.h"
#include "transport/params.h"
#include "transport/receive_half.h"
#include "transport/send_half.h"

namespace suede {

class alignas(64) Connection {
 public:
  SendHalf& tx() { return tx_; }
  const SendHalf& tx() const { return tx_; }
  ReceiveHalf& rx() { return rx_; }
  const ReceiveHalf& rx() const { return rx_; }
  // PDUs that tx() has sent and that are not acknowledged.
  const InFlight& in_flight() const { return tx_.in_flight(); }

  // Time at which OnTimer is due; kNever if nothing is outstanding.
  Time deadline() const {
    if (rx_.has_gap()) [[unlikely]]
      return std::min(tx_.deadline(), rx_.deadline());
    return tx_.deadline();
  }
  // Handles the deadline, or does nothing before. An acknowledgement may be pending afterwards.
  TimerVerdict OnTimer(Time now, const TransportParams& params) {
    rx_.OnTimer(now, params);
    return tx_.OnTimer(now, params);
  }
  // Notes changed parameters: no wait that has begun lasts longer than `params` permit, except
  // waits that the far side has requested.
  void OnNewParams(Time now, const TransportParams& params) {
    tx_.OnNewParams(now, params);
    rx_.OnNewParams(now, params);
  }

  // Whether a PDU of either direction was ever accepted or acknowledged.
  bool HasHistory() const { return rx_.accepted_any() || tx_.acked_any(); }
  // HasHistory, or the far side may have received PDUs that it has not acknowledged.
  bool MayHaveHistory() const { return HasHistory() || !in_flight().empty(); }
  // Gives up all PDUs in flight (to `given_up`) and starts over with PSN 0 in both directions, as
  // after a restart of the far side. Counts of PDUs go on.
  void Reset(PduList& given_up) {
    tx_.Reset(given_up);
    rx_.Reset();
  }

 private:
  // The members that each PDU of either direction uses end tx_ and begin rx_: one cache line.
  SendHalf tx_;
  ReceiveHalf rx_;
};
static_assert(sizeof(SendHalf) == 112 && sizeof(Connection) <= 192);

}  // namespace suede

#endif  // SUEDE_TRANSPORT_CONNECTION_H_
