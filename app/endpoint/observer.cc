// SPDX-License-Identifier: Apache-2.0
#include "endpoint/observer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "daemon/link_metrics.h"
#include "endpoint/metric_rows.h"
#include "endpoint/pipeline_params.h"

namespace suede {
namespace {

constexpr int64_t kCopyNs = 100'000'000;
constexpr int64_t kDeviceNs = 1'000'000'000;

std::string FamilyOf(DeviceCounterKind kind) {
  switch (kind) {
    case DeviceCounterKind::kRxPause:
      return "port_rx_pause_total";
    case DeviceCounterKind::kTxPause:
      return "port_tx_pause_total";
    case DeviceCounterKind::kRxPfc:
      return "port_rx_pfc_total";
    case DeviceCounterKind::kTxPfc:
      return "port_tx_pfc_total";
    case DeviceCounterKind::kRxDiscards:
      return "port_rx_discards_total";
    case DeviceCounterKind::kTxDiscards:
      break;
  }
  return "port_tx_discards_total";
}

// Returns the labels of a row of lib/stats, the owner's included.
MetricLabels With(MetricLabels labels, const MetricName& name) {
  if (!name.label.empty()) labels.emplace_back(name.label, std::string(name.value));
  return labels;
}

void Set(MetricCell* cell, uint64_t value) { cell->store(value, std::memory_order_relaxed); }

std::vector<uint32_t> CpusOf(const Config& config) {
  std::vector<uint32_t> cpus;
  for (const LcoreConfig& lcore : config.lcores) cpus.push_back(lcore.cpu);
  return cpus;
}

}  // namespace

Observer::Observer(Endpoint* endpoint, const ClientService* clients, const Management* management)
    : endpoint_(endpoint),
      clients_(clients),
      management_(management),
      page_(AllMetricRows(), {{"endpoint", endpoint->config().name}}),
      process_(&page_, endpoint->clock().cycles_per_second(), &management->counters(), &http_,
               &management->log_counters()),
      name_(endpoint->config().name),
      lcore_cpus_(CpusOf(endpoint->config())),
      pulses_(lcore_cpus_) {
  AddInstances();
  AddLcores();
  AddPorts();
  AddSealing();
  AddClients();
  Tick();
}

void Observer::AddInstances() {
  const Config& config = endpoint_->config();
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    const Pipeline& pipeline = endpoint_->instance_pipeline(i);
    const uint32_t number = endpoint_->number_of(i);
    const MetricLabels labels{{"xpu", absl::StrCat(config.instances[i].xpu)},
                              {"instance", absl::StrCat(config.instances[i].instance)}};
    InstanceCells cells{.xpu = config.instances[i].xpu,
                        .instance = config.instances[i].instance,
                        .counters = &pipeline.counters(number),
                        .gauges = &pipeline.gauges(number),
                        .histograms = &pipeline.histograms(number),
                        .inflight_limit = page_.NewCell("inflight_limit_pdus", labels)};
    for (const InstancePort& at : config.instances[i].ports) {
      MetricLabels of_plane = labels;
      of_plane.emplace_back("plane", absl::StrCat(cells.ports.size()));
      of_plane.emplace_back("port", config.ports[at.port].name);
      cells.ports.push_back(at.port);
      cells.plane_up.push_back(page_.NewCell("plane_up", of_plane));
    }
    for (size_t c = 0; c < kCounterCount; ++c) {
      const auto counter = static_cast<Counter>(c);
      if (!IsOfInstance(counter)) continue;
      const MetricName name = MetricNameOf(CounterRows()[c].name);
      page_.Add(name.family, With(labels, name), &cells.counters->Cell(counter));
    }
    for (size_t g = 0; g < kGaugeCount; ++g) {
      const MetricName name = MetricNameOf(GaugeRows()[g].name);
      page_.Add(name.family, With(labels, name), &cells.gauges->Cell(static_cast<Gauge>(g)));
    }
    for (size_t h = 0; h < kHistogramCount; ++h) {
      page_.Add(HistogramRows()[h], labels, &(*cells.histograms)[static_cast<HistogramId>(h)]);
    }
    instances_.push_back(std::move(cells));
  }
}

void Observer::AddLcores() {
  for (uint32_t l = 0; l < endpoint_->pipeline_count(); ++l) {
    const MetricLabels labels{{"lcore", absl::StrCat(lcore_cpus_[l])}};
    for (size_t c = 0; c < kCounterCount; ++c) {
      const auto counter = static_cast<Counter>(c);
      if (!IsOfLcore(counter)) continue;
      const MetricName name = MetricNameOf(CounterRows()[c].name);
      if (CounterRows()[c].name.starts_with("mgmt_")) {
        lcore_copies_.push_back(
            {.lcore = l, .counter = c, .to = page_.NewCell(name.family, With(labels, name))});
      } else {
        page_.Add(name.family, With(labels, name),
                  &endpoint_->pipeline(l).port_counters().Cell(counter));
      }
    }
  }
}

void Observer::AddPorts() {
  for (const auto& port : endpoint_->ports()) {
    const MetricLabels labels{{"port", port->name()}};
    PortCells cells{.port = port.get(),
                    .link_up = page_.NewCell("port_link_up", labels),
                    .speed = page_.NewCell("port_speed_bytes_per_second", labels),
                    .pool_free = page_.NewCell("port_pool_free_frames", labels),
                    .stats = {},
                    .device = {}};
    Set(page_.NewCell("port_pool_frames", labels), port->pool_frames());
#define SUEDE_PORT_STATS_CELL(id, name, sentence) \
  cells.stats.push_back(page_.NewCell(name, labels));
    SUEDE_PORT_STATS(SUEDE_PORT_STATS_CELL)
#undef SUEDE_PORT_STATS_CELL
    for (const DeviceCounter& counter : port->ReadDevice()) {
      MetricLabels with = labels;
      const DeviceCounterKind kind = counter.name.kind;
      if (kind == DeviceCounterKind::kRxPfc || kind == DeviceCounterKind::kTxPfc) {
        with.emplace_back("priority", absl::StrCat(counter.name.priority));
      }
      cells.device.push_back(page_.NewCell(FamilyOf(kind), with));
    }
    const auto number = static_cast<uint32_t>(ports_.size());
    // Only ports with a link end have these series.
    if (const LinkCounters* const link = endpoint_->link_counters(number); link != nullptr) {
      AddLinkMetrics(page_, "", labels, *link,
                     endpoint_->config().ports[number].cbfc == OnOff::kOn);
    }
    const bool pauses = endpoint_->pauses(number) != nullptr;
    for (uint32_t flow = 0; pauses && flow < kLinkFlows; ++flow) {
      MetricLabels with = labels;
      with.emplace_back("vc", FlowNames(static_cast<VcMask>(1u << flow)));
      cells.paused_for.push_back(
          page_.NewCell("port_vc_paused_seconds_total", with, CellUnit::kNanoseconds));
      cells.paused.push_back(page_.NewCell("port_vc_paused", with));
    }
    ports_.push_back(std::move(cells));
  }
}

void Observer::AddClients() {
  clients_connected_ = page_.NewCell("clients", {{"state", "connected"}});
  clients_open_ = page_.NewCell("clients", {{"state", "open"}});
  clients_packets_ = page_.NewCell("clients", {{"state", "packets"}});
  clients_leaving_ = page_.NewCell("clients", {{"state", "leaving"}});
#define SUEDE_SHM_COUNTER_CELL(id, name, sentence) \
  copies_.push_back({.from = &clients_->server().counters().id, .to = page_.NewCell(name, {})});
  SUEDE_SHM_COUNTERS(SUEDE_SHM_COUNTER_CELL)
#undef SUEDE_SHM_COUNTER_CELL
}

// Without sealing.tls there are none of these series.
void Observer::AddSealing() {
  const SealAgreements* const agreements = endpoint_->seal_agreements();
  if (agreements == nullptr) return;
  const SealAgreementCounts& counts = agreements->counts();
  const auto copy = [this](const uint64_t& from, std::string_view name, MetricLabels labels = {}) {
    copies_.push_back({.from = &from, .to = page_.NewCell(name, std::move(labels))});
  };
  copy(counts.agreed, "seal_agreements_total");
  for (size_t i = 0; i < kSealFailureNames.size(); ++i) {
    copy(counts.failed[i], "seal_agreement_failures_total",
         {{"reason", std::string(kSealFailureNames[i])}});
  }
  copy(counts.refused, "seal_connections_refused_total");
  copy(counts.last_agreed_s, "seal_last_agreement_seconds");
  certificate_until_ = page_.NewCell("seal_certificate_expiry_seconds", {});
}

void Observer::Tick() {
  const int64_t now = Pulses::NowNs();
  pulses_.Beat(now);
  if (now < next_copy_ns_) return;
  next_copy_ns_ = now + kCopyNs;
  draining_.store(management_->drains(), std::memory_order_relaxed);
  const bool ask_devices = now >= next_device_ns_;
  if (ask_devices) next_device_ns_ = now + kDeviceNs;
  for (const Copy& copy : copies_) Set(copy.to, *copy.from);
  process_.CopyManagement();
  for (const InstanceCells& cells : instances_) {
    Set(cells.inflight_limit, endpoint_->config().transport.inflight_pdus);
  }
  if (certificate_until_ != nullptr && ask_devices) {
    Set(certificate_until_,
        static_cast<uint64_t>(endpoint_->seal_agreements()->certificate_until_s()));
  }
  CopyLcores();
  CopyPorts(ask_devices);
  CopyPlanes();
  CopyClients();
  if (ask_devices) process_.CopyProcess();
  RecordProgress();
  process_.SetReady(Obstacles().empty());
}

void Observer::CopyLcores() {
  std::vector<CounterSnapshot> snapshots;
  for (uint32_t l = 0; l < endpoint_->pipeline_count(); ++l) {
    snapshots.push_back(endpoint_->LcoreCounters(l));
  }
  for (const LcoreCopy& copy : lcore_copies_) Set(copy.to, snapshots[copy.lcore][copy.counter]);
}

void Observer::CopyPorts(bool ask_devices) {
  for (size_t p = 0; p < ports_.size(); ++p) {
    DpdkPort& port = *endpoint_->ports()[p];
    const PortCells& cells = ports_[p];
    const LinkState link = port.link();
    Set(cells.link_up, link.up ? 1 : 0);
    Set(cells.speed, link.speed_bps / 8);
    Set(cells.pool_free, port.FreeFrames());
    const PortStats stats = port.Stats();
    size_t i = 0;
#define SUEDE_PORT_STATS_COPY(id, name, sentence) Set(cells.stats[i++], stats.id);
    SUEDE_PORT_STATS(SUEDE_PORT_STATS_COPY)
#undef SUEDE_PORT_STATS_COPY
    CopyPauses(p);
    if (!ask_devices || cells.device.empty()) continue;
    const std::vector<DeviceCounter>& device = port.ReadDevice();
    for (size_t d = 0; d < device.size(); ++d) Set(cells.device[d], device[d].value);
  }
}

void Observer::CopyPauses(size_t port) {
  const PortPauses* const pauses = endpoint_->pauses(static_cast<uint32_t>(port));
  if (pauses == nullptr) return;
  const PortCells& cells = ports_[port];
  const Time now = endpoint_->clock().Now();
  for (uint32_t flow = 0; flow < kLinkFlows; ++flow) {
    const uint32_t traffic_class = pauses->ClassOf(flow);
    // Never decreases the value, as an lcore may write concurrently.
    const auto ns = static_cast<uint64_t>(pauses->PausedFor(traffic_class, now).count());
    Set(cells.paused_for[flow],
        std::max(ns, cells.paused_for[flow]->load(std::memory_order_relaxed)));
    Set(cells.paused[flow], pauses->until(traffic_class) > now ? 1 : 0);
  }
}

void Observer::CopyPlanes() {
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    const InstanceCells& cells = instances_[i];
    for (uint32_t plane = 0; plane < cells.plane_up.size(); ++plane) {
      Set(cells.plane_up[plane], endpoint_->administration().PlaneOf(i, plane).up ? 1 : 0);
    }
  }
  copied_planes_.store(true, std::memory_order_relaxed);
}

void Observer::CopyClients() {
  uint64_t connected = 0;
  uint64_t open = 0;
  uint64_t packets = 0;
  uint64_t leaving = 0;
  for (const ClientInfo& client : clients_->server().clients()) {
    ++(client.is_gone            ? leaving
       : client.has_packets      ? packets
       : client.queue_count != 0 ? open
                                 : connected);
  }
  Set(clients_connected_, connected);
  Set(clients_open_, open);
  Set(clients_packets_, packets);
  Set(clients_leaving_, leaving);
}

void Observer::RecordProgress() {
  for (uint32_t l = 0; l < endpoint_->pipeline_count(); ++l) {
    const CounterBlock& counters = endpoint_->pipeline(l).port_counters();
    pulses_.RecordProgress(
        l, counters.Get(Counter::kBusyCycles) + counters.Get(Counter::kIdleCycles), started_);
  }
}

std::vector<std::string> Observer::Notes() const {
  std::vector<std::string> notes;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    const PortPauses* const pauses = endpoint_->pauses(p);
    if (pauses == nullptr || pauses->stormy() == 0) continue;
    notes.push_back(absl::StrCat("port ", ports_[p].port->name(), ": paused, VC ",
                                 FlowNames(pauses->stormy())));
  }
  return notes;
}

std::vector<std::string> Observer::Obstacles() const {
  std::vector<std::string> obstacles = HealthFaults();
  if (!started_.load(std::memory_order_relaxed)) obstacles.emplace_back("starting");
  if (draining_.load(std::memory_order_relaxed)) obstacles.emplace_back("draining");
  for (size_t p = 0; p < ports_.size(); ++p) {
    if (!IsMissed(p)) continue;
    obstacles.push_back(absl::StrCat("port ", ports_[p].port->name(), ": link down"));
  }
  for (const InstanceCells& instance : instances_) {
    if (!IsOut(instance)) continue;
    obstacles.push_back(absl::StrCat("instance ", instance.instance, " of XPU ", instance.xpu,
                                     ": no plane is in service"));
  }
  return obstacles;
}

bool Observer::IsOut(const InstanceCells& instance) const {
  if (!copied_planes_.load(std::memory_order_relaxed)) return false;
  bool has_link = false;
  for (size_t plane = 0; plane < instance.plane_up.size(); ++plane) {
    if (instance.plane_up[plane]->load(std::memory_order_relaxed) != 0) return false;
    has_link |= ports_[instance.ports[plane]].port->link().up;
  }
  return has_link;  // without any link, IsMissed reports the ports
}

bool Observer::IsMissed(size_t port) const {
  if (ports_[port].port->link().up) return false;
  bool is_used = false;
  for (const InstanceCells& instance : instances_) {
    const auto begin = instance.ports.begin();
    const auto end = instance.ports.end();
    if (std::find(begin, end, port) == end) continue;
    is_used = true;
    if (std::none_of(begin, end, [this](uint32_t p) { return ports_[p].port->link().up; })) {
      return true;
    }
  }
  return !is_used;
}

}  // namespace suede
