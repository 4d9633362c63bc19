// SPDX-License-Identifier: Apache-2.0
// The registers (docs/registers.md), as the methods see them. app/endpoint implements it.
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

// A row of the map: one register, or one for each index.
struct RegisterRowView {
  std::string name;  // "port.N.link_up" where there is one for each index N
  uint32_t address = 0;
  uint32_t stride = 0;  // between indices; 0: there is one
  uint32_t count = 1;   // of this endpoint
  uint32_t width_bits = 0;
  std::string_view access;
  std::string_view effect;  // when a write takes effect; empty: none can be made
  std::string reset;        // empty: none in particular
  std::string unit;
  std::string sentence;
};

struct RegisterValueView {
  std::string name;
  uint32_t address = 0;
  uint32_t width_bits = 0;
  uint64_t value = 0;
};

// Control thread only. Nothing here waits.
class RegisterView {
 public:
  virtual ~RegisterView() = default;

  virtual std::vector<RegisterRowView> Registers() = 0;
  // `count` registers, one behind the other from the one with that name or address.
  virtual absl::StatusOr<std::vector<RegisterValueView>> ReadRegisters(std::string_view first,
                                                                       uint32_t count) = 0;
  // A question to the lcores, to be asked until it has an answer: the register's value then. It
  // may be dropped at any time: a write that has begun is carried out all the same.
  using RegisterQuestion = std::function<std::optional<absl::StatusOr<RegisterValueView>>()>;
  virtual RegisterQuestion WriteRegister(std::string_view which, uint64_t value) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_REGISTER_VIEW_H_
