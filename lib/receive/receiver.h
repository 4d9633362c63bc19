// SPDX-License-Identifier: Apache-2.0
// Processes received frames: parses them, places them {here, another lcore, the host}, checks and
// classifies them. A burst passes each stage before the next begins. Effects on a peer are returned
// as values. Owned by the lcore.
#ifndef SUEDE_RECEIVE_RECEIVER_H_
#define SUEDE_RECEIVE_RECEIVER_H_

#include <array>
#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "receive/congestion_grants.h"
#include "receive/credit_grants.h"
#include "receive/deliver.h"
#include "receive/pause_requester.h"
#include "receive/received_pdu.h"
#include "receive/refusals.h"
#include "seal/sealed_peer.h"
#include "send/completions.h"
#include "send/run_queue.h"
#include "send/stage.h"
#include "wire/encap.h"
#include "wire/rcrc.h"

namespace suede {

class Receiver {
 public:
  // All members outlive this object.
  struct Parts {
    Lcore& lcore;
    CreditGrants& grants;
    CongestionGrants& congestion_grants;
    Deliverer& deliverer;
    Refusals& refusals;
    PauseRequester& pause_requester;
    RunQueue& run_queue;
    Completions& completions;
    Stager& stager;
    CongestionUse& congestion;
  };
  explicit Receiver(const Parts& parts)
      : lcore_(parts.lcore),
        grants_(parts.grants),
        congestion_grants_(parts.congestion_grants),
        deliverer_(parts.deliverer),
        refusals_(parts.refusals),
        pause_requester_(parts.pause_requester),
        run_queue_(parts.run_queue),
        completions_(parts.completions),
        stager_(parts.stager),
        congestion_(parts.congestion) {}

  // Parses the frames of a port, at most kMaxFrames; the array must live until GoOn has completed.
  // Returns their bytes.
  uint64_t Begin(PortContext& port, Frame* const* frames, uint32_t count);
  // Classifies and delivers the remaining frames, and releases those that are not kept. Returns
  // true, early, if a frame has effects: the caller executes and ends them before the next call.
  bool GoOn(PortContext& port, Time now);

  // The effects that a frame's peer requests.
  Effects& effects() { return effects_; }
  // The peer of effects().
  const PeerRef& effects_of() const { return effects_of_; }
  void EndEffects() {
    effects_.Clear();
    flow_.series = kNone;
  }

  // Hands over the frames of other lcores; called after the frames of a port that lcores share.
  void HandOver(PortContext& port);

 private:
  static constexpr uint32_t kMaxFrames = 2 * kBurst;
  static constexpr uint32_t kNone = ~0u;  // no series
  static constexpr ConnectionIndex kNoConnection{kNone};
  // Series of the burst as received, and of PDUs that were opened.
  static constexpr uint32_t kMaxSeries = 2 * kMaxFrames;

  // Bits of a flow that the RH's flow does not use (the places of PSN and RPSN): the number of the
  // session, the ECN field, and the error of a frame that is not SUE's, which no other flow has.
  static constexpr int kVersionBit = 62;  // of the RH: not 0 if the frame is no data PDU
  static constexpr int kMarkBit = 32;
  static constexpr int kOpenedBit = 34;  // the PDU was sealed, and is authentic
  static constexpr int kErrorBit = 36;
  static constexpr uint64_t kErrorMask = 0xf;
  static_assert(kFrameErrorNames.size() <= kErrorMask + 1);

  // Successive frames of a burst that agree in all checked fields, or a frame with an error.
  struct Series {
    NetAddress source;
    NetAddress destination;
    uint64_t flow = 0;  // of the RH, and the bits above
    bool Has(const ParsedFrame& parsed, uint64_t its_flow) const {
      return ((its_flow ^ flow) | Differs(parsed.source, source) |
              Differs(parsed.destination, destination)) == 0;
    }
    FrameError error() const { return static_cast<FrameError>(flow >> kErrorBit & kErrorMask); }
    bool opened() const { return (flow >> kOpenedBit & 1) != 0; }
    uint16_t session() const { return static_cast<uint16_t>(flow); }
    static uint64_t Differs(const NetAddress& a, const NetAddress& b) {
      return (a.high ^ b.high) | (a.low ^ b.low);
    }
  };
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
  // Facts about the sealed PDUs of a series, whose frames agree in all of them.
  struct SealedSeries {
    uint32_t series = kNone;
    bool is_here = false;        // for an instance of this lcore
    SealedPeer* peer = nullptr;  // null: no peer that seals sent them
    CounterBlock* counters = nullptr;
    SealPathBytes path;
    // Streams that may arrive on the plane: `stream_count`, from `first_stream` on.
    uint8_t first_stream = 0;
    uint8_t stream_count = kSealStreams;
    bool Takes(const SealShim& shim) const {
      return static_cast<uint8_t>(shim.number.stream() - first_stream) < stream_count || shim.hello;
    }
  };
  // A sealed PDU that is being opened.
  struct Opened {
    SealedPeer* peer = nullptr;
    CounterBlock* counters = nullptr;
    uint32_t frame = 0;  // of the burst
    SealedPeer::Opening opening;
  };
  static constexpr uint64_t kMarked = uint64_t{3} << kMarkBit;
  static uint64_t MarkOf(const ParsedFrame& parsed) { return uint64_t{parsed.ecn} << kMarkBit; }
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
  uint32_t AddSeries(const NetAddress& source, const NetAddress& destination, uint64_t flow) {
    Series& series = series_[series_count_];
    series.source = source;
    series.destination = destination;
    series.flow = flow;
    marks_ |= flow;
    versions_ |= flow ^ flow << 1;
    return series_count_++;
  }
  void Note(uint32_t i, uint32_t series, RhWord rh, const uint8_t* pdu, uint32_t pdu_bytes) {
    series_of_[i] = static_cast<uint8_t>(series);
    rhs_[i] = rh;
    spans_[i].data = pdu;
    spans_[i].bytes = pdu_bytes - kRcrcBytes;
  }
  uint64_t Parse(PortContext& port);
  uint32_t NoteParsed(uint32_t i, uint32_t last, const ParsedFrame& parsed);
  uint32_t ParseOther(PortContext& port, uint32_t i, uint32_t last, bool trusted);
  uint64_t Refuse(PortContext& port, Frame* const* frames, uint32_t count);
  void PassOver(PortContext& port);
  void OpenSealed(PortContext& port);
  SealedSeries SealedSeriesAt(PortContext& port, uint32_t i);
  bool PrepareToOpen(PortContext& port, uint32_t i, SealedSeries& sealed, SealJob& job,
                     Opened& opened);
  void TakeOpened(uint32_t i, const SealShim& shim, uint32_t& from, uint32_t& to);
  bool RefusesPlain(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  Checked OnSealed(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  bool FitsForm(Instance& instance, uint32_t i, PeerIndex peer,
                const ControlMessage& message) const;
  // Whether frame i was sealed, and is of a stream of another plane.
  bool IsStray(uint32_t i) const {
    return (strays_ >> i & 1) != 0 && series_[series_of_[i]].opened();
  }
  void ComputeRcrcs();
  bool OnFrame(PortContext& port, uint32_t i, Time now);
  bool OnFrameError(PortContext& port, Frame* frame, FrameError error, Time now);
  bool OnTrimmed(PortContext& port, Frame* frame, const ParsedFrame& parsed, Time now);
  void OnPfc(PortContext& port, const Frame& frame, Time now);
  bool SetAside(const PortContext& port, PortContext::Location place, Frame* frame);
  bool CountHandedOver(bool handed);
  uint16_t SessionAt(uint32_t i) const { return series_[series_of_[i]].session(); }
  const uint8_t* CommandsAt(uint32_t i) const { return spans_[i].data + kRhBytes; }
  // Bytes from CommandsAt up to the R-CRC.
  uint32_t CommandBytesAt(uint32_t i) const { return spans_[i].bytes - kRhBytes; }
  // Frame i of the burst, which is of flow_.
  ReceivedPdu PduAt(uint32_t i) const {
    return {.rh = rhs_[i],
            .commands = CommandsAt(i),
            .bytes = CommandBytesAt(i),
            .peer = flow_.peer,
            .plane = flow_.plane,
            .frame = frames_[i]};
  }
  bool OnDataPdu(Instance& instance, uint32_t i, Time now);
  PeerIndex SenderOf(Instance& instance, const Series& series, RhWord rh, PlaneIndex plane);
  Checked OnNoData(Instance& instance, uint32_t i, PlaneIndex plane, Time now);
  void OnControlPdu(Instance& instance, uint32_t i, PeerIndex peer, PlaneIndex plane, Time now);
  void OnRpsn(Instance& instance, ConnectionIndex connection, RhOp op, Psn rpsn, Time now);
  void OnAcked(Instance& instance, ConnectionIndex connection, uint32_t bytes, PduList& acked);
  void OnImplausible(Instance& instance, ConnectionIndex connection, RhOp op, Psn rpsn, Time now);
  void OnAhead(Instance& instance, ConnectionIndex connection, ReceivedPdu pdu, Time now);
  void OnResumed(Instance& instance, ConnectionIndex connection);
  void OnClosed(Instance& instance, ConnectionIndex connection, ReceivedPdu pdu, bool sequenced,
                Time now);
  bool OnSequenced(Instance& instance, uint32_t i, Time now);
  void OnUnexpected(Instance& instance, PsnVerdict verdict, uint32_t i, Time now);
  bool DeliverOne(Instance& instance, ReceivedPdu pdu, Time now);
  void EndRun(Time now) {
    if (run_.pdus != 0) CountRun(now);
  }
  void CountRun(Time now);
  void WatchRun(Instance& instance, uint32_t pdus, uint64_t bytes, uint32_t lines, Time now);
  void CountArrived(Instance& instance, uint32_t pdus, uint64_t bytes);
  void CheckMissing(Instance& instance, Time now);
  // The effects, for another fact of this peer.
  Effects& EffectsFor(const Instance& instance, PeerIndex peer) {
    effects_of_ = {.instance = instance.number, .peer = peer};
    return effects_;
  }

  Lcore& lcore_;
  CreditGrants& grants_;
  CongestionGrants& congestion_grants_;
  Deliverer& deliverer_;
  Refusals& refusals_;
  PauseRequester& pause_requester_;
  RunQueue& run_queue_;
  Completions& completions_;
  Stager& stager_;
  CongestionUse& congestion_;
  PeerRef effects_of_{};
  Flow flow_;
  uint64_t versions_ = 0;   // the highest bit: some frames of the burst are sealed
  uint64_t marks_ = 0;      // kMarked: ECN fields of the burst's frames,
  bool has_marks_ = false;  // and whether some of them may be marked
  DeliveredRun run_;        // of flow_, accepted and not yet counted

  // The burst: frames [next_, count_) are left.
  Frame* const* frames_ = nullptr;
  uint32_t next_ = 0;
  uint32_t count_ = 0;
  uint32_t rcrcs_end_ = 0;  // the R-CRCs of the frames before this index are computed
  uint32_t series_count_ = 0;
  std::array<RcrcSpan, kMaxFrames> spans_;  // of 0 bytes if there is no R-CRC to check
  std::array<RhWord, kMaxFrames> rhs_;
  std::array<uint8_t, kMaxFrames> series_of_;
  std::array<Series, kMaxSeries> series_;
  // Why sealed PDUs were not opened, and whether opened PDUs had the form of a HELLO.
  std::array<SealError, kMaxFrames> seal_errors_{};
  uint64_t hello_forms_ = 0;  // a bit each
  uint64_t strays_ = 0;       // a bit each: control PDUs of streams of another plane
  // Frames of the current port for instances of other lcores.
  struct Foreign {
    Frame* frame = nullptr;
    uint32_t neighbour = 0;
  };
  std::array<Foreign, kMaxFrames> foreign_;
  uint32_t foreign_count_ = 0;
  Effects effects_;
  // Used by OpenSealed only: a member, as a local variable would have to be cleared for each burst.
  struct Openings {
    std::array<SealJob, kMaxFrames> jobs;
    std::array<Opened, kMaxFrames> of;
  } openings_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_RECEIVER_H_
