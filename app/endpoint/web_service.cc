// SPDX-License-Identifier: Apache-2.0
#include "endpoint/web_service.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
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
// Of the server's threads, so that who reads a page slowly leaves threads for /readyz.
constexpr int kMostScrapes = 16;

struct Counted {
  explicit Counted(std::atomic<int>* number) : number(number), value(++*number) {}
  ~Counted() { --*number; }
  std::atomic<int>* const number;
  const int value;
};

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
struct PeerValue {
  uint64_t value;
  CellUnit unit;
};
std::vector<PeerValue> ValuesOf(const ConnectionView& c) {
  return {{c.state != "lost", CellUnit::kPlain},
          {c.unacked_pdus, CellUnit::kPlain},
          {c.unacked_bytes, CellUnit::kPlain},
          {std::max(Millionths(c.unacked_pdus, c.window_pdus),
                    Millionths(c.unacked_bytes, c.window_bytes)),
           CellUnit::kMillionths},
          {static_cast<uint64_t>(c.srtt_ns), CellUnit::kNanoseconds},
          {static_cast<uint64_t>(c.rto_ns), CellUnit::kNanoseconds}};
}

// `name`: of the endpoint, whose letters need no escape.
std::string LabelsOf(const std::string& name, const ConnectionView& c) {
  std::string out = StrCat("{endpoint=\"", name, "\",xpu=\"", c.xpu, "\",instance=\"", c.instance, "\",peer=\"", c.peer);
  if (c.vc) StrAppend(&out, "\",vc=\"", *c.vc);
  return out + "\"} ";
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
                     ": whoever reaches it reads the metrics; 127.0.0.1 keeps them here"));
  }
  HttpOptions options;
  options.address = *parsed;
  options.counters = observer->http_counters();
  options.handler = [web = service.get()](const HttpRequest& request, HttpResponse* response) {
    return web->Answer(request, response);
  };
  // What supervisors ask is never behind a scrape.
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
    AnswerLines("ok\n", observer_->Ailments(), response);
  } else if (request.path == "/readyz") {
    AnswerLines("ready\n", observer_->Obstacles(), response);
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
  response->content_type = kMetricsType;
  observer_->page().AppendTo(&response->body);
  if (request.query != "peers=1" || AppendPeers(&response->body)) return;
  response->status = 503;
  response->content_type = "text/plain; charset=utf-8";
  response->body =
      "another scrape of peers is under way, or the lcores did not answer; try again\n";
}

bool WebService::AppendPeers(std::string* out) {
  const std::optional<ConnectionsView> view = desk_.Ask();
  if (!view) return false;
  const std::vector<MetricRow> rows = PeerMetricRows();
  std::vector<std::string> labels;
  std::vector<std::vector<PeerValue>> values;
  for (const ConnectionView& connection : view->connections) {
    labels.push_back(LabelsOf(observer_->name(), connection));
    values.push_back(ValuesOf(connection));
  }
  for (size_t r = 0; r + 1 < rows.size(); ++r) {
    if (!labels.empty()) *out += FamilyHead(rows[r]);
    for (size_t i = 0; i < labels.size(); ++i) {
      StrAppend(out, "suede_", rows[r].name, labels[i]);
      AppendCell(values[i][r].value, values[i][r].unit, out);
      *out += '\n';
    }
  }
  StrAppend(out, FamilyHead(rows.back()), SeriesPrefix(rows.back().name, observer_->page().common()), view->more ? 1 : 0,
            "\n");
  return true;
}

}  // namespace suede
