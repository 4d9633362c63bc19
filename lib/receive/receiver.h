// SPDX-License-Identifier: Apache-2.0
// Processes the frames of a burst: locates them {here, another lcore, the host}, checks, classifies
// and delivers them. Effects on a peer are returned as values. Owned by the lcore.
#ifndef SUEDE_RECEIVE_RECEIVER_H_
#define SUEDE_RECEIVE_RECEIVER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/ack_sink.h"
#include "lcore/lcore.h"
#include "lcore/peer_effects.h"
#include "receive/flow_receiver.h"
#include "receive/foreign_frames.h"
#include "receive/path_reporter.h"
#include "receive/received_burst.h"
#include "receive/received_pdu.h"
#include "receive/seal_opener.h"

namespace suede {

class Receiver {
 public:
  // The members of `parts`, and `acks`, outlive this object.
  Receiver(const FlowReceiver::Parts& parts, AckSink& acks)
      : parts_(parts), lcore_(parts.lcore), acks_(acks) {}

  // Parses the frames of a port, at most ReceivedBurst::kMaxFrames; the array must live until GoOn
  // has completed. Returns their bytes.
  uint64_t Begin(PortContext& port, Frame* const* frames, uint32_t count);
  // Classifies and delivers the remaining frames, and releases those that are not kept. Returns the
  // effects that a frame requests, and its peer, for the caller to execute before the next call;
  // null: no frame is left.
  PeerEffects* GoOn(PortContext& port, Time now);

  // Hands over the frames of other lcores; called after the frames of a port that lcores share.
  void HandOver(PortContext& port) { foreign_.HandOver(port); }

 private:
  static constexpr ConnectionIndex kNoConnection{~0u};
  using Series = ReceivedBurst::Series;

  // The slot of the session of the peer's frame; Peer::kNoSlot: its number was not agreed.
  static SessionIndex SlotOf(const PeerArrays& peers, PeerIndex peer, PlaneIndex plane,
                             uint16_t session);
  // The connection of the peer's data PDU, if there are several sessions; kNoConnection: its
  // session was not agreed.
  static ConnectionIndex ConnectionOfSession(const PeerArrays& peers, PeerIndex peer,
                                             PlaneIndex plane, uint16_t session, Vc vc);
  enum class Checked : uint8_t {
    kData,  // a data PDU, of the flow
    kDone,  // dropped or processed
    kKept,
  };

  Checked Check(FlowReceiver& flow, PortContext& port, uint32_t i, Time now);
  Checked CheckSession(FlowReceiver& flow, Instance& instance, uint32_t i, PeerIndex peer,
                       PlaneIndex plane);
  uint64_t Refuse(PortContext& port, Frame* const* frames, uint32_t count);
  bool RefusesPlain(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  Checked OnSealed(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  bool OnFrame(FlowReceiver& flow, PortContext& port, uint32_t i, Time now);
  bool OnFrameError(PortContext& port, Frame* frame, FrameError error, Time now);
  bool OnTrimmed(PortContext& port, Frame* frame, const ParsedFrame& parsed, Time now);
  void OnPfc(PortContext& port, const Frame& frame, Time now);
  bool OnDataPdu(FlowReceiver& flow, uint32_t i, Time now);
  void OnRpsn(FlowReceiver& flow, RhWord rh);
  void OnUnsequenced(FlowReceiver& flow, uint32_t i, Time now);
  PeerIndex SenderOf(Instance& instance, const Series& series, RhWord rh, PlaneIndex plane);
  Checked OnNoData(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  void OnControlPdu(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane, Time now);
  void OnAhead(FlowReceiver& flow, uint32_t i, Time now);
  void OnRepair(Instance& instance, PeerIndex peer, PlaneIndex plane, const Repair& repair,
                SessionIndex slot);
  void OnClosed(FlowReceiver& flow, uint32_t i, bool sequenced, Time now);

  const FlowReceiver::Parts parts_;
  Lcore& lcore_;
  AckSink& acks_;
  PeerEffects effects_;
  ReceivedBurst burst_;
  SealOpener seal_opener_{lcore_};
  ForeignFrames foreign_{lcore_};
  PathReporter path_reporter_{lcore_};
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_RECEIVER_H_
