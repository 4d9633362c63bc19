// From a frame to its mbuf and back. Private to drivers/dpdk.
#ifndef SUEDE_DPDK_MBUF_FRAME_H_
#define SUEDE_DPDK_MBUF_FRAME_H_

#include <rte_mbuf.h>

#include "port/frame.h"

namespace suede::internal {

// The private area follows the mbuf at once.
static_assert(sizeof(rte_mbuf) % alignof(Frame) == 0);
static_assert(RTE_CACHE_LINE_SIZE % alignof(Frame) == 0);
static_assert(sizeof(Frame) % RTE_MBUF_PRIV_ALIGN == 0);
static_assert(RTE_PKTMBUF_HEADROOM >= Frame::kCommandOffset);

inline Frame* FrameOf(rte_mbuf* mbuf) { return reinterpret_cast<Frame*>(mbuf + 1); }
inline rte_mbuf* MbufOf(Frame* frame) { return reinterpret_cast<rte_mbuf*>(frame) - 1; }
inline const rte_mbuf* MbufOf(const Frame* frame) {
  return reinterpret_cast<const rte_mbuf*>(frame) - 1;
}

}  // namespace suede::internal

#endif  // SUEDE_DPDK_MBUF_FRAME_H_
