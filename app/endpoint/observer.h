// SPDX-License-Identifier: Apache-2.0
// The state of a running endpoint that is readable without a request to other threads: metrics,
// health and readiness, for the web server and DPDK's telemetry.
//
// The control thread copies its own numbers into cells; all others are cells already. Readers are
// other threads, at any time, without locks.
#ifndef SUEDE_APP_ENDPOINT_OBSERVER_H_
#define SUEDE_APP_ENDPOINT_OBSERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/observed.h"
#include "daemon/process_metrics.h"
#include "daemon/pulses.h"
#include "endpoint/client_service.h"
#include "endpoint/endpoint.h"
#include "endpoint/management.h"
#include "endpoint/status_tables.h"
#include "http/server.h"
#include "metrics/page.h"

namespace suede {

class Observer final : public Observed {
 public:
  // All arguments must outlive this. To be created before the lcores start.
  Observer(Endpoint* endpoint, const ClientService* clients, const Management* management);

  // ---- Control thread.

  // To be called in each iteration of the control loop; does slow work every 100 ms, and queries
  // devices once a second.
  void Tick();
  // Reports that the lcores were started.
  void SetStarted() { started_ = true; }
  HttpCounters* http_counters() { return &http_; }

  // ---- Any thread.

  const MetricsPage& page() const override { return page_; }
  std::vector<std::string> HealthFaults() const override { return pulses_.HealthFaults(); }
  std::vector<std::string> Notes() const override;
  std::vector<std::string> Obstacles() const override;
  StatusPage status_page() const override { return EndpointStatusPage(); }
  // Only the control thread may call functions that read the configuration, which may change.
  const Endpoint& endpoint() const { return *endpoint_; }
  const std::string& name() const override { return name_; }
  // Cells in the order of Config::instances, and CPUs of Config::lcores; constant in a running
  // endpoint.
  struct InstanceCells {
    uint32_t xpu = 0;
    uint32_t instance = 0;
    const CounterBlock* counters = nullptr;
    const GaugeBlock* gauges = nullptr;
    const HistogramBlock* histograms = nullptr;
    MetricCell* inflight_limit = nullptr;
    std::vector<uint32_t> ports{};  // ports of its planes, indices into Config::ports
    std::vector<MetricCell*> plane_up{};
  };
  const std::vector<InstanceCells>& instances() const { return instances_; }
  const std::vector<uint32_t>& lcore_cpus() const { return lcore_cpus_; }
  // Cells in the order of Endpoint::ports(), shown on the page.
  struct PortCells {
    const DpdkPort* port = nullptr;
    MetricCell* link_up = nullptr;
    MetricCell* speed = nullptr;
    MetricCell* pool_free = nullptr;
    std::vector<MetricCell*> stats;   // in the order of SUEDE_PORT_STATS
    std::vector<MetricCell*> device;  // in the order of DpdkPort::ReadDevice
    // Cells of each flow (link/pauses.h), if the port has pfc: software.
    std::vector<MetricCell*> paused_for{};
    std::vector<MetricCell*> paused{};
  };
  const std::vector<PortCells>& ports() const { return ports_; }

 private:
  struct Copy {
    const uint64_t* from;  // written by the control thread
    MetricCell* to;
  };
  // A counter to which both an lcore and the control thread add.
  struct LcoreCopy {
    uint32_t lcore;
    size_t counter;
    MetricCell* to;
  };

  void AddInstances();
  void AddLcores();
  void AddPorts();
  void AddSealing();
  void AddClients();
  void CopyLcores();
  void CopyPorts(bool ask_devices);
  void CopyPauses(size_t port);
  void CopyPlanes();
  void CopyClients();
  void RecordProgress();
  // Whether the link of a port is down that is needed: some instance on it has no other port with a
  // link, or no instance is on it.
  bool IsMissed(size_t port) const;
  // Whether none of an instance's planes carries traffic although there is a link: they or their
  // ports were set down.
  bool IsOut(const InstanceCells& instance) const;

  Endpoint* const endpoint_;
  const ClientService* const clients_;
  const Management* const management_;
  HttpCounters http_;
  MetricsPage page_;
  ProcessMetrics process_;
  const std::string name_;
  std::vector<InstanceCells> instances_;
  const std::vector<uint32_t> lcore_cpus_;
  Pulses pulses_;  // of the pipelines
  std::vector<Copy> copies_;
  std::vector<LcoreCopy> lcore_copies_;
  std::vector<PortCells> ports_;
  MetricCell* clients_connected_ = nullptr;
  MetricCell* clients_open_ = nullptr;
  MetricCell* clients_packets_ = nullptr;
  MetricCell* clients_leaving_ = nullptr;
  MetricCell* certificate_until_ = nullptr;  // null without sealing.tls
  std::atomic<bool> started_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> copied_planes_{false};
  int64_t next_copy_ns_ = 0;
  int64_t next_device_ns_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_OBSERVER_H_
