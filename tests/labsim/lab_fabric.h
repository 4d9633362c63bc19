// SPDX-License-Identifier: Apache-2.0
// The switches and links of a plan in virtual time, and the ports of its endpoints.
#ifndef SUEDE_TESTS_LABSIM_LAB_FABRIC_H_
#define SUEDE_TESTS_LABSIM_LAB_FABRIC_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config.h"
#include "lab_plan.h"
#include "sim/sim.h"
#include "switch/switch_config.h"

namespace suede::lab {

// A switch of the plan.
struct LabSwitch {
  std::string name;
  SwitchConfig config;
  std::unique_ptr<SimNetwork> network;
  std::vector<SimPort*> ports;     // the far ends of its ports
  std::vector<uint64_t> rate_bps;  // of the cable at each, which the device at its end keeps to
  uint32_t PortNamed(const std::string& port) const;  // ~0u: there is none
  const fabric::Switch& the_switch() const { return network->the_switch(); }
};

class LabFabric {
 public:
  // `endpoints`: the configuration of each node that is none of the switches, by name.
  static absl::StatusOr<std::unique_ptr<LabFabric>> Build(
      const Plan& plan, const std::map<std::string, Config>& endpoints);

  // The far end of a daemon's port.
  SimPort* PortOf(const std::string& node, const std::string& port) const;
  SimNetwork* NetworkOf(const SimPort* port) const { return networks_of_.at(port); }
  std::vector<std::unique_ptr<LabSwitch>>& switches() { return switches_; }
  const std::vector<std::unique_ptr<LabSwitch>>& switches() const { return switches_; }
  LabSwitch* SwitchNamed(const std::string& name) const;

  // ---- Time.

  Time next_event() const;
  // Moves all clocks, and does all that is due until then.
  void AdvanceTo(Time time);

  uint64_t digest() const;

  // ---- Faults.

  absl::Status Apply(const PlanAction& action);

 private:
  absl::Status AddSwitch(const PlanNode& node, const Plan& plan);
  absl::Status AddCable(const PlanLink& link, const std::map<std::string, Config>& endpoints);
  // Gives the switch's next port its far end.
  absl::Status AddLink(LabSwitch& at, const PlanLink& link,
                       const std::map<std::string, Config>& endpoints);
  absl::StatusOr<SimPort*> AddPort(SimNetwork* network, const PlanEnd& end, const PlanLink& link,
                                   const std::map<std::string, Config>& endpoints);
  // Adds a port for each one with device: mesh: frames come from its pool, and none passes it.
  absl::Status AddPools(const std::map<std::string, Config>& endpoints);
  absl::StatusOr<SimPort*> FarEndOf(LabSwitch& at, const PlanLink& link);
  void Relay();
  absl::Status Impair(LabSwitch& at, uint32_t port, const PlanAction& action);

  std::vector<std::unique_ptr<LabSwitch>> switches_;
  std::vector<std::unique_ptr<SimNetwork>> cables_;
  std::vector<std::unique_ptr<SimNetwork>> pools_;
  std::vector<SimNetwork*> networks_;  // all but pools
  std::map<std::pair<std::string, std::string>, SimPort*> ports_;
  std::map<const SimPort*, SimNetwork*> networks_of_;
  // A link between two switches: what arrives at one end enters the other's network.
  struct Trunk {
    SimPort* end[2] = {};
    SimNetwork* network[2] = {};
  };
  std::map<const PlanLink*, Trunk> trunks_;
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_FABRIC_H_
