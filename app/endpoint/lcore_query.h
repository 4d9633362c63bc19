// SPDX-License-Identifier: Apache-2.0
// Asks an lcore for a snapshot of its state, which the lcore writes in one poll iteration.
#ifndef SUEDE_APP_ENDPOINT_LCORE_QUERY_H_
#define SUEDE_APP_ENDPOINT_LCORE_QUERY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/endpoint.h"

namespace suede {

// The memory that lcores write to: a snapshot for each, so that an lcore has one request at a time,
// however many ask. Outlives the queries, and is not destroyed while lcores run. Control thread
// only.
template <typename Snapshot>
class SnapshotPool {
 public:
  explicit SnapshotPool(Endpoint* endpoint) : endpoint_(endpoint) {
    for (uint32_t l = 0; l < endpoint->pipeline_count(); ++l) {
      slots_.push_back(std::make_unique<Slot>());
    }
  }
  Endpoint& endpoint() const { return *endpoint_; }

 private:
  template <typename, typename>
  friend class LcoreQuery;
  struct Slot {
    bool taken = false;  // by a query; the lcore may still write after the query was dropped
    Snapshot snapshot;
  };
  Endpoint* const endpoint_;
  std::vector<std::unique_ptr<Slot>> slots_;  // as the endpoint's pipelines
};

// Asks for one snapshot after the other. `Request`: the mailbox's request that names the snapshot.
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

  Endpoint& endpoint() const { return pool_->endpoint(); }

  // Returns the lcore's answer once it is there, valid until the next call; nullptr until then,
  // while each call has to ask the same. `ask(snapshot)` writes the question.
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

 private:
  using Slot = typename SnapshotPool<Snapshot>::Slot;

  static bool IsDone(const Slot& slot) {
    return slot.snapshot.done.load(std::memory_order_acquire);
  }
  template <typename Ask>
  void Push(uint32_t pipeline, Ask&& ask) {
    Slot& slot = *pool_->slots_[pipeline];
    // Another query has the slot, or the lcore still owes an answer to one that was dropped.
    if (slot.taken || !IsDone(slot)) return;
    ask(slot.snapshot);
    slot.snapshot.done.store(false, std::memory_order_relaxed);
    if (!endpoint().pipeline(pipeline).mailbox().requests.Push(
            Request{.snapshot = &slot.snapshot})) {
      slot.snapshot.done.store(true, std::memory_order_relaxed);  // a full mailbox: the next time
      return;
    }
    slot.taken = true;
    slot_ = &slot;
  }

  SnapshotPool<Snapshot>* const pool_;
  Slot* slot_ = nullptr;  // that this holds
  bool is_answered_ = false;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_LCORE_QUERY_H_
