// SPDX-License-Identifier: Apache-2.0
// A memory behind a manager port: executes the port's transactions in the order of their issue.
#ifndef SUEDE_AXI_MEMORY_H_
#define SUEDE_AXI_MEMORY_H_

#include <cstdint>
#include <span>

#include "axi/manager.h"
#include "axi/transfer.h"

namespace suede::axi {

// Address 0 is the first octet of the memory. A beat that leaves the memory has the response
// DECERR, is not written, and reads as 0. One owner; allocates nothing.
class Memory {
 public:
  explicit Memory(uint32_t bus_bytes) : bus_bytes_(bus_bytes) {}

  // Executes the transfers of up to `max` bursts. Returns the number of bursts that have ended.
  uint32_t Serve(Manager& port, std::span<uint8_t> memory, uint32_t max);
  // Forgets the write that is not complete: the port was reset.
  void Reset() { is_writing_ = false; }

 private:
  // Executes the beats of the open write that have come. Returns whether it has ended.
  bool Write(Manager& port, std::span<uint8_t> memory);
  void Read(Manager& port, std::span<uint8_t> memory, const Address& burst);

  const uint32_t bus_bytes_;
  bool is_writing_ = false;
  Address write_ = {};
  uint32_t beat_ = 0;  // of it
  uint8_t response_ = SUEDE_AXI_OKAY;
};

}  // namespace suede::axi

#endif  // SUEDE_AXI_MEMORY_H_
