// SPDX-License-Identifier: Apache-2.0
// Lends frames to a device that copies them. Private to drivers/dpdk.
//
// A driver frees each mbuf that it has sent. If the sender keeps a reference, this free is an
// atomic decrement, which waits until the bytes just copied are visible to the other side. A driver
// that copies inside its transmit burst needs no reference: for the duration of the burst its mbufs
// have a refcnt of 1 and belong to a pool without memory. The driver "frees" them into the calling
// lcore's cache of that pool, from which they are taken back at once. An mbuf missing from the
// cache was not copied: the device still holds it.
#ifndef SUEDE_DPDK_LENDING_H_
#define SUEDE_DPDK_LENDING_H_

#include <rte_lcore.h>
#include <rte_mempool.h>

#include <cstdint>

#include "absl/strings/string_view.h"
#include "dpdk/mbuf_frame.h"

namespace suede::internal {

// Whether the driver has copied a frame when its transmit burst returns.
bool CopiesFrames(absl::string_view driver);

// Returns the pool of all lent mbufs, which the first call creates; null if memory is short.
// Control thread.
rte_mempool* LendingPool();

// Returns the calling lcore's cache for returned mbufs; null if the thread has none.
inline rte_mempool_cache* ReturnedTo(rte_mempool* lending) {
  return rte_mempool_default_cache(lending, rte_lcore_id());
}

// The loans of one burst, max kPortBurst frames.
class Loans {
 public:
  Loans(rte_mempool* own, rte_mempool* lending, rte_mempool_cache* returned)
      : own_(own), lending_(lending), returned_(returned) {}

  // Lends a frame of the port's pool without other references; other frames get a reference for the
  // device.
  rte_mbuf* Prepare(Frame* frame) {
    rte_mbuf* mbuf = MbufOf(frame);
    if (mbuf->pool != own_ || rte_mbuf_refcnt_read(mbuf) != 1) [[unlikely]] {
      ++referenced_;
      return PrepareTransmit(frame);
    }
    mbuf->pool = lending_;
    Describe(frame, mbuf, 1);
    return mbuf;
  }

  // Ends the loans after the device took the first `taken` of mbufs[0, burst). Returns the number
  // of lent mbufs that the device has kept, which get a reference for the device.
  uint32_t End(rte_mbuf* const* mbufs, uint32_t burst, uint32_t taken) {
    if (referenced_ != 0 || returned_->len != taken) [[unlikely]]
      return EndOneByOne(mbufs, burst, taken);
    returned_->len = 0;
    for (uint32_t i = 0; i < burst; ++i) mbufs[i]->pool = own_;
    return 0;
  }

 private:
  uint32_t EndOneByOne(rte_mbuf* const* mbufs, uint32_t burst, uint32_t taken);

  rte_mempool* const own_;
  rte_mempool* const lending_;
  rte_mempool_cache* const returned_;
  uint32_t referenced_ = 0;
};

}  // namespace suede::internal

#endif  // SUEDE_DPDK_LENDING_H_
