// SPDX-License-Identifier: Apache-2.0
// The effects that a peer wants done: values, in order. The room above carries them out, each
// before the next, and tells the peer nothing of them but by further facts.
#ifndef SUEDE_PEER_EFFECTS_H_
#define SUEDE_PEER_EFFECTS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <variant>

#include "base/time.h"
#include "pdu/pdu_list.h"
#include "peer/peer_paths.h"
#include "stats/counters.h"
#include "wire/control_pdu.h"

namespace suede {

// Events that an operator wants to know at once.
enum class PeerEvent : uint8_t {
  kReset,           // the peer has restarted
  kUnreachable,     // it does not answer: its PDUs in flight are given up
  kReachable,       // it answers again
  kHelloMismatch,   // its HELLO does not agree with ours in `what`
  kPlaneUp,         // the plane to it carries traffic
  kPlaneDown,       // it does not any longer: `what` is a PlaneDownReason
  kFenceOpened,     // PDUs of the plane are in doubt
  kSessionOpened,   // PDUs may take the session of the slot `what`, which was idle
  kSessionMoved,    // it has another number, and so maybe another path
  kSessionStalled,  // nothing gets through on it: it asks for another number
  kSessionClosed,   // nothing new takes it
};

// How PDUs end that are given up.
enum class Ending : uint8_t {
  kInDoubt,    // sent, and nobody knows whether they arrived; one that never left is unreachable
  kPeerReset,  // the peer has restarted
};

namespace effect {

// ---- Messages to send. A message without room is as if it were lost on the way.

// A control PDU. Its identities are those of the handshake once the call has ended; they, and the
// credit limits of a HELLO, are filled in as it is encoded.
struct Say {
  uint8_t plane = 0;
  ControlMessage message;
};
// A control PDU that has a number of its own in its header.
struct SayFrom {
  uint8_t plane = 0;
  uint16_t number = 0;
  ControlMessage message;
};
// The session's frames have the number of its slot from now on.
struct Renumber {
  uint8_t plane = 0;
  uint8_t slot = 0;
};
// A PLANE that says that nothing leaves our device on `plane`: over those of the planes `over`
// whose own device lets frames leave, up to the first of `enough`; that one alone where there is
// one. `if_held`: where the device of `plane` lets none leave, else nothing.
struct SayHeldUp {
  uint8_t plane = 0;
  PlaneMask over = 0;
  PlaneMask enough = 0;
  bool if_held = false;
};
// An unsequenced PDU with this PSN, in the class of those without commands.
struct Probe {
  uint8_t plane = 0;
  uint8_t vc = 0;
  Psn psn;
};
// The probe of a connection that is lost; Connection::OnProbeSent is told once it is staged.
struct ProbeLost {
  uint8_t plane = 0;
  uint8_t vc = 0;
};
// The connection owes an acknowledgement.
struct OweAck {
  uint8_t plane = 0;
  uint8_t vc = 0;
};
// The connection has something to send again.
struct Retransmit {
  uint8_t plane = 0;
  uint8_t vc = 0;
};

// ---- Ends of PDUs. Their bytes are in flight no longer, as far as the peer counts.

// Of one connection: they have arrived.
struct Acknowledged {
  uint8_t plane = 0;
  uint8_t vc = 0;
  PduList pdus;
};
// Of one connection: they end, and must not leave any more. `hold_last`: the frame that left last
// is kept, as it says whether the device has given back all of them.
struct GiveUp {
  uint8_t plane = 0;
  uint8_t vc = 0;
  Ending ending = Ending::kInDoubt;
  bool hold_last = false;
  PduList pdus;
};
// Of one plane, in order: they go back to the heads of their queues.
struct Requeue {
  uint8_t plane = 0;
  PduList pdus;
};

// ---- Queues to the peer; `vcs` is a mask.

// Queued PDUs end as unreachable.
struct GiveUpQueued {
  uint8_t vcs = 0;
};
// Whether anything may be queued.
struct MarkLost {
  uint8_t vcs = 0;
  bool lost = false;
};
// Those that wait for a connection may go on.
struct Unblock {
  uint8_t vcs = 0;
};
// Strict: all of these VCs takes this plane.
struct Home {
  uint8_t plane = 0;
  uint8_t vcs = 0;
};

// ---- Receive credit.

enum class CreditStep : uint8_t {
  kBegin,       // both ends have agreed: Peer::hello has what the peer grants at first
  kEnd,         // the association is over
  kUncounted,   // the peer speaks no HELLO
  kGrantFirst,  // the HELLO that is said next brings the first limits
};
struct CreditChange {
  CreditStep step = CreditStep::kBegin;
};
// The peer has said this, within the association.
struct CreditHeard {
  Credit credit;
};

// ---- Congestion control of a plane; it starts anew where receive credit does.

// The peer has said this on the plane, within the association.
struct CongestionHeard {
  uint8_t plane = 0;
  Congestion congestion;
};

// ---- The rest.

struct Tell {
  PeerEvent event = PeerEvent::kReset;
  uint8_t plane = 0;
  uint8_t vc = 0;
  uint8_t what = 0;
  uint32_t own = 0;  // kHelloMismatch: the two values
  uint32_t theirs = 0;
};
struct Count {
  Counter counter = Counter::kPeerResets;
};
// The deadline of this is to be told not before `due`, and soon after it.
enum class Timer : uint8_t { kHandshake, kSession, kConnection };
struct Arm {
  Timer timer = Timer::kHandshake;
  uint8_t plane = 0;
  uint8_t vc = 0;
  Time due = kNever;
};
// OnConnectionDeadline is to be called now.
struct LookAt {
  uint8_t plane = 0;
  uint8_t vc = 0;
};
// All peers of the instance are to be asked on the planes of OwnEnd::failed, a few at a time.
struct AskOnFailed {};

}  // namespace effect

using PeerEffect =
    std::variant<effect::Say, effect::SayFrom, effect::Renumber, effect::SayHeldUp, effect::Probe,
                 effect::ProbeLost, effect::OweAck, effect::Retransmit, effect::Acknowledged,
                 effect::GiveUp, effect::Requeue, effect::GiveUpQueued, effect::MarkLost,
                 effect::Unblock, effect::Home, effect::CreditChange, effect::CreditHeard,
                 effect::CongestionHeard, effect::Tell, effect::Count, effect::Arm, effect::LookAt,
                 effect::AskOnFailed>;
static_assert(std::is_trivially_destructible_v<PeerEffect>);

// The effects of one call. Lies on the caller's stack; nothing of it is written before it is used.
class Effects {
 public:
  // The most that the calls for one frame or deadline may add: a HELLO of another boot ends each of
  // kMaxPeerConnections connections, begins the sessions of four planes and their groups, and says
  // what follows; a peer that is given up ends as many and fences four planes.
  static constexpr uint32_t kCapacity = 3 * kMaxPeerConnections + 64;

  Effects() {}  // NOLINT: `storage_` is left as it is
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
