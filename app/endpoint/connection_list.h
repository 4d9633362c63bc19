// SPDX-License-Identifier: Apache-2.0
// Lists the lcores' connections, a piece at a time.
#ifndef SUEDE_APP_ENDPOINT_CONNECTION_LIST_H_
#define SUEDE_APP_ENDPOINT_CONNECTION_LIST_H_

#include <cstdint>
#include <optional>

#include "endpoint/lcore_query.h"
#include "lcore/snapshot.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// The reply to connections.list. Control thread only.
class ConnectionList {
 public:
  ConnectionList(SnapshotPool<ConnectionSnapshot>* pool, const ConnectionQuery& wanted)
      : wanted_(wanted), query_(pool) {}

  // Processes the piece that the lcore has written and requests the next. Returns the complete
  // list, or nullopt until then.
  std::optional<ConnectionsView> Poll();

 private:
  bool IsWanted(const InstanceConfig& instance) const;
  void Take(const ConnectionSnapshot& snapshot, const InstanceConfig& instance);

  const ConnectionQuery wanted_;
  LcoreQuery<ConnectionSnapshot, request::Connections> query_;
  ConnectionsView view_;
  uint32_t instance_ = 0;    // index into Config::instances
  uint32_t connection_ = 0;  // first of the next piece
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_CONNECTION_LIST_H_
