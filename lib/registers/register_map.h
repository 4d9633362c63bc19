// SPDX-License-Identifier: Apache-2.0
// The map of the registers, declared once: docs/registers.md, include/suede/registers.h, the
// methods of the management socket and the accesses of clients derive from it.
//
// A register that stands for a configuration key takes unit, sentence, default and effect from the
// key (lib/config/config_fields*.cc); one that stands for a counter, from the counter's row
// (lib/stats/counters.h). Registers that are neither are facts, declared here.
#ifndef SUEDE_REGISTERS_REGISTER_MAP_H_
#define SUEDE_REGISTERS_REGISTER_MAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_fields.h"

namespace suede {

enum class RegisterAccess : uint8_t { kReadOnly, kReadWrite, kWriteOneToClear };
// "RO", "RW", "W1C".
std::string_view NameOf(RegisterAccess access);

// The objects that a block has an index for.
enum class RegisterIndex : uint8_t { kNone, kClass, kPort, kInstance, kLcore, kPlane };

// Contents of a register that are neither configuration nor a counter.
enum class RegisterFact : uint8_t {
  kId,
  kMapHash,
  kVersion,
  kInstances,
  kPorts,
  kLcores,
  kPeers,
  kClients,
  kUptime,
  kEventStatus,
  kEventMask,
  kEventSummary,
  kEventLink,
  kEventLinkMask,
  kPortLinkUp,
  kPortSpeed,
  kPortMac,
  kPortPoolFrames,
  kPortPoolFree,
  kInstanceXpu,
  kInstanceNumber,
  kInstanceLcore,
  kInstancePort,
  kInstanceAddressLow,
  kInstanceAddressHigh,
  kInstanceOrdering,
  kInstancePlanes,
  kPlaneInstance,
  kPlaneNumber,
  kPlanePort,
  kPlaneAdmin,
  kPlaneUp,
  kPlaneWeight,
  kPlaneAddressLow,
  kPlaneAddressHigh,
};

struct RegisterRow {
  enum class Source : uint8_t { kFact, kConfig, kCounter };
  std::string name;  // within its block
  uint32_t offset = 0;
  uint32_t width_bits = 32;
  RegisterAccess access = RegisterAccess::kReadOnly;
  Source source = Source::kFact;
  RegisterFact fact{};               // kFact
  uint32_t counter = 0;              // kCounter: row of lib/stats/counters.h
  std::string key{};                 // kConfig: its path, with # where the index stands
  Effect effect = Effect::kRestart;  // kConfig
  std::string reset{};               // its value after a start with defaults; empty: no such
  std::string unit{};
  std::string sentence{};
};

struct RegisterBlock {
  std::string_view name;  // "transport": its registers are transport.NAME or port.N.NAME
  uint32_t base = 0;
  RegisterIndex index = RegisterIndex::kNone;
  uint32_t stride = 0;  // between indices
  uint32_t limit = 1;   // indices that the map has room for
  std::string_view sentence;
  std::vector<RegisterRow> rows;  // by offset
};

// A register, or one index of it.
struct RegisterRef {
  const RegisterBlock* block = nullptr;
  const RegisterRow* row = nullptr;
  uint32_t index = 0;
  uint32_t address() const { return block->base + index * block->stride + row->offset; }
  std::string name() const;
  std::string key() const;  // with the index
};

class RegisterMap {
 public:
  static const RegisterMap& Get();

  // The blocks by address.
  const std::vector<RegisterBlock>& blocks() const { return blocks_; }
  // nullopt: there is none. Does not check whether an endpoint has the index.
  std::optional<RegisterRef> Find(std::string_view name) const;
  std::optional<RegisterRef> Find(uint32_t address) const;
  // A hash over addresses, names, widths and accesses: the map that a program was compiled with and
  // the daemon's are the same where the hashes are.
  uint32_t hash() const { return hash_; }

 private:
  RegisterMap();
  std::vector<RegisterBlock> blocks_;
  uint32_t hash_ = 0;
};

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_MAP_H_
