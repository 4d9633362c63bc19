// SPDX-License-Identifier: Apache-2.0
// The metrics of an endpoint's peers, which the lcores are asked for (/metrics?peers=1).
#ifndef SUEDE_APP_ENDPOINT_PEER_METRICS_H_
#define SUEDE_APP_ENDPOINT_PEER_METRICS_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "daemon/web_service.h"
#include "local/fd.h"
#include "metrics/page.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Brings the lcores' answers about their connections, which the control thread asks for, to a
// thread of the web server, which waits for them. One at a time.
class PeerRelay {
 public:
  PeerRelay();

  // A thread of the web server. None where another one waits already, or it took too long.
  std::optional<ConnectionsView> Ask();

  // Control thread. fd() is readable when somebody asks; while busy() holds Poll is to be called
  // every millisecond.
  int fd() const { return wake_.get(); }
  bool busy() const { return question_ != nullptr; }
  void Poll(EndpointView& endpoint);

 private:
  enum class State : uint8_t { kFree, kAsked, kAnswered, kGivenUp };
  const Fd wake_;
  EndpointView::ConnectionQuestion question_;
  std::mutex mutex_;
  std::condition_variable answered_;
  State state_ = State::kFree;
  std::optional<ConnectionsView> answer_;
};

// Outlives the web server.
class PeerMetrics {
 public:
  // The page's common labels are those of its families, too; it outlives this.
  explicit PeerMetrics(const MetricsPage* page) : page_(page) {}
  WebExtra Extra();

  // Control thread: see PeerRelay.
  int fd() const { return relay_.fd(); }
  bool busy() const { return relay_.busy(); }
  void Poll(EndpointView& endpoint) { relay_.Poll(endpoint); }

 private:
  bool Collect(std::vector<prometheus::MetricFamily>* families);

  const MetricsPage* const page_;
  PeerRelay relay_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PEER_METRICS_H_
