// SPDX-License-Identifier: Apache-2.0
// The agreement of both ends by HELLO: the identities, and the peer's settings.
#ifndef SUEDE_PEER_AGREEMENT_H_
#define SUEDE_PEER_AGREEMENT_H_

#include "peer/handshake.h"
#include "peer/hello_check.h"
#include "wire/control_pdu.h"

namespace suede {

struct Agreement {
  // Whether PDUs may leave and are accepted.
  bool stands() const { return handshake.open() && mismatch == HelloMismatch::kNone; }

  // Whether both ends, of which `own` is the own HELLO, repair selectively.
  bool is_selective(const Hello& own) const {
    return handshake.associated() && own.selective && hello.selective && hello.answers_planes &&
           hello.sends_generations;
  }

  Handshake handshake;
  Hello hello;                                    // the peer's last
  HelloMismatch mismatch = HelloMismatch::kNone;  // of its HELLO and ours
};

}  // namespace suede

#endif  // SUEDE_PEER_AGREEMENT_H_
