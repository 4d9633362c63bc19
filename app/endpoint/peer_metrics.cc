// SPDX-License-Identifier: Apache-2.0
#include "endpoint/peer_metrics.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "endpoint/metric_rows.h"

namespace suede {
namespace {

// Max connections on one page; as with connections.list.
constexpr uint32_t kMaxConnections = 10'000;
constexpr std::chrono::seconds kTimeout{2};

uint64_t Millionths(uint64_t part, uint64_t whole) {
  return part * 1'000'000 / std::max<uint64_t>(1, whole);
}

// Returns the values of PeerMetricRows for a connection, in their order.
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
          seconds(c.rto_ns),
          static_cast<double>(c.congestion_window_octets.value_or(0)),
          seconds(c.base_rtt_ns)};
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

PeerRelay::PeerRelay() : wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

std::optional<PeerRelay::Answer> PeerRelay::Ask() {
  std::unique_lock lock(mutex_);
  if (state_ != State::kFree) return std::nullopt;
  state_ = State::kAsked;
  eventfd_write(wake_.get(), 1);
  const bool answered =
      answered_.wait_for(lock, kTimeout, [this] { return state_ == State::kAnswered; });
  state_ = answered ? State::kFree : State::kGivenUp;
  return std::exchange(answer_, std::nullopt);
}

void PeerRelay::Poll(EndpointView& endpoint) {
  eventfd_t count;
  eventfd_read(wake_.get(), &count);
  const std::lock_guard lock(mutex_);
  if (state_ == State::kGivenUp) {
    question_ = nullptr;
    state_ = State::kFree;
  }
  if (state_ != State::kAsked) return;
  if (question_ == nullptr) {
    question_ = endpoint.Connections(
        {.xpu = {}, .instance = {}, .peer = {}, .unused = true, .limit = kMaxConnections});
  }
  std::optional<ConnectionsView> answer = question_();
  if (!answer) return;
  question_ = nullptr;
  answer_ = Answer{.connections = *std::move(answer), .names = {}};
  for (PeerView& peer : endpoint.Peers()) answer_->names[peer.xpu] = std::move(peer.name);
  state_ = State::kAnswered;
  answered_.notify_one();
}

WebExtra PeerMetrics::Extra() {
  return {.query = "peers=1",
          .refusal =
              "another scrape of peers is under way, or the lcores did not answer; "
              "try again\n",
          .collect = [this](std::vector<prometheus::MetricFamily>* families) {
            return Collect(families);
          }};
}

bool PeerMetrics::Collect(std::vector<prometheus::MetricFamily>* families) {
  const std::optional<PeerRelay::Answer> peers = relay_.Ask();
  if (!peers) return false;
  const ConnectionsView& view = peers->connections;
  const MetricLabels& common = page_->common();
  const std::vector<MetricRow> rows = PeerMetricRows();
  const size_t info = rows.size() - 2;  // ahead of peers_left_out
  std::vector<prometheus::MetricFamily> of_peers;
  of_peers.reserve(rows.size());
  for (const MetricRow& row : rows) of_peers.push_back(FamilyOf(row));
  for (const ConnectionView& connection : view.connections) {
    const MetricLabels labels = LabelsOf(common, connection);
    const std::vector<double> values = ValuesOf(connection);
    for (size_t i = 0; i < values.size(); ++i) {
      of_peers[i].metric.push_back(SeriesOf(rows[i].type, labels, values[i]));
    }
  }
  for (const auto& [xpu, name] : peers->names) {
    MetricLabels labels = common;
    labels.emplace_back("peer", std::to_string(xpu));
    labels.emplace_back("name", name);
    of_peers[info].metric.push_back(SeriesOf(rows[info].type, labels, 1));
  }
  of_peers.back().metric.push_back(SeriesOf(rows.back().type, common, view.more ? 1 : 0));
  for (prometheus::MetricFamily& family : of_peers) {
    if (!family.metric.empty()) families->push_back(std::move(family));
  }
  return true;
}

}  // namespace suede
