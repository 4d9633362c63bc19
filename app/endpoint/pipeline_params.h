// SPDX-License-Identifier: Apache-2.0
// Derives the parameters of pipelines and ports from a configuration.
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

// Returns the settings that a running pipeline can change.
Settings SettingsOf(const Config& config);

FrameRules RulesOf(const PortConfig& port);
// Returns the flows of a mask (link/pauses.h), e.g. "0,1,ack".
std::string FlowNames(VcMask flows);
// Returns the pauses of a port with pfc: software.
PauseParams PauseParamsOf(const Config& config, const PortConfig& port);
// `device_mac`: used if the configuration has no MAC address.
PortParams PortParamsOf(const Config& config, const PortConfig& port, const MacAddress& device_mac);
// Returns PortParams::packed_pdus: at most the credit of all clients together.
uint32_t PackedPdusOf(const Config& config);

// Leaves out values that the configuration does not contain: the boot, and the port's number and
// the weight of each plane.
InstanceParams InstanceParamsOf(const Config& config, const InstanceConfig& instance);

// A queue pair of a port: the lcore that owns it, and the instances that send on it.
struct PairUse {
  uint32_t lcore = 0;               // index into Config::lcores
  std::vector<uint32_t> instances;  // indices into Config::instances
  friend bool operator==(const PairUse&, const PairUse&) = default;
};
// Returns the queue pairs of Config::ports[port], lcore by lcore. Empty if no instance is on it.
std::vector<PairUse> PairsOf(const Config& config, uint32_t port);
// Returns the queue pair of Config::instances[instance], or the end.
std::vector<PairUse>::const_iterator PairOf(const std::vector<PairUse>& pairs, uint32_t instance);

// Returns the addresses of an lcore's instances on the port.
std::vector<NetAddress> AddressesOf(const Config& config, uint32_t port, uint32_t lcore);

// Returns the device of the port as DPDK names it.
std::string DeviceOf(const PortConfig& port);
// Returns the options of Config::ports[port].
PortOptions PortOptionsOf(const Config& config, uint32_t port);
// Returns how the device is to steer frames; without addresses if the port has one queue pair.
SteeringPlan SteeringPlanOf(const Config& config, uint32_t port, const std::vector<PairUse>& pairs);

// Returns the weights of an instance's planes: the bandwidths of their ports in Gbit/s.
// `speeds_bps`: link speeds in the order of Config::ports, 0 if unknown; such a plane gets the
// weight of the fastest other plane.
std::vector<uint32_t> PlaneWeightsOf(const Config& config, const InstanceConfig& instance,
                                     const std::vector<uint64_t>& speeds_bps);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_
