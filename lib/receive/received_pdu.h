// SPDX-License-Identifier: Apache-2.0
// A received PDU that passed every check of its frame.
#ifndef SUEDE_RECEIVE_RECEIVED_PDU_H_
#define SUEDE_RECEIVE_RECEIVED_PDU_H_

#include <cstdint>

#include "base/coordinates.h"
#include "port/frame.h"
#include "wire/rh.h"

namespace suede {

struct ReceivedPdu {
  RhWord rh;
  const uint8_t* commands = nullptr;
  uint32_t bytes = 0;  // from the end of the RH up to the R-CRC
  PeerIndex peer = 0;
  PlaneIndex plane = 0;  // the plane on which the PDU arrived
  Frame* frame = nullptr;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_RECEIVED_PDU_H_
