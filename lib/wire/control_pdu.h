// SPDX-License-Identifier: Apache-2.0
// Control PDUs (wire profile §7): the head and bodies that docs/control-pdus.md lays out.
#ifndef SUEDE_WIRE_CONTROL_PDU_H_
#define SUEDE_WIRE_CONTROL_PDU_H_

#include <array>
#include <cstdint>
#include <variant>

#include "base/psn.h"
#include "base/psn_bits.h"
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
  kPath = 17,
  kRepair = 18,
};

// Identities of the two ends of an association, as the sender of a control PDU knows them.
struct Identities {
  uint64_t own = 0;   // the sender's; never 0
  uint64_t peer = 0;  // the receiver's as the sender knows it; 0: unknown
  friend bool operator==(const Identities&, const Identities&) = default;
};

// A PSN for each VC. If a connection spans the VCs, only the first counts.
using VcPsns = std::array<Psn, kVcCount>;

// PSNs of the sessions behind the first, in order: one for each connection of a session.
struct MorePsns {
  static constexpr uint32_t kMax = 63;
  uint8_t count = 0;
  std::array<Psn, kMax> psns{};
  friend bool operator==(const MorePsns&, const MorePsns&) = default;
};

// Establishes an association, and announces the settings on which both ends must agree.
struct Hello {
  static constexpr ControlType kType = ControlType::kHello;
  Identities identities;
  uint64_t nonce = 0;           // never 0
  uint64_t echo = 0;            // nonce of the HELLO that this one answers; 0: answers none
  uint8_t psn_scope = 0;        // 0: port, 1: VC
  bool answers_planes = false;  // supports PLANE and FENCE
  bool sends_generations = false;
  bool counts_credit = false;
  uint16_t window_pdus = 0;
  uint16_t pack_limit_bytes = 0;
  uint16_t receive_bytes = 0;  // of commands in the largest PDU that it can receive; 0: unspecified
  uint16_t receive_lines = 0;  // receive ring lines for the largest such PDU; 0: unspecified
  uint16_t sessions = 1;       // sessions that it can distinguish; never 0
  VcPsns first{};              // first PSNs, of generation 0
  std::array<uint32_t, kVcCount> credit_lines{};  // limits since the association began
  bool reply_wanted = false;
  bool hears_pauses = false;        // supports PLANE with held_up
  bool answers_congestion = false;  // supports CONGESTION: grants and echoes
  bool wants_echoes = false;        // wants echoes of ECN marks, and acknowledgements without delay
  bool answers_path = false;        // answers probes of the path (PATH)
  bool selective = false;           // repairs selectively (REPAIR)
  bool unordered = false;           // its PDUs may be delivered in any order
  friend bool operator==(const Hello&, const Hello&) = default;
};

// Rejects the expected PDU, because its VC's receive ring had no room.
struct NotReady {
  static constexpr ControlType kType = ControlType::kNotReady;
  Identities identities;
  uint8_t vc = 0;
  Psn expected;
  uint32_t backoff_us = 0;
  friend bool operator==(const NotReady&, const NotReady&) = default;
};

// Announces that the receive ring has room again.
struct Ready {
  static constexpr ControlType kType = ControlType::kReady;
  Identities identities;
  uint8_t vc = 0;
  Psn expected;
  friend bool operator==(const Ready&, const Ready&) = default;
};

// State of a plane as one of its ends sees it.
enum class PlaneState : uint8_t { kDown = 0, kInit = 1, kUp = 2 };

// State of the plane on which the PDU travels; or, with held_up, the notice that the sender cannot
// transmit on another plane.
struct PlaneHello {
  static constexpr ControlType kType = ControlType::kPlane;
  Identities identities;
  PlaneState state = PlaneState::kDown;
  uint8_t plane = 0;           // the sender's number of the plane
  uint16_t tx_generation = 0;  // generation that the sender sends
  uint16_t rx_generation = 0;  // generation that the sender accepts
  uint32_t sequence = 0;
  uint32_t heard = 0;  // valid if has_heard
  bool has_heard = false;
  bool reply_wanted = false;
  VcPsns first{};  // first PSNs of tx_generation
  MorePsns more;
  bool held_up = false;     // `plane` cannot transmit; the other fields are then unused
  uint8_t failed = 0;       // mask of failed planes to a peer, by the sender's numbers
  uint8_t hops = 0;         // remaining hops by which `failed` may be relayed
  uint8_t heard_plane = 0;  // 1 + the receiver's number of the plane of `heard`; 0: unspecified
  bool paired = false;      // paired with heard_plane until the association ends
  friend bool operator==(const PlaneHello&, const PlaneHello&) = default;
};

// Requests that the receiver accept no more PDUs of the generation on the plane, and report the
// PSNs that it expects next.
struct Fence {
  static constexpr ControlType kType = ControlType::kFence;
  Identities identities;
  uint8_t plane = 0;  // the sender's number of the plane
  bool own = false;   // `plane` is the one on which this PDU travels
  uint16_t generation = 0;
  VcPsns oldest{};  // oldest PSNs without an acknowledgement
  MorePsns more;
  friend bool operator==(const Fence&, const Fence&) = default;
};

// Answers a Fence.
struct Fenced {
  static constexpr ControlType kType = ControlType::kFenced;
  Identities identities;
  uint8_t plane = 0;  // as in the FENCE
  uint16_t generation = 0;
  VcPsns expected{};
  MorePsns more;
  uint8_t repairs = 0;  // REPAIRs about the fence in front of this PDU
  friend bool operator==(const Fenced&, const Fenced&) = default;
};

// Receive credit of one {peer, VC}: the sender requests it, the receiver grants it. Lines are
// counted since the association began, modulo 2^32.
struct Credit {
  static constexpr ControlType kType = ControlType::kCredit;
  Identities identities;
  uint8_t vc = 0;
  bool grant = false;         // true: a grant by the receiver; false: a request by the sender
  bool give_back = false;     // grant: return unused credit; request: it was returned
  bool reply_wanted = false;  // request: the receiver answers even if it has nothing to grant
  bool on_demand = false;     // grant: the receiver grants more only on request
  uint16_t round = 0;         // number of times that credit was revoked
  uint32_t limit = 0;         // lines that may have been sent
  uint32_t accepted = 0;      // grant: lines that were accepted
  uint32_t sent = 0;          // request: lines that were sent; grant: the last such number received
  uint32_t wanted = 0;        // request: lines of the PDU that waits; 0: none waits
  friend bool operator==(const Credit&, const Credit&) = default;
};

// Congestion control of the plane on which the PDU travels (docs/congestion.md): a request and a
// grant of sending credit, and an echo of received marks. Each part is present if its flag is set.
struct Congestion {
  static constexpr ControlType kType = ControlType::kCongestion;
  static constexpr uint32_t kMaxCredit = (1u << 24) - 1;  // units of 256 octets, modulo 2^24

  Identities identities;
  bool request = false;
  bool grant = false;
  bool echo = false;
  uint32_t target = 0;    // request: the requested limit
  uint32_t sent = 0;      // request: units sent
  uint32_t limit = 0;     // request: the current limit
  uint32_t granted = 0;   // grant: the limit
  uint32_t received = 0;  // echo: data PDUs received, modulo 2^32, untrimmed
  uint32_t marked = 0;    // echo: number of these with a mark
  uint32_t trimmed = 0;   // echo: trimmed data PDUs, not in `received`
  uint64_t sessions = 0;  // echo: mask by slot of the sessions marked since the last echo
  friend bool operator==(const Congestion&, const Congestion&) = default;
};

// Announces another number for a session of the sender (docs/sessions.md), or fences the session;
// or answers either.
struct SessionNumber {
  static constexpr ControlType kType = ControlType::kSession;
  Identities identities;
  uint8_t slot = 0;
  uint16_t number = 0;
  uint16_t in_use = 0;  // number in PDUs until the answer arrives
  uint32_t turn = 0;    // incremented with each new number and each fence of the slot
  bool answer = false;  // from the receiver, which has applied the change
  bool fence = false;   // requests that the receiver accept nothing more in the session
  bool anew = false;    // requests that PDUs be accepted again, from `psns` on
  VcPsns psns{};        // first PSNs; in the answer to a fence, the expected PSNs
  uint8_t repairs = 0;  // in the answer to a fence: REPAIRs about it in front of this PDU
  friend bool operator==(const SessionNumber&, const SessionNumber&) = default;
};

// The fields of a network header that a switch may change.
struct FrameMarks {
  uint8_t ds = 0;    // DSCP and ECN, valid if has_ds
  uint8_t hops = 0;  // TTL, hop limit or hop count, valid if has_hops
  uint16_t tci = 0;  // of the IEEE 802.1Q tag, valid if tagged
  bool has_ds = false;
  bool has_hops = false;
  bool tagged = false;
  friend bool operator==(const FrameMarks&, const FrameMarks&) = default;
};

// A probe of the path on which it travels, or the report of a probe's arrival (docs/path.md).
struct Path {
  static constexpr ControlType kType = ControlType::kPath;
  static constexpr uint8_t kClasses = kVcCount + 1;  // of each VC, and of PDUs without commands

  Identities identities;
  bool report = false;
  bool long_reply = false;    // probe: the report has the length of the probe
  uint8_t traffic_class = 0;  // of the PDU, and of the report of a probe; below kClasses
  uint32_t number = 0;        // of the probe
  uint64_t sent_ns = 0;       // the probe's departure by its sender's clock
  // Only of a report:
  uint64_t received_ns = 0;  // the probe's arrival by the reporter's clock
  uint32_t order = 0;        // probes that the reporter's plane had received before
  uint16_t bytes = 0;        // of the probe's frame as it arrived, without FCS
  FrameMarks there;          // of the probe as it arrived
  FrameMarks sent;           // of the report as it leaves
  // Counters of the reporter, modulo 2^32: frames for other addresses, with a wrong R-CRC, that are
  // not SUE's, trimmed frames, and PFC frames.
  uint32_t address_drops = 0;
  uint32_t rcrc_drops = 0;
  uint32_t not_sue_drops = 0;
  uint32_t trimmed = 0;
  uint32_t pauses = 0;
  friend bool operator==(const Path&, const Path&) = default;
};

// PDUs ahead of the expected one that have arrived, and PDUs to be sent again (docs/repair.md).
struct Repair {
  static constexpr ControlType kType = ControlType::kRepair;
  Identities identities;
  uint8_t vc = 0;
  uint8_t slot = 0;  // of a fence: the session
  Psn expected;
  bool fenced_plane = false;    // about the fence of `plane` and `generation`
  bool fenced_session = false;  // about that of the session; `generation` is its turn modulo 2^16
  uint8_t plane = 0;            // of a fence: as in the FENCE
  uint16_t generation = 0;
  PsnMarks marks;
  friend bool operator==(const Repair&, const Repair&) = default;
};

// The first alternative, which a default-constructed message holds, is a small one.
using ControlMessage = std::variant<Ready, NotReady, Credit, Congestion, SessionNumber, Hello,
                                    PlaneHello, Fence, Fenced, Path, Repair>;

// Whether the message names the plane that it concerns, so that it may travel on any plane.
inline bool NamesPlane(const ControlMessage& message) {
  return std::holds_alternative<PlaneHello>(message) || std::holds_alternative<Fence>(message) ||
         std::holds_alternative<Fenced>(message) ||
         (std::holds_alternative<Repair>(message) && std::get<Repair>(message).fenced_plane);
}

enum class ControlError : uint8_t { kNone, kUnknownType, kMalformed };

inline constexpr uint32_t kControlHeadBytes = 4;
// Bytes of an encoded Congestion: head and body, with the sessions of the marks.
inline constexpr uint32_t kCongestionMessageBytes = kControlHeadBytes + 52;
// Head and longest body, that of REPAIR.
inline constexpr uint32_t kMaxControlPduBytes = kMaxReportBytes;

// The RH of every control PDU.
inline ReliabilityHeader ControlRh(uint16_t xpuid, uint16_t partition) {
  return {.ver = static_cast<uint8_t>(RhVersion::kControl),
          .op = RhOp::kNothing,
          .xpuid = xpuid,
          .partition = partition};
}

// Writes head and body, at most kMaxControlPduBytes, to `out`, which is the place of the commands
// in a data PDU. Returns the number of bytes, which is even.
uint32_t EncodeControl(const ControlMessage& message, uint8_t* out);

// Reads `bytes` bytes between RH and R-CRC. Sets `message` only if it returns kNone.
ControlError DecodeControl(const uint8_t* in, uint32_t bytes, ControlMessage& message);

inline const Identities& IdentitiesOf(const ControlMessage& message) {
  return std::visit([](const auto& m) -> const Identities& { return m.identities; }, message);
}
inline Identities& IdentitiesOf(ControlMessage& message) {
  return std::visit([](auto& m) -> Identities& { return m.identities; }, message);
}

}  // namespace suede

#endif  // SUEDE_WIRE_CONTROL_PDU_H_
