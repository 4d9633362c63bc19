// SPDX-License-Identifier: Apache-2.0
// Interface through which methods access registers (docs/registers.md). app/endpoint implements it.
#ifndef SUEDE_MGMT_REGISTER_VIEW_H_
#define SUEDE_MGMT_REGISTER_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace suede {

// A row of the register map: one register, or one register per index.
struct RegisterRowView {
  std::string name;  // "port.N.link_up" if there is one for each index N
  uint32_t address = 0;
  uint32_t stride = 0;  // bytes between indices; 0: not indexed
  uint32_t count = 1;   // number of indices of this endpoint
  uint32_t width_bits = 0;
  std::string_view access;
  std::string_view effect;  // time at which a write takes effect; empty: not writable
  std::string reset;        // empty: not fixed
  std::string unit;
  std::string sentence;
};

struct RegisterValueView {
  std::string name;
  uint32_t address = 0;
  uint32_t width_bits = 0;
  uint64_t value = 0;
};

// Control thread only. Does not block.
class RegisterView {
 public:
  virtual ~RegisterView() = default;

  virtual std::vector<RegisterRowView> Registers() = 0;
  // Reads `count` consecutive registers, from that with the name or address `first` on.
  virtual absl::StatusOr<std::vector<RegisterValueView>> ReadRegisters(std::string_view first,
                                                                       uint32_t count) = 0;
  // Writes a register. Returns a query to the lcores, to be polled until it has a result: the
  // register's new value. It may be dropped at any time: a write that has begun is completed all
  // the same.
  using RegisterQuestion = std::function<std::optional<absl::StatusOr<RegisterValueView>>()>;
  virtual RegisterQuestion WriteRegister(std::string_view which, uint64_t value) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_REGISTER_VIEW_H_
