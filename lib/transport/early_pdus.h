// SPDX-License-Identifier: Apache-2.0
// PDUs of a connection that have arrived ahead of the expected one (docs/repair.md).
#ifndef SUEDE_TRANSPORT_EARLY_PDUS_H_
#define SUEDE_TRANSPORT_EARLY_PDUS_H_

#include <cstdint>

#include "base/psn.h"
#include "base/psn_bits.h"
#include "pdu/pdu_list.h"

namespace suede {

// PSNs less than kPsnBits ahead of the expected one, which the owner passes. Owned by the lcore of
// the connection.
class EarlyPdus {
 public:
  // PSNs that have arrived.
  uint32_t count() const { return count_; }
  bool Has(Psn psn) const { return HasBit(received_, PlaceOf(psn)); }
  void Add(Psn psn) {
    SetBit(received_, PlaceOf(psn));
    ClearBit(wanted_, PlaceOf(psn));
    ++count_;
  }
  // Forgets a PSN that has arrived.
  void Remove(Psn psn) {
    ClearBit(received_, PlaceOf(psn));
    --count_;
  }
  // The next report wants this PSN, unless it has arrived.
  void Want(Psn psn) {
    if (!Has(psn)) SetBit(wanted_, PlaceOf(psn));
  }
  // Returns the PSNs that have arrived, and those that the next report wants.
  PsnMarks MarksFrom(Psn expected) const;
  void ForgetWanted() { wanted_ = {}; }
  // Forgets all. Kept frames become discarded ones.
  void Clear() {
    received_ = wanted_ = {};
    count_ = 0;
    discarded_.Append(kept_);
  }

  // ---- Strict order: PDUs that stay in their frames until those before them have come.

  // Keeps a PDU, by its PSN. Add must follow.
  void Keep(Pdu* pdu);
  // The first kept PDU; null: none.
  const Pdu* first_kept() const { return kept_.head(); }
  Pdu* TakeFirstKept() { return kept_.PopFront(); }
  // Frames that the owner has to release: of PDUs that were kept and are forgotten.
  PduList& discarded() { return discarded_; }
  bool HoldsFrames() const { return !kept_.empty() || !discarded_.empty(); }

 private:
  static uint32_t PlaceOf(Psn psn) { return psn.value() % kPsnBits; }

  PsnBits received_{};  // by PSN modulo kPsnBits
  PsnBits wanted_{};    // likewise
  uint32_t count_ = 0;
  PduList kept_;  // in the order of their PSNs
  PduList discarded_;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_EARLY_PDUS_H_
