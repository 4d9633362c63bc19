// SPDX-License-Identifier: Apache-2.0
// A running endpoint: suede serves it to clients, suede-perf --embed hosts one for itself.
//
// Puts a configuration's ports, instances and lcores together. Control thread only, but for the
// code that runs inside the lcores.
#ifndef SUEDE_APP_ENDPOINT_ENDPOINT_H_
#define SUEDE_APP_ENDPOINT_ENDPOINT_H_

#include <atomic>
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
#include "endpoint/administration.h"
#include "endpoint/endpoint_pipelines.h"
#include "endpoint/seal_agreements.h"
#include "endpoint/seal_keys.h"
#include "endpoint/wait_poller.h"
#include "endpoint/watch.h"
#include "mgmt/event_log.h"
#include "pipeline/pipeline.h"

namespace suede {

// The prefix by which a second process finds an endpoint's ports.
std::string EalFilePrefix(const Config& config);

class Endpoint {
 public:
  using Log = std::function<void(EalLogLevel, std::string_view component, std::string_view line)>;

  // Starts EAL, opens the ports and builds the pipelines. One endpoint per process.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Create(const Config& config, Log log);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Bytes that the frame pool of each port of a configuration will take. EAL need not run.
  static std::vector<uint64_t> PoolBytesOf(const Config& config);

  // Lets `hook` share the lcore of Config::lcores[lcore]; before Start.
  void SetHook(uint32_t lcore, PollHook* hook) { pipeline(lcore).SetHook(hook); }

  // The boards on which each lcore looks whether its clients' waits are over.
  std::vector<WaitBoard*> wait_boards() const;

  // Starts the lcores.
  absl::Status Start();
  // Asks the lcores to end and waits until they have.
  void Stop();

  // Every 10 ms or so: looks at links, pools, planes and lcores, and emits their events.
  void Tick();

  // The endpoint's events; each is a line of the log, too.
  EventLog& events() { return events_; }
  // Reads the files of secrets and certificates again. Files that cannot be used change nothing.
  // How many secrets the file has.
  absl::StatusOr<uint32_t> ReloadSecrets();
  bool RotateKeys() const { return seal_keys_->Rotate(*built_); }
  Administration& administration() { return *administration_; }

  uint32_t pipeline_count() const { return built_->count(); }
  Pipeline& pipeline(uint32_t lcore) { return built_->pipeline(lcore); }
  const Pipeline& pipeline(uint32_t lcore) const { return built_->pipeline(lcore); }
  const TscClock& clock() const { return *clock_; }
  // The configuration in effect. Adopt alone changes it.
  const Config& config() const { return config_; }
  // Puts another configuration into effect. It differs in nothing that takes a restart, and the
  // lcores have taken their part already.
  void Adopt(Config config);
  // The pipeline of Config::instances[i], and its number there.
  uint32_t pipeline_of(uint32_t instance) const { return config_.instances[instance].lcore; }
  uint32_t number_of(uint32_t instance) const { return built_->number_of(instance); }
  uint32_t instance_at(uint32_t lcore, uint32_t number) const {
    return built_->instance_at(lcore, number);
  }
  // The places of Config::ports[port]: one for each queue pair, in the order of Config::lcores.
  // None where no instance has the port.
  using PortPlace = EndpointPipelines::PortPlace;
  const std::vector<PortPlace>& places_of_port(uint32_t port) const {
    return built_->places_of_port(port);
  }
  const Pipeline& instance_pipeline(uint32_t instance) const {
    return built_->pipeline(pipeline_of(instance));
  }
  const std::string& eal_arguments() const { return eal_arguments_; }
  const std::vector<std::unique_ptr<DpdkPort>>& ports() const { return ports_; }

  // The pauses of Config::ports[port], where it has pfc: software; else null.
  const PortPauses* pauses(uint32_t port) const { return built_->pauses(port); }
  // Null where there is no sealing.tls.
  const SealAgreements* seal_agreements() const { return seal_agreements_.get(); }
  // The counters of the port's end of its link (docs/link.md); null where the port has none.
  const LinkCounters* link_counters(uint32_t port) const { return built_->link_counters(port); }
  // The flows (link/pauses.h) of the port that are paused now.
  VcMask PausedFlows(uint32_t port) const;

  // The speeds of Config::ports; 0 where one is not known.
  std::vector<uint64_t> LinkSpeeds() const;

  // A number that grows with each turn of an lcore.
  uint64_t Progress(uint32_t lcore) const;
  // The management packets of a port, which the first of its lcores has; null where no lcore serves
  // the port.
  PacketLane* lane(uint32_t port) { return built_->lane(port); }

  // Counters of all instances and lcores.
  CounterSnapshot Counters() const;
  uint64_t SumOf(Counter counter) const;
  // Counters of Config::lcores[lcore] that belong to no instance, those of the control thread
  // included.
  CounterSnapshot LcoreCounters(uint32_t lcore) const;

 private:
  Endpoint(const Config& config, Log log);
  absl::Status BeginEal();
  absl::Status OpenPorts();
  absl::Status OpenKeys();
  // Calls `each` with every block of counters that there is.
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
  std::unique_ptr<SealKeys> seal_keys_;
  std::vector<std::unique_ptr<WaitPoller>> wait_pollers_;  // of each lcore
  std::unique_ptr<EndpointPipelines> built_;
  std::unique_ptr<TscClock> clock_;
  std::atomic<bool> stop_{false};
  EventLog events_;
  std::unique_ptr<SealAgreements> seal_agreements_;  // null: there is no sealing.tls
  std::unique_ptr<Administration> administration_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ENDPOINT_H_
