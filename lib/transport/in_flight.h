// SPDX-License-Identifier: Apache-2.0
// PDUs of a connection that were sent and not yet acknowledged, in order of their consecutive PSNs,
// and the PDU among them that is retransmitted next (go-back-N, wire profile §6, "Sender").
#ifndef SUEDE_TRANSPORT_IN_FLIGHT_H_
#define SUEDE_TRANSPORT_IN_FLIGHT_H_

#include <cstdint>

#include "base/psn.h"
#include "base/psn_bits.h"
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
  // Bytes of commands in flight, of PDUs that are not known to have arrived.
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
  // Returns how many of the `count` oldest PDUs have arrived.
  uint32_t ArrivedOf(uint32_t count) const;
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
    bytes_ -= BytesOf(*last);
    bool passed = last == retransmit_next_;
    for (uint32_t left = count; --left != 0;) {
      last = last->next;
      bytes_ -= BytesOf(*last);
      passed |= last == retransmit_next_;
    }
    if (passed) retransmit_next_ = FirstWanted(last->next);
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
  // Retransmits all PDUs in flight, from the oldest on, but those behind it that have arrived.
  void GoBack() {
    retransmit_next_ = pdus_.head();
    for (Pdu* pdu = pdus_.head(); pdu != nullptr; pdu = pdu->next) {
      pdu->room = pdu->arrived && pdu != retransmit_next_ ? 0 : Pdu::kWanted;
    }
  }
  void StopRetransmission() { retransmit_next_ = nullptr; }
  // Notes PDUs that have arrived, by their distance from the oldest. Then retransmits those of
  // `wanted` for which `is_due(pdu)`, and those that wait for it already. Returns the number and
  // bytes of the new ones, the newest PDU of which the arrival is new (null: none), and the number
  // of these.
  struct Wanted {
    uint32_t pdus = 0;
    uint32_t bytes = 0;
    const Pdu* arrived = nullptr;
    uint32_t arrivals = 0;
  };
  template <typename IsDue>
  Wanted Repair(const PsnMarks& marks, IsDue&& is_due);
  // Returns the next PDU to retransmit, which is sent at `now` and stays in flight. There has to be
  // one.
  Pdu* TakeRetransmission(Time now) {
    Pdu* pdu = retransmit_next_;
    retransmit_next_ = FirstWanted(pdu->next);
    pdu->room = 0;
    pdu->retransmitted = true;
    pdu->NoteSent(now);
    return pdu;
  }

  // Aborts if the state contradicts itself; for tests and fuzzers. `moved`: MoveAllTo was called
  // last.
  void CheckInvariants(bool moved) const;

 private:
  static uint32_t BytesOf(const Pdu& pdu) { return pdu.arrived ? 0 : pdu.bytes; }
  static Pdu* FirstWanted(Pdu* pdu) {
    while (pdu != nullptr && pdu->room != Pdu::kWanted) pdu = pdu->next;
    return pdu;
  }

  PduList pdus_;
  Pdu* retransmit_next_ = nullptr;  // in pdus_; null: none
  uint32_t bytes_ = 0;
  uint16_t count_ = 0;
  Psn next_psn_;
};

template <typename IsDue>
InFlight::Wanted InFlight::Repair(const PsnMarks& marks, IsDue&& is_due) {
  Wanted sum;
  if (retransmit_next_ == nullptr) {
    for (Pdu* pdu = pdus_.head(); pdu != nullptr; pdu = pdu->next) pdu->room = 0;
  }
  Pdu* pdu = pdus_.head();
  for (uint32_t i = 0; pdu != nullptr && i < 64u * marks.count; ++i, pdu = pdu->next) {
    const PsnMarks::Word& word = marks.words[i / 64];
    // (The expected PDU has not arrived.)
    if ((word.received >> i % 64 & 1) != 0 && i != 0 && !pdu->arrived) {
      bytes_ -= pdu->bytes;
      pdu->arrived = true;
      sum.arrived = pdu;
      ++sum.arrivals;
    }
    if (pdu->arrived) {
      pdu->room = 0;
    } else if ((word.wanted >> i % 64 & 1) != 0 && pdu->room != Pdu::kWanted && is_due(*pdu)) {
      pdu->room = Pdu::kWanted;
      ++sum.pdus;
      sum.bytes += pdu->bytes;
    }
  }
  retransmit_next_ = FirstWanted(pdus_.head());
  return sum;
}

}  // namespace suede

#endif  // SUEDE_TRANSPORT_IN_FLIGHT_H_
