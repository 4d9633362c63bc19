// SPDX-License-Identifier: Apache-2.0
// The state of a running endpoint that can be read without asking anybody: its metrics, its health,
// whether it is ready. The web server and DPDK's telemetry show it.
//
// The control thread copies its own numbers into cells; all others are cells already. Readers
// are other threads, at any time, and take no lock.
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
  // Everything given outlives it. Before the lcores start.
  Observer(Endpoint* endpoint, const ClientService* clients, const Management* management);

  // ---- Control thread.

  // Called each turn of the loop; does slow work every 100 ms, asks devices once a second.
  void Tick();
  // The lcores were started.
  void SetStarted() { started_ = true; }
  HttpCounters* http_counters() { return &http_; }

  // ---- Any thread.

  const MetricsPage& page() const override { return page_; }
  std::vector<std::string> Ailments() const override { return pulses_.Ailments(); }
  std::vector<std::string> Notes() const override;
  std::vector<std::string> Obstacles() const override;
  StatusPage status_page() const override { return EndpointStatusPage(); }
  // Only the control thread calls functions that read the configuration: it may change.
  const Endpoint& endpoint() const { return *endpoint_; }
  const std::string& name() const override { return name_; }
  // In the order of Config::instances, and CPUs of Config::lcores; constant in a running endpoint.
  struct InstanceCells {
    uint32_t xpu = 0;
    uint32_t instance = 0;
    const CounterBlock* counters = nullptr;
    const GaugeBlock* gauges = nullptr;
    const HistogramBlock* histograms = nullptr;
    MetricCell* inflight_limit = nullptr;
    std::vector<uint32_t> ports{};  // of its planes, as Config::ports
    std::vector<MetricCell*> plane_up{};
  };
  const std::vector<InstanceCells>& instances() const { return instances_; }
  const std::vector<uint32_t>& lcore_cpus() const { return lcore_cpus_; }
  // In the order of Endpoint::ports(); the page shows the cells.
  struct PortCells {
    const DpdkPort* port = nullptr;
    MetricCell* link_up = nullptr;
    MetricCell* speed = nullptr;
    MetricCell* pool_free = nullptr;
    std::vector<MetricCell*> stats;   // as SUEDE_PORT_STATS
    std::vector<MetricCell*> device;  // as DpdkPort::ReadDevice
    // Cells of each flow (link/pauses.h), where the port has pfc: software.
    std::vector<MetricCell*> paused_for{};
    std::vector<MetricCell*> paused{};
  };
  const std::vector<PortCells>& ports() const { return ports_; }

 private:
  struct Copy {
    const uint64_t* from;  // the control thread's
    MetricCell* to;
  };
  // A counter to which an lcore and the control thread both add.
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
  void FeelPulses();
  // Whether a port is down that somebody needs: no instance on it has another one with a link.
  bool IsMissed(size_t port) const;
  // Whether none of an instance's planes carries traffic, although there is a link: they or their
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
  MetricCell* certificate_until_ = nullptr;  // null: there is no sealing.tls
  std::atomic<bool> started_{false};
  std::atomic<bool> draining_{false};
  std::atomic<bool> copied_planes_{false};
  int64_t next_copy_ns_ = 0;
  int64_t next_device_ns_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_OBSERVER_H_
