// SPDX-License-Identifier: Apache-2.0
#include "seal/locked_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

// Reserves address space only: a piece gets memory when it is taken.
uint8_t* Reserve(size_t bytes) {
  void* room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  madvise(room, bytes, MADV_DONTDUMP);
  return static_cast<uint8_t*>(room);
}

std::string LockLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : absl::StrCat(limit.rlim_cur >> 10, " KiB");
}

}  // namespace

LockedMemory& LockedMemory::OfProcess() {
  static LockedMemory* const memory = new LockedMemory;
  return *memory;
}

LockedMemory::LockedMemory() : room_(Reserve(kRoomBytes)) {}

bool LockedMemory::TakePiece(unsigned size) {
  if (room_ == nullptr || pieces_ == kPieces) {
    shortage_ = absl::StrCat("all ", kRoomBytes >> 20,
                             " MiB for secrets and keys are in use: configure fewer peers");
    return false;
  }
  uint8_t* const piece = room_ + pieces_ * kPieceBytes;
  // Not mlock, which does nothing under a sanitizer.
  if (mprotect(piece, kPieceBytes, PROT_READ | PROT_WRITE) != 0 ||
      mlock2(piece, kPieceBytes, 0) != 0) {
    shortage_ = absl::StrCat("cannot lock ", (pieces_ + 1) * kPieceBytes >> 10,
                             " KiB of memory for secrets and keys: ", std::strerror(errno),
                             "; the limit is ", LockLimit(),
                             ": ulimit -l unlimited (in a unit: LimitMEMLOCK=infinity)");
    return false;
  }
  size_of_[pieces_++] = static_cast<uint8_t>(size);
  const size_t bytes = size_t{1} << (kMinBits + size);
  for (size_t at = kPieceBytes; at != 0; at -= bytes) {
    auto* block = reinterpret_cast<Block*>(piece + at - bytes);
    block->next = free_[size];
    free_[size] = block;
  }
  return true;
}

void* LockedMemory::Allocate(size_t bytes) {
  if (bytes == 0 || bytes > kMaxBytes) return nullptr;
  const auto size =
      static_cast<unsigned>(std::bit_width(std::max(bytes, size_t{1} << kMinBits) - 1) - kMinBits);
  const std::lock_guard lock(mutex_);
  if (free_[size] == nullptr && !TakePiece(size)) return nullptr;
  Block* const block = free_[size];
  free_[size] = block->next;
  block->next = nullptr;
  used_bytes_ += size_t{1} << (kMinBits + size);
  return block;
}

void LockedMemory::Free(void* block) {
  if (block == nullptr) return;
  const size_t bytes = BytesOf(block);
  explicit_bzero(block, bytes);
  const auto size = static_cast<unsigned>(std::countr_zero(bytes)) - kMinBits;
  const std::lock_guard lock(mutex_);
  static_cast<Block*>(block)->next = free_[size];
  free_[size] = static_cast<Block*>(block);
  used_bytes_ -= bytes;
}

bool LockedMemory::Holds(const void* block) const {
  const auto* at = static_cast<const uint8_t*>(block);
  return room_ != nullptr && at >= room_ && at < room_ + kRoomBytes;
}

size_t LockedMemory::BytesOf(const void* block) const {
  // The size of a piece does not change after its first block has been handed out.
  const auto at = static_cast<size_t>(static_cast<const uint8_t*>(block) - room_);
  return size_t{1} << (kMinBits + size_of_[at / kPieceBytes]);
}

size_t LockedMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

std::string LockedMemory::Shortage() const {
  const std::lock_guard lock(mutex_);
  return shortage_;
}

}  // namespace suede
