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
  kHello = 1,
  kNotReady = 2,
  kReady = 3,
  kPlane = 4,
  kFence = 5,
  kFenced = 6,
};

// Which boot of an endpoint speaks, and what both ends must agree on.
struct Hello {
  uint32_t epoch = 0;       // the sender's boot, never 0
  uint32_t peer_epoch = 0;  // the receiver's boot as the sender knows it; 0: unknown
  uint8_t psn_scope = 0;    // 0: port, 1: VC
  uint16_t window_pdus = 0;
  uint16_t pack_limit_bytes = 0;
  uint16_t receive_bytes = 0;    // of commands in the largest PDU that it can receive; 0: not said
  bool answers_planes = false;   // PLANE and FENCE
  bool sends_generations = false;
  bool reply_wanted = false;
  bool continuing = false;  // it has accepted sequenced PDUs, or sent some, since its boot
  friend bool operator==(const Hello&, const Hello&) = default;
};

// The expected PDU came and its VC's receive ring had no room.
struct NotReady {
  uint8_t vc = 0;
  Psn expected;
  uint32_t backoff_us = 0;
  friend bool operator==(const NotReady&, const NotReady&) = default;
};

// There is room again.
struct Ready {
  uint8_t vc = 0;
  Psn expected;
  friend bool operator==(const Ready&, const Ready&) = default;
};

// A PSN for each VC; where a connection spans them, the first counts.
using VcPsns = std::array<Psn, kVcCount>;

// How an end of a plane sees it.
enum class PlaneState : uint8_t { kDown = 0, kInit = 1, kUp = 2 };

// The state of the plane that it travels on.
struct PlaneHello {
  uint32_t epoch = 0;
  uint32_t peer_epoch = 0;
  PlaneState state = PlaneState::kDown;
  uint8_t plane = 0;            // the sender's number of it
  uint16_t tx_generation = 0;   // that the sender sends
  uint16_t rx_generation = 0;   // that it accepts
  uint16_t sequence = 0;
  uint16_t heard = 0;           // where has_heard
  bool has_heard = false;
  bool reply_wanted = false;
  VcPsns first{};               // of tx_generation
  friend bool operator==(const PlaneHello&, const PlaneHello&) = default;
};

// Accept no more of the generation on the plane, and say how far it got.
struct Fence {
  uint32_t epoch = 0;
  uint32_t peer_epoch = 0;
  uint8_t plane = 0;  // the sender's number of it
  bool own = false;   // it is the plane that this travels on
  uint16_t generation = 0;
  VcPsns oldest{};    // without an acknowledgement
  friend bool operator==(const Fence&, const Fence&) = default;
};

// The answer.
struct Fenced {
  uint32_t epoch = 0;
  uint32_t peer_epoch = 0;
  uint8_t plane = 0;  // as in the FENCE
  uint16_t generation = 0;
  VcPsns expected{};
  friend bool operator==(const Fenced&, const Fenced&) = default;
};

using ControlMessage = std::variant<Hello, NotReady, Ready, PlaneHello, Fence, Fenced>;

enum class ControlError : uint8_t { kNone, kUnknownType, kMalformed };

inline constexpr uint32_t kControlHeadBytes = 4;
inline constexpr uint32_t kMaxControlPduBytes = kControlHeadBytes + 28;  // head and longest body

// The RH of every control PDU.
inline ReliabilityHeader ControlRh(uint16_t xpuid, uint16_t partition) {
  return {.ver = static_cast<uint8_t>(RhVersion::kControl),
          .op = RhOp::kNothing,
          .xpuid = xpuid,
          .partition = partition};
}

// Writes head and body, at most kMaxControlPduBytes, to where a data PDU has its commands. Returns
// their octets, an even number.
uint32_t EncodeControl(const ControlMessage& message, uint8_t* out);

// Reads what stands between RH and R-CRC. `message` is set only where kNone is returned.
ControlError DecodeControl(const uint8_t* in, uint32_t bytes, ControlMessage& message);

}  // namespace suede

#endif  // SUEDE_WIRE_CONTROL_PDU_H_
