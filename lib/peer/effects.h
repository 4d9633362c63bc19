// SPDX-License-Identifier: Apache-2.0
// The effects that a peer requests: values, in order. The caller executes each before the next, and
// reports to the peer only by further facts.
#ifndef SUEDE_PEER_EFFECTS_H_
#define SUEDE_PEER_EFFECTS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <variant>

#include "base/coordinates.h"
#include "base/time.h"
#include "path/peer_paths.h"
#include "pdu/pdu_list.h"
#include "stats/counters.h"
#include "wire/control_pdu.h"

namespace suede {

// Events that an operator needs to know at once.
enum class PeerEvent : uint8_t {
  kReset,           // the peer has restarted
  kUnreachable,     // the peer does not answer: its PDUs in flight are given up
  kReachable,       // the peer answers again
  kHelloMismatch,   // its HELLO does not agree with ours in `what`
  kPlaneUp,         // the plane to the peer carries traffic
  kPlaneDown,       // the plane carries no traffic any longer: `what` is a PlaneDownReason
  kFenceOpened,     // PDUs of the plane are in doubt
  kSessionOpened,   // PDUs may take the session of the slot `what`, which was idle
  kSessionMoved,    // the session has another number, and so maybe another path
  kSessionStalled,  // no PDU gets through on the session: another number is requested
  kSessionClosed,   // no new PDU takes the session
};

// How given-up PDUs end.
enum class Ending : uint8_t {
  kInDoubt,    // sent, and not known whether they arrived; a PDU that never left is unreachable
  kPeerReset,  // the peer has restarted
};

namespace effect {

// ---- Messages to send. A message without room counts as lost in transit.

// A control PDU. Its identities are the handshake's once the call has ended; they, and the credit
// limits of a HELLO, are filled in as it is encoded.
struct Send {
  PlaneIndex plane = 0;
  ControlMessage message;
};
// A control PDU that has a number of its own in its header.
struct SendFrom {
  PlaneIndex plane = 0;
  uint16_t number = 0;
  ControlMessage message;
};
// The session's frames have the number of its slot from now on.
struct Renumber {
  PlaneIndex plane = 0;
  SessionIndex slot = 0;
};
// A PLANE that reports that no frame leaves our device on `plane`. It is sent over the first plane
// of `enough` whose own device lets frames leave; without one, over all such planes of `over`.
// `if_held`: sends it only if the device of `plane` lets no frames leave.
struct SendHeldUp {
  PlaneIndex plane = 0;
  PlaneMask over = 0;
  PlaneMask enough = 0;
  bool if_held = false;
};
// An unsequenced PDU with this PSN, in the class of PDUs without commands.
struct Probe {
  PlaneIndex plane = 0;
  PathConnection number = 0;
  Psn psn;
};
// The probe of a lost connection; Probes::OnSent is called once the probe is staged.
struct ProbeLost {
  PlaneIndex plane = 0;
  PathConnection number = 0;
};
// The connection has an acknowledgement to send.
struct ScheduleAck {
  PlaneIndex plane = 0;
  PathConnection number = 0;
};
// The connection has PDUs to retransmit.
struct Retransmit {
  PlaneIndex plane = 0;
  PathConnection number = 0;
};

// ---- Ends of PDUs. Their bytes are in flight no longer, as far as the peer counts.

// PDUs of one connection have arrived.
struct Acknowledged {
  PlaneIndex plane = 0;
  PathConnection number = 0;
  PduList pdus;
};
// PDUs of one connection end, and must not leave any more. `hold_last`: the frame that left last is
// kept, as it shows whether the device has returned all of them.
struct GiveUp {
  PlaneIndex plane = 0;
  PathConnection number = 0;
  Ending ending = Ending::kInDoubt;
  bool hold_last = false;
  PduList pdus;
};
// PDUs of one plane, in order, go back to the heads of their queues.
struct Requeue {
  PlaneIndex plane = 0;
  PduList pdus;
};

// ---- Queues to the peer; `vcs` is a mask.

// Queued PDUs end as unreachable.
struct GiveUpQueued {
  uint8_t vcs = 0;
};
// States whether PDUs may be queued: not while `lost`.
struct MarkLost {
  uint8_t vcs = 0;
  bool lost = false;
};
// Queues that wait for a connection may go on.
struct Unblock {
  uint8_t vcs = 0;
};
// Strict: all PDUs of these VCs take this plane.
struct PlaceFlow {
  PlaneIndex plane = 0;
  uint8_t vcs = 0;
};

// ---- Receive credit.

enum class CreditStep : uint8_t {
  kBegin,       // both ends have agreed: Peer::hello has the peer's first grants
  kEnd,         // the association is over
  kUncounted,   // the peer speaks no HELLO
  kGrantFirst,  // the next HELLO to be sent brings the first limits
};
struct CreditChange {
  CreditStep step = CreditStep::kBegin;
};
// The peer has sent this CREDIT, within the association.
struct CreditReceived {
  Credit credit;
};

// ---- Congestion control of a plane; it restarts when receive credit does.

// The peer has sent this CONGESTION on the plane, within the association.
struct CongestionReceived {
  PlaneIndex plane = 0;
  Congestion congestion;
};

// ---- The rest.

struct Emit {
  PeerEvent event = PeerEvent::kReset;
  PlaneIndex plane = 0;
  PathConnection number = 0;
  uint8_t what = 0;
  uint32_t own = 0;  // kHelloMismatch: the two values
  uint32_t theirs = 0;
};
struct Count {
  Counter counter = Counter::kPeerResets;
};
// Calls the timer's On...Deadline at `due` or shortly after.
enum class Timer : uint8_t { kHandshake, kSession, kConnection };
struct Arm {
  Timer timer = Timer::kHandshake;
  PlaneIndex plane = 0;
  PathConnection number = 0;
  Time due = kNever;
};
// Calls OnConnectionDeadline now.
struct CheckConnection {
  PlaneIndex plane = 0;
  PathConnection number = 0;
};
// Sends PLANEs to all peers of the instance on the planes of OwnEnd::failed, a few at a time.
struct ProbeFailed {};

}  // namespace effect

using PeerEffect =
    std::variant<effect::Send, effect::SendFrom, effect::Renumber, effect::SendHeldUp,
                 effect::Probe, effect::ProbeLost, effect::ScheduleAck, effect::Retransmit,
                 effect::Acknowledged, effect::GiveUp, effect::Requeue, effect::GiveUpQueued,
                 effect::MarkLost, effect::Unblock, effect::PlaceFlow, effect::CreditChange,
                 effect::CreditReceived, effect::CongestionReceived, effect::Emit, effect::Count,
                 effect::Arm, effect::CheckConnection, effect::ProbeFailed>;
static_assert(std::is_trivially_destructible_v<PeerEffect>);

// The effects of one call. Lies on the caller's stack; memory is written only as effects are added.
class Effects {
 public:
  // The most effects that the calls for one frame or deadline may add: a HELLO of another boot ends
  // each of kMaxPeerConnections connections, begins the sessions of four planes and their groups,
  // and sends messages; a peer that is given up ends as many and fences four planes.
  static constexpr uint32_t kCapacity = 3 * kMaxPeerConnections + 64;

  Effects() {}  // NOLINT: `storage_` is not initialized
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;

  template <typename T>
  void Add(const T& what) {
    if (count_ == kCapacity) [[unlikely]]
      std::abort();
    new (&storage_[count_++ * sizeof(PeerEffect)]) PeerEffect(what);
  }
  bool empty() const { return count_ == 0; }
  void Clear() { count_ = 0; }
  std::span<PeerEffect> all() {
    return {std::launder(reinterpret_cast<PeerEffect*>(storage_)), count_};
  }

 private:
  uint32_t count_ = 0;
  alignas(PeerEffect) std::byte storage_[kCapacity * sizeof(PeerEffect)];
};

}  // namespace suede

#endif  // SUEDE_PEER_EFFECTS_H_
