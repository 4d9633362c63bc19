// SPDX-License-Identifier: Apache-2.0
// Access to the registers of this endpoint: lookup, values, and the changes that writes request.
// Control thread only.
#ifndef SUEDE_REGISTERS_REGISTER_FILE_H_
#define SUEDE_REGISTERS_REGISTER_FILE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"
#include "registers/register_events.h"
#include "registers/register_map.h"
#include "stats/link_counters.h"

namespace suede {

// A plane and its instance. PlaneAt returns them by index, in the order of planes.list.
struct PlaneRef {
  uint32_t instance = 0;  // index into Config::instances
  uint32_t plane = 0;     // number of the plane, from 0
};
PlaneRef PlaneAt(const Config& config, uint32_t index);

// Source of register values, which the endpoint implements.
class RegisterBackend {
 public:
  virtual ~RegisterBackend() = default;
  // The configuration in effect.
  virtual const Config& config() const = 0;
  // Returns the value of a fact that is neither an event's nor derived from the configuration.
  virtual uint64_t Fact(RegisterFact fact, uint32_t index) const = 0;
  // Returns a counter: the sum of all (kNone), or of an instance or an lcore. `counter`: a row of
  // lib/stats/counters.h.
  virtual uint64_t CounterOf(RegisterIndex of, uint32_t index, uint32_t counter) const = 0;
  // Returns the counters of a port's end of a link; null: the port sends no link frames.
  virtual const LinkCounters* Link(uint32_t port) const = 0;
  // Begins to set a fact that is no event's. INVALID_ARGUMENT: it cannot have this value.
  virtual absl::Status Set(RegisterFact fact, uint32_t index, uint32_t value) = 0;
};

class RegisterFile {
 public:
  // Both arguments must outlive the RegisterFile.
  RegisterFile(RegisterBackend* backend, RegisterEvents* events)
      : backend_(*backend), events_(*events) {}

  // Finds a register by name, or by address with 0x. Errors: NOT_FOUND; INVALID_ARGUMENT for an
  // address between registers.
  absl::StatusOr<RegisterRef> Find(std::string_view which) const;
  // Returns the register at `address`, for an access of `width_bits` bits.
  absl::StatusOr<RegisterRef> At(uint32_t address, uint32_t width_bits) const;
  // Returns the next register of this endpoint; nullopt: `ref` is the last one.
  std::optional<RegisterRef> Next(const RegisterRef& ref) const;
  // Returns the number of indices of a block in this endpoint: 1 for a block without indices.
  uint32_t CountOf(const RegisterBlock& block) const;

  uint64_t Read(const RegisterRef& ref) const;

  // Writes a register. If the result is an override, the caller must apply it as a change of the
  // configuration; otherwise the write is complete, or begun where the backend sets the fact.
  // PERMISSION_DENIED: read-only.
  absl::StatusOr<std::optional<ConfigOverride>> Write(const RegisterRef& ref, uint64_t value);

 private:
  absl::Status CheckExists(const RegisterRef& ref) const;
  uint64_t ReadFact(const RegisterRef& ref) const;
  uint64_t ReadLink(const RegisterRef& ref) const;
  absl::Status WriteFact(const RegisterRef& ref, uint32_t value);

  RegisterBackend& backend_;
  RegisterEvents& events_;
};

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_FILE_H_
