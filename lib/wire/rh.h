// SPDX-License-Identifier: Apache-2.0
// The reliability header (SUE framework §3.3 Table 3, wire profile §2).
#ifndef SUEDE_WIRE_RH_H_
#define SUEDE_WIRE_RH_H_

#include <cstdint>

#include "base/big_endian.h"
#include "base/psn.h"

namespace suede {

inline constexpr uint32_t kRhBytes = 8;
inline constexpr uint32_t kRcrcBytes = 4;
inline constexpr uint32_t kMinPduBytes = kRhBytes + kRcrcBytes;
inline constexpr uint32_t kMinFrameBytes = 60;  // wire profile §1: shorter frames are padded

enum class RhVersion : uint8_t { kData = 0, kControl = 3 };

// The kind of `rpsn`. 3 on the wire reads as kNothing.
enum class RhOp : uint8_t { kAck = 0, kNack = 1, kNothing = 2 };

struct ReliabilityHeader {
  uint8_t ver = 0;  // 0 to 3, as on the wire: the reader counts reserved values
  RhOp op = RhOp::kNothing;
  uint16_t xpuid = 0;  // the XPU that sent the PDU, 0 to 1023
  Psn psn;
  uint8_t vc = 0;
  uint16_t partition = 0;  // 0 to 1023
  Psn rpsn;
};

// A header without its PSN, for PDUs that differ in their PSNs only.
class RhTemplate {
 public:
  explicit RhTemplate(const ReliabilityHeader& rh)
      : word_(uint64_t{rh.ver} << 62 | uint64_t(rh.op) << 60 | uint64_t{rh.xpuid} << 48 |
              uint64_t{rh.vc} << 30 | uint64_t{rh.partition} << 16 | rh.rpsn.value()) {}
  void Encode(Psn psn, uint8_t* out) const { StoreBe64(out, word_ | uint64_t{psn.value()} << 32); }

 private:
  uint64_t word_;
};

inline void EncodeRh(const ReliabilityHeader& rh, uint8_t* out) {
  RhTemplate(rh).Encode(rh.psn, out);
}

// A received header, whose fields are decoded on access.
class RhWord {
 public:
  RhWord() = default;
  explicit RhWord(const uint8_t* in) : word_(LoadBe64(in)) {}
  uint8_t ver() const { return static_cast<uint8_t>(word_ >> 62); }
  bool Is(RhVersion version) const { return ver() == static_cast<uint8_t>(version); }
  RhOp op() const {
    const auto op = static_cast<uint8_t>(word_ >> 60 & 3);
    return op > 2 ? RhOp::kNothing : static_cast<RhOp>(op);
  }
  uint16_t xpuid() const { return static_cast<uint16_t>(word_ >> 48 & 0x3ff); }
  Psn psn() const { return Psn(static_cast<uint16_t>(word_ >> 32)); }
  uint8_t vc() const { return static_cast<uint8_t>(word_ >> 30 & 3); }
  uint16_t partition() const { return static_cast<uint16_t>(word_ >> 16 & 0x3ff); }
  Psn rpsn() const { return Psn(static_cast<uint16_t>(word_)); }
  // Returns the fields that all PDUs of one PSN sequence share: all but op and PSNs.
  uint64_t Flow() const { return word_ & kFlow; }

 private:
  static constexpr uint64_t kFlow =
      uint64_t{3} << 62 | uint64_t{0x3ff} << 48 | uint64_t{3} << 30 | uint64_t{0x3ff} << 16;
  uint64_t word_ = 0;
};

inline ReliabilityHeader DecodeRh(const uint8_t* in) {
  const RhWord rh(in);
  return {.ver = rh.ver(),
          .op = rh.op(),
          .xpuid = rh.xpuid(),
          .psn = rh.psn(),
          .vc = rh.vc(),
          .partition = rh.partition(),
          .rpsn = rh.rpsn()};
}

}  // namespace suede

#endif  // SUEDE_WIRE_RH_H_
