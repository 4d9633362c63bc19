// SPDX-License-Identifier: Apache-2.0
#include "memory_model.h"

#include <algorithm>

namespace suede::mem {
namespace {

uint64_t BigEndian(const uint8_t* p, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) value = value << 8 | p[i];
  return value;
}

}  // namespace

Verdict MemoryModel::Execute(uint16_t source, const std::vector<uint8_t>& control,
                             const std::vector<uint8_t>& data) {
  const int operation = control[2] >> 4;
  const uint32_t width = (control[2] & 8) != 0 ? 8 : 4;
  const auto id = static_cast<uint16_t>(BigEndian(&control[7], 2));
  const auto key = static_cast<uint32_t>(BigEndian(&control[9], 4));
  const uint64_t offset = BigEndian(&control[13], 5);
  uint64_t bytes = width;
  if (operation == 1) bytes = data.size();
  if (operation == 2) bytes = data.size() - 8;
  if (operation == 3) bytes = uint64_t{control[1]} + 1;
  const auto window = std::find_if(windows.begin(), windows.end(),
                                   [&](const ModelWindow& each) { return each.id == id; });
  if (window == windows.end()) return {.status = 16};
  if (window->key != 0 && window->key != key) return {.status = 17};
  if (window->partition >= 0 && window->partition != partition) return {.status = 18};
  const bool may = operation <= 2   ? window->can_write
                   : operation == 3 ? window->can_read
                                    : window->can_atomic;
  if (!may) return {.status = 19};
  if (offset + bytes > window->bytes) return {.status = 20};
  if (operation >= 4 && offset % width != 0) return {.status = 21};
  if (operation <= 2) return Write(source, *window, offset, data, operation == 2);
  const uint64_t at = window->begin + offset;
  if (operation == 3) {
    return {.data = {memory.begin() + static_cast<int64_t>(at),
                     memory.begin() + static_cast<int64_t>(at + bytes)}};
  }
  return DoAtomic(operation, at, width, data);
}

Verdict MemoryModel::Write(uint16_t source, const ModelWindow& window, uint64_t offset,
                           const std::vector<uint8_t>& data, bool notifies) {
  if (notifies && notices.size() == notice_places) return {.status = 23};
  const uint64_t head = notifies ? 8 : 0;
  for (uint64_t i = head; i < data.size(); ++i) {
    memory[window.begin + offset + i - head] = data[i];
  }
  if (notifies) {
    const auto total = static_cast<uint32_t>(BigEndian(&data[4], 4));
    notices.push_back({.source = source,
                       .window = window.id,
                       .offset = offset + data.size() - head - total,
                       .bytes = total,
                       .immediate = static_cast<uint32_t>(BigEndian(&data[0], 4))});
  }
  return {};
}

Verdict MemoryModel::DoAtomic(int operation, uint64_t at, uint32_t width,
                              const std::vector<uint8_t>& data) {
  uint64_t old = 0;
  for (uint32_t i = width; i > 0; --i) old = old << 8 | memory[at + i - 1];
  const uint64_t operand = BigEndian(data.data(), width);
  uint64_t now = operand;  // swap
  if (operation == 4) now = old + operand;
  if (operation == 5) now = old == operand ? BigEndian(&data[width], width) : old;
  if (operation >= 7) {
    const uint32_t boundary = data[width];
    now = old + operand;
    if (boundary < 63) now %= uint64_t{1} << (boundary + 1);
  }
  for (uint32_t i = 0; i < width; ++i) memory[at + i] = static_cast<uint8_t>(now >> (8 * i));
  if (operation == 7) return {};
  return {.has_value = true, .value = old};
}

}  // namespace suede::mem
