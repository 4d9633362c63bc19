// SPDX-License-Identifier: Apache-2.0
// Lists the lcores' connections, planes and client queues, a piece at a time.
#ifndef SUEDE_APP_ENDPOINT_LCORE_LISTS_H_
#define SUEDE_APP_ENDPOINT_LCORE_LISTS_H_

#include <cstdint>
#include <vector>

#include "endpoint/lcore_query.h"
#include "lcore/wait_snapshot.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Must outlive its questions and the lcores' work. Control thread only.
class LcoreLists {
 public:
  explicit LcoreLists(Endpoint* endpoint)
      : endpoint_(endpoint),
        connections_(endpoint),
        waits_(endpoint),
        planes_(endpoint),
        queues_(endpoint) {}

  Question<ConnectionsView> Connections(const ConnectionQuery& wanted);
  Question<WaitsView> Waits(const ConnectionQuery& wanted);
  Question<std::vector<PlaneView>> Planes();
  Question<PlanePeersView> PlanePeers(const PlanePeerQuery& wanted);
  Question<std::vector<QueueView>> Queues();
  // Bytes in flight on a plane of Config::instances[instance]. The question may be asked again
  // after a reply.
  Question<uint64_t> PlaneLoad(uint32_t instance, uint32_t plane);

 private:
  QueueView ViewOf(uint32_t pipeline, const QueueRow& row) const;

  Endpoint* const endpoint_;
  SnapshotPool<ConnectionSnapshot> connections_;
  SnapshotPool<WaitSnapshot> waits_;
  SnapshotPool<PlaneSnapshot> planes_;
  SnapshotPool<QueueSnapshot> queues_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_LCORE_LISTS_H_
