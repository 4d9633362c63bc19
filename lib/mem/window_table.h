// SPDX-License-Identifier: Apache-2.0
// The windows of a target: the memory that requests may access (docs/memory.md, "Windows").
//
// Not thread-safe: owned by the thread that serves requests, or guarded by the caller's lock.
#ifndef SUEDE_MEM_WINDOW_TABLE_H_
#define SUEDE_MEM_WINDOW_TABLE_H_

#include <cstdint>
#include <vector>

#include "mem/request.h"
#include "mem/status.h"

namespace suede::mem {

inline constexpr uint32_t kMaxWindows = 4096;
inline constexpr uint64_t kMinWindowBytes = 8;
inline constexpr uint64_t kMaxWindowBytes = kOffsetLimit;

struct Window {
  static constexpr uint8_t kRead = 1;
  static constexpr uint8_t kWrite = 2;
  static constexpr uint8_t kAtomic = 4;
  static constexpr uint8_t kAllRights = kRead | kWrite | kAtomic;
  static constexpr uint16_t kAnyPartition = 0xffff;

  uint8_t* base = nullptr;  // a multiple of 8
  uint64_t bytes = 0;       // kMinWindowBytes to kMaxWindowBytes
  uint32_t key = 0;         // 0: not checked
  uint16_t partition = kAnyPartition;
  uint8_t rights = 0;
  bool is_served_by_lcore = false;  // an lcore executes the requests; only notices arrive here
};

// Result of an access check: the memory, or the reason for refusal.
struct Access {
  Status status = Status::kOk;
  uint8_t* memory = nullptr;
};

class WindowTable {
 public:
  WindowTable() : windows_(kMaxWindows) {}

  enum class Added : uint8_t { kOk, kInvalid, kTaken };
  Added Add(uint32_t id, const Window& window);
  bool Remove(uint32_t id);  // returns false if absent
  // Returns null if absent.
  const Window* Find(uint32_t id) const;
  // Whether any window is restricted to a partition.
  bool NamesPartitions() const { return partitioned_ != 0; }
  // Sets the partition of the requests: they may access windows of this partition and unrestricted
  // ones. kAnyPartition (the default): unknown, unrestricted windows only.
  void SetPartition(uint16_t partition) { partition_ = partition; }

  // Checks a parsed request in the order of docs/memory.md, "Statuses".
  Access Check(const Request& request) const;

 private:
  std::vector<Window> windows_;  // by id; base is null for absent windows
  uint32_t partitioned_ = 0;
  uint16_t partition_ = Window::kAnyPartition;
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_WINDOW_TABLE_H_
