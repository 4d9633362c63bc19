// SPDX-License-Identifier: Apache-2.0
#include "transport/early_pdus.h"

namespace suede {

void EarlyPdus::Keep(Pdu* pdu) {
  if (kept_.empty() || pdu->psn.IsAfter(kept_.tail()->psn)) return kept_.PushBack(pdu);
  if (pdu->psn.IsBefore(kept_.head()->psn)) {
    PduList first;
    first.PushBack(pdu);
    return kept_.Prepend(first);
  }
  Pdu* before = kept_.head();
  while (before->next->psn.IsBefore(pdu->psn)) before = before->next;
  pdu->next = before->next;
  before->next = pdu;
}

PsnMarks EarlyPdus::MarksFrom(Psn expected) const {
  PsnMarks marks;
  for (uint32_t i = 0; i < kPsnWords; ++i) {
    marks.words[i] = {.received = RotatedWord(received_, PlaceOf(expected), i),
                      .wanted = RotatedWord(wanted_, PlaceOf(expected), i)};
    if (marks.words[i] != PsnMarks::Word{}) marks.count = static_cast<uint8_t>(i + 1);
  }
  return marks;
}

}  // namespace suede
