// SPDX-License-Identifier: Apache-2.0
// The memory in which a process keeps secrets and keys: locked, excluded from core files, and
// overwritten before it is used again (docs/sealing.md).
#ifndef SUEDE_SEAL_LOCKED_MEMORY_H_
#define SUEDE_SEAL_LOCKED_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace suede {

// Any thread may use it. Takes memory from the kernel in pieces of 64 KiB and keeps it; a piece
// holds blocks of one size.
class LockedMemory {
 public:
  static constexpr size_t kMaxBytes = 8192;          // of a block
  static constexpr size_t kRoomBytes = 256UL << 20;  // of all blocks

  // The memory of the process, which is never destroyed.
  static LockedMemory& OfProcess();

  // Returns a block of zeros, aligned to 32 bytes. Null if `bytes` is 0 or above kMaxBytes, if the
  // room is used up, or if the kernel locks no more; Shortage() has the reason.
  void* Allocate(size_t bytes);
  // Overwrites and frees the block. Ignores null.
  void Free(void* block);

  // Whether `block` is a block of this memory.
  bool Holds(const void* block) const;
  // The usable bytes of the block, at least those requested.
  size_t BytesOf(const void* block) const;
  // Bytes of blocks in use.
  size_t used_bytes() const;
  // Why the last block was refused, and the mend. Empty if none was refused.
  std::string Shortage() const;

 private:
  static constexpr size_t kPieceBytes = 64 << 10;
  static constexpr size_t kPieces = kRoomBytes / kPieceBytes;
  static constexpr unsigned kMinBits = 5;    // 32 bytes
  static constexpr unsigned kSizes = 9;      // 32 to 8192 bytes
  struct Block {
    Block* next;
  };

  LockedMemory();
  ~LockedMemory() = default;
  bool TakePiece(unsigned size);

  uint8_t* const room_;  // reserved as a whole; null: the kernel has refused
  mutable std::mutex mutex_;
  size_t pieces_ = 0;                       // taken
  std::array<uint8_t, kPieces> size_of_{};  // of a piece's blocks: 1 << (kMinBits + this)
  std::array<Block*, kSizes> free_{};
  size_t used_bytes_ = 0;
  std::string shortage_;
};

}  // namespace suede

#endif  // SUEDE_SEAL_LOCKED_MEMORY_H_
