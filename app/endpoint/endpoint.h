// SPDX-License-Identifier: Apache-2.0
// A running endpoint, which suede serves to clients and suede-perf --embed hosts for itself.
//
// Builds a configuration's ports, instances and lcores. Control thread only, except the code that
// the lcores run.
#ifndef SUEDE_APP_ENDPOINT_ENDPOINT_H_
#define SUEDE_APP_ENDPOINT_ENDPOINT_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/lcores.h"
#include "endpoint/address_wait.h"
#include "endpoint/administration.h"
#include "endpoint/device_watch.h"
#include "endpoint/endpoint_boards.h"
#include "endpoint/endpoint_pipelines.h"
#include "endpoint/seal_agreements.h"
#include "endpoint/seal_keys.h"
#include "endpoint/wait_poller.h"
#include "endpoint/watch.h"
#include "mgmt/event_log.h"
#include "pipeline/pipeline.h"
#include "port/tap_group.h"

namespace suede {

// Returns the EAL file prefix, by which a second process finds an endpoint's ports.
std::string EalFilePrefix(const Config& config);

class Endpoint {
 public:
  using Log = std::function<void(EalLogLevel, std::string_view component, std::string_view line)>;

  // Starts EAL, opens the ports, waits for assigned addresses and builds the pipelines. One
  // endpoint per process. CANCELLED: a signal ended the wait.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Create(const Config& config, Log log);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Returns the bytes of the frame pool of each port of a configuration. EAL need not run.
  static std::vector<uint64_t> PoolBytesOf(const Config& config);

  // Runs `hook` on the lcore of Config::lcores[lcore]. To be called before Start.
  void SetHook(uint32_t lcore, PollHook* hook) { pipeline(lcore).SetHook(hook); }

  // Returns the board of each lcore, on which it checks its clients' waits.
  std::vector<WaitBoard*> wait_boards() const;

  // Starts the lcores.
  absl::Status Start();
  // Stops the lcores and waits for them.
  void Stop();

  // Checks links, pools, planes and lcores, and raises their events. To be called about every 10
  // ms.
  void Tick();

  // The endpoint's events, which are also logged.
  EventLog& events() { return events_; }
  // Reads the files of secrets and certificates again. On an error nothing changes. Returns the
  // number of secrets.
  absl::StatusOr<uint32_t> ReloadSecrets();
  bool RotateKeys() const { return seal_keys_->Rotate(*built_); }
  Administration& administration() { return *administration_; }

  uint32_t pipeline_count() const { return built_->count(); }
  Pipeline& pipeline(uint32_t lcore) { return built_->pipeline(lcore); }
  const Pipeline& pipeline(uint32_t lcore) const { return built_->pipeline(lcore); }
  const TscClock& clock() const { return *clock_; }
  // Returns the configuration in effect, which only Adopt changes.
  const Config& config() const { return config_; }
  // Replaces the configuration. It must not differ in keys that require a restart, and the lcores
  // must have applied their part.
  void Adopt(Config config);
  // The pipeline of Config::instances[i], and its number there.
  uint32_t pipeline_of(uint32_t instance) const { return config_.instances[instance].lcore; }
  uint32_t number_of(uint32_t instance) const { return built_->number_of(instance); }
  uint32_t instance_at(uint32_t lcore, uint32_t number) const {
    return built_->instance_at(lcore, number);
  }
  // Returns the places of Config::ports[port]: one for each queue pair, in the order of
  // Config::lcores. Empty if no instance has the port.
  using PortPlace = EndpointPipelines::PortPlace;
  const std::vector<PortPlace>& places_of_port(uint32_t port) const {
    return built_->places_of_port(port);
  }
  const Pipeline& instance_pipeline(uint32_t instance) const {
    return built_->pipeline(pipeline_of(instance));
  }
  const std::string& eal_arguments() const { return eal_arguments_; }
  const std::vector<std::unique_ptr<DpdkPort>>& ports() const { return ports_; }
  // Returns the MAC address of Config::ports[port].
  MacAddress MacOf(uint32_t port) const {
    return config_.ports[port].mac.value_or(ports_[port]->mac());
  }

  // Returns the address that the neighbour of Config::ports[port] assigned; null: none.
  const AddressWait::Assigned* assigned(uint32_t port) const;
  // Returns the pauses of Config::ports[port] if it has pfc: software; else null.
  const PortPauses* pauses(uint32_t port) const { return built_->pauses(port); }
  // Returns a port, or a port of a device, for captures; null: there is none of that name.
  TappedPort* tapped_port(std::string_view name) const;
  // Returns the tap of frames that are dropped on a port; null: no port of that name receives.
  TappedPort* dropped_frames(std::string_view port);
  // Returns null without devices.
  const EndpointBoards* boards() const { return boards_.get(); }
  const DeviceWatch* devices() const { return devices_.get(); }
  // Returns null without sealing.tls.
  const SealAgreements* seal_agreements() const { return seal_agreements_.get(); }
  // Returns the counters of the port's link end (docs/link.md); null if the port has none.
  const LinkCounters* link_counters(uint32_t port) const { return built_->link_counters(port); }
  // Returns the currently paused flows (link/pauses.h) of the port.
  VcMask PausedFlows(uint32_t port) const;

  // Logs a warning if the rate of Config::ports[port], whose link has come up, is not known and a
  // setting depends on it.
  void NoteLinkUp(uint32_t port) const;
  // Returns the link speeds of Config::ports, in bit/s; 0 if unknown.
  std::vector<uint64_t> LinkSpeeds() const;

  // Returns a number that grows with each poll iteration of an lcore.
  uint64_t Progress(uint32_t lcore) const;
  // Returns the management packets of a port, owned by the first of its lcores; null if no lcore
  // serves the port.
  PacketLane* lane(uint32_t port) { return built_->lane(port); }

  // Returns the counters of all instances and lcores.
  CounterSnapshot Counters() const;
  uint64_t SumOf(Counter counter) const;
  // Returns the counters of Config::lcores[lcore] that belong to no instance, including those of
  // the control thread.
  CounterSnapshot LcoreCounters(uint32_t lcore) const;

 private:
  Endpoint(const Config& config, Log log);
  absl::Status BeginEal();
  absl::Status OpenPorts();
  absl::Status CheckRate(uint32_t port) const;
  absl::Status CheckRates() const;
  absl::Status OpenKeys();
  absl::Status AssignAddresses();
  // Calls `each` with every block of counters.
  template <typename Each>
  void ForEachBlock(Each each) const;
  void BuildPipelines();
  absl::Status AddWaitPollers();

  Config config_;
  const Log log_;
  std::string eal_arguments_;
  bool eal_started_ = false;
  bool running_ = false;
  std::vector<std::unique_ptr<DpdkPort>> ports_;
  std::vector<AddressWait::Assigned> assigned_;
  std::unique_ptr<SealKeys> seal_keys_;
  std::vector<std::unique_ptr<WaitPoller>> wait_pollers_;  // of each lcore
  std::unique_ptr<EndpointBoards> boards_;                 // null without devices
  std::unique_ptr<EndpointPipelines> built_;
  std::deque<TapGroup> drop_taps_;  // of the ports that an instance has
  std::unique_ptr<TscClock> clock_;
  std::atomic<bool> stop_{false};
  EventLog events_;
  std::unique_ptr<SealAgreements> seal_agreements_;  // null without sealing.tls
  std::unique_ptr<Administration> administration_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<DeviceWatch> devices_;  // null without devices
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ENDPOINT_H_
