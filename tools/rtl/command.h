// SPDX-License-Identifier: Apache-2.0
// A command as the signals of both tables carry it.
#ifndef SUEDE_RTL_COMMAND_H_
#define SUEDE_RTL_COMMAND_H_

#include <array>
#include <cstdint>

namespace suede::rtl {

constexpr uint32_t kVcs = 4;
constexpr uint32_t kKinds = 2;  // 0 command only, 1 command with data

struct Command {
  bool has_data() const { return (control[0] & 0x10) != 0; }
  uint32_t kind() const { return has_data() ? 1 : 0; }
  uint32_t control_bytes() const { return 2u * (control[0] & 0x0fu); }
  uint32_t data_bytes() const { return has_data() ? control[1] + 1u : 0; }
  // Returns the beats that carry it, each with `beat_bytes` of data.
  uint32_t beats(uint32_t beat_bytes) const {
    return has_data() ? (data_bytes() + beat_bytes - 1) / beat_bytes : 1;
  }

  uint64_t number = 0;  // of the commands of a Table 1 interface, from 0
  uint16_t xpuid = 0;   // the other XPU
  uint8_t vc = 0;
  bool is_error = false;  // tx_err
  std::array<uint8_t, 18> control{};
  std::array<uint8_t, 256> data{};
};

// The signals of a beat; tx_err and rx_… have their own.
struct Beat {
  uint8_t valid = 0;  // 0 none, 1 command only, 2 command with data
  uint8_t cycle = 0;
  uint8_t vc = 0;
  uint16_t xpuid = 0;
  std::array<uint8_t, 18> control{};
  std::array<uint8_t, 256> data{};  // the first N / 8 bytes
};

// The three bits of tx_credit or rx_credit for one kind. vc < 0: none.
struct CreditBits {
  static uint32_t Encode(int vc) { return vc < 0 ? 0 : 4u | static_cast<uint32_t>(vc); }
  static int Decode(uint32_t credit, uint32_t kind) {
    const uint32_t bits = credit >> (3 * kind) & 7;
    return (bits & 4) != 0 ? static_cast<int>(bits & 3) : -1;
  }
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_COMMAND_H_
