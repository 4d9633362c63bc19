// SPDX-License-Identifier: Apache-2.0
// Lists the lcores' planes, a piece at a time.
#ifndef SUEDE_APP_ENDPOINT_PLANE_LIST_H_
#define SUEDE_APP_ENDPOINT_PLANE_LIST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/coordinates.h"
#include "endpoint/lcore_query.h"
#include "lcore/snapshot.h"
#include "mgmt/plane_view.h"

namespace suede {

// A query about the planes of one instance.
class PlaneQuery {
 public:
  explicit PlaneQuery(SnapshotPool<PlaneSnapshot>* pool) : query_(pool) {}
  Endpoint& endpoint() const { return query_.endpoint(); }

  // Returns the paths of Config::instances[instance] from `first` on, like LcoreQuery::Poll.
  const PlaneSnapshot* Poll(uint32_t instance, PathIndex first, uint32_t peer_xpuid);
  // Calls `take(snapshot)` for each piece that has arrived, beginning with the first path. Returns
  // true once the instance is complete.
  template <typename Take>
  bool PollAll(uint32_t instance, uint32_t peer_xpuid, Take take) {
    while (const PlaneSnapshot* const snapshot = Poll(instance, next_, peer_xpuid)) {
      take(*snapshot);
      next_ = PathIndex(snapshot->more ? snapshot->next : 0u);
      if (!snapshot->more) return true;
    }
    return false;
  }

 private:
  LcoreQuery<PlaneSnapshot, request::Planes> query_;
  PathIndex next_ = 0;
};

// The reply to planes.list.
class PlaneList {
 public:
  explicit PlaneList(SnapshotPool<PlaneSnapshot>* pool) : query_(pool) {}
  std::optional<std::vector<PlaneView>> Poll();

 private:
  void Take(const PlaneSnapshot& snapshot);

  PlaneQuery query_;
  std::vector<PlaneView> views_;
  uint32_t instance_ = 0;  // index into Config::instances
  size_t begin_ = 0;       // of its planes in views_
};

// The reply to planes.peers.
class PlanePeerList {
 public:
  PlanePeerList(SnapshotPool<PlaneSnapshot>* pool, const PlanePeerQuery& wanted)
      : wanted_(wanted), query_(pool) {}
  std::optional<PlanePeersView> Poll();

 private:
  bool IsWanted(const InstanceConfig& instance) const;
  void Take(const PlaneSnapshot& snapshot, const InstanceConfig& instance);

  const PlanePeerQuery wanted_;
  PlaneQuery query_;
  PlanePeersView view_;
  uint32_t instance_ = 0;  // index into Config::instances
};

// Bytes in flight on one plane, queried repeatedly.
class PlaneLoad {
 public:
  PlaneLoad(SnapshotPool<PlaneSnapshot>* pool, uint32_t instance, uint32_t plane)
      : query_(pool), instance_(instance), plane_(plane) {}
  // Returns nullopt until the lcore has replied.
  std::optional<uint64_t> Poll();

 private:
  PlaneQuery query_;
  const uint32_t instance_;  // index into Config::instances
  const uint32_t plane_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PLANE_LIST_H_
