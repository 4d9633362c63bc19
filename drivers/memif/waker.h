// SPDX-License-Identifier: Apache-2.0
// Wakes a peer that sleeps on the eventfd of a ring.
#ifndef SUEDE_MEMIF_WAKER_H_
#define SUEDE_MEMIF_WAKER_H_

#include <linux/aio_abi.h>

namespace suede::memif {

// Signals by the completion of an empty asynchronous read, which never sleeps. A write() could: the
// peer shares the descriptor's flags, and may fill the counter.
class Waker {
 public:
  Waker() = default;
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // Sets the eventfd, which the caller keeps open; -1: none. To be called while no burst runs.
  void Open(int event);
  // Does nothing if the descriptor is no eventfd, or the kernel has no asynchronous I/O. The lcore
  // that owns the ring.
  void Signal();

 private:
  int event_ = -1;
  aio_context_t context_ = 0;  // 0: none
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_WAKER_H_
