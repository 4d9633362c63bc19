// SPDX-License-Identifier: Apache-2.0
// The sender's decisions about receive credit of one {peer, VC} (docs/control-pdus.md, CREDIT):
// when its transmit queue waits, what the sender requests, and what a grant changes. Facts in,
// values out; send/credit_use.h carries them out. Owned by the lcore.
#ifndef SUEDE_CREDIT_SPENDER_H_
#define SUEDE_CREDIT_SPENDER_H_

#include <cstdint>
#include <optional>

#include "base/coordinates.h"
#include "base/time.h"
#include "wire/control_pdu.h"

namespace suede {

class CreditSpender {
 public:
  // The transmit queue. All counts are of lines of receive rings.
  struct Queue {
    Vc vc = 0;
    uint32_t credit = 0;       // lines that it may still send
    uint32_t first_lines = 0;  // of its first PDU; 0: the queue is empty
    // PDUs of the VC are in flight, or wait to be sent again. Need be known only where the comment
    // of a method says that it reads this.
    bool in_flight = false;
  };
  // Changes of the transmit queue, and a message to the peer.
  struct Outcome {
    uint32_t credit = 0;     // lines that the queue may send now
    bool is_void = false;    // the grant was ignored
    bool ends_wait = false;  // the queue waits no longer
    std::optional<Credit> message;
  };

  bool waiting() const { return request_at_ != kNever; }  // the queue is blocked for credit
  bool on_demand() const { return on_demand_; }
  bool doubtful() const { return doubtful_; }
  Time deadline() const { return request_at_; }  // of OnDeadline

  // The association begins, with this credit.
  void Begin(uint32_t limit) { limit_ = limit; }
  // PDUs that were charged have ended without an acknowledgement: they may never have arrived.
  void OnGivenUp() { doubtful_ = true; }
  // The queue is no longer blocked, or is empty.
  void EndWait() { request_at_ = kNever; }

  // The queue, which does not wait yet, has less credit than its first PDU has lines. Returns the
  // request to send at once, if any. Reads in_flight unless on_demand() and not doubtful().
  std::optional<Credit> Wait(const Queue& queue, Time now);
  // The request of Wait was not staged: repeats it at the next opportunity.
  void OnNotStaged(Time now) { request_at_ = now; }
  // The peer has granted credit, or requests unused credit back (grant.give_back). A grant older
  // than a request to give back is void. Reads in_flight if doubtful().
  Outcome OnGrant(const Credit& grant, Queue queue);
  // The deadline of a queue that waits has passed: repeats the request, as grants and requests may
  // be lost. If the peer does not answer, lets a PDU leave without credit, so that the transport
  // finds out whether the peer is alive. Reads in_flight.
  Outcome OnDeadline(const Queue& queue, Time now);

 private:
  Credit Request(const Queue& queue) const;

  uint32_t limit_ = 0;  // lines that may have been sent
  uint16_t round_ = 0;
  uint8_t tries_ = 0;       // number of requests since the queue waits,
  uint8_t unanswered_ = 0;  // and since the peer last answered
  bool on_demand_ = false;  // the peer grants more only on request
  bool doubtful_ = false;   // PDUs were given up: lines counted as sent may never have arrived
  Time request_at_ = kNever;  // of the next request; kNever: the queue does not wait
};

}  // namespace suede

#endif  // SUEDE_CREDIT_SPENDER_H_
