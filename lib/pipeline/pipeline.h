// SPDX-License-Identifier: Apache-2.0
// The data path of one lcore: from clients' rings to ports and back, run to completion.
//
// Poll is one turn of the loop. tx_path.cc tells the story of a command from ring to wire,
// rx_path.cc the way back; acks.cc has what is sent on the transport's own account, control_pdus.cc
// what endpoints tell each other, credit.cc and credit_use.cc what receivers promise of their rings
// and senders may use of it, ping.cc how an operator asks for a peer, timers.cc whose time is up;
// planes.cc looks after the ports, pauses.cc after devices that let nothing leave. What follows for
// a peer is lib/peer's to say, and effects.cc does it. handover.cc has what this lcore receives for
// another one of a port. A RequestServer serves what the control thread asks for, control_path.cc has
// what of it is done here, settings.cc what is changed; a Reporter shows gauges, load and snapshots.
// Everything but the mailbox and the counters belongs to the thread that calls Poll.
#ifndef SUEDE_PIPELINE_PIPELINE_H_
#define SUEDE_PIPELINE_PIPELINE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "base/fifo.h"
#include "base/timer_wheel.h"
#include "client/client_table.h"
#include "pack/packer.h"
#include "pipeline/instance.h"
#include "pipeline/mailbox.h"
#include "pipeline/port_context.h"
#include "pipeline/reporter.h"
#include "pipeline/request_server.h"
#include "wire/control_pdu.h"

namespace suede {

// Something that shares the lcore: called once a turn, between receiving and transmitting.
class PollHook {
 public:
  virtual ~PollHook() = default;
  // Returns whether it found work.
  virtual bool Poll(Time now) = 0;
};

class Pipeline {
 public:
  static constexpr uint32_t kMaxClients = ClientTable::kMaxClients;
  static constexpr uint32_t kMaxQueues = ClientTable::kMaxQueues;

  Pipeline();

  // ---- Building it, before the first Poll. Numbers count from 0.
  // `packets`, where given, outlives the pipeline.
  uint32_t AddPort(Port* port, const PortParams& params, PacketLane* packets = nullptr);
  // Another queue pair of that port's device. Its number counts as a port's: instances that are put
  // on it send by it. Each of the device's pairs receives for the instances of all.
  uint32_t AddPair(uint32_t port, Port* pair);
  uint32_t AddInstance(const InstanceParams& params);
  // Another lcore serves the port's device, too. After every AddPair.
  void SharePort(uint32_t port, const PortNeighbour& neighbour);
  void SetHook(PollHook* hook) { hook_ = hook; }

  // ---- Running it.

  // One turn. Returns whether there was anything to do.
  bool Poll(Time now);
  // What a turn took, with the waiting after it: for who calls Poll.
  void CountCycles(bool busy, uint64_t cycles) {
    lcore_counters_.Add(busy ? Counter::kBusyCycles : Counter::kIdleCycles, cycles);
  }

  // The control thread's side.
  Mailbox& mailbox() { return mailbox_; }
  const CounterBlock& counters(uint32_t instance) const { return instances_[instance]->counters; }
  const GaugeBlock& gauges(uint32_t instance) const { return instances_[instance]->gauges; }
  const HistogramBlock& histograms(uint32_t instance) const {
    return instances_[instance]->histograms;
  }
  // Frames and drops that no instance can be named for.
  const CounterBlock& port_counters() const { return lcore_counters_; }
  uint32_t instance_count() const { return static_cast<uint32_t>(instances_.size()); }
  // How many SetPort, SetInstance, SetPlane and SetWeight have taken effect.
  uint32_t admin_done() const { return requests_.done(); }
  // What became of the last Ping of the instance.
  const PingBoard& ping_board(uint32_t instance) const { return instances_[instance]->ping.board; }

  // For tests: nothing is packed, in flight, owed or waiting to be sent.
  bool IsQuiet() const;
  const Instance& instance(uint32_t number) const { return *instances_[number]; }
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kAllVcs = (1u << kVcCount) - 1;
  static constexpr uint32_t kNoClient = ClientTable::kNone;

  // The same but for what still lies in clients' rings.
  bool IsIdle() const;
  struct Refused {
    uint32_t instance;
    uint32_t connection;
    uint32_t lines;  // of the ring that the refused PDU needs
    Psn psn;
    uint8_t vc;
  };
  struct LaneRef {
    uint32_t instance;
    uint32_t lane;  // of its scheduler
  };
  struct VcRef {
    uint32_t instance;
    uint8_t vc;
  };
  // A PDU that passed every check of its frame.
  struct ReceivedPdu {
    ReliabilityHeader rh;
    const uint8_t* commands = nullptr;
    uint32_t bytes = 0;  // from the end of the RH up to the R-CRC
    uint32_t peer = 0;
    uint32_t plane = 0;  // that it came on
    Frame* frame = nullptr;
  };

  // tx_path.cc
  bool PollClients();
  bool DrainRing(QueueSlot& slot, uint16_t number);
  void PackRecord(Instance& instance, QueueSlot& slot, uint16_t number, const TxRecord& record,
                  uint32_t queue);
  void Discard(QueueSlot& slot, uint16_t number, const TxRecord& record, uint8_t status);
  bool StagePdus(Time now);
  bool StageRetransmissions(bool all, Time now);
  // What became of a lane's turn.
  enum class Turn : uint8_t {
    kMore,    // it can go on
    kDone,    // nothing of it can be sent
    kNoRoom,  // its ports are full
  };
  Turn StageOne(Instance& instance, uint32_t lane, Time now);
  bool AnyPortHasRoom() const;
  VcMask RoomFor(const Instance& instance, uint32_t lane) const;
  uint32_t PickPlane(const Instance& instance, uint32_t peer, uint32_t vc, uint32_t bytes) const;
  void BlockQueue(Instance& instance, uint32_t index, Time now);
  Pdu* FreeOfDevice(Instance& instance, Pdu* pdu);
  void StageRetransmission(PortContext& port, Time now);
  static bool MayHold(Instance& instance, uint32_t peer, uint32_t vc);
  void WaitForShare(Instance& instance, uint32_t index);
  void ReturnShare(Instance& instance, uint32_t peer, uint32_t vc, uint32_t count);
  void GoOnWaiting(Instance& instance, uint32_t peer, uint32_t vc, uint32_t count);
  void LookAgain(Instance& instance, uint32_t index);
  void LookAgain(FrameShares& shares, size_t count);
  void ShareOut(FrameShares& shares);
  void ResizeShares();
  void CheckShares() const;
  void StageSequenced(Instance& instance, uint32_t plane, Pdu* pdu, Connection& connection);
  void WriteOneShot(Instance& instance, uint32_t peer, uint32_t plane, Frame* frame, uint32_t bytes,
                    uint32_t traffic_class, const ReliabilityHeader& rh);
  void ReturnCredit(Instance& instance, Pdu& pdu);

  // rx_path.cc
  bool PollPort(PortContext& port, Time now);
  bool OnFrame(PortContext& port, Frame* frame, Time now);
  bool SetAside(PortContext::Place place, Frame* frame, const ParsedFrame& parsed);
  bool OnDataPdu(Instance& instance, const ReceivedPdu& pdu, Time now);
  void OnRpsn(Instance& instance, uint32_t connection, RhOp op, Psn rpsn, Time now);
  void OnImplausible(Instance& instance, uint32_t connection, const ReliabilityHeader& rh,
                     Time now);
  void OnAhead(Instance& instance, uint32_t connection, const ReceivedPdu& pdu, Time now);
  void OnResumed(Instance& instance, uint32_t connection);
  void OnClosed(Instance& instance, uint32_t connection, const ReceivedPdu& pdu, bool sequenced,
                Time now);
  bool OnSequenced(Instance& instance, uint32_t connection, const ReceivedPdu& pdu, Time now);
  enum class Delivery : uint8_t { kDelivered, kKept, kRefused, kMalformed };
  Delivery Deliver(Instance& instance, const ReceivedPdu& pdu, uint32_t& lines_needed);
  Delivery WriteCommands(Instance& instance, uint32_t client, uint8_t vc, uint16_t source,
                         const uint8_t* commands, uint32_t bytes, uint32_t& lines_needed);
  // `lines_needed`: where it is kept, the lines of its commands.
  Delivery Keep(Instance& instance, const ReceivedPdu& pdu, uint32_t& lines_needed);
  Delivery KeepPromised(Instance& instance, const ReceivedPdu& pdu, uint32_t& lines_needed);
  static bool AppendToKept(Pdu& kept, const ReceivedPdu& pdu, uint32_t bytes, uint32_t lines);
  void CountAccepted(Instance& instance, uint32_t peer, uint32_t vc, uint32_t lines);
  void OnRefusal(Instance& instance, uint32_t connection, const ReceivedPdu& pdu, uint32_t lines);
  bool DeliverUnclaimed();
  bool OnFrameError(PortContext& port, Frame* frame, FrameError error, Time now);

  // handover.cc
  bool CountHandedOver(bool handed);
  void HandOver(PortContext& port);

  // acks.cc
  // `plane`: where they are in flight; kNoPlane: nowhere. `ending`: a status; what ends in doubt and
  // has never left is unreachable.
  void Complete(Instance& instance, PduList& pdus, uint32_t plane, uint8_t ending);
  void EndAcked(Instance& instance, uint32_t connection, PduList& acked);
  void OnAcked(Instance& instance, uint32_t connection, uint32_t bytes, PduList& acked);
  void Requeue(Instance& instance, uint32_t peer, uint32_t plane, PduList& rest);
  // Ends what is queued to a peer on the VCs of the mask.
  void GiveUpQueued(Instance& instance, uint32_t peer, uint32_t vcs, uint8_t status);
  void GiveUpFirst(Instance& instance, TxQueue& queue, uint8_t status);
  void MarkLost(Instance& instance, uint32_t peer, uint32_t vcs, bool lost);
  void Unblock(Instance& instance, uint32_t connection);
  void Unblock(Instance& instance, uint32_t peer, uint32_t vcs);
  void OweAck(Instance& instance, uint32_t connection, Time now);
  void SendAcks(PortContext& port, Time now);
  bool PayAck(Instance& instance, uint32_t connection, uint8_t list);
  bool SendAck(Instance& instance, uint32_t connection);
  Psn UnsequencedPsn(const Instance& instance, const Link& link,
                     const Connection& connection) const;
  void SendProbe(Instance& instance, uint32_t connection);
  bool SendUnsequenced(Instance& instance, uint32_t connection, RpsnField field, Psn psn,
                       uint32_t traffic_class);
  // The last frame of a connection that was given up, which says whether the device has let go.
  void HoldLast(Instance& instance, uint32_t connection, const PduList& given_up);
  bool IsHeld(Instance& instance, uint32_t connection);
  void LetGo(Instance& instance, uint32_t connection);
  void LetGoOfEnded(const Reporter::Surveyed& surveyed);
  void WantRetransmission(Instance& instance, uint32_t connection);

  // control_pdus.cc
  void SendReady();
  bool SendControl(Instance& instance, uint32_t peer, uint32_t plane, ControlMessage message);
  void OnControlPdu(Instance& instance, const ReceivedPdu& pdu, Time now);

  // credit.cc
  void Promise(Instance& instance, uint32_t vc, RxCredit& credit, uint32_t lines);
  void TakeBack(Instance& instance, uint32_t vc, RxCredit& credit, uint32_t limit);
  void CountKept(Instance& instance, uint32_t vc, uint32_t lines, bool kept);
  // The slot of the client that the VC's commands go to; kNoClient: nobody has claimed it.
  uint32_t ClaimantOf(const Instance& instance, uint32_t vc) const {
    return clients_.claimant(instance.number, vc);
  }
  static CreditRing& RingOf(Instance& instance, uint32_t vc) { return *instance.credit_ring[vc]; }
  uint32_t RingLines(const Instance& instance, uint32_t vc) const;
  int64_t FreeLines(Instance& instance, uint32_t vc);
  void MoveFeed(Instance& instance, uint32_t vc);
  CreditRing& FedRing(Instance& instance, uint32_t vc);
  void JoinRing(Instance& instance, uint32_t vc);
  void Enqueue(Instance& instance, uint32_t vc);
  void WantGrant(Instance& instance, uint32_t peer, uint32_t vc);
  uint32_t FirstShare(const Instance& instance, uint32_t vc) const;
  void JoinHolders(Instance& instance, uint32_t peer, uint32_t vc, RxCredit& credit);
  void GrantFirst(Instance& instance, uint32_t peer);
  uint32_t PlaneForCredit(const Instance& instance, uint32_t peer) const;
  bool SendGrant(Instance& instance, uint32_t peer, uint32_t vc, bool give_back);
  bool SizeGrant(Instance& instance, uint32_t vc, RxCredit& credit, uint32_t& lines);
  bool ServeFirst(Instance& instance, uint32_t vc, Time now);
  void SendGrants(Time now);
  void EndReclaim(CreditRing& ring, uint32_t vc);
  bool StepHand(Instance& asker, uint32_t vc, uint32_t asking, uint16_t idle, Time now);
  void TurnHand(Instance& asker, uint32_t vc, uint32_t asking, Time now);
  void OnCreditAsked(Instance& instance, uint32_t peer, const Credit& ask);
  void ForgetCredit(Instance& instance, uint32_t peer);
  void CheckCredit() const;

  // credit_use.cc
  static void BeginCredit(Instance& instance, uint32_t peer);
  void EndCredit(Instance& instance, uint32_t peer);
  static void NoCredit(Instance& instance, uint32_t peer);
  static bool IsUnderWay(Instance& instance, uint32_t peer, uint32_t vc);
  void WaitForCredit(Instance& instance, uint32_t index, Time now);
  void EndWaitForCredit(Instance& instance, uint32_t index);
  bool AskCredit(Instance& instance, uint32_t peer, uint32_t vc, bool gives_back);
  void OnCreditGranted(Instance& instance, uint32_t peer, const Credit& grant);
  void TryWithoutCredit(Instance& instance, uint32_t index);
  void OnCreditTimer(Instance& instance, uint32_t peer, Time now);
  void OnCredit(Instance& instance, uint32_t peer, const Credit& credit);

  // ping.cc
  PingState AskByHand(Instance& instance, uint32_t peer, uint32_t plane, Time now);
  bool ProbeByHand(Instance& instance, uint32_t peer, uint32_t plane, int ahead);
  static bool TakePong(Instance& instance, uint32_t peer, const Hello& hello, Time now);
  static void OnProbePong(Instance& instance, uint32_t peer, uint32_t plane, Time now);

  // timers.cc
  void OnTimer(uint32_t timer, Time now);
  void OnConnectionTimer(Instance& instance, uint32_t connection, Time now);
  void OnSessionTimer(Instance& instance, uint32_t peer, uint32_t plane, Time now);
  void ArmConnection(Instance& instance, uint32_t connection);
  void Arm(Instance& instance, uint32_t peer, const effect::Arm& what);
  void ArmCredit(Instance& instance, uint32_t peer);
  void ArmSession(Instance& instance, uint32_t peer, uint32_t plane);

  // planes.cc
  static constexpr uint32_t kNoPlane = PeerPaths::kNoPlane;
  static constexpr uint32_t kPlaneFull = kNoPlane - 1;  // it would be one of those without room
  void WatchPorts(Time now, Duration since_last_turn);
  void OnPause(Duration time);
  void OnPortChange(PortContext& port, bool up, Time now);
  void OnPlaneChange(Instance& instance, uint32_t plane, PlaneDownReason reason, Time now);

  // effects.cc
  struct EffectsOf;  // has a function for each kind of effect
  void Apply(Instance& instance, uint32_t peer, Effects& effects);

  // pauses.cc
  Hold HoldOf(Instance& instance, uint32_t peer, uint32_t plane, Pdu* oldest, Time now);
  Hold HoldOf(Instance& instance, uint32_t peer, uint32_t plane, Time now);
  void SayHeldUp(Instance& instance, uint32_t peer, const effect::SayHeldUp& what, Time now);

  // control_path.cc
  bool ServeRequests(Time now);
  void Do(std::monostate /*nothing*/) {}
  void Do(const todo::ClaimsMoved& moved);
  void Do(const todo::ClientLeft& left);
  void Do(const todo::QueueInReset& reset);
  void Do(const todo::InstanceUp& up);
  void Do(const todo::PlaneSet& set);
  void Do(const request::ChangeSettings& request);  // settings.cc
  void Do(const request::SetPeerMac& request);
  void Do(const request::LosePeer& request);
  void Do(const request::SetWeight& request);
  void Do(const request::Ping& request);  // ping.cc
  void MoveFeeds(Instance& instance, uint32_t vc_mask);
  void Tell(LcoreEventKind kind, const Instance& instance, uint32_t connection);
  void TellPlane(LcoreEventKind kind, const Instance& instance, uint32_t peer, uint32_t plane,
                 uint8_t what);
  void Tell(const LcoreEvent& event);

  // settings.cc
  void ContinueChange(Time now);
  void Renew(Instance& instance, uint32_t connection, Time now);

  // From whose pool its frames come.
  static PortContext& HomePort(const Instance& instance) { return *instance.ports[0]; }
  void Activate(Instance& instance, uint32_t queue);
  void Enlist(Instance& instance);

  std::vector<std::unique_ptr<PortContext>> ports_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<std::unique_ptr<InstanceStats>> stats_;  // as instances_
  CounterBlock lcore_counters_;
  ClientTable clients_;
  std::vector<std::array<CreditRing, kVcCount>> client_credit_;  // promised of the rings, by slot
  std::array<TxRecord, kBurst> records_;  // scratch of DrainRing
  Fifo<LaneRef> active_;  // those that have work, in turn
  // Frames of the port that is being received from, for instances of other lcores.
  struct Foreign {
    Frame* frame = nullptr;
    uint32_t neighbour = 0;
  };
  std::array<Foreign, 2 * kBurst> foreign_;
  uint32_t foreign_count_ = 0;
  bool watches_ports_ = false;  // the planes of an instance go by them
  Time ports_due_{};         // when WatchPorts looks again
  TimerWheel timers_;
  std::vector<uint32_t> instance_of_timer_;
  Fifo<Refused> refused_;        // what waits for room in a receive ring
  Fifo<VcRef> granting_;         // whose peers wait for credit
  uint16_t credit_tick_ = 0;     // of about a millisecond
  std::vector<VcRef> waiting_;   // claimed VCs whose unclaimed PDUs are being handed over
  uint32_t queued_pdus_ = 0;  // packed and not yet sent
  SettingsChange* change_ = nullptr;  // under way, with what is next to be brought in line
  uint32_t change_instance_ = 0;
  uint32_t change_connection_ = 0;
  Time last_turn_{};
  PollHook* hook_ = nullptr;
  Mailbox mailbox_;
  Reporter reporter_;
  RequestServer requests_;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_PIPELINE_H_
