// SPDX-License-Identifier: Apache-2.0
// The daemon's read-only web interface: /metrics, /healthz, /readyz and a status page
// (docs/metrics.md).
#ifndef SUEDE_APP_DAEMON_WEB_SERVICE_H_
#define SUEDE_APP_DAEMON_WEB_SERVICE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/logger.h"
#include "daemon/observed.h"
#include "http/server.h"

namespace suede {

// Optional metric families of /metrics, collected for a query.
struct WebExtra {
  std::string_view query;    // "peers=1"
  std::string_view refusal;  // the reply if they are unavailable now
  // Returns false if they are unavailable. Any thread of the web server; may block.
  std::function<bool(std::vector<prometheus::MetricFamily>*)> collect;
};

class WebService {
 public:
  // Starts the service. `observed` and `counters` must outlive it. Serves nothing if `address` is
  // empty.
  static absl::StatusOr<std::unique_ptr<WebService>> Start(const std::string& address,
                                                           const Observed* observed,
                                                           HttpCounters* counters,
                                                           const LogSink& log, WebExtra extra = {});

  // Returns the listening address; empty: none.
  std::string address() const { return server_ != nullptr ? server_->address().text() : ""; }

 private:
  WebService(const Observed* observed, WebExtra extra)
      : observed_(observed), extra_(std::move(extra)) {}
  bool Answer(const HttpRequest& request, HttpResponse* response);
  void AnswerMetrics(const HttpRequest& request, HttpResponse* response);

  const Observed* const observed_;
  const WebExtra extra_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_WEB_SERVICE_H_
