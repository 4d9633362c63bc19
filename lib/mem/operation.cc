// SPDX-License-Identifier: Apache-2.0
#include "mem/operation.h"

namespace suede::mem {

OperationTable::OperationTable(uint32_t count) : operations_(count), free_count_(count) {
  for (uint32_t i = 0; i < count; ++i) operations_[i].next = i + 1 < count ? i + 1 : kNoIndex;
}

uint32_t OperationTable::Take() {
  const uint32_t index = first_free_;
  Operation& operation = operations_[index];
  first_free_ = operation.next;
  --free_count_;
  operation.Begin();
  return index;
}

void OperationTable::Free(uint32_t index) {
  Operation& operation = operations_[index];
  operation.state = Operation::State::kFree;
  operation.has_handle = false;
  ++operation.generation;
  operation.next = first_free_;
  first_free_ = index;
  ++free_count_;
}

uint32_t OperationTable::Find(suede_mem_handle handle) const {
  const auto place = static_cast<uint32_t>(handle);
  if (place == 0 || place > operations_.size()) return kNoIndex;
  const Operation& operation = operations_[place - 1];
  return operation.has_handle && operation.generation == handle >> 32 ? place - 1 : kNoIndex;
}

}  // namespace suede::mem
