// SPDX-License-Identifier: Apache-2.0
// The sessions of one {peer, plane} (docs/sessions.md): the numbers that their frames have, by
// which switches choose a path; which sessions PDUs may take.
//
// Takes facts and the time, returns requests to the peer and a deadline; sends nothing, reads no
// clock. Owned by one lcore.
#ifndef SUEDE_PATH_SESSION_GROUP_H_
#define SUEDE_PATH_SESSION_GROUP_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/coordinates.h"
#include "base/secret_numbers.h"
#include "base/time.h"
#include "path/params.h"
#include "path/session_slot.h"
#include "path/session_weights.h"
#include "wire/control_pdu.h"

namespace suede {

class SessionGroup {
 public:
  // The slots of the group, as many as both ends could ever agree on; they outlive the group.
  void SetSlots(SessionSlot* slots) { slots_ = slots; }
  // An association begins, in which both ends distinguish `count` sessions, a power of two. Slots
  // have their first numbers again. `numbers`: headers distinguish the session numbers below it.
  void Begin(uint32_t count, uint32_t numbers, Time now);

  uint32_t count() const { return count_; }
  const SessionSlot& slot(SessionIndex slot) const { return slots_[slot]; }
  // The sessions that PDUs may take.
  SlotMask open() const { return open_; }

  // ---- Runs: PDUs that could take any session stay with one session for a short while if none is
  // better, so that the choice costs little, and one acknowledgement covers several PDUs.

  // The session that the run takes, if any.
  SessionIndex run_slot() const { return SessionIndex(run_slot_); }
  // Whether the run continues.
  bool InRun() const { return run_left_ > 0 && (open_ >> run_slot_ & 1) != 0; }
  // The most PDUs that the run still takes, 1 or more.
  uint32_t MaxInRun() const {
    return run_left_ <= 0 ? 1 : (static_cast<uint32_t>(run_left_) + kRunStep - 1) / kRunStep;
  }
  // The next PDU takes this session. If no session had less weight at the last evaluation, more
  // PDUs may follow.
  void BeginRun(SessionIndex slot) {
    run_slot_ = static_cast<uint8_t>(slot);
    run_left_ = slots_[slot].weight <= min_weight_ ? kRunBytes : 0;
  }
  // PDUs with `bytes` bytes of commands have taken the session of the run.
  void OnTaken(uint32_t pdus, uint32_t bytes) {
    run_left_ -= static_cast<int32_t>(std::max(bytes, pdus * kRunStep));
  }

  // ---- The peer's numbers.

  SessionIndex SlotOf(uint16_t number) const { return SessionIndex(number & (count_ - 1u)); }
  // Whether the peer has agreed with us on this number; true if there is one session.
  bool Accepts(uint16_t number) const {
    const SessionSlot& slot = slots_[SlotOf(number)];
    return count_ == 1 || number == slot.rx_number || number == slot.rx_former;
  }
  // The peer requests a number. Returns whether to answer.
  bool OnRequest(const SessionNumber& request);
  // The peer fences one of its sessions. Returns whether to answer.
  bool OnFence(const SessionNumber& request);

  // ---- Our numbers.

  enum class Answer : uint8_t {
    kStale,  // the answer is to an earlier request
    kSlow,   // the round trip was slow: another number is requested
    kTaken,  // the slot has the number from now on
  };
  // The peer has taken a number of ours.
  Answer OnAnswer(const SessionNumber& answer, const SessionParams& params, SecretNumbers& random,
                  Time now);
  // The peer has requested a number for the slot; `answers`: we send only acknowledgements there.
  // If the peer requests again soon, these may be lost: requests another number of ours, too.
  // Returns whether it does.
  bool OnPeerMoved(SessionIndex slot, bool answers, SecretNumbers& random, Time now);
  // No PDU gets through on the slot: requests another number. Returns false if a request is
  // pending.
  bool OnStall(SessionIndex slot, SecretNumbers& random, Time now);
  // The sessions that are being fenced.
  SlotMask fencing() const { return fencing_; }
  // Whether `answer` answers a fence of ours.
  bool IsFenced(const SessionNumber& answer) const;
  // Whether the session is fenced, in this turn modulo 2^16.
  bool IsFenced(SessionIndex slot, uint16_t turn) const {
    return (fencing_ >> slot & 1) != 0 && static_cast<uint16_t>(slots_[slot].turn) == turn;
  }
  // The slot is fenced, and its PDUs in flight have left it. The session rests for `rest`, after
  // which none of its frames is in flight any more.
  void OnFenced(SessionIndex slot, Duration rest, Time now);
  // The plane is down: no answer is awaited any longer.
  void OnPlaneDown();
  // The request for the slot. The caller fills in the PSNs of a slot that is reopened.
  SessionNumber RequestOf(SessionIndex slot) const;

  // The peer has seen `pdus` more PDUs with a mark, in the slots of the mask. Divides marks that
  // several slots may have had among them.
  void OnMarked(SlotMask slots, uint32_t pdus);

  // ---- Time.

  // When OnTimer is due.
  Time deadline() const { return deadline_; }
  struct Waits {
    Duration ask_again;  // until the request is repeated
    Duration ack;        // maximum delay of its acknowledgement of a single PDU
    Duration rest;       // of a session with a dead path, until it is opened again
  };
  // A PDU has left when none was in flight. Returns whether the deadline moved.
  bool OnTraffic(Time now, const SessionParams& params);
  // `facts`: of each slot. Returns the slots for which a request is to be sent now.
  SlotMask OnTimer(std::span<const SessionFacts> facts, const SessionParams& params,
                   const Waits& waits, SecretNumbers& random, Time now);

  // Aborts if the state contradicts itself; for tests and fuzzers.
  void CheckInvariants() const;

 private:
  void Evaluate(const SessionWeights::Extremes& extremes, const SessionParams& params,
                SecretNumbers& random, Time now);
  void MoveCongested(std::span<const SessionFacts> facts, const SessionParams& params,
                     SecretNumbers& random, Time now);
  void Expire(SessionIndex slot, const SessionFacts& facts, const SessionParams& params,
              SecretNumbers& random, Time now);
  bool EndDrains(std::span<const SessionFacts> facts);
  void OpenAnother(SecretNumbers& random, Time now);
  void OnRequested(SessionSlot& slot, const SessionParams& params, const Waits& waits,
                   Time now) const;
  void ForgetOtherOpenings(uint32_t opened);
  void DrainWorst();
  void Request(SessionIndex slot, SessionSlot::State state, SecretNumbers& random, Time now);
  void RequestAgain(SessionIndex slot, SecretNumbers& random, Time now);
  void OnUnanswered(SessionIndex slot, bool stalled, const Waits& waits, SecretNumbers& random,
                    Time now);
  bool LeaveStalled(SessionIndex slot, Time now);
  void Fence(SessionIndex slot, Time now);
  // Bytes of commands in a run, and the min bytes that a PDU counts for. Runs are for small PDUs:
  // two large ones in a row are much of what congestion control permits in flight.
  static constexpr int32_t kRunBytes = 2048;
  static constexpr uint32_t kRunStep = 256;

  SlotMask open_ = 1;
  SlotMask fencing_ = 0;
  uint32_t min_weight_ = SessionSlot::kWeightOne;  // of the sessions open at the last evaluation
  int32_t run_left_ = 0;  // bytes of commands that may follow the last PDU; 0 or less: none
  uint8_t run_slot_ = 0;
  SessionSlot* slots_ = nullptr;
  Time deadline_ = kNever;
  Time calm_since_ = kNever;  // all weights are low
  SessionWeights weights_;
  uint32_t numbers_ = 1;
  uint8_t count_ = 1;
};

}  // namespace suede

#endif  // SUEDE_PATH_SESSION_GROUP_H_
