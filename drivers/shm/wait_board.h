// SPDX-License-Identifier: Apache-2.0
// The waits of an lcore's clients, which the lcore checks now and then, so that no other thread has
// to poll while clients sleep.
#ifndef SUEDE_SHM_WAIT_BOARD_H_
#define SUEDE_SHM_WAIT_BOARD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "client/segment.h"
#include "local/fd.h"
#include "shm/protocol.h"

namespace suede {

// The control thread puts up and takes down waits. The lcore takes down a wait that is over, and
// makes fd() readable. The memory of a client's segment must stay until the lcore has detached the
// client, after its wait was taken down.
class WaitBoard {
 public:
  static constexpr uint32_t kSlots = 64;

  // A client's slot. Control thread.
  class Slot {
   public:
    Slot() = default;  // no slot
    Slot(Slot&& other) noexcept
        : board_(std::exchange(other.board_, nullptr)), number_(other.number_) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(board_, other.board_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~Slot() {
      if (board_ != nullptr) board_->Free(number_);
    }
    bool ok() const { return board_ != nullptr; }
    // Puts up a wait. `wait`: masks within the segment's queues and VCs. Requires ok() and
    // !is_up().
    void PutUp(const protocol::Wait& wait) { board_->PutUp(number_, wait); }
    void TakeDown() {
      if (board_ != nullptr) board_->TakeDown(uint64_t{1} << number_);
    }
    bool is_up() const { return board_->IsUp(number_); }

   private:
    friend class WaitBoard;
    Slot(WaitBoard* board, uint32_t number) : board_(board), number_(number) {}
    WaitBoard* board_ = nullptr;
    uint32_t number_ = 0;
  };

  // Returns null if there is no descriptor left.
  static std::unique_ptr<WaitBoard> Create();

  // ---- Control thread.

  // Takes a slot for the client of this segment. The slot is not ok() if all are taken.
  Slot TakeSlot(void* segment, const SegmentOffsets& offsets);
  // Readable when a wait is over.
  int fd() const { return fd_.get(); }
  // Clears fd() until the next wait is over.
  void ClearReady() const;

  // ---- The lcore.

  // Takes down waits that are over, and makes fd() readable if there are any: at most one system
  // call.
  void Poll() {
    if (const uint64_t up = up_.load(std::memory_order_acquire); up != 0) [[unlikely]]
      EndWaits(up);
  }

 private:
  struct Entry {
    void* segment = nullptr;  // null: the slot is free
    const SegmentOffsets* offsets = nullptr;
    protocol::Wait wait;  // written and read as relaxed atomic words
  };

  explicit WaitBoard(Fd fd) : fd_(std::move(fd)) {}
  void PutUp(uint32_t number, const protocol::Wait& wait);
  void TakeDown(uint64_t bits) { up_.fetch_and(~bits, std::memory_order_acq_rel); }
  bool IsUp(uint32_t number) const {
    return (up_.load(std::memory_order_acquire) >> number & 1) != 0;
  }
  void Free(uint32_t number);
  void EndWaits(uint64_t up);

  const Fd fd_;
  std::array<Entry, kSlots> entries_;
  std::atomic<uint64_t> up_ = 0;
};

}  // namespace suede

#endif  // SUEDE_SHM_WAIT_BOARD_H_
