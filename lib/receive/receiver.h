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
#include "receive/congestion_grants.h"
#include "receive/deliver.h"
#include "receive/foreign_frames.h"
#include "receive/pause_requester.h"
#include "receive/received_burst.h"
#include "receive/received_pdu.h"
#include "receive/refusals.h"
#include "receive/seal_opener.h"

namespace suede {

class Receiver {
 public:
  // All members outlive this object.
  struct Parts {
    Lcore& lcore;
    CreditGranter& granter;
    CongestionGrants& congestion_grants;
    Deliverer& deliverer;
    Refusals& refusals;
    PauseRequester& pause_requester;
    AckSink& acks;
  };
  explicit Receiver(const Parts& parts)
      : lcore_(parts.lcore),
        granter_(parts.granter),
        congestion_grants_(parts.congestion_grants),
        deliverer_(parts.deliverer),
        refusals_(parts.refusals),
        pause_requester_(parts.pause_requester),
        acks_(parts.acks) {}

  // Parses the frames of a port, at most ReceivedBurst::kMaxFrames; the array must live until GoOn
  // has completed. Returns their bytes.
  uint64_t Begin(PortContext& port, Frame* const* frames, uint32_t count);
  // Classifies and delivers the remaining frames, and releases those that are not kept. Returns
  // true, early, if a frame has effects: the caller applies them and calls EndEffects before the
  // next call.
  bool GoOn(PortContext& port, Time now);
  // The effects that a frame requests, and the peer that sent the frame.
  PeerEffects& effects() { return effects_; }
  void EndEffects() {
    effects_.Clear();
    flow_.series = kNone;
  }

  // Hands over the frames of other lcores; called after the frames of a port that lcores share.
  void HandOver(PortContext& port) { foreign_.HandOver(port); }

 private:
  static constexpr uint32_t kNone = ReceivedBurst::kNoSeries;
  static constexpr ConnectionIndex kNoConnection{kNone};
  using Series = ReceivedBurst::Series;

  // The results of the checks for the last series that has passed them all.
  struct Flow {
    uint32_t series = kNone;  // kNone: the checks have to be repeated
    Instance* instance = nullptr;
    Connection* connection = nullptr;
    RxCredit* credit = nullptr;
    RxRingWriter* ring = nullptr;  // see Deliverer::DirectRing
    Deliverer::Target target;
    PeerIndex peer = 0;
    PlaneIndex plane = 0;
    ConnectionIndex number = 0;
  };
  // The slot of the session of the peer's frame; Peer::kNoSlot: its number was not agreed.
  static SessionIndex SlotOf(const Instance& instance, PeerIndex peer, PlaneIndex plane,
                             uint16_t session);
  // The connection of the peer's data PDU, if there are several sessions; kNoConnection: its
  // session was not agreed.
  static ConnectionIndex ConnectionOfSession(const Instance& instance, PeerIndex peer,
                                             PlaneIndex plane, uint16_t session, Vc vc);
  enum class Checked : uint8_t {
    kData,  // a data PDU, of flow_
    kDone,  // dropped or processed
    kKept,
  };

  // Rare functions take a PDU by value, so that it need not be in memory for the frequent ones.
  Checked Check(PortContext& port, uint32_t i, Time now);
  Checked CheckSession(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane);
  void SetFlow(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane,
               ConnectionIndex number);
  uint64_t Refuse(PortContext& port, Frame* const* frames, uint32_t count);
  bool RefusesPlain(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  Checked OnSealed(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  bool OnFrame(PortContext& port, uint32_t i, Time now);
  bool OnFrameError(PortContext& port, Frame* frame, FrameError error, Time now);
  bool OnTrimmed(PortContext& port, Frame* frame, const ParsedFrame& parsed, Time now);
  void OnPfc(PortContext& port, const Frame& frame, Time now);
  // Frame i of the burst, which is of flow_.
  ReceivedPdu PduAt(uint32_t i) const {
    return {.rh = burst_.rh(i),
            .commands = burst_.CommandsAt(i),
            .bytes = burst_.CommandBytesAt(i),
            .peer = flow_.peer,
            .plane = flow_.plane,
            .frame = burst_.frame(i)};
  }
  bool OnDataPdu(Instance& instance, uint32_t i, Time now);
  PeerIndex SenderOf(Instance& instance, const Series& series, RhWord rh, PlaneIndex plane);
  Checked OnNoData(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  void OnControlPdu(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane, Time now);
  void OnAhead(Instance& instance, ConnectionIndex connection, ReceivedPdu pdu, Time now);
  void OnClosed(Instance& instance, ConnectionIndex connection, ReceivedPdu pdu, bool sequenced,
                Time now);
  bool OnSequenced(Instance& instance, uint32_t i, Time now);
  void OnUnexpected(Instance& instance, PsnVerdict verdict, uint32_t i, Time now);
  bool DeliverOne(Instance& instance, ReceivedPdu pdu, Time now);
  void EndRun(Time now) {
    if (run_.pdus != 0) CountRun(now);
  }
  void CountRun(Time now);
  void WatchRun(Instance& instance, const DeliveredRun& run, Time now);
  void CountArrived(Instance& instance, uint32_t pdus, uint64_t bytes);
  void CheckMissing(Instance& instance, Time now);

  Lcore& lcore_;
  CreditGranter& granter_;
  CongestionGrants& congestion_grants_;
  Deliverer& deliverer_;
  Refusals& refusals_;
  PauseRequester& pause_requester_;
  AckSink& acks_;
  PeerEffects effects_;
  Flow flow_;
  DeliveredRun run_;  // of flow_, accepted and not yet counted

  ReceivedBurst burst_;
  SealOpener seal_opener_{lcore_};
  ForeignFrames foreign_{lcore_};
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_RECEIVER_H_
