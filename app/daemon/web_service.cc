// SPDX-License-Identifier: Apache-2.0
#include "daemon/web_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "daemon/status_page.h"

namespace suede {
namespace {

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

std::string Good(std::string_view first, const std::vector<std::string>& notes) {
  std::string text(first);
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

void AnswerLines(std::string_view good, const std::vector<std::string>& wrong,
                 HttpResponse* response) {
  response->status = wrong.empty() ? 200 : 503;
  response->body = wrong.empty() ? good : "";
  for (const std::string& line : wrong) response->body += line + "\n";
}

}  // namespace

absl::StatusOr<std::unique_ptr<WebService>> WebService::Start(const std::string& address,
                                                              const Observed* observed,
                                                              HttpCounters* counters,
                                                              const LogSink& log, WebExtra extra) {
  std::unique_ptr<WebService> service(new WebService(observed, std::move(extra)));
  const std::optional<ListenAddress> parsed = ParseListenAddress(address);
  if (!parsed) return service;
  if (!parsed->is_loopback()) {
    log(EalLogLevel::kWarning, "web",
        absl::StrCat("open to other machines address=", address,
                     ": every host that reaches it reads the metrics; 127.0.0.1 keeps them here"));
  }
  HttpOptions options;
  options.address = *parsed;
  options.counters = counters;
  options.handler = [web = service.get()](const HttpRequest& request, HttpResponse* response) {
    return web->Answer(request, response);
  };
  // Liveness probes never wait behind a scrape.
  options.is_quick = [](std::string_view path) { return path == "/readyz" || path == "/healthz"; };
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Start(std::move(options));
  if (!server.ok()) {
    return absl::Status(server.status().code(), StrCat("management.http_address: ",
                                                       std::string(server.status().message())));
  }
  service->server_ = *std::move(server);
  log(EalLogLevel::kInfo, "web", absl::StrCat("serving address=", service->address()));
  return service;
}

bool WebService::Answer(const HttpRequest& request, HttpResponse* response) {
  if (request.path == "/metrics") {
    AnswerMetrics(request, response);
  } else if (request.path == "/healthz") {
    AnswerLines(Good("ok\n", observed_->Notes()), observed_->HealthFaults(), response);
  } else if (request.path == "/readyz") {
    AnswerLines(Good("ready\n", observed_->Notes()), observed_->Obstacles(), response);
  } else if (request.path == "/") {
    response->content_type = "text/html; charset=utf-8";
    response->body = StatusPageHtml(observed_->name(), observed_->status_page());
  } else if (request.path == "/status.js") {
    response->content_type = "text/javascript; charset=utf-8";
    response->body = StatusPageScript(observed_->status_page());
  } else if (request.path == "/status.css") {
    response->content_type = "text/css; charset=utf-8";
    response->body = StatusPageStyle();
  } else {
    return false;
  }
  return true;
}

void WebService::AnswerMetrics(const HttpRequest& request, HttpResponse* response) {
  std::vector<prometheus::MetricFamily> families = observed_->page().Collect();
  if (extra_.collect != nullptr && request.query == extra_.query && !extra_.collect(&families)) {
    response->status = 503;
    response->content_type = "text/plain; charset=utf-8";
    response->body = extra_.refusal;
    return;
  }
  response->content_type = kMetricsType;
  response->body = AsText(families);
}

}  // namespace suede
