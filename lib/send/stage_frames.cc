// SPDX-License-Identifier: Apache-2.0
#include "send/stage_frames.h"

#include "frame/sealing.h"

namespace suede {

void StageSealed(Instance& instance, const PathRef& path, Pdu* first, uint32_t count) {
  Connection& connection = instance.peers.connections[path.connection];
  PortContext& port = *instance.ports[path.plane];
  const HeaderTemplate& header = instance.headers.At(path.connection, path.vc);
  const uint8_t link_vc = LinkVcOfPdu(header.link_class, true, path.vc);
  const Sealing::Run run = Sealing::RunOf(instance, port, header, path.connection);
  const bool seals = run.peer.IsSealed();
  for (Pdu* pdu = first; count != 0; --count) {
    Pdu* const next = pdu->next;
    const RpsnField field = connection.rx().TakeRpsn();
    if (field.op == RhOp::kNack) instance.stats.counters.Add(Counter::kTxNacks);
    const PlainPdu plain = FinishPlain(header, pdu->commands, pdu->bytes,
                                       DataRh(instance.params, path.vc, pdu->psn, field));
    if (!seals) {
      if (pdu->sealed) port.link.frames().DropSealed(pdu);
      SetFrame(port, header, FrameOf(pdu), plain.start, plain.bytes);
      port.link.Stage(pdu, link_vc);
    } else if (Sealing::SealKept(instance, run, pdu, plain)) {
      port.link.Stage(pdu, link_vc);
    }
    pdu = next;
  }
}

}  // namespace suede
