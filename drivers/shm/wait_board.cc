// SPDX-License-Identifier: Apache-2.0
#include "shm/wait_board.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <bit>

#include "shm/wait.h"

namespace suede {

std::unique_ptr<WaitBoard> WaitBoard::Create() {
  Fd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.ok()) return nullptr;
  return std::unique_ptr<WaitBoard>(new WaitBoard(std::move(fd)));
}

WaitBoard::Slot WaitBoard::TakeSlot(void* segment, const SegmentOffsets& offsets) {
  for (uint32_t number = 0; number < kSlots; ++number) {
    if (entries_[number].segment != nullptr) continue;
    entries_[number].segment = segment;
    entries_[number].offsets = &offsets;
    return {this, number};
  }
  return {};
}

void WaitBoard::Free(uint32_t number) {
  TakeDown(uint64_t{1} << number);
  entries_[number].segment = nullptr;
}

void WaitBoard::ClearReady() const {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = read(fd_.get(), &count, sizeof count);
}

// Writes words atomically: the lcore may still be checking the slot's previous wait, and reads old
// or new words.
void WaitBoard::PutUp(uint32_t number, const protocol::Wait& wait) {
  static_assert(sizeof wait % sizeof(uint32_t) == 0);
  using Word __attribute__((may_alias)) = uint32_t;
  auto* const to = reinterpret_cast<Word*>(&entries_[number].wait);
  const auto* const from = reinterpret_cast<const Word*>(&wait);
  for (size_t i = 0; i < sizeof wait / sizeof(Word); ++i) {
    __atomic_store_n(to + i, from[i], __ATOMIC_RELAXED);
  }
  up_.fetch_or(uint64_t{1} << number, std::memory_order_acq_rel);
}

void WaitBoard::EndWaits(uint64_t up) {
  uint64_t over = 0;
  for (uint64_t left = up; left != 0; left &= left - 1) {
    const auto number = static_cast<size_t>(std::countr_zero(left));
    const Entry& entry = entries_[number];
    if (FindReady(entry.segment, *entry.offsets, entry.wait).any()) over |= uint64_t{1} << number;
  }
  if (over == 0) return;
  TakeDown(over);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(fd_.get(), &one, sizeof one);
}

}  // namespace suede
