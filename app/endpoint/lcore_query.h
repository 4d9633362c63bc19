// SPDX-License-Identifier: Apache-2.0
// Queries snapshots of lcores' state, each written in one poll iteration.
#ifndef SUEDE_APP_ENDPOINT_LCORE_QUERY_H_
#define SUEDE_APP_ENDPOINT_LCORE_QUERY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/endpoint.h"
#include "lcore/snapshot.h"

namespace suede {

// The memory that lcores write to: one snapshot each, so that an lcore has one request at a time,
// regardless of the number of queries. Must outlive the queries and the lcores' work. Control
// thread only.
template <typename Snapshot>
class SnapshotPool {
 public:
  explicit SnapshotPool(Endpoint* endpoint) : endpoint_(endpoint) {
    for (uint32_t l = 0; l < endpoint->pipeline_count(); ++l) {
      slots_.push_back(std::make_unique<Slot>());
    }
  }

 private:
  template <typename, typename>
  friend class LcoreQuery;
  struct Slot {
    bool taken = false;  // by a query; the lcore may still write after the query was dropped
    Snapshot snapshot;
  };
  Endpoint* const endpoint_;
  std::vector<std::unique_ptr<Slot>> slots_;  // in the order of the endpoint's pipelines
};

// Queries one snapshot after the other. `Request`: the mailbox request that names the snapshot.
// Control thread only.
template <typename Snapshot, typename Request>
class LcoreQuery {
 public:
  explicit LcoreQuery(SnapshotPool<Snapshot>* pool) : pool_(pool) {}
  ~LcoreQuery() {
    if (slot_ != nullptr) slot_->taken = false;
  }
  LcoreQuery(const LcoreQuery&) = delete;
  LcoreQuery& operator=(const LcoreQuery&) = delete;

  // Returns the lcore's reply, valid until the next call; nullptr until it arrives. Until then each
  // call must request the same. `ask(snapshot)` writes the request.
  template <typename Ask>
  const Snapshot* Poll(uint32_t pipeline, Ask&& ask) {
    if (std::exchange(is_answered_, false)) std::exchange(slot_, nullptr)->taken = false;
    if (slot_ == nullptr) {
      Push(pipeline, ask);
      return nullptr;
    }
    is_answered_ = IsDone(*slot_);
    return is_answered_ ? &slot_->snapshot : nullptr;
  }

  // Polls the wanted instances one after the other, a piece at a time, from the first on: calls
  // `take(snapshot, instance)` with each piece that has arrived, until it returns false. Returns
  // whether all have been taken.
  template <typename Wants, typename Ask, typename Take>
  bool PollInstances(Wants&& wants, Ask&& ask, Take&& take) {
    const auto& instances = pool_->endpoint_->config().instances;
    while (true) {
      while (instance_ < instances.size() && !wants(instances[instance_])) ++instance_;
      if (instance_ == instances.size()) return true;
      const Snapshot* const snapshot =
          Poll(pool_->endpoint_->pipeline_of(instance_), [&](Snapshot& asked) {
            asked.instance = pool_->endpoint_->number_of(instance_);
            asked.first = next_;
            ask(asked);
          });
      if (snapshot == nullptr) return false;
      if (!take(*snapshot, instances[instance_])) return true;
      next_ = snapshot->more ? snapshot->next : 0;
      if (!snapshot->more) ++instance_;
    }
  }

 private:
  using Slot = typename SnapshotPool<Snapshot>::Slot;

  static bool IsDone(const Slot& slot) {
    return slot.snapshot.done.load(std::memory_order_acquire);
  }
  template <typename Ask>
  void Push(uint32_t pipeline, Ask&& ask) {
    Slot& slot = *pool_->slots_[pipeline];
    // Waits while another query has the slot, or the lcore's reply to a dropped query is pending.
    if (slot.taken || !IsDone(slot)) return;
    ask(slot.snapshot);
    slot.snapshot.done.store(false, std::memory_order_relaxed);
    if (!pool_->endpoint_->pipeline(pipeline).mailbox().requests.Push(
            Request{.snapshot = &slot.snapshot})) {
      slot.snapshot.done.store(true, std::memory_order_relaxed);  // mailbox full: retried
      return;
    }
    slot.taken = true;
    slot_ = &slot;
  }

  SnapshotPool<Snapshot>* const pool_;
  Slot* slot_ = nullptr;  // held by this query
  bool is_answered_ = false;
  uint32_t instance_ = 0;  // of PollInstances: index into Config::instances
  uint32_t next_ = 0;      // first of the next piece of it
};

// Returns whether an instance is one of those that the query `wanted` names by its own XPU and
// instance number, if at all.
template <typename Wanted>
bool NamesInstance(const Wanted& wanted, const InstanceConfig& instance) {
  return wanted.xpu.value_or(instance.xpu) == instance.xpu &&
         wanted.instance.value_or(instance.instance) == instance.instance;
}

// A query, and the rows that it has listed.
template <typename Query, typename View>
struct Listing {
  explicit Listing(auto* pool) : query(pool) {}
  Query query;
  View view{};
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_LCORE_QUERY_H_
