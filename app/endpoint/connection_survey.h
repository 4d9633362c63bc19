// SPDX-License-Identifier: Apache-2.0
// Asks lcores for their connections, a piece at a time.
#ifndef SUEDE_APP_ENDPOINT_CONNECTION_SURVEY_H_
#define SUEDE_APP_ENDPOINT_CONNECTION_SURVEY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/endpoint.h"
#include "lcore/snapshot.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// The memory that lcores write to: a piece for each, so that an lcore has one request at a time,
// however many ask. Outlives the surveys, and is not destroyed while lcores run. Control thread
// only.
class SnapshotDesk {
 public:
  explicit SnapshotDesk(Endpoint* endpoint);

 private:
  friend class ConnectionSurvey;
  struct Place {
    bool taken = false;  // by a survey; the lcore may still write after that was dropped
    ConnectionSnapshot snapshot;
  };
  Endpoint* const endpoint_;
  std::vector<std::unique_ptr<Place>> places_;  // as the endpoint's pipelines
};

// Control thread only.
class ConnectionSurvey {
 public:
  ConnectionSurvey(SnapshotDesk* desk, const ConnectionQuery& query) : desk_(desk), query_(query) {}
  ~ConnectionSurvey();
  ConnectionSurvey(const ConnectionSurvey&) = delete;
  ConnectionSurvey& operator=(const ConnectionSurvey&) = delete;

  // Takes the piece that the lcore has written and asks for the next one. The answer, once it is
  // whole.
  std::optional<ConnectionsView> Poll();

 private:
  bool IsWanted(const InstanceConfig& instance) const;
  void Ask(SnapshotDesk::Place& place, uint32_t lcore);
  void Take(const ConnectionSnapshot& snapshot, const InstanceConfig& instance);

  SnapshotDesk* const desk_;
  const ConnectionQuery query_;
  ConnectionsView view_;
  uint32_t instance_ = 0;                 // index into Config::instances
  uint32_t connection_ = 0;               // to go on with
  SnapshotDesk::Place* place_ = nullptr;  // that this holds
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_CONNECTION_SURVEY_H_
