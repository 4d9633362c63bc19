// SPDX-License-Identifier: Apache-2.0
#include "dpdk/queue_pair.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cstring>

#include "dpdk/dpdk_port.h"
#include "dpdk/lending.h"
#include "dpdk/mbuf_frame.h"
#include "memif/queue.h"

namespace suede {
namespace {

using internal::FrameOf;
using internal::kPrefetchAhead;
using internal::kPortBurst;
using internal::MbufOf;

inline ChecksumState ChecksumOf(uint64_t flags) {
  const uint64_t ip = flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
  const uint64_t l4 = flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
  if (ip == RTE_MBUF_F_RX_IP_CKSUM_GOOD && l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD) {
    return ChecksumState::kGood;
  }
  if (ip == RTE_MBUF_F_RX_IP_CKSUM_BAD || l4 == RTE_MBUF_F_RX_L4_CKSUM_BAD) {
    return ChecksumState::kBad;
  }
  return ChecksumState::kUnknown;
}

}  // namespace

uint32_t QueuePair::Transmit(Frame* const* frames, uint32_t count) {
  if (!gate_.Enter()) [[unlikely]]
    return 0;
  const uint32_t done =
      memif_ != nullptr ? memif_->Send(frames, count) : TransmitToDevice(frames, count);
  if (tap_ != nullptr) [[unlikely]]
    tap_->Add(frames, done, FrameDirection::kOut);
  gate_.Leave();
  return done;
}

uint32_t QueuePair::TransmitToDevice(Frame* const* frames, uint32_t count) {
  rte_mempool_cache* const returned =
      lending_ != nullptr ? internal::ReturnedTo(lending_) : nullptr;
  if (returned != nullptr) return TransmitLent(frames, count, returned);
  return internal::TransmitFrames(
      frames, count, [this](rte_mbuf** mbufs, uint32_t burst) -> uint32_t {
        return rte_eth_tx_burst(id_, queue_, mbufs, static_cast<uint16_t>(burst));
      });
}

uint32_t QueuePair::TransmitLent(Frame* const* frames, uint32_t count,
                                 rte_mempool_cache* returned) {
  uint32_t done = 0;
  while (done < count) {
    const uint32_t burst = std::min(count - done, kPortBurst);
    rte_mbuf* mbufs[kPortBurst];
    internal::Loans loans(pool_, lending_, returned);
    internal::PrepareBurst(frames + done, burst, count - done, mbufs,
                           [&](Frame* frame) { return loans.Prepare(frame); });
    const uint32_t taken = rte_eth_tx_burst(id_, queue_, mbufs, static_cast<uint16_t>(burst));
    const uint32_t kept = loans.End(mbufs, burst, taken);
    done += taken;
    if (kept != 0) [[unlikely]] {
      kept_.Add(kept);
      lending_ = nullptr;
      break;
    }
    if (taken < burst) break;
  }
  return done;
}

uint32_t QueuePair::Give(Frame* const* frames, uint32_t count) {
  if (memif_ != nullptr) return Port::Give(frames, count);
  if (!gate_.Enter()) [[unlikely]]
    return 0;
  // Copies before the device has the frames.
  if (tap_ != nullptr) [[unlikely]]
    tap_->Add(frames, count, FrameDirection::kOut);
  const uint32_t done = GiveToDevice(frames, count);
  gate_.Leave();
  return done;
}

uint32_t QueuePair::GiveToDevice(Frame* const* frames, uint32_t count) {
  uint32_t done = 0;
  while (done < count) {
    const uint32_t burst = std::min(count - done, kPortBurst);
    rte_mbuf* mbufs[kPortBurst];
    internal::PrepareBurst(frames + done, burst, count - done, mbufs, [](Frame* frame) {
      rte_mbuf* const mbuf = MbufOf(frame);
      internal::Describe(frame, mbuf, 1);
      return mbuf;
    });
    const uint32_t taken = rte_eth_tx_burst(id_, queue_, mbufs, static_cast<uint16_t>(burst));
    done += taken;
    if (taken < burst) break;
  }
  return done;
}

uint32_t QueuePair::SendQueued(Frame* const* frames, uint32_t count) {
  const uint32_t taken = QueuePair::Transmit(frames, count);
  Release(frames, taken);
  return taken;
}

bool QueuePair::IsBusy(const Frame* frame) const {
  return __atomic_load_n(&MbufOf(frame)->refcnt, __ATOMIC_ACQUIRE) > 1;
}

bool QueuePair::Reclaim() {
  if (memif_ != nullptr) return true;
  if (!gate_.Enter()) [[unlikely]]
    return false;
  const int freed = rte_eth_tx_done_cleanup(id_, queue_, 0);
  gate_.Leave();
  return freed >= 0;
}

// Converts a received mbuf to a frame. Copies frames whose buffer has other holders, or belongs to
// another pool. Returns null if the frame is dropped: it is oversize or segmented, or the pool is
// empty.
inline Frame* QueuePair::Accept(rte_mbuf* mbuf) {
  if (mbuf->nb_segs != 1 || mbuf->pkt_len > frame_bytes_) [[unlikely]] {
    rte_pktmbuf_free(mbuf);
    oversize_.Add();
    return nullptr;
  }
  if (mbuf->pool != pool_ || __atomic_load_n(&mbuf->refcnt, __ATOMIC_ACQUIRE) != 1) [[unlikely]] {
    return CopyForeign(mbuf);
  }
  Frame* frame = FrameOf(mbuf);
  frame->data = frame->buffer + mbuf->data_off;
  frame->length = mbuf->pkt_len;
  frame->rx_checksum = ChecksumOf(mbuf->ol_flags);
  return frame;
}

[[gnu::noinline]] Frame* QueuePair::CopyForeign(rte_mbuf* mbuf) {
  Frame* frame = nullptr;
  if (Allocate(&frame, 1) == 1) {
    frame->data = frame->buffer + RTE_PKTMBUF_HEADROOM;
    frame->length = mbuf->pkt_len;
    frame->rx_checksum = ChecksumOf(mbuf->ol_flags);
    std::memcpy(frame->data, rte_pktmbuf_mtod(mbuf, const uint8_t*), mbuf->pkt_len);
    copied_.Add();
  } else {
    no_copy_.Add();
  }
  rte_pktmbuf_free(mbuf);
  return frame;
}

uint32_t QueuePair::Receive(Frame** frames, uint32_t max) {
  if (!gate_.Enter()) [[unlikely]]
    return 0;
  const uint32_t count =
      memif_ != nullptr ? memif_->Receive(*this, frames, max) : ReceiveFromDevice(frames, max);
  if (tap_ != nullptr) [[unlikely]]
    tap_->Add(frames, count, FrameDirection::kIn);
  gate_.Leave();
  return count;
}

uint32_t QueuePair::ReceiveFromDevice(Frame** frames, uint32_t max) {
  uint32_t count = 0;
  while (count < max) {
    const uint32_t burst = std::min(max - count, kPortBurst);
    rte_mbuf* mbufs[kPortBurst];
    const uint32_t got = rte_eth_rx_burst(id_, queue_, mbufs, static_cast<uint16_t>(burst));
    for (uint32_t i = 0; i < std::min(got, kPrefetchAhead); ++i) {
      __builtin_prefetch(FrameOf(mbufs[i]), 1);
    }
    for (uint32_t i = 0; i < got; ++i) {
      if (i + kPrefetchAhead < got) __builtin_prefetch(FrameOf(mbufs[i + kPrefetchAhead]), 1);
      Frame* frame = Accept(mbufs[i]);
      frames[count] = frame;
      count += frame != nullptr ? 1 : 0;
    }
    if (got < burst) break;
  }
  return count;
}

uint32_t QueuePair::Allocate(Frame** frames, uint32_t count) {
  uint32_t done = 0;
  while (done < count) {
    uint32_t burst = std::min(count - done, kPortBurst);
    void* mbufs[kPortBurst];
    // The bulk call is all or nothing, so near the pool's end mbufs are taken one by one.
    if (rte_mempool_get_bulk(pool_, mbufs, burst) != 0) [[unlikely]] {
      if (rte_mempool_get(pool_, mbufs) != 0) break;
      burst = 1;
    }
    for (uint32_t i = 0; i < burst; ++i) {
      // An mbuf from the pool has refcnt 1, one segment and no next; Transmit() sets the rest.
      Frame* frame = FrameOf(static_cast<rte_mbuf*>(mbufs[i]));
      frame->length = 0;
      frame->tx_offload = TxOffload::kNone;
      frames[done + i] = frame;
    }
    done += burst;
  }
  return done;
}

void QueuePair::Release(Frame* const* frames, uint32_t count) {
  void* unused[kPortBurst];
  uint32_t pending = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i + kPrefetchAhead < count) __builtin_prefetch(MbufOf(frames[i + kPrefetchAhead]), 1);
    rte_mbuf* mbuf = MbufOf(frames[i]);
    if (__atomic_load_n(&mbuf->refcnt, __ATOMIC_ACQUIRE) != 1) {
      if (rte_mbuf_refcnt_update(mbuf, -1) != 0) continue;  // the device frees it
      rte_mbuf_refcnt_set(mbuf, 1);
    }
    if (mbuf->pool != pool_) [[unlikely]] {
      rte_mempool_put(mbuf->pool, mbuf);
      continue;
    }
    unused[pending++] = mbuf;
    if (pending == kPortBurst) {
      rte_mempool_put_bulk(pool_, unused, pending);
      pending = 0;
    }
  }
  if (pending > 0) rte_mempool_put_bulk(pool_, unused, pending);
}

void QueuePair::Hold(Frame* const* frames, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) rte_mbuf_refcnt_update(MbufOf(frames[i]), 1);
}

LinkState QueuePair::link() const { return device_->link(); }

}  // namespace suede
