// SPDX-License-Identifier: Apache-2.0
// Asks lcores for their planes, a piece at a time.
#ifndef SUEDE_APP_ENDPOINT_PLANE_SURVEY_H_
#define SUEDE_APP_ENDPOINT_PLANE_SURVEY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/endpoint.h"
#include "lcore/snapshot.h"
#include "mgmt/plane_view.h"

namespace suede {

// The memory that lcores write to; as SnapshotDesk. Control thread only.
class PlaneDesk {
 public:
  explicit PlaneDesk(Endpoint* endpoint);
  Endpoint& endpoint() const { return *endpoint_; }

 private:
  friend class PlaneAsk;
  struct Place {
    bool taken = false;  // the lcore may still write after the taker was dropped
    PlaneSnapshot snapshot;
  };
  Endpoint* const endpoint_;
  std::vector<std::unique_ptr<Place>> places_;  // as the endpoint's pipelines
};

// A question about the planes of one instance, and its answer.
class PlaneAsk {
 public:
  explicit PlaneAsk(PlaneDesk* desk) : desk_(desk) {}
  ~PlaneAsk();
  PlaneAsk(const PlaneAsk&) = delete;
  PlaneAsk& operator=(const PlaneAsk&) = delete;

  // Pairs of peer and plane of Config::instances[instance] from `first` on. The answer once it is
  // there, valid until the next Poll, which is to ask the same until then.
  const PlaneSnapshot* Poll(uint32_t instance, uint32_t first, uint32_t peer_xpuid);

 private:
  PlaneDesk* const desk_;
  PlaneDesk::Place* place_ = nullptr;  // that this holds
  bool answered_ = false;
};

// Each piece of an instance's planes, one after the other.
class PlaneWalk {
 public:
  explicit PlaneWalk(PlaneDesk* desk) : ask_(desk) {}
  // Calls `take(snapshot)` for each piece that has come. True once all of the instance has.
  template <typename Take>
  bool Poll(uint32_t instance, uint32_t peer_xpuid, Take take) {
    const PlaneSnapshot* const snapshot = ask_.Poll(instance, first_, peer_xpuid);
    if (snapshot == nullptr) return false;
    take(*snapshot);
    first_ = snapshot->more ? snapshot->next : 0;
    return !snapshot->more;
  }

 private:
  PlaneAsk ask_;
  uint32_t first_ = 0;
};

// The answer of planes.list.
class PlaneList {
 public:
  explicit PlaneList(PlaneDesk* desk) : desk_(desk), walk_(desk) {}
  std::optional<std::vector<PlaneView>> Poll();

 private:
  void Take(const PlaneSnapshot& snapshot);

  PlaneDesk* const desk_;
  PlaneWalk walk_;
  std::vector<PlaneView> views_;
  uint32_t instance_ = 0;  // index into Config::instances
  size_t begin_ = 0;       // of its planes in views_
};

// The answer of planes.peers.
class PlanePeerSurvey {
 public:
  PlanePeerSurvey(PlaneDesk* desk, const PlanePeerQuery& query)
      : desk_(desk), query_(query), walk_(desk) {}
  std::optional<PlanePeersView> Poll();

 private:
  bool IsWanted(const InstanceConfig& instance) const;
  void Take(const PlaneSnapshot& snapshot, const InstanceConfig& instance);

  PlaneDesk* const desk_;
  const PlanePeerQuery query_;
  PlaneWalk walk_;
  PlanePeersView view_;
  uint32_t instance_ = 0;  // index into Config::instances
};

// Bytes in flight on one plane, asked again and again.
class PlaneLoad {
 public:
  PlaneLoad(PlaneDesk* desk, uint32_t instance, uint32_t plane)
      : ask_(desk), instance_(instance), plane_(plane) {}
  // None: the lcore has not answered yet.
  std::optional<uint64_t> Poll();

 private:
  PlaneAsk ask_;
  const uint32_t instance_;  // index into Config::instances
  const uint32_t plane_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PLANE_SURVEY_H_
