// What pipelines and ports are built from, of a configuration.
#ifndef SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_
#define SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_

#include <cstdint>
#include <vector>

#include "control/config.h"
#include "dpdk/dpdk_port.h"
#include "pipeline/params.h"
#include "pipeline/settings.h"

namespace suede {

// What of it a running pipeline can be told anew.
Settings SettingsOf(const Config& config);

FrameRules RulesOf(const PortConfig& port);
// `device_mac` is the port's where the configuration gives none.
PortParams PortParamsOf(const PortConfig& port, const MacAddress& device_mac);

// Without what the configuration does not tell: the boot, and of each plane the number of its port
// and its weight.
InstanceParams InstanceParamsOf(const Config& config, const InstanceConfig& instance);

// The lcores that serve Config::ports[port], because an instance of theirs is there: indices into
// Config::lcores, in order.
std::vector<uint32_t> LcoresOf(const Config& config, uint32_t port);

// What an lcore's instances are sent to on the port.
std::vector<NetAddress> AddressesOf(const Config& config, uint32_t port, uint32_t lcore);

// For Config::ports[port].
PortOptions PortOptionsOf(const Config& config, uint32_t port);

// The weights of an instance's planes: the bandwidths of their ports in Gbit/s. `speeds_bps` are
// those of the links of Config::ports, 0 where one is not known: such a plane is taken to be as
// fast as the fastest of the others.
std::vector<uint32_t> PlaneWeightsOf(const Config& config, const InstanceConfig& instance,
                                     const std::vector<uint64_t>& speeds_bps);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PIPELINE_PARAMS_H_
