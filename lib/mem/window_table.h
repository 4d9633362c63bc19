// SPDX-License-Identifier: Apache-2.0
// The windows of a target: which memory requests may reach (docs/memory.md, "Windows").
//
// Owned by the thread that serves requests, or guarded by its lock.
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
  uint32_t key = 0;         // 0: none is asked for
  uint16_t partition = kAnyPartition;
  uint8_t rights = 0;
  bool is_elsewhere = false;  // an lcore executes its requests: only notices come here
};

// The answer to a request: its memory, or why it is refused.
struct Access {
  Status status = Status::kOk;
  uint8_t* memory = nullptr;
};

class WindowTable {
 public:
  WindowTable() : windows_(kMaxWindows) {}

  enum class Added : uint8_t { kOk, kInvalid, kTaken };
  Added Add(uint32_t id, const Window& window);
  bool Remove(uint32_t id);  // false: there is none
  // Null: there is none.
  const Window* Find(uint32_t id) const;
  // Whether a window names a partition.
  bool NamesPartitions() const { return partitioned_ != 0; }
  // Requests reach windows that name no partition, or this one. kAnyPartition (the default): it is
  // not known, and they reach no window that names one.
  void SetPartition(uint16_t partition) { partition_ = partition; }

  // Checks a parsed request in the order of docs/memory.md, "Statuses".
  Access Check(const Request& request) const;

 private:
  std::vector<Window> windows_;  // by id; of those that are not there base is null
  uint32_t partitioned_ = 0;
  uint16_t partition_ = Window::kAnyPartition;
};

}  // namespace suede::mem

#endif  // SUEDE_MEM_WINDOW_TABLE_H_
