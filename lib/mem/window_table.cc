// SPDX-License-Identifier: Apache-2.0
#include "mem/window_table.h"

namespace suede::mem {
namespace {

uint8_t RightOf(Opcode opcode) {
  if (opcode == Opcode::kGet) return Window::kRead;
  return IsAtomic(opcode) ? Window::kAtomic : Window::kWrite;
}

}  // namespace

WindowTable::Added WindowTable::Add(uint32_t id, const Window& window) {
  constexpr uint16_t kPartitions = 1024;
  const bool fits = window.bytes >= kMinWindowBytes && window.bytes <= kMaxWindowBytes;
  const bool aligned = window.base != nullptr && reinterpret_cast<uintptr_t>(window.base) % 8 == 0;
  const bool permits = window.rights != 0 && (window.rights & ~Window::kAllRights) == 0;
  const bool any = window.partition == Window::kAnyPartition;
  if (id >= kMaxWindows || !fits || !aligned || !permits ||
      (!any && window.partition >= kPartitions)) {
    return Added::kInvalid;
  }
  if (windows_[id].base != nullptr) return Added::kTaken;
  windows_[id] = window;
  if (!any) ++partitioned_;
  return Added::kOk;
}

bool WindowTable::Remove(uint32_t id) {
  if (Find(id) == nullptr) return false;
  if (windows_[id].partition != Window::kAnyPartition) --partitioned_;
  windows_[id] = {};
  return true;
}

const Window* WindowTable::Find(uint32_t id) const {
  return id < kMaxWindows && windows_[id].base != nullptr ? &windows_[id] : nullptr;
}

Access WindowTable::Check(const Request& request) const {
  const Window* window = Find(request.window);
  if (window == nullptr) return {.status = Status::kNoWindow};
  if (window->key != 0 && window->key != request.key) return {.status = Status::kKey};
  if (window->partition != Window::kAnyPartition && window->partition != partition_) {
    return {.status = Status::kPartition};
  }
  if ((window->rights & RightOf(request.opcode)) == 0) return {.status = Status::kRights};
  // offset < 2^40 and bytes <= 256, so the sum does not overflow.
  if (request.offset + request.bytes > window->bytes) return {.status = Status::kBounds};
  if (IsAtomic(request.opcode) && request.offset % request.bytes != 0) {
    return {.status = Status::kAlignment};
  }
  return {.memory = window->base + request.offset};
}

}  // namespace suede::mem
