// SPDX-License-Identifier: Apache-2.0
// Two hosts that know each other, each a Peer and the little of a pipeline that executes its
// effects, joined by links that lose, double, reorder and stand still. Time, links, operators,
// devices and restarts go as the dice say. There are no ports and no frames.
//
// As in a network that SUE is made for, nothing is under way for longer than a millisecond but in a
// device that is held up, nothing overtakes a message of its own class, and a restart ends all
// messages under way.
//
// A host that hears data and no HELLO for long takes the other for one that speaks none. Should
// that one restart then, nobody can tell what had arrived (docs/control-pdus.md): such schedules go
// on, and are held against the invariants and the healing alone.
//
// The oracle: a PDU that completed OK has arrived, once; one that ended unreachable never does.
//
// In some schedules the planes are alike, as with one address on all of them, and all is sealed:
// then somebody on the path takes messages from one plane to another, and planes come to lead
// elsewhere.
//
// After every step both peers hold to their invariants. Once all is healed, everything ends, both
// handshakes are open, every session is up and PDUs arrive again, within a bounded time.
#ifndef SUEDE_TESTS_PEER_PEER_PAIR_H_
#define SUEDE_TESTS_PEER_PEER_PAIR_H_

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peer/peer.h"

namespace suede {

// The source of decisions: bytes, each once and 0 after the last, or a seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  Dice(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool empty() const { return data_ != nullptr && left_ == 0; }
  // Below `bound`.
  uint32_t Pick(uint32_t bound) {
    if (data_ != nullptr) {
      if (left_ == 0) return 0;
      --left_;
      return *data_++ % bound;
    }
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 32) * bound >> 32);
  }
  // Once in `bound` times; never where the bytes are used up.
  bool Chance(uint32_t bound) { return Pick(bound) == bound - 1; }

 private:
  const uint8_t* data_ = nullptr;
  size_t left_ = 0;
  uint64_t state_ = 0;
};

class PeerPair {
 public:
  explicit PeerPair(Dice* dice);
  ~PeerPair();
  void Step();
  // Heals everything. The oracle's verdict; empty: no error.
  std::string Settle();
  // That so far.
  const std::string& error() const { return error_; }
  void CheckInvariants() const;
  // Counts of events, for a runner that wants to know that each kind happens.
  struct Seen {
    uint64_t delivered = 0;
    uint64_t ended[4] = {};  // by Status
    uint64_t restarts = 0;
    uint64_t planes_down = 0;
    uint64_t requeued = 0;
    uint64_t peers_lost = 0;
    uint64_t found_plain = 0;
  };
  const Seen& seen() const { return seen_; }

 private:
  enum class Status : uint8_t { kOk, kInDoubt, kUnreachable, kReset, kOpen, kGone };
  static constexpr uint8_t kAckClass = kVcCount;
  struct Record {
    uint8_t host = 0;
    uint8_t arrivals = 0;
    Status status = Status::kOpen;
  };
  struct Letter {
    bool control = false;
    bool sequenced = false;
    PlaneIndex plane = 0;  // the sender's
    uint8_t vc = 0;
    uint8_t of_class = kAckClass;  // of one class none overtakes another
    Time sent_at{};
    RpsnField field;
    Psn psn;
    uint32_t id = 0;
    ControlMessage message;
  };
  struct Host;

  PlaneIndex PlaneThere(uint32_t host, PlaneIndex plane) const;
  void Send(Host& host, PlaneIndex plane, const Letter& letter);
  void Say(Host& host, PlaneIndex plane, ControlMessage message);
  void SendBare(Host& host, PlaneIndex plane, PathConnection number, RpsnField field, Psn psn,
                uint8_t of_class = kAckClass);
  void Apply(Host& host, Effects& effects);
  void Carry(Host& host, effect::Send& e);
  void Carry(Host& host, const effect::SendHeldUp& e);
  void Carry(Host& host, const effect::Probe& e);
  void Carry(Host& host, const effect::ProbeLost& e);
  void Carry(Host& host, const effect::ScheduleAck& e);
  void Carry(Host& host, const effect::Retransmit& e);
  void Carry(Host& host, effect::Acknowledged& e);
  void Carry(Host& host, effect::GiveUp& e);
  void Carry(Host& host, effect::Requeue& e);
  void Carry(Host& host, const effect::GiveUpQueued& e);
  void Carry(Host& host, const effect::MarkLost& e);
  void Carry(Host& host, const effect::Unblock& e);
  void Carry(Host& host, const effect::Emit& e);
  void Carry(Host& host, const effect::Arm& e);
  void Carry(Host& host, const effect::CheckConnection& e);
  void Carry(Host& host, const effect::ProbeFailed&);
  void Carry(Host&, const effect::PlaceFlow&) {}
  // There is one session.
  void Carry(Host&, const effect::SendFrom&) { std::abort(); }
  void Carry(Host&, const effect::Renumber&) { std::abort(); }
  void Carry(Host& host, const effect::CreditChange& e);
  void Carry(Host&, const effect::CreditReceived&) {}
  void Carry(Host&, const effect::CongestionReceived&) {}
  void Carry(Host&, const effect::Count&) {}

  void Start(Host& host);
  void Push(Host& host, uint32_t vc);
  void End(PduList& pdus, Status status);
  // The sending part of a pipeline's turn.
  void Turn(Host& host);
  uint32_t PlaneFor(const Host& host, PathConnection number, uint32_t bytes) const;
  void SendQueued(Host& host, Vc vc);
  void SendAgain(Host& host);
  void PayAcks(Host& host);
  static bool IsOfPair(const Host& host, PlaneIndex plane, const Letter& letter);
  void Receive(Host& host, PlaneIndex plane, const Letter& letter);
  void OnRpsn(Host& host, PlaneIndex plane, PathConnection number, const Letter& letter);
  void OnSequenced(Host& host, PlaneIndex plane, PathConnection number, const Letter& letter);
  void Deliver(Host& host, PlaneIndex plane);
  void Pass(Host& host, PlaneIndex plane, size_t at, bool twice);
  void PassOld(Time time);
  Hold HoldOf(const Host& host, PlaneIndex plane) const;
  void OnConnectionDeadline(Host& host, PlaneIndex plane, PathConnection number);
  bool FireOne();
  Time NextDue() const;
  void Advance(Duration time);
  void Meddle(Host& host);
  void SetPlane(Host& host, PlaneIndex plane);
  void Heal();
  bool DeliverAll();
  bool IsCalm() const;
  std::string Check() const;
  void Fail(const char* what);
  void FailUnlessPlain(const char* what);

  Dice* dice_;
  Time now_ = TimeFromNs(1'000'000'000);
  uint32_t planes_;
  bool per_vc_;
  bool strict_;
  uint32_t turned_;  // the planes of the second host are numbered from this one on
  bool alike_;       // addresses do not tell planes apart
  uint32_t losing_ = 0;
  uint32_t moving_ = 0;  // messages to other planes
  uint64_t lives_ = 1;
  std::vector<Record> records_;
  std::vector<std::unique_ptr<Pdu>> spare_;
  std::array<std::unique_ptr<Host>, 2> hosts_;
  std::string error_;
  Seen seen_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PEER_PEER_PAIR_H_
