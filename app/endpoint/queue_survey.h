// SPDX-License-Identifier: Apache-2.0
// Asks lcores for their clients' queues.
#ifndef SUEDE_APP_ENDPOINT_QUEUE_SURVEY_H_
#define SUEDE_APP_ENDPOINT_QUEUE_SURVEY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/endpoint.h"
#include "lcore/snapshot.h"
#include "mgmt/admin_view.h"

namespace suede {

// The memory that lcores write to; as SnapshotDesk. Control thread only.
class QueueDesk {
 public:
  explicit QueueDesk(Endpoint* endpoint);

 private:
  friend class QueueSurvey;
  struct Place {
    bool taken = false;  // by a survey; the lcore may still write after that was dropped
    QueueSnapshot snapshot;
  };
  Endpoint* const endpoint_;
  std::vector<std::unique_ptr<Place>> places_;    // as the endpoint's pipelines
  std::vector<std::vector<uint32_t>> instances_;  // [lcore][number]: Config::instances
};

class QueueSurvey {
 public:
  explicit QueueSurvey(QueueDesk* desk) : desk_(desk) {}
  ~QueueSurvey();
  QueueSurvey(const QueueSurvey&) = delete;
  QueueSurvey& operator=(const QueueSurvey&) = delete;

  // Takes the piece that the lcore has written and asks the next. The answer, once it is whole.
  std::optional<std::vector<QueueView>> Poll();

 private:
  void Take(const QueueSnapshot& snapshot);
  std::string PausedVcs(const InstanceConfig& instance) const;

  QueueDesk* const desk_;
  std::vector<QueueView> queues_;
  uint32_t lcore_ = 0;
  QueueDesk::Place* place_ = nullptr;  // that this holds
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_QUEUE_SURVEY_H_
