// SPDX-License-Identifier: Apache-2.0
// PDUs of a connection that were sent and not yet acknowledged, in order of their consecutive PSNs,
// and the PDU among them that is retransmitted next (go-back-N, wire profile §6, "Sender").
#ifndef SUEDE_TRANSPORT_IN_FLIGHT_H_
#define SUEDE_TRANSPORT_IN_FLIGHT_H_

#include <cstdint>

#include "base/psn.h"
#include "base/time.h"
#include "pdu/pdu_list.h"

namespace suede {

// Owns its PDUs until it moves them to a list of the caller. Owned by the lcore of its connection.
// 32 bytes, which each PDU and each acknowledgement use.
class InFlight {
 public:
  // PDUs in flight, 0 to kMaxWindowPdus. After MoveAllTo this is still the number of PDUs moved,
  // until Restart or Forget: the far side may have accepted them.
  uint32_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Bytes of commands in flight.
  uint32_t bytes() const { return bytes_; }
  // PSN of the next new PDU; also the psn of an unsequenced PDU.
  Psn next_psn() const { return next_psn_; }
  // PSN of the oldest PDU in flight; next_psn if there is none.
  Psn oldest_psn() const { return next_psn_.Plus(-static_cast<int>(count_)); }
  // Distance of `psn` ahead of oldest_psn, negative behind it.
  int DistanceFromOldest(Psn psn) const { return psn.DistanceFrom(oldest_psn()); }
  // The oldest and the newest PDU; null: none is in flight.
  Pdu* oldest() const { return pdus_.head(); }
  const Pdu* newest() const { return pdus_.tail(); }
  // Whether a PDU of the VC is in flight. Walks over the PDUs.
  bool Carries(uint8_t vc) const {
    const Pdu* pdu = pdus_.head();
    while (pdu != nullptr && pdu->vc != vc) pdu = pdu->next;
    return pdu != nullptr;
  }
  // Mask of the VCs of the PDUs in flight. Walks over the PDUs.
  uint8_t vcs() const;

  // Numbers a PDU that is sent at `now`, behind `ahead` other PDUs. Append must follow.
  void Number(Pdu* pdu, uint32_t ahead, Time now) const {
    pdu->psn = next_psn_.Plus(static_cast<int>(ahead));
    pdu->NoteSent(now);
  }
  // Keeps `count` PDUs that were numbered in this order, with `bytes` bytes of commands in total.
  // Empties the list.
  void Append(PduList& pdus, uint32_t count, uint32_t bytes) {
    next_psn_ = next_psn_.Plus(static_cast<int>(count));
    pdus_.Append(pdus);
    bytes_ += bytes;
    count_ = static_cast<uint16_t>(count_ + count);
  }
  // Moves the `count` oldest PDUs, 1 to count(), behind `to`, and returns the last of them.
  [[gnu::always_inline]] Pdu* MoveOldestTo(uint32_t count, PduList& to) {
    if (count == count_) [[likely]] {
      Pdu* const newest = pdus_.tail();
      MoveAllTo(to);
      Forget();
      return newest;
    }
    Pdu* last = pdus_.head();
    bytes_ -= last->bytes;
    bool passed = last == retransmit_next_;
    for (uint32_t left = count; --left != 0;) {
      last = last->next;
      bytes_ -= last->bytes;
      passed |= last == retransmit_next_;
    }
    if (passed) retransmit_next_ = last->next;
    PduList moved = pdus_.TakeUpTo(last);
    to.Append(moved);
    count_ = static_cast<uint16_t>(count_ - count);
    return last;
  }
  // Moves all PDUs behind `to`. PSNs and count() do not change.
  void MoveAllTo(PduList& to) {
    to.Append(pdus_);
    retransmit_next_ = nullptr;
    bytes_ = 0;
  }
  // Forgets the PDUs that were moved by MoveAllTo: none is in flight.
  void Forget() { count_ = 0; }
  // Forget, and continues with the PSN `next`.
  void Restart(Psn next) {
    count_ = 0;
    next_psn_ = next;
  }

  // Whether PDUs wait for their retransmission.
  bool HasRetransmission() const { return retransmit_next_ != nullptr; }
  // The PDU that is retransmitted next; null: none.
  const Pdu* next_retransmission() const { return retransmit_next_; }
  // Whether the oldest PDU is retransmitted next.
  bool RetransmitsOldest() const { return retransmit_next_ == pdus_.head(); }
  // Retransmits all PDUs in flight, from the oldest on.
  void GoBack() { retransmit_next_ = pdus_.head(); }
  void StopRetransmission() { retransmit_next_ = nullptr; }
  // Returns the next PDU to retransmit, which is sent at `now` and stays in flight. There has to be
  // one.
  Pdu* TakeRetransmission(Time now) {
    Pdu* pdu = retransmit_next_;
    retransmit_next_ = pdu->next;
    pdu->retransmitted = true;
    pdu->NoteSent(now);
    return pdu;
  }

  // Aborts if the state contradicts itself; for tests and fuzzers. `moved`: MoveAllTo was called
  // last.
  void CheckInvariants(bool moved) const;

 private:
  PduList pdus_;
  Pdu* retransmit_next_ = nullptr;  // in pdus_; null: none
  uint32_t bytes_ = 0;
  uint16_t count_ = 0;
  Psn next_psn_;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_IN_FLIGHT_H_
