// SPDX-License-Identifier: Apache-2.0
// A daemon of the lab, by its configuration: boards and pipelines on simulated ports, and its
// clients.
#ifndef SUEDE_TESTS_LABSIM_LAB_ENDPOINT_H_
#define SUEDE_TESTS_LABSIM_LAB_ENDPOINT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"
#include "endpoint/endpoint_boards.h"
#include "endpoint/endpoint_pipelines.h"
#include "lab_client.h"
#include "lab_mesh_port.h"
#include "lab_plan.h"
#include "sim/sim.h"

namespace suede::lab {

// The configuration of a node, with what a back end has to add.
absl::StatusOr<Config> EndpointConfigOf(const PlanNode& node);

class LabEndpoint {
 public:
  // `ports` are those of the configuration; a port with device: mesh is a pool of frames alone.
  // `seed`: of its secrets.
  LabEndpoint(std::string name, const Config& config, std::vector<SimPort*> ports, uint64_t seed,
              const Time& now);

  const std::string& name() const { return name_; }
  const Config& config() const { return config_; }

  // Something that runs on the machine beside the daemon, once in a turn. Returns whether it had
  // work.
  void AddProgram(std::function<bool(Time)> turn) { programs_.push_back(std::move(turn)); }
  // A client of the XPU's instance, which has claimed the VCs.
  absl::StatusOr<LabClient*> Connect(uint16_t xpu, uint32_t vc_mask);

  // A turn of all lcores and programs. Returns whether there was anything to do.
  bool Turn(Time now);
  // While it is stopped it does nothing.
  void SetStopped(bool stopped) { stopped_ = stopped; }
  bool stopped() const { return stopped_; }
  // Whether nothing is under way in pipelines and devices.
  bool IsQuiet() const;

  CounterSnapshot Counters() const;
  const PortPauses* pauses(uint32_t port) const { return pipelines_->pauses(port); }
  SimPortBytes BytesOf(uint32_t port) const;
  // The instance of Config::instances[number].
  const Instance& instance(uint32_t number) const {
    return pipelines_->pipeline(config_.instances[number].lcore)
        .instance(pipelines_->number_of(number));
  }
  // Digest of the frames that pipelines received from devices.
  uint64_t mesh_digest() const;
  // Returns the switch of Config::devices[device].
  const fabric::Switch& device(uint32_t device) const { return boards_->router(device).fabric(); }
  // Calls `hear` for each event, with the lcore.
  void Hear(const std::function<void(uint32_t lcore, const LcoreEvent&)>& hear);
  // The XPU of an event's instance.
  uint32_t XpuOf(uint32_t lcore, uint32_t number) const;

 private:
  struct Attached {
    std::unique_ptr<ClientMemory> memory;
    std::unique_ptr<LabClient> client;
  };
  bool Poll(uint32_t lcore, Time now);
  bool Ask(uint32_t lcore, const LcoreRequest& request);

  const std::string name_;
  const Config config_;
  const std::vector<SimPort*> ports_;
  const Time& now_;
  std::unique_ptr<EndpointBoards> boards_;                             // null: no devices
  std::vector<std::vector<std::unique_ptr<LabMeshPort>>> mesh_ports_;  // by port, of each lcore
  std::unique_ptr<EndpointPipelines> pipelines_;
  std::vector<Attached> clients_;
  std::vector<std::function<bool(Time)>> programs_;
  bool stopped_ = false;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_ENDPOINT_H_
