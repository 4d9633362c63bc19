// SPDX-License-Identifier: Apache-2.0
// The endpoint on the web, to be read only: /metrics, /healthz, /readyz and a page to look at
// (docs/metrics.md).
#ifndef SUEDE_APP_ENDPOINT_WEB_SERVICE_H_
#define SUEDE_APP_ENDPOINT_WEB_SERVICE_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "endpoint/observer.h"
#include "http/server.h"
#include "local/fd.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Brings the lcores' answers about their connections, which the control thread asks for, to a
// thread of the web server, which waits for them. One at a time.
class PeerDesk {
 public:
  PeerDesk();

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

class WebService {
 public:
  // `observer` outlives the service. Where `address` is empty, nothing is served.
  static absl::StatusOr<std::unique_ptr<WebService>> Start(const std::string& address,
                                                           Observer* observer,
                                                           Endpoint::Log log);

  // The address it listens at; empty: none.
  std::string address() const { return server_ != nullptr ? server_->address().text() : ""; }
  // Control thread: see PeerDesk.
  int fd() const { return desk_.fd(); }
  bool busy() const { return desk_.busy(); }
  void Poll(EndpointView& endpoint) { desk_.Poll(endpoint); }

 private:
  explicit WebService(Observer* observer) : observer_(observer) {}
  bool Answer(const HttpRequest& request, HttpResponse* response);
  void AnswerMetrics(const HttpRequest& request, HttpResponse* response);
  bool CollectPeers(std::vector<prometheus::MetricFamily>* families);

  Observer* const observer_;
  PeerDesk desk_;
  std::atomic<int> scrapes_{0};  // under way
  std::unique_ptr<HttpServer> server_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_WEB_SERVICE_H_
