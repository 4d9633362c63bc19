// SPDX-License-Identifier: Apache-2.0
#include "dpdk/capture_ring.h"

// The header declares functions without C linkage, and the next ones include it.
extern "C" {
#include <rte_vect.h>
}

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"

namespace suede::internal {
namespace {

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

std::unique_ptr<CaptureRing> CaptureRing::Create(uint32_t frames, uint32_t snap_bytes,
                                                 bool one_lcore) {
  constexpr uint32_t kPoolCache = 32;  // max frames in the mempool cache of each lcore
  static uint32_t number = 0;
  const std::string name = absl::StrCat("suede_capture", number++);
  const uint32_t slots = std::bit_ceil(std::max(frames, 2 * kBatch));
  const auto node = static_cast<int>(SOCKET_ID_ANY);
  const size_t room = RTE_PKTMBUF_HEADROOM + sizeof(CapturedFrame) + snap_bytes;
  rte_ring* const ring =
      rte_ring_create(name.c_str(), slots, node, (one_lcore ? RING_F_SP_ENQ : 0u) | RING_F_SC_DEQ);
  rte_mempool* const pool =
      ring == nullptr ? nullptr
                      : rte_pktmbuf_pool_create(
                            name.c_str(), slots - 1, kPoolCache, 0,
                            static_cast<uint16_t>(std::min<size_t>(room, UINT16_MAX)), node);
  if (pool == nullptr) {
    rte_ring_free(ring);
    return nullptr;
  }
  return std::unique_ptr<CaptureRing>(new CaptureRing(ring, pool, snap_bytes, slots - 1));
}

CaptureRing::~CaptureRing() {
  rte_ring_free(ring_);
  rte_mempool_free(pool_);
}

void CaptureRing::Add(Frame* const* frames, uint32_t count, FrameDirection direction) {
  if (count == 0) return;
  const uint64_t now_ns = NowNs();
  uint64_t lost = 0;
  for (uint32_t i = 0; i < count; ++i) lost += Copy(*frames[i], direction, {}, now_ns) ? 0 : 1;
  if (lost != 0) dropped_.fetch_add(lost, std::memory_order_relaxed);
}

void CaptureRing::AddDropped(const Frame& frame, FrameDirection direction,
                             std::string_view counter) {
  if (!Copy(frame, direction, counter, NowNs())) dropped_.fetch_add(1, std::memory_order_relaxed);
}

bool CaptureRing::Copy(const Frame& frame, FrameDirection direction, std::string_view drop,
                       uint64_t now_ns) {
  rte_mbuf* const copy = rte_pktmbuf_alloc(pool_);
  if (copy == nullptr) return false;
  const uint32_t kept = std::min(frame.length, snap_bytes_);
  auto* const captured = new (rte_pktmbuf_mtod(copy, void*)) CapturedFrame{.time_ns = now_ns,
                                                                           .length = frame.length,
                                                                           .kept_bytes = kept,
                                                                           .direction = direction,
                                                                           .drop = drop};
  std::memcpy(captured + 1, frame.data, kept);
  if (rte_ring_enqueue(ring_, copy) == 0) return true;
  rte_pktmbuf_free(copy);
  return false;
}

uint32_t CaptureRing::Pop(rte_mbuf** copies, uint32_t max) {
  return rte_ring_sc_dequeue_burst(ring_, reinterpret_cast<void**>(copies), std::min(max, kBatch),
                                   nullptr);
}

uint32_t CaptureRing::waiting() const { return rte_ring_count(ring_); }

const CapturedFrame* CaptureRing::Describe(const rte_mbuf* copy) {
  return rte_pktmbuf_mtod(copy, const CapturedFrame*);
}

void CaptureRing::Free(rte_mbuf** copies, uint32_t count) { rte_pktmbuf_free_bulk(copies, count); }

}  // namespace suede::internal
