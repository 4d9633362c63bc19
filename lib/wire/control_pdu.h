// SPDX-License-Identifier: Apache-2.0
// Control PDUs (wire profile §7): the head and bodies that docs/control-pdus.md lays out.
#ifndef SUEDE_WIRE_CONTROL_PDU_H_
#define SUEDE_WIRE_CONTROL_PDU_H_

#include <array>
#include <cstdint>
#include <variant>

#include "base/psn.h"
#include "base/sue.h"
#include "wire/rh.h"

namespace suede {

enum class ControlType : uint8_t {
  kHello = 8,
  kNotReady = 9,
  kReady = 10,
  kPlane = 11,
  kFence = 12,
  kFenced = 13,
  kCredit = 14,
  kCongestion = 15,
  kSession = 16,
};

// The two ends of an association, as the sender of a control PDU names them.
struct Identities {
  uint64_t own = 0;   // the sender's, never 0
  uint64_t peer = 0;  // the receiver's as the sender knows it; 0: unknown
  friend bool operator==(const Identities&, const Identities&) = default;
};

// A PSN for each VC; where a connection spans them, the first counts.
using VcPsns = std::array<Psn, kVcCount>;

// PSNs of the connections of the sessions behind the first one, in order: one for each connection
// of a session.
struct MorePsns {
  static constexpr uint32_t kMax = 63;
  uint8_t count = 0;
  std::array<Psn, kMax> psns{};
  friend bool operator==(const MorePsns&, const MorePsns&) = default;
};

// Makes an association, and tells the settings on which both ends must agree.
struct Hello {
  Identities identities;
  uint64_t nonce = 0;           // never 0
  uint64_t echo = 0;            // of the HELLO that this answers; 0: of none
  uint8_t psn_scope = 0;        // 0: port, 1: VC
  bool answers_planes = false;  // PLANE and FENCE
  bool sends_generations = false;
  bool counts_credit = false;
  uint16_t window_pdus = 0;
  uint16_t pack_limit_bytes = 0;
  uint16_t receive_bytes = 0;  // of commands in the largest PDU that it can receive; 0: not said
  uint16_t receive_lines = 0;  // of the receive ring, for the largest such PDU; 0: not said
  uint16_t sessions = 1;       // sessions that it can keep apart; never 0
  VcPsns first{};              // of generation 0
  std::array<uint32_t, kVcCount> credit_lines{};  // limits since the association began
  bool reply_wanted = false;
  bool hears_pauses = false;        // PLANE with held_up
  bool answers_congestion = false;  // CONGESTION: requests by grants, marks by echoes
  bool wants_echoes = false;        // of ECN marks, and acknowledgements without delay
  friend bool operator==(const Hello&, const Hello&) = default;
};

// The expected PDU came and its VC's receive ring had no room.
struct NotReady {
  Identities identities;
  uint8_t vc = 0;
  Psn expected;
  uint32_t backoff_us = 0;
  friend bool operator==(const NotReady&, const NotReady&) = default;
};

// There is room again.
struct Ready {
  Identities identities;
  uint8_t vc = 0;
  Psn expected;
  friend bool operator==(const Ready&, const Ready&) = default;
};

// How an end of a plane sees it.
enum class PlaneState : uint8_t { kDown = 0, kInit = 1, kUp = 2 };

// The state of the plane that the PDU travels on; or that nothing leaves the sender on another one.
struct PlaneHello {
  Identities identities;
  PlaneState state = PlaneState::kDown;
  uint8_t plane = 0;           // the sender's number of it
  uint16_t tx_generation = 0;  // generation that the sender sends
  uint16_t rx_generation = 0;  // generation that it accepts
  uint32_t sequence = 0;
  uint32_t heard = 0;  // where has_heard
  bool has_heard = false;
  bool reply_wanted = false;
  VcPsns first{};  // of tx_generation
  MorePsns more;
  bool held_up = false;     // of `plane`; nothing else is said then
  uint8_t failed = 0;       // planes that have failed to a peer, a mask by the sender's numbers
  uint8_t hops = 0;         // endpoints that may pass that on, one after the other
  uint8_t heard_plane = 0;  // 1 + the receiver's number of the plane of `heard`, or 0
  bool paired = false;      // with that plane, as long as the association lasts
  friend bool operator==(const PlaneHello&, const PlaneHello&) = default;
};

// Asks the receiver to accept no more of the generation on the plane, and to say how far it got.
struct Fence {
  Identities identities;
  uint8_t plane = 0;  // the sender's number of it
  bool own = false;   // it is the plane that this travels on
  uint16_t generation = 0;
  VcPsns oldest{};  // without an acknowledgement
  MorePsns more;
  friend bool operator==(const Fence&, const Fence&) = default;
};

// The answer to a Fence.
struct Fenced {
  Identities identities;
  uint8_t plane = 0;  // as in the FENCE
  uint16_t generation = 0;
  VcPsns expected{};
  MorePsns more;
  friend bool operator==(const Fenced&, const Fenced&) = default;
};

// Receive credit of one {peer, VC}: the sender asks for it, the receiver grants it. Lines are
// counted since the association began, modulo 2^32.
struct Credit {
  Identities identities;
  uint8_t vc = 0;
  bool grant = false;      // of the receiver; else the sender asks
  bool give_back = false;  // a grant: the sender is to give back what it has not used; else: it has
  bool reply_wanted = false;  // asks: the receiver answers even where it has nothing to grant
  bool on_demand = false;     // a grant: the receiver grants more when it is asked, not before
  uint16_t round = 0;         // times that credit was taken back
  uint32_t limit = 0;         // lines that may have been sent
  uint32_t accepted = 0;      // a grant's: lines that were accepted
  uint32_t sent = 0;    // asks: lines that were sent; a grant repeats the last that it heard of
  uint32_t wanted = 0;  // asks: lines of the PDU that waits; 0: none does
  friend bool operator==(const Credit&, const Credit&) = default;
};

// Congestion control of the plane that the PDU travels on (docs/congestion.md): a request and a
// grant of sending credit, and an echo of the marks that were received. Each part is there where
// its flag says so.
struct Congestion {
  static constexpr uint32_t kMaxCredit = (1u << 24) - 1;  // units of 256 octets, modulo 2^24

  Identities identities;
  bool request = false;
  bool grant = false;
  bool echo = false;
  uint32_t target = 0;    // a request's: the limit that the sender asks for,
  uint32_t sent = 0;      // what it has sent,
  uint32_t limit = 0;     // and the limit that it has
  uint32_t granted = 0;   // a grant's: the limit
  uint32_t received = 0;  // an echo's: data PDUs that came, modulo 2^32,
  uint32_t marked = 0;    // of these, data PDUs with a mark,
  uint32_t trimmed = 0;   // and those that came trimmed, which are none of these,
  uint64_t sessions = 0;  // and by slot, a bit each, those in which marks came since the last echo
  friend bool operator==(const Congestion&, const Congestion&) = default;
};

// A session of the sender's takes another number (docs/sessions.md), or is fenced; or the answer.
struct SessionNumber {
  Identities identities;
  uint8_t slot = 0;
  uint16_t number = 0;
  uint16_t in_use = 0;  // the number that PDUs have until the answer
  uint32_t turn = 0;    // grows by one with each number of the slot, and each fence
  bool answer = false;  // of the receiver, which has taken it
  bool fence = false;   // the receiver accepts nothing more in the session
  bool anew = false;    // it does again, from `psns` on
  VcPsns psns{};        // the first PSNs; of the answer to a fence, the expected ones
  friend bool operator==(const SessionNumber&, const SessionNumber&) = default;
};

// (One that is made without a value is a small one.)
using ControlMessage = std::variant<Ready, NotReady, Credit, Congestion, SessionNumber, Hello,
                                    PlaneHello, Fence, Fenced>;

// Whether the message names the plane that it is about, so that it may travel on any.
inline bool NamesPlane(const ControlMessage& message) {
  return std::holds_alternative<PlaneHello>(message) || std::holds_alternative<Fence>(message) ||
         std::holds_alternative<Fenced>(message);
}

enum class ControlError : uint8_t { kNone, kUnknownType, kMalformed };

inline constexpr uint32_t kControlHeadBytes = 4;
// Bytes of an encoded Congestion: head and body, with the sessions of the marks.
inline constexpr uint32_t kCongestionMessageBytes = kControlHeadBytes + 52;
// Head and longest body: that of a PLANE.
inline constexpr uint32_t kMaxControlPduBytes = kControlHeadBytes + 40 + 2 * MorePsns::kMax;

// The RH of every control PDU.
inline ReliabilityHeader ControlRh(uint16_t xpuid, uint16_t partition) {
  return {.ver = static_cast<uint8_t>(RhVersion::kControl),
          .op = RhOp::kNothing,
          .xpuid = xpuid,
          .partition = partition};
}

// Writes head and body, at most kMaxControlPduBytes, to where a data PDU has its commands. Returns
// their bytes, an even number.
uint32_t EncodeControl(const ControlMessage& message, uint8_t* out);

// Reads the bytes between RH and R-CRC. `message` is set only where kNone is returned.
ControlError DecodeControl(const uint8_t* in, uint32_t bytes, ControlMessage& message);

inline const Identities& IdentitiesOf(const ControlMessage& message) {
  return std::visit([](const auto& m) -> const Identities& { return m.identities; }, message);
}
inline Identities& IdentitiesOf(ControlMessage& message) {
  return std::visit([](auto& m) -> Identities& { return m.identities; }, message);
}

}  // namespace suede

#endif  // SUEDE_WIRE_CONTROL_PDU_H_
