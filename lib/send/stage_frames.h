// SPDX-License-Identifier: Apache-2.0
// Writes the frames of sequenced PDUs and stages them, for Stager.
#ifndef SUEDE_SEND_STAGE_FRAMES_H_
#define SUEDE_SEND_STAGE_FRAMES_H_

#include <cstdint>

#include "base/coordinates.h"
#include "frame/frame_writer.h"
#include "lcore/lcore.h"
#include "wire/frame_class.h"

namespace suede {

// The path of a PDU.
struct PathRef {
  PeerIndex peer;
  Vc vc;
  PlaneIndex plane;
  ConnectionIndex connection;
};

// StageSequenced for an instance that seals: seals each PDU if the peer seals, too. A PDU without a
// key counts as lost in transit.
[[gnu::noinline]] void StageSealed(Instance& instance, const PathRef& path, Pdu* first,
                                   uint32_t count);

// Stages the frames of sequenced PDUs, `count` in a row. The first carries the pending answer; a
// NACK leaves once, and the PDUs behind it acknowledge.
[[gnu::always_inline]] inline void StageSequenced(Instance& instance, const PathRef& path,
                                                  Pdu* first, uint32_t count) {
  if (instance.sealing.on()) [[unlikely]]
    return StageSealed(instance, path, first, count);
  Connection& connection = instance.peers.connections[path.connection];
  PortContext& port = *instance.ports[path.plane];
  const HeaderTemplate& header = instance.headers.At(path.connection, path.vc);
  const uint8_t link_vc = LinkVcOfPdu(header.link_class, true, path.vc);
  RpsnField field = connection.rx().TakeRpsn();
  if (field.op == RhOp::kNack) [[unlikely]]
    instance.stats.counters.Add(Counter::kTxNacks);
  for (Pdu* pdu = first;;) {
    Pdu* const next = pdu->next;
    if (count > 1) __builtin_prefetch(next->commands - HeaderTemplate::kRoomBytes, 1);
    FillFrame(port, header, FrameOf(pdu), pdu->commands, pdu->bytes,
              DataRh(instance.params, path.vc, pdu->psn, field));
    port.link.Stage(pdu, link_vc);
    if (--count == 0) return;
    if (field.op == RhOp::kNack) [[unlikely]]
      field = connection.rx().TakeRpsn();
    pdu = next;
  }
}

}  // namespace suede

#endif  // SUEDE_SEND_STAGE_FRAMES_H_
