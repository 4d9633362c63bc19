// SPDX-License-Identifier: Apache-2.0
#include "dpdk/lending.h"

#include <algorithm>
#include <cerrno>

namespace suede::internal {
namespace {

constexpr char kName[] = "frames_lent";
constexpr char kOps[] = "suede_lent";
constexpr uint32_t kCacheFrames = 4 * kPortBurst;

// Operations of a pool without memory. An mbuf that arrives here, because a thread has no cache or
// a full one, is missed when the loans end, and counts as kept by the device.
int Allocate(rte_mempool* /*pool*/) { return 0; }
void Free(rte_mempool* /*pool*/) {}
int Enqueue(rte_mempool* /*pool*/, void* const* /*objects*/, unsigned /*count*/) { return 0; }
int Dequeue(rte_mempool* /*pool*/, void** /*objects*/, unsigned /*count*/) { return -ENOENT; }
unsigned Count(const rte_mempool* /*pool*/) { return 0; }

int RegisterOps() {
  rte_mempool_ops ops{};
  static_assert(sizeof kOps <= sizeof ops.name);
  std::copy_n(kOps, sizeof kOps, ops.name);
  ops.alloc = Allocate;
  ops.free = Free;
  ops.enqueue = Enqueue;
  ops.dequeue = Dequeue;
  ops.get_count = Count;
  return rte_mempool_register_ops(&ops);
}

}  // namespace

bool CopiesFrames(absl::string_view driver) {
  return driver == "net_af_packet" || driver == "net_tap" || driver == "net_null";
}

rte_mempool* LendingPool() {
  if (rte_mempool* const pool = rte_mempool_lookup(kName); pool != nullptr) return pool;
  static const int ops = RegisterOps();
  if (ops < 0) return nullptr;
  rte_mempool* const pool = rte_mempool_create_empty(kName, 2 * kCacheFrames, RTE_CACHE_LINE_SIZE,
                                                     kCacheFrames, 0, SOCKET_ID_ANY, 0);
  if (pool == nullptr) return nullptr;
  if (rte_mempool_set_ops_byname(pool, kOps, nullptr) == 0) return pool;
  rte_mempool_free(pool);
  return nullptr;
}

uint32_t Loans::EndOneByOne(rte_mbuf* const* mbufs, uint32_t burst, uint32_t taken) {
  void** const end = returned_->objs + returned_->len;
  returned_->len = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < burst; ++i) {
    rte_mbuf* const mbuf = mbufs[i];
    if (mbuf->pool != lending_) {
      if (i >= taken) TakeBack(&mbuf, 1);
      continue;
    }
    mbuf->pool = own_;
    if (i >= taken || std::find(returned_->objs, end, mbuf) != end) continue;
    rte_mbuf_refcnt_update(mbuf, 1);
    ++kept;
  }
  return kept;
}

}  // namespace suede::internal
