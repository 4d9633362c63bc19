// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_observer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "daemon/drop_event.h"
#include "daemon/fabric_metrics.h"
#include "daemon/link_metrics.h"
#include "daemon/lldp_metrics.h"
#include "daemon/memif_reports.h"
#include "switch/address_text.h"
#include "switch/switch_metric_rows.h"

namespace suede {
namespace {

using fabric::kClasses;

void Set(MetricCell* cell, uint64_t value) { cell->store(value, std::memory_order_relaxed); }
constexpr uint32_t kRepliesPerSecond = 10;  // at most

bool IsSet(const MetricCell* cell) { return cell->load(std::memory_order_relaxed) != 0; }

}  // namespace

SwitchObserver::SwitchObserver(SwitchMailbox* mailbox, const fabric::Switch* the_switch,
                               SwitchManagement* management, uint32_t cpu, uint64_t tsc_hertz)
    : DaemonObserver(SwitchMetricRows(), "switch", management->options().name, tsc_hertz,
                     management, {cpu}),
      mailbox_(mailbox),
      switch_(the_switch),
      management_(management),
      state_(static_cast<uint32_t>(management->options().ports.size())),
      without_hops_(management->options().ports.size()),
      too_old_(management->options().ports.size()) {
  for (uint32_t p = 0; p < management->options().ports.size(); ++p) AddPort(p);
  for (uint32_t g = 0; g < switch_->params().groups.size(); ++g) AddGroup(g);
  AddBuffer();
  Tick();
}

void SwitchObserver::AddPort(uint32_t port) {
  const MetricLabels labels{{"port", management_->options().ports[port].name}};
  const auto link = [m = management_, port] { return m->options().link(port); };
  link_up_.push_back(
      page_.NewSample("switch_link_up", labels, [link] { return uint64_t{link().up}; }));
  page_.NewSample("switch_link_speed_bytes_per_second", labels,
                  [link] { return link().speed_bps / 8; });
  page_.NewSample("switch_port_up", labels,
                  [m = management_, port] { return uint64_t{m->port_up(port)}; });
  AddFabricMetrics(page_, "switch_", labels, switch_->port(port), (1u << kClasses) - 1);
  // Only ports with a link end have these series.
  if (const LinkEnd* const end = switch_->port(port).link(); end != nullptr) {
    AddLinkMetrics(page_, "switch_", labels, end->counters(),
                   switch_->port(port).credit() != nullptr);
  }
  // Only ports with lldp: on have these series.
  const SwitchLldp* const lldp = management_->lldp();
  if (const LldpCounters* own = lldp != nullptr ? lldp->counters(port) : nullptr; own != nullptr) {
    AddLldpMetrics(page_, "switch_", labels, *own);
  }
  if (memif::Device* const memif = management_->memif(port); memif != nullptr) {
    AddMemifMetrics(page_, "switch_", labels, memif);
  }
  for (uint32_t c = 0; c < kClasses; ++c) {
    const MetricLabels of_class = LabelsOfClass(labels, c);
    const size_t queue = size_t{port} * kClasses + c;
    const auto add = [&](std::string_view name, auto field, CellUnit unit = CellUnit::kPlain) {
      return page_.NewSample(
          name, of_class,
          [this, queue, field] { return static_cast<uint64_t>(state_.queues[queue].*field); },
          unit);
    };
    add("switch_queue_bytes", &SwitchQueueState::bytes);
    add("switch_queue_frames", &SwitchQueueState::frames);
    add("switch_queue_most_bytes", &SwitchQueueState::most_bytes);
    add("switch_queue_paused", &SwitchQueueState::paused);
    add("switch_queue_pausing", &SwitchQueueState::pausing);
    stormy_.push_back(add("switch_queue_stormy", &SwitchQueueState::stormy));
    add("switch_queue_paused_seconds_total", &SwitchQueueState::paused_ns, CellUnit::kNanoseconds);
  }
}

void SwitchObserver::AddGroup(uint32_t group) {
  const SwitchManagementOptions& options = management_->options();
  const std::vector<uint16_t>& ports = switch_->params().groups[group].ports;
  for (uint32_t member = 0; member < ports.size(); ++member) {
    page_.NewSample("switch_group_frames_total",
                    {{"group", options.groups[group]}, {"port", options.ports[ports[member]].name}},
                    [this, group, member] {
                      return switch_->group(group).frames(member).load(std::memory_order_relaxed);
                    });
  }
}

void SwitchObserver::AddBuffer() {
  Set(page_.NewCell("switch_buffer_bytes", {}), switch_->params().buffer_bytes);
  const auto add = [this](std::string_view name, uint32_t State::*field) {
    page_.NewSample(name, {}, [this, field] { return uint64_t{state_.*field}; });
  };
  add("switch_buffer_used_bytes", &State::used_bytes);
  add("switch_buffer_most_used_bytes", &State::most_used_bytes);
  add("switch_buffer_shared_free_bytes", &State::shared_free_bytes);
  add("switch_buffer_headroom_used_bytes", &State::headroom_used_bytes);
  add("switch_buffer_most_headroom_used_bytes", &State::most_headroom_used_bytes);
}

void SwitchObserver::Tick() {
  Sample(management_->drains(), [this](bool) {
    management_->FollowLinks();
    management_->Events().Tick();
    CopyState();
    RecordProgress(0, mailbox_->answered());
  });
}

void SwitchObserver::CopyState() {
  if (ticket_ != nullptr) {
    if (!ticket_->done()) return;
    Take(ticket_->answer<State>());
    ticket_ = nullptr;
  }
  if (started()) ticket_ = mailbox_->Ask(State(static_cast<uint32_t>(link_up_.size())));
}

void SwitchObserver::Take(const State& state) {
  for (size_t i = 0; i < state.queues.size(); ++i) {
    const bool stormy = state.queues[i].stormy;
    if (stormy == state_.queues[i].stormy) continue;
    management_->Events().Raise(
        stormy ? EventKind::kStormBegan : EventKind::kStormEnded,
        {{EventField::kPort, management_->options().ports[i / kClasses].name},
         {EventField::kClass, i % kClasses}});
  }
  for (uint32_t p = 0; p < state.too_old.size(); ++p) {
    RaiseDrops(EventKind::kHopLimitDrops, p, state.without_hops[p], &without_hops_[p]);
    RaiseDrops(EventKind::kAgeDrops, p, state.too_old[p], &too_old_[p]);
  }
  state_ = state;
}

void SwitchObserver::RaiseDrops(EventKind kind, uint32_t port, const fabric::DropNote& drop,
                                Reported* reported) {
  if (reported->pause != 0) {
    --reported->pause;
    return;
  }
  if (drop.count == reported->count) return;
  const uint64_t count = drop.count - reported->count;
  *reported = {.count = drop.count, .pause = kRepliesPerSecond};
  const bool by_mac = fabric::IsByMac(switch_->params().forwarding);
  management_->Events().Raise(
      kind, DropEventValues(kind, {.port = management_->options().ports[port].name,
                                   .destination = by_mac ? MacText(drop.destination)
                                                         : absl::StrCat(drop.destination),
                                   .count = count,
                                   .note = drop}));
}

std::vector<std::string> SwitchObserver::Obstacles() const {
  std::vector<std::string> obstacles = DaemonObserver::Obstacles();
  for (size_t p = 0; p < link_up_.size(); ++p) {
    const std::string port = absl::StrCat("port ", management_->options().ports[p].name);
    if (!IsSet(link_up_[p])) obstacles.push_back(absl::StrCat(port, ": link down"));
    for (uint32_t c = 0; c < kClasses; ++c) {
      if (!IsSet(stormy_[p * kClasses + c])) continue;
      obstacles.push_back(absl::StrCat(port, ": PFC storm of class ", c));
    }
  }
  return obstacles;
}

std::string SwitchObserver::StatusLine() const {
  const auto up = std::count_if(link_up_.begin(), link_up_.end(), IsSet);
  return absl::StrCat("switching; links up: ", up, " of ", link_up_.size());
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
  fillDrops(reading, {switch_rx_drops_total: 'received', switch_class_drops_total: 'to be sent'});
}
)js";
  return {.sections = kSections, .script = kScript};
}

}  // namespace suede
