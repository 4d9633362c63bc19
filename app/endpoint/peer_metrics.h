// SPDX-License-Identifier: Apache-2.0
// The metrics of an endpoint's peers, requested from the lcores (/metrics?peers=1).
#ifndef SUEDE_APP_ENDPOINT_PEER_METRICS_H_
#define SUEDE_APP_ENDPOINT_PEER_METRICS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/web_service.h"
#include "local/fd.h"
#include "metrics/page.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Passes the lcores' connection lists, which the control thread requests, to a web server thread
// that waits for them. One request at a time.
class PeerRelay {
 public:
  struct Answer {
    ConnectionsView connections;
    std::map<uint32_t, std::string> names;  // of every peer by its XPU; empty: it has none
  };

  PeerRelay();

  // For a thread of the web server. Returns nullopt if another thread is waiting, or after a
  // timeout.
  std::optional<Answer> Ask();

  // For the control thread. fd() is readable when there is a request; Poll is to be called every
  // millisecond while busy() holds.
  int fd() const { return wake_.get(); }
  bool busy() const { return question_ != nullptr; }
  void Poll(EndpointView& endpoint);

 private:
  enum class State : uint8_t { kFree, kAsked, kAnswered, kGivenUp };
  const Fd wake_;
  Question<ConnectionsView> question_;
  std::mutex mutex_;
  std::condition_variable answered_;
  State state_ = State::kFree;
  std::optional<Answer> answer_;
};

// Must outlive the web server.
class PeerMetrics {
 public:
  // `page` provides the common labels, and must outlive this.
  explicit PeerMetrics(const MetricsPage* page) : page_(page) {}
  WebExtra Extra();

  // For the control thread: see PeerRelay.
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
