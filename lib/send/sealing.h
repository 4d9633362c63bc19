// SPDX-License-Identifier: Apache-2.0
// Sealing of PDUs as they are staged (docs/sealing.md): lays the sealed form out, for the port's
// batch, which is done before the burst leaves. Owned by the lcore.
#ifndef SUEDE_SEND_SEALING_H_
#define SUEDE_SEND_SEALING_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/instance.h"
#include "lcore/port_context.h"
#include "pdu/pdu.h"
#include "send/frame_writer.h"

namespace suede {

class Sealing {
 public:
  // Where the PDUs of a run go, which are of one connection.
  struct Run {
    PortContext& port;
    const HeaderTemplate& header;
    SealedPeer& peer;
    SealPathBytes path;
    uint32_t stream;
  };
  static Run RunOf(Instance& instance, PortContext& port, const HeaderTemplate& header,
                   ConnectionIndex connection) {
    const PeerIndex number = instance.map.PeerOf(connection);
    return {.port = port,
            .header = header,
            .peer = instance.SealOf(number),
            .path = instance.SealPathOf(number, instance.map.PlaneOf(connection), header.session),
            .stream = instance.map.NumberAtPeer(connection)};
  }
  // Lays the sealed form of a kept PDU out in a frame beside its own. The instance's home link has
  // a frame. False: there is no key; the PDU is counted, and as if it were lost on the way.
  static bool SealKept(Instance& instance, const Run& run, Pdu* pdu, const PlainPdu& plain);
  // Seals a PDU that is not kept in its own frame, which has room behind the PDU. False: no key.
  static bool SealOneShot(Instance& instance, PortContext& port, const HeaderTemplate& header,
                          ConnectionIndex connection, Frame* frame, const PlainPdu& plain);
  // Seals a HELLO in its own frame. False: no key.
  static bool SealHello(Instance& instance, PortContext& port, const HeaderTemplate& header,
                        PeerIndex peer, PlaneIndex plane, Frame* frame, const PlainPdu& plain);

 private:
  static void Finish(Instance& instance, PortContext& port, const HeaderTemplate& header,
                     SealJob& job, Frame* frame, uint8_t* sealed, uint32_t shim_bytes,
                     uint32_t plain_bytes);
  static SealJob& NextJob(Instance& instance, PortContext& port) {
    if (port.seals.full()) port.seals.Flush(*instance.seal_own->crypto);
    return port.seals.Next();
  }
};

}  // namespace suede

#endif  // SUEDE_SEND_SEALING_H_
