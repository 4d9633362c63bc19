// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_observer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/link_metrics.h"
#include "switch/switch_metric_rows.h"

namespace suede {
namespace {

using fabric::kClasses;

constexpr int64_t kCopyNs = 100'000'000;
constexpr int64_t kProcessNs = 1'000'000'000;

void Set(MetricCell* cell, uint64_t value) { cell->store(value, std::memory_order_relaxed); }
bool IsSet(const MetricCell* cell) { return cell->load(std::memory_order_relaxed) != 0; }

MetricLabels With(MetricLabels labels, std::string_view reason) {
  if (!reason.empty()) labels.emplace_back("reason", std::string(reason));
  return labels;
}

}  // namespace

SwitchObserver::SwitchObserver(SwitchMailbox* mailbox, const fabric::Switch* the_switch,
                               SwitchManagement* management, uint32_t cpu, uint64_t tsc_hertz)
    : mailbox_(mailbox),
      switch_(the_switch),
      management_(management),
      page_(SwitchMetricRows(), {{"switch", management->options().name}}),
      process_(&page_, tsc_hertz, &management->counters(), &http_, &management->log_counters()),
      name_(management->options().name),
      pulses_({cpu}) {
  for (uint32_t p = 0; p < management->options().ports.size(); ++p) AddPort(p);
  AddBuffer();
  Tick();
}

void SwitchObserver::AddPort(uint32_t port) {
  const std::string& port_name = management_->options().ports[port].name;
  const MetricLabels labels{{"port", port_name}};
  ports_.push_back({.name = port_name,
                    .link_up = page_.NewCell("switch_link_up", labels),
                    .speed = page_.NewCell("switch_link_speed_bytes_per_second", labels),
                    .admin_up = page_.NewCell("switch_port_up", labels)});
  for (size_t i = 0; i < SwitchPortRows().size(); ++i) {
    const SwitchMetricName name = SwitchMetricNameOf(SwitchPortRows()[i].name);
    page_.Add(name.family, With(labels, name.reason),
              &switch_->port(port).counters().Cell(static_cast<SwitchPortCounter>(i)));
  }
  // Only ports with a link end have these series.
  if (const LinkEnd* const end = switch_->port(port).link(); end != nullptr) {
    AddLinkMetrics(page_, "switch_", labels, end->counters(),
                   switch_->port(port).credit() != nullptr);
  }
  for (uint32_t c = 0; c < kClasses; ++c) {
    MetricLabels of_class = labels;
    of_class.emplace_back("class", absl::StrCat(c));
    for (size_t i = 0; i < SwitchClassRows().size(); ++i) {
      const SwitchMetricName name = SwitchMetricNameOf(SwitchClassRows()[i].name);
      page_.Add(name.family, With(of_class, name.reason),
                &switch_->port(port).counters(c).Cell(static_cast<SwitchClassCounter>(i)));
    }
    queues_.push_back({.bytes = page_.NewCell("switch_queue_bytes", of_class),
                       .frames = page_.NewCell("switch_queue_frames", of_class),
                       .most_bytes = page_.NewCell("switch_queue_most_bytes", of_class),
                       .paused = page_.NewCell("switch_queue_paused", of_class),
                       .pausing = page_.NewCell("switch_queue_pausing", of_class),
                       .stormy = page_.NewCell("switch_queue_stormy", of_class),
                       .paused_ns = page_.NewCell("switch_queue_paused_seconds_total", of_class,
                                                  CellUnit::kNanoseconds)});
  }
}

void SwitchObserver::AddBuffer() {
  Set(page_.NewCell("switch_buffer_bytes", {}), switch_->params().buffer_bytes);
  buffer_ = {.used = page_.NewCell("switch_buffer_used_bytes", {}),
             .max_used = page_.NewCell("switch_buffer_most_used_bytes", {}),
             .shared_free = page_.NewCell("switch_buffer_shared_free_bytes", {}),
             .headroom_used = page_.NewCell("switch_buffer_headroom_used_bytes", {}),
             .max_headroom_used = page_.NewCell("switch_buffer_most_headroom_used_bytes", {})};
}

void SwitchObserver::Tick() {
  const int64_t now = Pulses::NowNs();
  pulses_.Beat(now);
  if (now < next_copy_ns_) return;
  next_copy_ns_ = now + kCopyNs;
  draining_.store(management_->drains(), std::memory_order_relaxed);
  management_->FollowLinks();
  management_->Events().Tick();
  CopyPorts();
  CopyState();
  pulses_.RecordProgress(0, mailbox_->answered(), started_);
  process_.CopyManagement();
  if (now >= next_process_ns_) {
    next_process_ns_ = now + kProcessNs;
    process_.CopyProcess();
  }
  process_.SetReady(Obstacles().empty());
}

void SwitchObserver::CopyPorts() {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    const SwitchLink link = management_->options().link(p);
    Set(ports_[p].link_up, link.up ? 1 : 0);
    Set(ports_[p].speed, link.speed_bps / 8);
    Set(ports_[p].admin_up, management_->port_up(p) ? 1 : 0);
  }
}

void SwitchObserver::CopyState() {
  if (ticket_ != nullptr) {
    if (!ticket_->done()) return;
    Take(ticket_->answer<switch_request::State>());
    ticket_ = nullptr;
  }
  if (started_)
    ticket_ = mailbox_->Ask(switch_request::State(static_cast<uint32_t>(ports_.size())));
}

void SwitchObserver::Take(const switch_request::State& state) {
  for (size_t i = 0; i < queues_.size(); ++i) {
    const SwitchQueueState& queue = state.queues[i];
    const QueueCells& cells = queues_[i];
    if (queue.stormy != IsSet(cells.stormy)) {
      management_->Events().Raise(
          queue.stormy ? EventKind::kStormBegan : EventKind::kStormEnded,
          {{EventField::kPort, ports_[i / kClasses].name}, {EventField::kClass, i % kClasses}});
    }
    Set(cells.bytes, queue.bytes);
    Set(cells.frames, queue.frames);
    Set(cells.most_bytes, queue.most_bytes);
    Set(cells.paused, queue.paused ? 1 : 0);
    Set(cells.pausing, queue.pausing ? 1 : 0);
    Set(cells.stormy, queue.stormy ? 1 : 0);
    Set(cells.paused_ns, static_cast<uint64_t>(queue.paused_ns));
  }
  Set(buffer_.used, state.used_bytes);
  Set(buffer_.max_used, state.most_used_bytes);
  Set(buffer_.shared_free, state.shared_free_bytes);
  Set(buffer_.headroom_used, state.headroom_used_bytes);
  Set(buffer_.max_headroom_used, state.most_headroom_used_bytes);
}

std::vector<std::string> SwitchObserver::Obstacles() const {
  std::vector<std::string> obstacles = HealthFaults();
  if (!started_.load(std::memory_order_relaxed)) obstacles.emplace_back("starting");
  if (draining_.load(std::memory_order_relaxed)) obstacles.emplace_back("draining");
  for (size_t p = 0; p < ports_.size(); ++p) {
    if (!IsSet(ports_[p].link_up)) {
      obstacles.push_back(absl::StrCat("port ", ports_[p].name, ": link down"));
    }
    for (uint32_t c = 0; c < kClasses; ++c) {
      if (!IsSet(queues_[p * kClasses + c].stormy)) continue;
      obstacles.push_back(absl::StrCat("port ", ports_[p].name, ": PFC storm of class ", c));
    }
  }
  return obstacles;
}

std::string SwitchObserver::StatusLine() const {
  size_t up = 0;
  for (const PortCells& port : ports_) up += IsSet(port.link_up) ? 1 : 0;
  return absl::StrCat("switching; links up: ", up, " of ", ports_.size());
}

StatusPage SwitchObserver::status_page() const {
  static constexpr StatusPage::Section kSections[] = {
      {"Ports", "ports"}, {"Queues", "queues"}, {"Buffer", "buffer"}, {"Drops", "drops"}};
  static constexpr std::string_view kScript = R"js(
function showTables(reading) {
  fill('ports', ['port', 'link', 'received', '', 'sent', ''],
       pick(reading, 'switch_link_up', {}).map(({labels, value: link}) => {
         const of = {port: labels.port};
         return [labels.port, link ? ['up', 'good'] : ['down', 'bad'],
                 short(rate(reading, 'switch_rx_frames_total', of), 'frames/s'),
                 short(8 * rate(reading, 'switch_rx_frame_bytes_total', of), 'b/s'),
                 short(rate(reading, 'switch_tx_frames_total', of), 'frames/s'),
                 short(8 * rate(reading, 'switch_tx_frame_bytes_total', of), 'b/s')];
       }));
  fill('queues', ['port', 'class', 'bytes', 'most', 'sent', 'marked', 'trimmed', 'dropped', 'state'],
       pick(reading, 'switch_queue_most_bytes', {}).filter(({value: most}) => most > 0)
           .map(({labels, value: most}) => {
             const of = {port: labels.port, class: labels.class};
             const state = value(reading, 'switch_queue_stormy', of) ? ['storm', 'bad']
                 : value(reading, 'switch_queue_paused', of) ? 'paused' : '';
             return [labels.port, labels.class, short(value(reading, 'switch_queue_bytes', of)),
                     short(most),
                     short(rate(reading, 'switch_class_frames_total', of), 'frames/s'),
                     short(value(reading, 'switch_class_ecn_marked_total', of)),
                     short(value(reading, 'switch_class_trimmed_total', of)),
                     short(value(reading, 'switch_class_drops_total', of)), state];
           }));
  fill('buffer', ['bytes', 'used', 'most used', 'shared and free', 'headroom used'], [[
    short(value(reading, 'switch_buffer_bytes')), short(value(reading, 'switch_buffer_used_bytes')),
    short(value(reading, 'switch_buffer_most_used_bytes')),
    short(value(reading, 'switch_buffer_shared_free_bytes')),
    short(value(reading, 'switch_buffer_headroom_used_bytes'))]]);
  const drops = new Map();
  for (const family of ['switch_rx_drops_total', 'switch_class_drops_total']) {
    for (const {labels} of pick(reading, family, {})) {
      drops.set(family + labels.reason, [family, labels.reason]);
    }
  }
  fill('drops', ['reason', 'side', 'since the start', 'now'],
       [...drops.values()].filter(([family, reason]) => value(reading, family, {reason}) > 0)
           .map(([family, reason]) => [
             reason, family === 'switch_rx_drops_total' ? 'received' : 'to be sent',
             short(value(reading, family, {reason})),
             short(rate(reading, family, {reason}), '/s')]));
}
)js";
  return {.sections = kSections, .script = kScript};
}

}  // namespace suede
