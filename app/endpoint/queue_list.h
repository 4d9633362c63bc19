// SPDX-License-Identifier: Apache-2.0
// Lists the lcores' client queues.
#ifndef SUEDE_APP_ENDPOINT_QUEUE_LIST_H_
#define SUEDE_APP_ENDPOINT_QUEUE_LIST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/lcore_query.h"
#include "lcore/snapshot.h"
#include "mgmt/admin_view.h"

namespace suede {

// The reply to clients.queues. Control thread only.
class QueueList {
 public:
  explicit QueueList(SnapshotPool<QueueSnapshot>* pool) : query_(pool) {}

  // Processes the piece that the lcore has written and queries the next lcore. Returns the complete
  // list, or nullopt until then.
  std::optional<std::vector<QueueView>> Poll();

 private:
  void Take(const QueueSnapshot& snapshot);
  std::string PausedVcs(const InstanceConfig& instance) const;

  LcoreQuery<QueueSnapshot, request::Queues> query_;
  std::vector<QueueView> queues_;
  uint32_t pipeline_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_QUEUE_LIST_H_
