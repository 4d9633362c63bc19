// SPDX-License-Identifier: Apache-2.0
// The state of a running endpoint that is readable without a request to other threads: metrics,
// health and readiness, for the web server and DPDK's telemetry.
//
// The control thread copies its own numbers into cells; all others are cells already. Readers are
// other threads, at any time, without locks.
#ifndef SUEDE_APP_ENDPOINT_OBSERVER_H_
#define SUEDE_APP_ENDPOINT_OBSERVER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "daemon/daemon_observer.h"
#include "endpoint/client_service.h"
#include "endpoint/endpoint.h"
#include "endpoint/management.h"

namespace suede {

class Observer final : public DaemonObserver {
 public:
  // All arguments must outlive this. To be created before the lcores start.
  Observer(Endpoint* endpoint, const ClientService* clients, const Management* management);

  // ---- Control thread.

  // To be called in each iteration of the control loop; does slow work every 100 ms, and queries
  // devices once a second.
  void Tick();

  // ---- Any thread.

  std::vector<std::string> Notes() const override;
  std::vector<std::string> Obstacles() const override;
  StatusPage status_page() const override;
  // Only the control thread may call functions that read the configuration, which may change.
  const Endpoint& endpoint() const { return *endpoint_; }
  // Cells in the order of Config::instances, and CPUs of Config::lcores; constant in a running
  // endpoint.
  struct InstanceCells {
    uint32_t xpu = 0;
    uint32_t instance = 0;
    const CounterBlock* counters = nullptr;
    const GaugeBlock* gauges = nullptr;
    const HistogramBlock* histograms = nullptr;
    std::vector<uint32_t> ports{};  // ports of its planes, indices into Config::ports
    std::vector<MetricCell*> plane_up{};
  };
  const std::vector<InstanceCells>& instances() const { return instances_; }
  const std::vector<uint32_t>& lcore_cpus() const { return lcore_cpus_; }
  // Cells in the order of Endpoint::ports(), shown on the page.
  struct PortCells {
    DpdkPort* port = nullptr;
    MetricCell* pool_free = nullptr;
    std::vector<MetricCell*> stats;   // in the order of SUEDE_PORT_STATS
    std::vector<MetricCell*> device;  // in the order of DpdkPort::ReadDevice
    PortStats latest{};               // copied to `stats`
  };
  const std::deque<PortCells>& ports() const { return ports_; }

 private:
  void AddInstances();
  void AddLcores();
  void AddPorts();
  void AddPauses(uint32_t port, const MetricLabels& labels);
  void AddSealing();
  void AddClients();
  void AddDevices();
  void AddQueues(const MetricLabels& labels, const RouterPortReport& report, uint32_t classes);
  // Whether the link of a port is down that is needed: some instance on it has no other port with a
  // link, or no instance is on it.
  bool IsMissed(size_t port) const;
  // Whether none of an instance's planes carries traffic although there is a link: they or their
  // ports were set down.
  bool IsOut(const InstanceCells& instance) const;

  Endpoint* const endpoint_;
  const ClientService* const clients_;
  const Management* const management_;
  std::vector<InstanceCells> instances_;
  const std::vector<uint32_t> lcore_cpus_;
  std::deque<PortCells> ports_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_OBSERVER_H_
