// SPDX-License-Identifier: Apache-2.0
// Requests in several commands, from the first that arrives to the last (docs/axi.md, "Commands"
// and "Limits at the target").
#ifndef SUEDE_AXI_ASSEMBLY_H_
#define SUEDE_AXI_ASSEMBLY_H_

#include <cstdint>
#include <vector>

#include "axi/command.h"
#include "axi/served.h"

namespace suede::axi {

enum class Assembled : uint8_t {
  kNotYet,
  kWhole,
  kMalformed,  // to be answered with MALFORMED
  kOrphan,     // malformed, a continuation of no transaction that is known
};

// One owner; allocates in the constructor.
class Assembly {
 public:
  static constexpr uint32_t kUnorderedPlaces = 8;
  static constexpr uint32_t PlacesOf(bool is_unordered) {
    return is_unordered ? kUnorderedPlaces : 1;
  }

  Assembly(uint32_t lanes, bool is_unordered, ServedTable& table);

  // Adds a command of a request. kWhole: *whole is the transaction, which the caller enters into
  // the table or releases.
  Assembled Add(uint32_t lane, const Command& command, const uint8_t* data, uint32_t data_bytes,
                Served** whole);
  // A control was malformed. Drops the transaction that it is of.
  Assembled OnMalformed(uint32_t lane, const Command& command);
  // Drops all of a lane.
  void Drop(uint32_t lane);

  uint64_t truncated() const { return truncated_; }
  uint32_t OpenOf(uint32_t lane) const { return lanes_[lane].open; }

 private:
  struct Lane {
    ServedQueue parts;  // transactions with missing parts, the oldest first
    uint32_t open = 0;
  };

  Served* Find(const Lane& lane, uint32_t number) const;
  void Close(Lane& lane, Served* served);
  void DropOldest(Lane& lane);
  Assembled AddHead(uint32_t lane, const Command& command, const uint8_t* data, uint32_t data_bytes,
                    Served** whole);
  Assembled AddMore(uint32_t lane, const Command& command, const uint8_t* data, uint32_t data_bytes,
                    Served** whole);
  // Parses a transaction to which a part was added. `is_open`: it has a place in its lane.
  Assembled Advance(Served* served, bool is_open, Served** whole);

  std::vector<Lane> lanes_;
  ServedTable& table_;
  const bool is_unordered_;
  uint64_t truncated_ = 0;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_ASSEMBLY_H_
