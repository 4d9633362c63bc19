// SPDX-License-Identifier: Apache-2.0
// The register map, declared once: docs/registers.md, suede/registers.h, the methods of the
// management socket and the register access of clients derive from it.
//
// A register for a configuration key takes unit, sentence, default and effect from the key
// (lib/config/config_fields*.cc); a register for a counter takes them from the counter's row
// (lib/stats/counters.h). All other registers are facts, declared here.
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

// Objects by which a block may be indexed.
enum class RegisterIndex : uint8_t { kNone, kClass, kPort, kInstance, kLcore, kPlane };

// Registers that are neither configuration nor a counter.
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
  kPortFec,
  kPortMac,
  kPortPoolFrames,
  kPortPoolFree,
  kPortAdmin,
  kPortPaused,
  kInstanceXpu,
  kInstanceNumber,
  kInstanceLcore,
  kInstancePort,
  kInstanceAddressLow,
  kInstanceAddressHigh,
  kInstanceOrdering,
  kInstancePlanes,
  kInstanceCongestion,
  kInstanceSealing,
  kInstanceSealPeers,
  kInstanceSealed,
  kInstancePartition,
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
  // kLinkGauge to kLinkCounter: of lib/stats/link_counters.h, and 0 of a port without link frames.
  enum class Source : uint8_t { kFact, kConfig, kCounter, kLinkGauge, kLinkCredit, kLinkCounter };
  std::string name;  // within its block
  uint32_t offset = 0;
  uint32_t width_bits = 32;
  RegisterAccess access = RegisterAccess::kReadOnly;
  Source source = Source::kFact;
  RegisterFact fact{};               // kFact
  // kCounter: row of lib/stats/counters.h. kLinkGauge, kLinkCounter: the gauge or counter;
  // kLinkCredit: 4 times the link VC, plus the value's place in LinkCreditCounts.
  uint32_t counter = 0;
  std::string key{};                 // kConfig: path of the key, with # in place of the index
  Effect effect = Effect::kRestart;  // kConfig
  std::string reset{};               // value after a start with defaults; empty: none
  std::vector<std::string> values{};  // names of the values from 0 on; empty: it is a number
  std::string unit{};
  std::string sentence{};
};

struct RegisterBlock {
  std::string_view name;  // "transport": its registers are transport.NAME or port.N.NAME
  uint32_t base = 0;
  RegisterIndex index = RegisterIndex::kNone;
  uint32_t stride = 0;  // bytes between indices
  uint32_t limit = 1;   // number of indices for which the map has room
  std::string_view sentence;
  std::vector<RegisterRow> rows;  // by offset
};

// A register, with its index if its block has one.
struct RegisterRef {
  const RegisterBlock* block = nullptr;
  const RegisterRow* row = nullptr;
  uint32_t index = 0;
  uint32_t address() const { return block->base + index * block->stride + row->offset; }
  std::string name() const;
  std::string key() const;  // configuration key, with the index
};

class RegisterMap {
 public:
  static const RegisterMap& Get();

  // Returns the blocks, by address.
  const std::vector<RegisterBlock>& blocks() const { return blocks_; }
  // Returns nullopt if the map has no such register. Does not check whether the endpoint has the
  // index.
  std::optional<RegisterRef> Find(std::string_view name) const;
  std::optional<RegisterRef> Find(uint32_t address) const;
  // Returns a hash of addresses, names, widths and accesses, by which a program can check that it
  // was compiled with the daemon's map.
  uint32_t hash() const { return hash_; }

 private:
  RegisterMap();
  std::vector<RegisterBlock> blocks_;
  uint32_t hash_ = 0;
};

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_MAP_H_
