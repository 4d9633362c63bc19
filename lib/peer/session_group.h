// SPDX-License-Identifier: Apache-2.0
// The sessions of one {peer, plane} (docs/sessions.md): the numbers that frames of each have, by
// which switches choose a path; which of them PDUs may take, and how congested each is.
//
// Takes facts and the time, returns what to ask the peer and a deadline; sends nothing, reads no
// clock. Owned by one lcore.
#ifndef SUEDE_PEER_SESSION_GROUP_H_
#define SUEDE_PEER_SESSION_GROUP_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/secret_numbers.h"
#include "base/time.h"
#include "peer/params.h"
#include "wire/control_pdu.h"

namespace suede {

// A set of slots: a bit each.
using SlotMask = uint64_t;

// A session of a group, by its slot.
struct SessionSlot {
  enum class State : uint8_t {
    kIdle,     // nothing takes it
    kOpening,  // the peer is asked to take a number for it, and nothing takes it before
    kOpen,
    kMoving,    // the peer is asked to take another number, and PDUs go on with the former one
    kDraining,  // nothing new takes it, until it is idle
    kClearing,  // likewise, until it is open: what is in flight is on a slower path than its new
                // one
    kFencing,   // nothing gets through, nor does any other number: the peer is asked what has
                // arrived, and the rest moves to other sessions
  };
  static constexpr uint32_t kWeightOne = 256;
  static constexpr uint32_t kMostWeight = kWeightOne << 10;

  uint16_t number = 0;             // of our PDUs
  uint16_t asked = 0;              // that the peer was asked to take
  uint16_t rx_number = 0;          // of the peer's PDUs,
  uint16_t rx_former = 0;          // and that of those that were sent before it changed
  uint32_t turn = 0;               // of the last number that was asked for,
  uint32_t rx_turn = 0;            // and of the peer's last
  uint32_t weight = kWeightOne;    // what a byte in flight costs; kWeightOne: as on the best one
  uint32_t measured = kWeightOne;  // of that, what follows from what is known of all sessions
  uint32_t delay = kWeightOne;     // of it over the least of the group; kWeightOne: no more
  uint32_t tx_pdus = 0;            // of its connections, when they were looked at last,
  uint32_t retransmissions = 0;    // likewise
  uint32_t marked = 0;             // PDUs since then that switches have marked (ECN)
  uint32_t marks = 0;              // of its PDUs of late, the part that was; kWeightOne: all
  Time since{};                    // it has its number
  Time rx_moved_at{};              // the peer has asked for another one of its own, last
  Time asked_at{};                 // the peer was asked for the last number,
  Time ask_at{};                   // and when it is asked again
  Time sent_at{};                  // of the last look that saw PDUs sent on it,
  Duration gap{};                  // and the time for each of those
  State state = State::kIdle;
  uint32_t stale_pdus = 0;     // to be sent before round trips are no longer of its former path
  Time rest_until{};           // it is not opened before
  bool fenced = false;         // the peer accepts nothing on it before it is told the first PSNs
  bool rx_fenced = false;      // likewise of what the peer sends
  uint8_t unanswered = 0;      // numbers that it was asked for in vain, in a row
  uint8_t slow_numbers = 0;    // whose paths were found slow before anything took them, in a row
  bool requested = false;      // what was asked for has been said at least once
  bool leaves_slow = false;    // it moves as it is congested
  bool answers_only = false;   // it moves for our acknowledgements, and is idle afterwards
  uint8_t high_intervals = 0;  // in which it was much more congested than the best one
};

std::string_view NameOf(SessionSlot::State state);

class SessionGroup {
 public:
  // The slots of the group, as many as both ends could ever agree on; they outlive it.
  void Place(SessionSlot* slots) { slots_ = slots; }
  // An association begins, in which both ends tell `count` sessions apart, a power of two. Slots
  // have their first numbers again. `numbers`: those below it can be told apart.
  void Begin(uint32_t count, uint32_t numbers, Time now);

  uint32_t count() const { return count_; }
  const SessionSlot& slot(uint32_t slot) const { return slots_[slot]; }
  // Those that PDUs may take.
  SlotMask open() const { return open_; }

  // ---- Runs: PDUs that could take any session follow one for a short while where none is better,
  // so that the choice costs little, and one acknowledgement covers several.

  // The session that the run takes, if any.
  uint32_t run_slot() const { return run_slot_; }
  // Whether the run goes on.
  bool InRun() const { return run_left_ > 0 && (open_ >> run_slot_ & 1) != 0; }
  // PDUs of which the run takes no more, 1 or more.
  uint32_t MostInRun() const {
    return run_left_ <= 0 ? 1 : (static_cast<uint32_t>(run_left_) + kRunStep - 1) / kRunStep;
  }
  // The next PDU takes this session. Where none had less weight at the last look, others may
  // follow.
  void BeginRun(uint32_t slot) {
    run_slot_ = static_cast<uint8_t>(slot);
    run_left_ = slots_[slot].weight <= least_weight_ ? kRunBytes : 0;
  }
  // PDUs with so many bytes of commands have taken it.
  void OnTaken(uint32_t pdus, uint32_t bytes) {
    run_left_ -= static_cast<int32_t>(std::max(bytes, pdus * kRunStep));
  }

  // ---- The peer's numbers.

  uint32_t SlotOf(uint16_t number) const { return number & (count_ - 1); }
  // Whether the peer has agreed with us on this one. Where there is one session, any.
  bool Accepts(uint16_t number) const {
    const SessionSlot& slot = slots_[SlotOf(number)];
    return count_ == 1 || number == slot.rx_number || number == slot.rx_former;
  }
  // The peer asks for a number: true where it is to be answered.
  bool OnRequest(const SessionNumber& request);
  // The peer fences one of its sessions: likewise.
  bool OnFence(const SessionNumber& request);

  // ---- Our numbers.

  enum class Answer : uint8_t {
    kStale,  // it is about nothing that was asked for last
    kSlow,   // the way there and back was slow: the peer is asked for another number
    kTaken,  // the slot has the number from now on
  };
  // The peer has taken a number of ours.
  Answer OnAnswer(const SessionNumber& answer, const SessionParams& params, SecretNumbers& random,
                  Time now);
  // The peer has asked for a number of the slot, and `answers` says whether all that we send there
  // are acknowledgements. Where it asks again soon, these may be what is lost: we take another
  // number, too. False: we do not.
  bool OnPeerMoved(uint32_t slot, bool answers, SecretNumbers& random, Time now);
  // Nothing gets through on the slot: another number, as soon as the peer has taken it. False: it
  // is asked already.
  bool OnStall(uint32_t slot, SecretNumbers& random, Time now);
  // The sessions that are being fenced.
  SlotMask fencing() const { return fencing_; }
  // Whether this answers a fence of ours.
  bool IsFenced(const SessionNumber& answer) const;
  // It was: what was in flight there has left it. The session rests so long, in which no frame of
  // it is on its way any more.
  void OnFenced(uint32_t slot, Duration rest, Time now);
  // The plane is down: what was asked for is not waited for any longer.
  void OnPlaneDown();
  // What to ask for the slot. The PSNs of one that is opened anew are to be filled in.
  SessionNumber RequestOf(uint32_t slot) const;

  // The peer has seen so many more PDUs with a mark, in the slots of the mask.
  void OnMarked(SlotMask slots, uint32_t pdus);

  // ---- Time.

  // When OnTimer wants to be called.
  Time deadline() const { return deadline_; }
  struct Waits {
    Duration ask_again;  // until the peer is asked again
    Duration ack;        // that its acknowledgement of a single PDU takes, at most
    Duration rest;       // of a session that leads nowhere, until it is opened again
  };
  // A PDU has left where none was in flight. Returns whether the deadline moved.
  bool OnTraffic(Time now, const SessionParams& params);
  struct Facts {
    Duration srtt;       // 0: not known
    Duration least_rtt;  // likewise
    uint32_t tx_pdus;
    uint32_t retransmissions;
    uint32_t unacked_pdus;
    bool stalled;  // so many timeouts in a row that it moves, and nothing was acknowledged since
  };
  // `facts`: of each slot. Returns the slots for which the peer is to be asked now.
  SlotMask OnTimer(std::span<const Facts> facts, const SessionParams& params, const Waits& waits,
                   SecretNumbers& random, Time now);

  // Aborts where the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  // Of the sessions that are open.
  struct Extremes {
    uint32_t least_delay = UINT32_MAX;
    uint32_t most_delay = 0;
    uint32_t best = UINT32_MAX;  // of their weights, as they were measured
    uint32_t worst = 0;
  };
  Extremes Weigh(std::span<const Facts> facts, Duration ack_wait, Time now);
  static Duration RttOf(SessionSlot& slot, const Facts& fact, Duration ack_wait, Time now);
  static bool IsAtRest(const SessionSlot& slot, const Facts& fact);
  static void NoteMarks(SessionSlot& slot, const Facts& fact);
  // What sessions are held against, of those that are open.
  struct Common {
    Duration least;    // the smallest round trip of any
    Duration fastest;  // the one of the fastest now
    uint32_t fewest_marks;
  };
  void NoteWeight(SessionSlot& slot, const Facts& fact, Duration rtt, const Common& common);
  static void SetWeight(SessionSlot& slot, bool beside_new);
  void SetPace(std::span<const Facts> facts, const SessionParams& params, Time now);
  void Judge(const Extremes& extremes, const SessionParams& params, SecretNumbers& random,
             Time now);
  void MoveCongested(const Extremes& extremes, const SessionParams& params, SecretNumbers& random,
                     Time now);
  void NoteMove(const SessionParams& params, Time now);
  void Expire(uint32_t slot, const SessionParams& params, SecretNumbers& random, Time now);
  bool EndDrains(std::span<const Facts> facts);
  bool IsFresh(const SessionSlot& slot, const Facts& fact) const;
  void OpenAnother(SecretNumbers& random, Time now);
  void NoteAsked(SessionSlot& slot, const SessionParams& params, const Waits& waits,
                 Time now) const;
  bool MayBeSlow(const SessionSlot& slot) const;
  Duration SlowAfter(const SessionSlot& slot, const SessionParams& params) const;
  void ForgetOtherOpenings(uint32_t opened);
  void DrainWorst();
  void Ask(uint32_t slot, SessionSlot::State state, SecretNumbers& random, Time now);
  void AskAgain(uint32_t slot, SecretNumbers& random, Time now);
  void OnUnanswered(uint32_t slot, bool stalled, const Waits& waits, SecretNumbers& random,
                    Time now);
  void Fence(uint32_t slot, Time now);
  // From one look at the weights to the next.
  // (The first looks of an association come soon.)
  Duration PaceOf(const SessionParams& params) const {
    return pace_ns_ == 0 ? params.interval / 16 : std::min(Duration(pace_ns_), params.interval);
  }
  bool IsAsking(uint32_t slot) const {
    return slots_[slot].state == SessionSlot::State::kOpening ||
           slots_[slot].state == SessionSlot::State::kMoving;
  }
  static SlotMask BitOf(uint32_t slot) { return SlotMask{1} << slot; }
  // Calls `each` with the slots of the mask.
  template <typename Each>
  static void ForEach(SlotMask mask, Each&& each) {
    for (; mask != 0; mask &= mask - 1) each(static_cast<uint32_t>(std::countr_zero(mask)));
  }
  // Of a run: commands' bytes in all, and what a PDU counts for at least. Runs are for small PDUs:
  // two large ones in a row are much of what congestion control lets be in flight.
  static constexpr int32_t kRunBytes = 2048;
  static constexpr uint32_t kRunStep = 256;

  SlotMask open_ = 1;
  SlotMask fencing_ = 0;
  uint32_t least_weight_ = SessionSlot::kWeightOne;  // of those that were open at the last look
  int32_t run_left_ = 0;  // bytes of commands that may follow the PDU before; 0 or less: none
  uint8_t run_slot_ = 0;
  SessionSlot* slots_ = nullptr;
  Time deadline_ = kNever;
  Time looked_at_{};          // at weights, last
  Time calm_since_ = kNever;  // all weights are low
  Time move_at_{};            // no congested session moves before
  // Of the open sessions, at the last look; 0: not known.
  Duration least_rtt_{};      // the smallest round trip of any,
  Duration fastest_rtt_{};    // and the smoothed one of the fastest
  uint32_t pace_ns_ = 0;      // from one look to the next; 0: the longest that there may be
  uint32_t tx_pdus_ = 0;      // of all slots, at the last look
  uint32_t numbers_ = 1;
  uint8_t count_ = 1;
  uint8_t moves_ = 0;       // of congested sessions, since all looked alike for some time,
  uint8_t even_looks_ = 0;  // which is so many looks
};

}  // namespace suede

#endif  // SUEDE_PEER_SESSION_GROUP_H_
