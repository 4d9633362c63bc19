// SPDX-License-Identifier: Apache-2.0
// A singly linked FIFO of PDUs. Owns nothing; a PDU is on one list at a time.
#ifndef SUEDE_PDU_PDU_LIST_H_
#define SUEDE_PDU_PDU_LIST_H_

#include "pdu/pdu.h"

namespace suede {

class PduList {
 public:
  bool empty() const { return head_ == nullptr; }
  Pdu* head() const { return head_; }
  Pdu* tail() const { return tail_; }

  void PushBack(Pdu* pdu) {
    pdu->next = nullptr;
    if (tail_ != nullptr) {
      tail_->next = pdu;
    } else {
      head_ = pdu;
    }
    tail_ = pdu;
  }

  Pdu* PopFront() {
    Pdu* pdu = head_;
    head_ = pdu->next;
    if (head_ == nullptr) tail_ = nullptr;
    pdu->next = nullptr;
    return pdu;
  }

  // Takes the PDUs from the head to `last`, which is on the list.
  PduList TakeUpTo(Pdu* last) {
    PduList taken;
    taken.head_ = head_;
    taken.tail_ = last;
    head_ = last->next;
    if (head_ == nullptr) tail_ = nullptr;
    last->next = nullptr;
    return taken;
  }

  // Moves all PDUs of `other` in front of this list.
  void Prepend(PduList& other) {
    other.Append(*this);
    *this = other;
    other = PduList();
  }

  // Moves all PDUs of `other` behind this list.
  void Append(PduList& other) {
    if (other.empty()) return;
    if (tail_ != nullptr) {
      tail_->next = other.head_;
    } else {
      head_ = other.head_;
    }
    tail_ = other.tail_;
    other = PduList();
  }

 private:
  Pdu* head_ = nullptr;
  Pdu* tail_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_PDU_PDU_LIST_H_
