// SPDX-License-Identifier: Apache-2.0
// A sequential model of one XPU's windows, written from docs/memory.md and not from lib/mem: it
// reads the octets of a command by itself and executes one request after the other on plain memory.
#ifndef SUEDE_TESTS_MEM_MEMORY_MODEL_H_
#define SUEDE_TESTS_MEM_MEMORY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace suede::mem {

struct ModelWindow {
  uint16_t id = 0;
  uint32_t begin = 0;  // in the memory
  uint32_t bytes = 0;
  uint32_t key = 0;
  int partition = -1;
  bool can_read = true;
  bool can_write = true;
  bool can_atomic = true;
};

// The answer that a request must have.
struct Verdict {
  uint8_t status = 0;
  bool has_value = false;
  uint64_t value = 0;
  std::vector<uint8_t> data;  // of a get
  bool operator==(const Verdict&) const = default;
};

struct ModelNotice {
  uint16_t source = 0;
  uint16_t window = 0;
  uint64_t offset = 0;
  uint32_t bytes = 0;
  uint32_t immediate = 0;
  bool operator==(const ModelNotice&) const = default;
};

class MemoryModel {
 public:
  explicit MemoryModel(uint32_t bytes) : memory(bytes) {}
  // `control` has 18 octets.
  Verdict Execute(uint16_t source, const std::vector<uint8_t>& control,
                  const std::vector<uint8_t>& data);

  std::vector<uint8_t> memory;
  std::vector<ModelWindow> windows;
  int partition = 0;
  std::deque<ModelNotice> notices;
  size_t notice_places = 1024;

 private:
  Verdict Write(uint16_t source, const ModelWindow& window, uint64_t offset,
                const std::vector<uint8_t>& data, bool notifies);
  Verdict DoAtomic(int operation, uint64_t at, uint32_t width, const std::vector<uint8_t>& data);
};

}  // namespace suede::mem

#endif  // SUEDE_TESTS_MEM_MEMORY_MODEL_H_
