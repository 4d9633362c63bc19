// SPDX-License-Identifier: Apache-2.0
// Probes of a lost connection for the PSN that the far side expects (wire profile §6, "Probing an
// unreachable XPU"; docs/control-pdus.md, "The psn of a probe").
#ifndef SUEDE_TRANSPORT_PROBES_H_
#define SUEDE_TRANSPORT_PROBES_H_

#include <cstdint>

#include "base/psn.h"

namespace suede {

// Counts equal answers to probes. Given-up PDUs may still be in flight, and be accepted after an
// answer was sent: a probe follows them, in the class of each of their VCs in turn, and two equal
// answers to two probes are the minimum. Owned by the lcore of its connection.
class Probes {
 public:
  // The effect of an answer.
  enum class Verdict : uint8_t {
    kIgnored,    // no probe is without an answer
    kCounted,    // further equal answers are required
    kConfirmed,  // the far side expects answer()
  };

  // Starts anew, after PDUs of the VCs in the mask were given up.
  void Start(uint8_t given_up_vcs);
  // PSN of the next probe, if `next` is the PSN of the next new PDU: `next` plus one. The far side
  // may be elsewhere in the number space, and answers only PSNs ahead of its own: every second
  // probe has the PSN after the PSN that the far side has named, or tries one quarter after the
  // other.
  Psn PsnFor(Psn next) const {
    if ((sent_ & 1) == 0) return next.Plus(1);
    return has_named_ ? named_.Plus(1) : next.Plus(1 + ((sent_ / 2 % 3 + 1) << 14));
  }
  // VC in whose class the next probe is sent; 0 if no PDU was given up.
  uint8_t vc() const;
  // Notes that a probe has left. `held`: the device has not returned the given-up PDUs. A device
  // that returns them late does not keep the connection lost, but more answers are required then.
  void OnSent(bool held);

  // Notes that the far side has named a PSN that was never sent; ForgetNamed: it is in step.
  void OnNamed(Psn named) {
    has_named_ = true;
    named_ = named;
  }
  void ForgetNamed() { has_named_ = false; }
  // Handles a NACK that names `expected`.
  Verdict OnAnswer(Psn expected);
  // Handles an ACK of all PDUs before `expected`: equal answers that named an earlier PSN do not
  // count any more, because the acknowledged PDUs were accepted after them.
  void OnAck(Psn expected) {
    if (expected.IsAfter(answer_)) answers_ = 0;
  }
  // PSN that the last answer has named.
  Psn answer() const { return answer_; }

 private:
  bool waiting_ : 1 = false;  // a probe has left, and has no answer yet
  bool held_ : 1 = false;     // see OnSent
  bool has_named_ : 1 = false;
  uint8_t sent_ = 0;          // modulo 256
  uint8_t answers_ = 0;       // equal answers in a row
  uint8_t given_up_vcs_ = 0;  // a mask
  Psn answer_;
  Psn named_;  // valid if has_named_
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_PROBES_H_
