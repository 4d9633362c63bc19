// SPDX-License-Identifier: Apache-2.0
#include "endpoint/web_service.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "endpoint/metric_rows.h"
#include "endpoint/status_page.h"

namespace suede {
namespace {

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
// Connections that one page shows; as with connections.list.
constexpr uint32_t kMostConnections = 10'000;
constexpr std::chrono::seconds kPatience{2};
// Of the server's threads, so that slow readers of a page leave threads for /readyz.
constexpr int kMostScrapes = 16;

struct Counted {
  explicit Counted(std::atomic<int>* number) : number(number), value(++*number) {}
  ~Counted() { --*number; }
  std::atomic<int>* const number;
  const int value;
};

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

uint64_t Millionths(uint64_t part, uint64_t whole) {
  return part * 1'000'000 / std::max<uint64_t>(1, whole);
}

// The values of PeerMetricRows, in their order.
std::vector<double> ValuesOf(const ConnectionView& c) {
  const auto seconds = [](int64_t ns) {
    return InBaseUnit(static_cast<uint64_t>(ns), CellUnit::kNanoseconds);
  };
  const uint64_t used = std::max(Millionths(c.unacked_pdus, c.window_pdus),
                                 Millionths(c.unacked_bytes, c.window_bytes));
  return {c.state != "lost" ? 1.0 : 0.0,
          static_cast<double>(c.unacked_pdus),
          static_cast<double>(c.unacked_bytes),
          InBaseUnit(used, CellUnit::kMillionths),
          seconds(c.srtt_ns),
          seconds(c.rto_ns)};
}

MetricLabels LabelsOf(const MetricLabels& common, const ConnectionView& c) {
  MetricLabels labels = common;
  labels.emplace_back("xpu", std::to_string(c.xpu));
  labels.emplace_back("instance", std::to_string(c.instance));
  labels.emplace_back("peer", std::to_string(c.peer));
  if (c.vc) labels.emplace_back("vc", std::to_string(*c.vc));
  return labels;
}

}  // namespace

PeerDesk::PeerDesk() : wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

std::optional<ConnectionsView> PeerDesk::Ask() {
  std::unique_lock lock(mutex_);
  if (state_ != State::kFree) return std::nullopt;
  state_ = State::kAsked;
  eventfd_write(wake_.get(), 1);
  const bool answered =
      answered_.wait_for(lock, kPatience, [this] { return state_ == State::kAnswered; });
  state_ = answered ? State::kFree : State::kGivenUp;
  return std::exchange(answer_, std::nullopt);
}

void PeerDesk::Poll(EndpointView& endpoint) {
  eventfd_t count;
  eventfd_read(wake_.get(), &count);
  const std::lock_guard lock(mutex_);
  if (state_ == State::kGivenUp) {
    question_ = nullptr;
    state_ = State::kFree;
  }
  if (state_ != State::kAsked) return;
  if (question_ == nullptr) {
    question_ = endpoint.Connections({.xpu = {}, .instance = {}, .peer = {}, .unused = true,
                                      .limit = kMostConnections});
  }
  std::optional<ConnectionsView> answer = question_();
  if (!answer) return;
  question_ = nullptr;
  answer_ = std::move(answer);
  state_ = State::kAnswered;
  answered_.notify_one();
}

absl::StatusOr<std::unique_ptr<WebService>> WebService::Start(const std::string& address,
                                                              Observer* observer,
                                                              Endpoint::Log log) {
  std::unique_ptr<WebService> service(new WebService(observer));
  const std::optional<ListenAddress> parsed = ParseListenAddress(address);
  if (!parsed) return service;
  if (!parsed->is_loopback()) {
    log(EalLogLevel::kWarning, "web",
        absl::StrCat("open to other machines address=", address,
                     ": every host that reaches it reads the metrics; 127.0.0.1 keeps them here"));
  }
  HttpOptions options;
  options.address = *parsed;
  options.counters = observer->http_counters();
  options.handler = [web = service.get()](const HttpRequest& request, HttpResponse* response) {
    return web->Answer(request, response);
  };
  // A supervisor's request never waits behind a scrape.
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
    AnswerLines(Good("ok\n", observer_->Notes()), observer_->Ailments(), response);
  } else if (request.path == "/readyz") {
    AnswerLines(Good("ready\n", observer_->Notes()), observer_->Obstacles(), response);
  } else if (request.path == "/") {
    response->content_type = "text/html; charset=utf-8";
    response->body = StatusPageHtml(observer_->name());
  } else if (request.path == "/status.js") {
    response->content_type = "text/javascript; charset=utf-8";
    response->body = StatusPageScript();
  } else if (request.path == "/status.css") {
    response->content_type = "text/css; charset=utf-8";
    response->body = StatusPageStyle();
  } else {
    return false;
  }
  return true;
}

void WebService::AnswerMetrics(const HttpRequest& request, HttpResponse* response) {
  const Counted scrape(&scrapes_);
  if (scrape.value > kMostScrapes) {
    response->status = 503;
    response->body = "too many scrapes at a time; try again\n";
    return;
  }
  std::vector<prometheus::MetricFamily> families = observer_->page().Collect();
  if (request.query == "peers=1" && !CollectPeers(&families)) {
    response->status = 503;
    response->content_type = "text/plain; charset=utf-8";
    response->body =
        "another scrape of peers is under way, or the lcores did not answer; try again\n";
    return;
  }
  response->content_type = kMetricsType;
  response->body = AsText(families);
}

bool WebService::CollectPeers(std::vector<prometheus::MetricFamily>* families) {
  const std::optional<ConnectionsView> view = desk_.Ask();
  if (!view) return false;
  const MetricLabels& common = observer_->page().common();
  const std::vector<MetricRow> rows = PeerMetricRows();
  const MetricRow& left_out = rows.back();
  std::vector<prometheus::MetricFamily> of_peers;
  for (const MetricRow& row : rows) of_peers.push_back(FamilyOf(row));
  for (const ConnectionView& connection : view->connections) {
    const MetricLabels labels = LabelsOf(common, connection);
    const std::vector<double> values = ValuesOf(connection);
    for (size_t i = 0; i < values.size(); ++i) {
      of_peers[i].metric.push_back(SeriesOf(rows[i].type, labels, values[i]));
    }
  }
  of_peers.back().metric.push_back(SeriesOf(left_out.type, common, view->more ? 1 : 0));
  for (prometheus::MetricFamily& family : of_peers) {
    if (!family.metric.empty()) families->push_back(std::move(family));
  }
  return true;
}

}  // namespace suede
