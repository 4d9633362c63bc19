// SPDX-License-Identifier: Apache-2.0
// The parameters of pipelines and ports, from a configuration.
#ifndef SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_
#define SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "dpdk/dpdk_port.h"
#include "lcore/params.h"
#include "lcore/settings.h"
#include "link/pauses.h"

namespace suede {

// The settings that a running pipeline can be told anew.
Settings SettingsOf(const Config& config);

FrameRules RulesOf(const PortConfig& port);
// "0,1,ack": flows of a mask (link/pauses.h).
std::string FlowNames(VcMask flows);
// The pauses of a port with pfc: software.
PauseParams PauseParamsOf(const Config& config, const PortConfig& port);
// `device_mac` is the port's where the configuration gives none.
PortParams PortParamsOf(const Config& config, const PortConfig& port, const MacAddress& device_mac);
// PortParams::packed_pdus: no more than all clients together have credit for.
uint32_t PackedPdusOf(const Config& config);

// Leaves out the facts that the configuration does not hold: the boot, and the port's number and
// the weight of each plane.
InstanceParams InstanceParamsOf(const Config& config, const InstanceConfig& instance);

// A queue pair of a port: the lcore that owns it, and the instances that send by it.
struct PairUse {
  uint32_t lcore = 0;               // index into Config::lcores
  std::vector<uint32_t> instances;  // indices into Config::instances
  friend bool operator==(const PairUse&, const PairUse&) = default;
};
// The queue pairs of Config::ports[port], lcore by lcore. None where no instance is on it.
std::vector<PairUse> PairsOf(const Config& config, uint32_t port);
// The queue pair of Config::instances[instance]; the end: none.
std::vector<PairUse>::const_iterator PairOf(const std::vector<PairUse>& pairs, uint32_t instance);

// The addresses of an lcore's instances on the port.
std::vector<NetAddress> AddressesOf(const Config& config, uint32_t port, uint32_t lcore);

// The options of Config::ports[port].
PortOptions PortOptionsOf(const Config& config, uint32_t port);
// How the port's device is to tell frames apart; no addresses where the port has one queue pair.
SteeringPlan SteeringPlanOf(const Config& config, uint32_t port, const std::vector<PairUse>& pairs);

// The weights of an instance's planes: the bandwidths of their ports in Gbit/s. `speeds_bps` are
// those of the links of Config::ports, 0 where one is not known: such a plane is taken to be as
// fast as the fastest of the others.
std::vector<uint32_t> PlaneWeightsOf(const Config& config, const InstanceConfig& instance,
                                     const std::vector<uint64_t>& speeds_bps);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_
