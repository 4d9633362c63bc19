// SPDX-License-Identifier: Apache-2.0
// Accesses to registers: those of this endpoint, their values, the requests of writes.
// Control thread only.
#ifndef SUEDE_REGISTERS_REGISTER_FILE_H_
#define SUEDE_REGISTERS_REGISTER_FILE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"
#include "registers/register_events.h"
#include "registers/register_map.h"

namespace suede {

// A plane by its index, in the order of planes.list.
struct PlaneRef {
  uint32_t instance = 0;  // index into Config::instances
  uint32_t plane = 0;     // its number, from 0
};
PlaneRef PlaneAt(const Config& config, uint32_t index);

// The source of registers' values. The endpoint implements it.
class RegisterBackend {
 public:
  virtual ~RegisterBackend() = default;
  // The configuration in effect.
  virtual const Config& config() const = 0;
  // All facts but those of events and those that the configuration tells.
  virtual uint64_t Fact(RegisterFact fact, uint32_t index) const = 0;
  // A counter of all (kNone), an instance or an lcore; `counter`: a row of lib/stats/counters.h.
  virtual uint64_t CounterOf(RegisterIndex of, uint32_t index, uint32_t counter) const = 0;
};

class RegisterFile {
 public:
  // Both outlive it.
  RegisterFile(const RegisterBackend* backend, RegisterEvents* events)
      : backend_(*backend), events_(*events) {}

  // Finds a register by name, or by address with 0x. NOT_FOUND, or INVALID_ARGUMENT for an address
  // between registers.
  absl::StatusOr<RegisterRef> Find(std::string_view which) const;
  // The register at `address`, for an access of `width_bits` bits.
  absl::StatusOr<RegisterRef> At(uint32_t address, uint32_t width_bits) const;
  // The next register that this endpoint has; nullopt: `ref` is the last.
  std::optional<RegisterRef> Next(const RegisterRef& ref) const;
  // Indices that this endpoint has of a block: 1 where there are none.
  uint32_t CountOf(const RegisterBlock& block) const;

  uint64_t Read(const RegisterRef& ref) const;

  // A write is done when this returns, or it asks for a change of the configuration, which the
  // caller makes. PERMISSION_DENIED: read-only.
  absl::StatusOr<std::optional<ConfigOverride>> Write(const RegisterRef& ref, uint64_t value);

 private:
  absl::Status CheckExists(const RegisterRef& ref) const;
  uint64_t ReadFact(const RegisterRef& ref) const;
  void WriteFact(RegisterFact fact, uint32_t value);

  const RegisterBackend& backend_;
  RegisterEvents& events_;
};

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_FILE_H_
