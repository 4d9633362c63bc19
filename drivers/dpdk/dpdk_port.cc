// The bursts. Opening and looking after the port are in port_open.cc and port_control.cc.
#include "dpdk/dpdk_port.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cstring>

#include "dpdk/mbuf_frame.h"

namespace suede {
namespace {

using internal::FrameOf;
using internal::MbufOf;

constexpr uint32_t kBurst = 64;
constexpr uint32_t kPrefetchAhead = 6;

// The 8 octets of an mbuf that drivers rewrite together.
struct Rearm {
  uint16_t data_off;
  uint16_t refcnt;
  uint16_t nb_segs;
  uint16_t port;
};
static_assert(offsetof(rte_mbuf, refcnt) - offsetof(rte_mbuf, rearm_data) ==
              offsetof(Rearm, refcnt));
static_assert(offsetof(rte_mbuf, port) - offsetof(rte_mbuf, rearm_data) == offsetof(Rearm, port));

// Takes the device's reference and describes the frame to it.
inline rte_mbuf* PrepareTransmit(Frame* frame) {
  rte_mbuf* mbuf = MbufOf(frame);
  const auto offset = static_cast<uint16_t>(frame->data - frame->buffer);
  if (rte_mbuf_refcnt_read(mbuf) == 1) [[likely]] {
    const Rearm rearm = {offset, 2, 1, RTE_MBUF_PORT_INVALID};  // nobody else has it: no atomic
    std::memcpy(&mbuf->rearm_data, &rearm, sizeof(rearm));
  } else {
    rte_mbuf_refcnt_update(mbuf, 1);
    mbuf->data_off = offset;
  }
  mbuf->data_len = static_cast<uint16_t>(frame->length);
  mbuf->pkt_len = frame->length;
  if (frame->tx_offload == TxOffload::kNone) {
    mbuf->ol_flags = 0;
  } else {
    mbuf->ol_flags = frame->tx_offload == TxOffload::kIpv4Checksum
                         ? RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM
                         : RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_UDP_CKSUM;
    mbuf->tx_offload = rte_mbuf_tx_offload(frame->l2_length, frame->l3_length, 0, 0, 0, 0, 0);
  }
  return mbuf;
}

// Undoes PrepareTransmit for what the device did not take.
inline void TakeBack(rte_mbuf* const* mbufs, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (rte_mbuf_refcnt_read(mbufs[i]) == 2) {
      rte_mbuf_refcnt_set(mbufs[i], 1);  // both were ours
    } else {
      rte_mbuf_refcnt_update(mbufs[i], -1);
    }
  }
}

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

uint32_t DpdkPort::Transmit(Frame* const* frames, uint32_t count) {
  if (!gate_.Enter()) [[unlikely]]
    return 0;
  uint32_t done = 0;
  while (done < count) {
    const uint32_t burst = std::min(count - done, kBurst);
    rte_mbuf* mbufs[kBurst];
    for (uint32_t i = 0; i < burst; ++i) {
      if (done + i + kPrefetchAhead < count) {
        __builtin_prefetch(MbufOf(frames[done + i + kPrefetchAhead]), 1);
        __builtin_prefetch(frames[done + i + kPrefetchAhead]);
      }
      mbufs[i] = PrepareTransmit(frames[done + i]);
    }
    const uint32_t sent = rte_eth_tx_burst(id_, 0, mbufs, static_cast<uint16_t>(burst));
    done += sent;
    if (sent < burst) {
      TakeBack(mbufs + sent, burst - sent);
      break;
    }
  }
  gate_.Leave();
  return done;
}

bool DpdkPort::IsBusy(const Frame* frame) const {
  return __atomic_load_n(&MbufOf(frame)->refcnt, __ATOMIC_ACQUIRE) > 1;
}

// A frame that does not lie whole in a buffer of which we are the only holder is not handed on as
// it is: null if it is dropped.
inline Frame* DpdkPort::Accept(rte_mbuf* mbuf) {
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

[[gnu::noinline]] Frame* DpdkPort::CopyForeign(rte_mbuf* mbuf) {
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

uint32_t DpdkPort::Receive(Frame** frames, uint32_t max) {
  if (!gate_.Enter()) [[unlikely]]
    return 0;
  uint32_t count = 0;
  while (count < max) {
    const uint32_t burst = std::min(max - count, kBurst);
    rte_mbuf* mbufs[kBurst];
    const uint32_t got = rte_eth_rx_burst(id_, 0, mbufs, static_cast<uint16_t>(burst));
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
  gate_.Leave();
  return count;
}

uint32_t DpdkPort::Allocate(Frame** frames, uint32_t count) {
  uint32_t done = 0;
  while (done < count) {
    uint32_t burst = std::min(count - done, kBurst);
    void* mbufs[kBurst];
    // All or nothing: near the end of the pool one by one.
    if (rte_mempool_get_bulk(pool_, mbufs, burst) != 0) [[unlikely]] {
      if (rte_mempool_get(pool_, mbufs) != 0) break;
      burst = 1;
    }
    for (uint32_t i = 0; i < burst; ++i) {
      // An mbuf of the pool has refcnt 1, one segment and no next; Transmit() sets the rest.
      Frame* frame = FrameOf(static_cast<rte_mbuf*>(mbufs[i]));
      frame->length = 0;
      frame->tx_offload = TxOffload::kNone;
      frames[done + i] = frame;
    }
    done += burst;
  }
  return done;
}

void DpdkPort::Release(Frame* const* frames, uint32_t count) {
  void* unused[kBurst];
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
    if (pending == kBurst) {
      rte_mempool_put_bulk(pool_, unused, pending);
      pending = 0;
    }
  }
  if (pending > 0) rte_mempool_put_bulk(pool_, unused, pending);
}

LinkState DpdkPort::link() const {
  const uint64_t word = link_.load(std::memory_order_relaxed);
  constexpr uint64_t kUp = uint64_t{1} << 63;
  return {(word & kUp) != 0, (word & ~kUp) * 1'000'000};
}

}  // namespace suede
