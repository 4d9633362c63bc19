// SPDX-License-Identifier: Apache-2.0
// A page of registers (docs/registers.md, "Pages"): values at the addresses of the map, and a
// doorbell, in memory that another process shares and may write at any time.
#ifndef SUEDE_REGISTERS_REGISTER_PAGE_H_
#define SUEDE_REGISTERS_REGISTER_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "registers/register_map.h"

namespace suede {

class RegisterPage {
 public:
  static constexpr size_t kBytes = size_t{8} << 20;  // a power of two, as PCI wants of a BAR
  static constexpr uint32_t kDoorbell = 0x7ff000;    // behind the map
  static constexpr uint32_t kMagic = 0x52455347;
  static constexpr uint32_t kVersion = 1;

  // Words of the doorbell, as offsets from kDoorbell.
  enum Word : uint32_t {
    kMagicWord = 0x00,
    kVersionWord = 0x04,
    kRefreshes = 0x08,  // 64 bits
    kAddress = 0x10,    // of the other process, up to kRequest
    kWidth = 0x14,      // bits
    kOperation = 0x18,  // 0: read, 1: write
    kRequest = 0x1c,
    kValue = 0x20,   // 64 bits
    kAnswer = 0x28,  // of the daemon, from here on
    kStatus = 0x2c,
    kResult = 0x30,  // 64 bits
  };
  struct Access {
    uint32_t address = 0;
    uint32_t width_bits = 0;
    bool is_write = false;
    uint64_t value = 0;
  };

  // Writes magic and version. `memory`: kBytes of zeros, aligned to 8 bytes, which outlive this.
  explicit RegisterPage(std::byte* memory);

  // Writes the value of a register.
  void Store(const RegisterRef& ref, uint64_t value);
  // Writes the number of times that all registers have been stored.
  void SetRefreshes(uint64_t count);

  // Returns the access that the other process requests, once for each number. The caller answers it
  // before it calls Take again. An access with an unknown operation is answered with -EINVAL here.
  std::optional<Access> Take();
  // Answers the access of the last Take: 0 and the value, or a negative errno value and 0.
  void Answer(int32_t status, uint64_t value);

 private:
  std::byte* const memory_;
  uint32_t answered_ = 0;  // number of the last request
};

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_PAGE_H_
