// SPDX-License-Identifier: Apache-2.0
// Asks lcores for their clients' queues.
#ifndef SUEDE_APP_ENDPOINT_QUEUE_LIST_H_
#define SUEDE_APP_ENDPOINT_QUEUE_LIST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/lcore_query.h"
#include "lcore/snapshot.h"
#include "mgmt/admin_view.h"

namespace suede {

// The answer of clients.queues. Control thread only.
class QueueList {
 public:
  explicit QueueList(SnapshotPool<QueueSnapshot>* pool) : query_(pool) {}

  // Takes the piece that the lcore has written and asks the next. Returns the answer once it is
  // whole.
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
