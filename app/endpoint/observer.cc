// SPDX-License-Identifier: Apache-2.0
#include "endpoint/observer.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "daemon/fabric_metrics.h"
#include "daemon/link_metrics.h"
#include "daemon/lldp_metrics.h"
#include "daemon/memif_reports.h"
#include "endpoint/metric_rows.h"
#include "endpoint/pipeline_params.h"
#include "endpoint/router_params.h"

namespace suede {
namespace {

std::string_view FamilyOf(DeviceCounterKind kind) {
  constexpr std::string_view kFamilies[] = {"port_rx_pause_total",    "port_tx_pause_total",
                                            "port_rx_pfc_total",      "port_tx_pfc_total",
                                            "port_rx_discards_total", "port_tx_discards_total"};
  return kFamilies[static_cast<size_t>(kind)];
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
    : DaemonObserver(AllMetricRows(), "endpoint", endpoint->config().name,
                     endpoint->clock().cycles_per_second(), management, CpusOf(endpoint->config())),
      endpoint_(endpoint),
      clients_(clients),
      management_(management),
      lcore_cpus_(CpusOf(endpoint->config())) {
  AddInstances();
  AddLcores();
  AddPorts();
  AddSealing();
  AddClients();
  AddDevices();
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
                        .histograms = &pipeline.histograms(number)};
    page_.NewSample("inflight_limit_pdus", labels,
                    [e = endpoint_]() -> uint64_t { return e->config().transport.inflight_pdus; });
    for (const InstancePort& at : config.instances[i].ports) {
      MetricLabels of_plane = labels;
      const auto plane = static_cast<uint32_t>(cells.ports.size());
      of_plane.emplace_back("plane", absl::StrCat(plane));
      of_plane.emplace_back("port", config.ports[at.port].name);
      cells.ports.push_back(at.port);
      cells.plane_up.push_back(page_.NewSample("plane_up", of_plane, [e = endpoint_, i, plane] {
        return uint64_t{e->administration().PlaneOf(i, plane).up};
      }));
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
        // Both the lcore and the control thread add to it.
        page_.NewSample(name.family, With(labels, name),
                        [e = endpoint_, l, c] { return e->LcoreCounters(l)[c]; });
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
    const auto number = static_cast<uint32_t>(ports_.size());
    PortCells& cells = ports_.emplace_back();
    cells.port = port.get();
    page_.NewSample("port_link_up", labels, [p = cells.port] { return uint64_t{p->link().up}; });
    page_.NewSample("port_speed_bytes_per_second", labels,
                    [p = cells.port] { return p->link().speed_bps / 8; });
    page_.NewSample("port_fec", labels,
                    [p = cells.port] { return static_cast<uint64_t>(p->fec()); });
    cells.pool_free = page_.NewSample("port_pool_free_frames", labels,
                                      [p = cells.port] { return uint64_t{p->FreeFrames()}; });
    Set(page_.NewCell("port_pool_frames", labels), port->pool_frames());
#define SUEDE_PORT_STATS_CELL(id, name, sentence) \
  cells.stats.push_back(page_.NewSample(name, labels, &cells.latest.id));
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
    // Only ports with a link end have these series.
    if (const LinkCounters* const link = endpoint_->link_counters(number); link != nullptr) {
      AddLinkMetrics(page_, "", labels, *link,
                     endpoint_->config().ports[number].cbfc == OnOff::kOn);
    }
    // Only ports with lldp: on have these series.
    if (const LldpCounters* const lldp = management_->lldp_counters(number); lldp != nullptr) {
      AddLldpMetrics(page_, "", labels, *lldp);
    }
    if (port->memif() != nullptr) AddMemifMetrics(page_, "", labels, port->memif());
    AddPauses(number, labels);
  }
}

// Only ports with pfc: software have these series.
void Observer::AddPauses(uint32_t port, const MetricLabels& labels) {
  const PortPauses* const pauses = endpoint_->pauses(port);
  for (uint32_t flow = 0; pauses != nullptr && flow < kLinkFlows; ++flow) {
    MetricLabels with = labels;
    with.emplace_back("vc", FlowNames(static_cast<VcMask>(1u << flow)));
    page_.NewSample(
        "port_vc_paused_seconds_total", with,
        [e = endpoint_, pauses, flow, last = uint64_t{0}]() mutable {
          const Duration paused = pauses->PausedFor(pauses->ClassOf(flow), e->clock().Now());
          // Never decreases the value, as an lcore may write concurrently.
          return last = std::max(last, static_cast<uint64_t>(paused.count()));
        },
        CellUnit::kNanoseconds);
    page_.NewSample("port_vc_paused", with, [e = endpoint_, pauses, flow] {
      return uint64_t{pauses->until(pauses->ClassOf(flow)) > e->clock().Now()};
    });
  }
}

void Observer::AddClients() {
  for (const std::string_view state : {"connected", "open", "packets", "leaving"}) {
    page_.NewSample(
        "clients", {{"state", std::string(state)}}, [server = &clients_->server(), state] {
          const auto& clients = server->clients();
          return static_cast<uint64_t>(
              std::count_if(clients.begin(), clients.end(), [state](const ClientInfo& client) {
                return ClientService::StateOf(client) == state;
              }));
        });
  }
#define SUEDE_SHM_COUNTER_CELL(id, name, sentence) \
  page_.NewSample(name, {}, &clients_->server().counters().id);
  SUEDE_SHM_COUNTERS(SUEDE_SHM_COUNTER_CELL)
#undef SUEDE_SHM_COUNTER_CELL
}

void Observer::AddQueues(const MetricLabels& labels, const RouterPortReport& report,
                         uint32_t classes) {
  for (; classes != 0; classes &= classes - 1) {
    const auto traffic_class = static_cast<uint32_t>(std::countr_zero(classes));
    const MetricLabels of_class = LabelsOfClass(labels, traffic_class);
    page_.NewSample("device_queue_frames", of_class, [&report, traffic_class] {
      return uint64_t{report.queue(traffic_class).frames};
    });
    page_.NewSample("device_queue_bytes", of_class, [&report, traffic_class] {
      return uint64_t{report.queue(traffic_class).bytes};
    });
  }
}

// Only endpoints with devices of a mesh have these series. A port is named by its number, as in
// P2, and a centre by its plane.
void Observer::AddDevices() {
  const EndpointBoards* const boards = endpoint_->boards();
  const Config& config = endpoint_->config();
  for (uint32_t d = 0; boards != nullptr && d < config.devices.size(); ++d) {
    const Router& router = boards->router(d);
    const std::vector<DeviceCable> cables = DeviceCablesOf(config, d);
    const fabric::SwitchParams& params = router.fabric().params();
    uint32_t classes = 0;
    for (uint32_t c = 0; c < fabric::kClasses; ++c) {
      if (params.of_class[c].credits != 0) classes |= 1u << c;
    }
    for (uint32_t p = 0; p < params.ports.size(); ++p) {
      const bool is_cable = p < cables.size();
      const MetricLabels labels{{"device", NameOf(router.device())},
                                {"port", is_cable ? absl::StrCat("P", uint32_t{cables[p].own.port})
                                                  : absl::StrCat("plane", params.ports[p].plane)}};
      const fabric::SwitchPort& port = router.fabric().port(p);
      AddFabricMetrics(page_, "device_", labels, port, classes);
      AddQueues(labels, router.report(p), classes);
      if (!is_cable) continue;
      page_.NewSample("device_cable_up", labels,
                      [report = &router.report(p)] { return uint64_t{report->routes()}; });
      if (port.link() == nullptr) continue;
      AddLinkMetrics(page_, "device_", labels, port.link()->counters(), port.credit() != nullptr);
    }
  }
}

// Without sealing.tls there are none of these series.
void Observer::AddSealing() {
  const SealAgreements* const agreements = endpoint_->seal_agreements();
  if (agreements == nullptr) return;
  const SealAgreementCounts& counts = agreements->counts();
  page_.NewSample("seal_agreements_total", {}, &counts.agreed);
  for (size_t i = 0; i < kSealFailureNames.size(); ++i) {
    page_.NewSample("seal_agreement_failures_total",
                    {{"reason", std::string(kSealFailureNames[i])}}, &counts.failed[i]);
  }
  page_.NewSample("seal_connections_refused_total", {}, &counts.refused);
  page_.NewSample("seal_last_agreement_seconds", {}, &counts.last_agreed_s);
  page_.NewSample("seal_certificate_expiry_seconds", {}, [agreements] {
    return static_cast<uint64_t>(agreements->certificate_until_s());
  });
}

void Observer::Tick() {
  Sample(management_->drains(), [this](bool is_second) {
    for (PortCells& cells : ports_) {
      cells.latest = cells.port->Stats();
      if (!is_second || cells.device.empty()) continue;
      const std::vector<DeviceCounter>& device = cells.port->ReadDevice();
      for (size_t d = 0; d < device.size(); ++d) Set(cells.device[d], device[d].value);
    }
    for (uint32_t l = 0; l < endpoint_->pipeline_count(); ++l) {
      const CounterBlock& counters = endpoint_->pipeline(l).port_counters();
      RecordProgress(l, counters.Get(Counter::kBusyCycles) + counters.Get(Counter::kIdleCycles));
    }
  });
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
  std::vector<std::string> obstacles = DaemonObserver::Obstacles();
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
