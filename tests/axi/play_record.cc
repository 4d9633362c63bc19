// SPDX-License-Identifier: Apache-2.0
#include "play_record.h"

#include <utility>

namespace suede::axi {

uint64_t Records::Add(Record record) {
  records_.push_back(std::move(record));
  records_.back().address.user[0] = records_.size() - 1;
  return records_.size() - 1;
}

void Records::Wrong(const std::string& what, uint64_t tag) {
  Wrong(what + ": transaction " + std::to_string(tag) + ", " +
        (tag < records_.size() ? Describe(records_[tag]) : "which nobody issued"));
}

std::string Describe(const Record& record) {
  constexpr const char* kBursts[] = {"FIXED", "INCR", "WRAP", "reserved"};
  const Address& address = record.address;
  return (record.direction == Direction::kRead ? "read of XPU " : "write of XPU ") +
         std::to_string(record.source) + " to " + std::to_string(record.target) + ", ID " +
         std::to_string(address.id) + ", address " + std::to_string(address.address) + ", " +
         std::to_string(BeatsOf(address)) + " beats of " + std::to_string(SizeOf(address)) + ", " +
         kBursts[address.burst & 3] + (address.lock != 0 ? ", exclusive" : "");
}

}  // namespace suede::axi
