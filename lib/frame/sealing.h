// SPDX-License-Identifier: Apache-2.0
// Seals PDUs as they are staged (docs/sealing.md): prepares the sealed form for the port's batch,
// which is sealed before the burst leaves. Owned by the lcore.
#ifndef SUEDE_FRAME_SEALING_H_
#define SUEDE_FRAME_SEALING_H_

#include <cstdint>

#include "base/coordinates.h"
#include "frame/frame_writer.h"
#include "lcore/instance.h"
#include "lcore/port_context.h"
#include "pdu/pdu.h"

namespace suede {

class Sealing {
 public:
  // The path of a run of PDUs of one connection.
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
  // Prepares the sealed form of a kept PDU in a second frame. The instance's home link must have a
  // frame. Returns false if there is no key; the PDU is counted, and counts as lost in transit.
  static bool SealKept(Instance& instance, const Run& run, Pdu* pdu, const PlainPdu& plain);
  // Seals a PDU that is not kept, in its own frame, which has room behind the PDU. Returns false if
  // there is no key.
  static bool SealOneShot(Instance& instance, PortContext& port, const HeaderTemplate& header,
                          ConnectionIndex connection, Frame* frame, const PlainPdu& plain);
  // Seals a HELLO in its own frame. Returns false if there is no key.
  static bool SealHello(Instance& instance, PortContext& port, const HeaderTemplate& header,
                        PeerIndex peer, PlaneIndex plane, Frame* frame, const PlainPdu& plain);

 private:
  static void Finish(CounterBlock& counters, PortContext& port, const HeaderTemplate& header,
                     SealJob& job, Frame* frame, uint8_t* sealed, uint32_t shim_bytes,
                     uint32_t plain_bytes);
  static SealJob& NextJob(const SealState& sealing, PortContext& port) {
    if (port.seals.full()) port.seals.Flush(*sealing.own->crypto);
    return port.seals.Next();
  }
};

}  // namespace suede

#endif  // SUEDE_FRAME_SEALING_H_
