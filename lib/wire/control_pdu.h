// Control PDUs (wire profile §7): the head and bodies that docs/control-pdus.md lays out.
#ifndef SUEDE_WIRE_CONTROL_PDU_H_
#define SUEDE_WIRE_CONTROL_PDU_H_

#include <cstdint>
#include <variant>

#include "base/psn.h"
#include "wire/rh.h"

namespace suede {

enum class ControlType : uint8_t { kHello = 1, kNotReady = 2, kReady = 3 };

// Which boot of an endpoint speaks, and what both ends must agree on.
struct Hello {
  uint32_t epoch = 0;       // the sender's boot, never 0
  uint32_t peer_epoch = 0;  // the receiver's boot as the sender knows it; 0: unknown
  uint8_t psn_scope = 0;    // 0: port, 1: VC
  uint16_t window_pdus = 0;
  uint16_t pack_limit_bytes = 0;
  bool reply_wanted = false;
  bool continuing = false;  // the sender has exchanged sequenced PDUs since its boot
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

using ControlMessage = std::variant<Hello, NotReady, Ready>;

enum class ControlError : uint8_t { kNone, kUnknownType, kMalformed };

inline constexpr uint32_t kControlHeadBytes = 4;
inline constexpr uint32_t kMaxControlPduBytes = kControlHeadBytes + 16;  // head and longest body

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
