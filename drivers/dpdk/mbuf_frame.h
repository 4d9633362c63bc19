// SPDX-License-Identifier: Apache-2.0
// Converts between a frame and its mbuf, and prepares transmission. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_MBUF_FRAME_H_
#define SUEDE_DPDK_MBUF_FRAME_H_

#include <rte_mbuf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "port/frame.h"

namespace suede::internal {

// The private area directly follows the mbuf.
static_assert(sizeof(rte_mbuf) % alignof(Frame) == 0);
static_assert(RTE_CACHE_LINE_SIZE % alignof(Frame) == 0);
static_assert(sizeof(Frame) % RTE_MBUF_PRIV_ALIGN == 0);
static_assert(RTE_PKTMBUF_HEADROOM >= Frame::kCommandOffset);

inline Frame* FrameOf(rte_mbuf* mbuf) { return reinterpret_cast<Frame*>(mbuf + 1); }
inline rte_mbuf* MbufOf(Frame* frame) { return reinterpret_cast<rte_mbuf*>(frame) - 1; }
inline const rte_mbuf* MbufOf(const Frame* frame) {
  return reinterpret_cast<const rte_mbuf*>(frame) - 1;
}

constexpr uint32_t kPortBurst = 64;
constexpr uint32_t kPrefetchAhead = 6;

// The 8 bytes of an mbuf that drivers write at once.
struct Rearm {
  uint16_t data_off;
  uint16_t refcnt;
  uint16_t nb_segs;
  uint16_t port;
};
static_assert(offsetof(rte_mbuf, refcnt) - offsetof(rte_mbuf, rearm_data) ==
              offsetof(Rearm, refcnt));
static_assert(offsetof(rte_mbuf, port) - offsetof(rte_mbuf, rearm_data) == offsetof(Rearm, port));

// Sets the mbuf's length and the checksums that the device is to compute.
inline void DescribeBytes(const Frame* frame, rte_mbuf* mbuf) {
  mbuf->data_len = static_cast<uint16_t>(frame->length);
  mbuf->pkt_len = frame->length;
  if (frame->tx_offload == TxOffload::kNone) {
    mbuf->ol_flags = 0;
  } else {
    mbuf->ol_flags = RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_UDP_CKSUM;
    mbuf->tx_offload = rte_mbuf_tx_offload(frame->l2_length, frame->l3_length, 0, 0, 0, 0, 0);
  }
}

// Describes a frame without other holders in its mbuf, with `references` as refcnt.
inline void Describe(const Frame* frame, rte_mbuf* mbuf, uint16_t references) {
  const auto offset = static_cast<uint16_t>(frame->data - frame->buffer);
  const Rearm rearm = {offset, references, 1, RTE_MBUF_PORT_INVALID};  // sole holder: not atomic
  std::memcpy(&mbuf->rearm_data, &rearm, sizeof(rearm));
  DescribeBytes(frame, mbuf);
}

// Adds the device's reference and describes the frame in its mbuf.
inline rte_mbuf* PrepareTransmit(Frame* frame) {
  rte_mbuf* mbuf = MbufOf(frame);
  if (rte_mbuf_refcnt_read(mbuf) == 1) [[likely]] {
    Describe(frame, mbuf, 2);
  } else {
    rte_mbuf_refcnt_update(mbuf, 1);
    mbuf->data_off = static_cast<uint16_t>(frame->data - frame->buffer);
    DescribeBytes(frame, mbuf);
  }
  return mbuf;
}

// Calls `prepare` for each frame of a burst; `left` frames remain, for the prefetch.
template <typename Prepare>
inline void PrepareBurst(Frame* const* frames, uint32_t burst, uint32_t left, rte_mbuf** mbufs,
                         Prepare&& prepare) {
  for (uint32_t i = 0; i < burst; ++i) {
    if (i + kPrefetchAhead < left) {
      __builtin_prefetch(MbufOf(frames[i + kPrefetchAhead]), 1);
      __builtin_prefetch(frames[i + kPrefetchAhead]);
    }
    mbufs[i] = prepare(frames[i]);
  }
}

// Undoes PrepareTransmit for frames that the device did not take.
inline void TakeBack(rte_mbuf* const* mbufs, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (rte_mbuf_refcnt_read(mbufs[i]) == 2) {
      rte_mbuf_refcnt_set(mbufs[i], 1);  // both are the caller's
    } else {
      rte_mbuf_refcnt_update(mbufs[i], -1);
    }
  }
}

// Passes frames[0, count) to `take` in bursts, described and with the device's reference, until it
// takes fewer than offered. Returns the number taken.
template <typename Take>
inline uint32_t TransmitFrames(Frame* const* frames, uint32_t count, Take&& take) {
  uint32_t done = 0;
  while (done < count) {
    const uint32_t burst = std::min(count - done, kPortBurst);
    rte_mbuf* mbufs[kPortBurst];
    PrepareBurst(frames + done, burst, count - done, mbufs, PrepareTransmit);
    const uint32_t taken = take(mbufs, burst);
    done += taken;
    if (taken < burst) {
      TakeBack(mbufs + taken, burst - taken);
      break;
    }
  }
  return done;
}

}  // namespace suede::internal

#endif  // SUEDE_DPDK_MBUF_FRAME_H_
