// SPDX-License-Identifier: Apache-2.0
// Writes the frames of sequenced PDUs and stages them, for Stager.
#ifndef SUEDE_SEND_STAGE_FRAMES_H_
#define SUEDE_SEND_STAGE_FRAMES_H_

#include <cstdint>

#include "base/coordinates.h"
#include "frame/frame_batch.h"
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

// Stages numbered PDUs of an instance that seals, `count` in a row: seals each PDU if the peer
// seals, too. A PDU without a key counts as lost in transit.
[[gnu::noinline]] void StageSealed(Instance& instance, const PathRef& path, Pdu* first,
                                   uint32_t count);

// Stages numbered PDUs in a row. The first carries the pending answer; a NACK leaves once, and the
// PDUs behind it acknowledge.
class FrameRun {
 public:
  // `batch` completes the frames. All arguments outlive this object.
  [[gnu::always_inline]] FrameRun(Instance& instance, const PathRef& path, FrameBatch& batch)
      : instance_(instance),
        path_(path),
        batch_(batch),
        port_(*instance.ports[path.plane]),
        header_(instance.headers.At(path.connection, path.vc)),
        link_vc_(LinkVcOfPdu(header_.link_class, true, path.vc)),
        seals_(instance.sealing.on()) {
    if (seals_) [[unlikely]]
      return;
    TakeRpsn();
    if (has_nack_) [[unlikely]]
      instance.stats.counters.Add(Counter::kTxNacks);
  }

  // Stages the next PDU, except for an instance that seals.
  [[gnu::always_inline]] void Stage(Pdu* pdu) {
    if (seals_) [[unlikely]]
      return;
    rh_.Encode(pdu->psn, pdu->commands - kRhBytes);
    batch_.Add(port_, header_, FrameOf(pdu), pdu->commands, pdu->bytes);
    port_.link.Stage(pdu, link_vc_);
    if (has_nack_) [[unlikely]]
      TakeRpsn();
  }
  // Ends the run of `count` PDUs from `first` on.
  [[gnu::always_inline]] void End(Pdu* first, uint32_t count) {
    if (seals_) [[unlikely]]
      StageSealed(instance_, path_, first, count);
  }

 private:
  [[gnu::always_inline]] void TakeRpsn() {
    Connection& connection = instance_.peers.connections[path_.connection];
    const RpsnField field = connection.rx().TakeRpsn();
    has_nack_ = field.op == RhOp::kNack;
    rh_ = RhTemplate(DataRh(instance_.params, path_.vc, {}, field));
  }

  Instance& instance_;
  const PathRef& path_;
  FrameBatch& batch_;
  PortContext& port_;
  const HeaderTemplate& header_;
  const uint8_t link_vc_;
  const bool seals_;
  bool has_nack_ = false;
  RhTemplate rh_{{}};
};

}  // namespace suede

#endif  // SUEDE_SEND_STAGE_FRAMES_H_
