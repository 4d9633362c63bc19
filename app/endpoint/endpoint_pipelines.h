// SPDX-License-Identifier: Apache-2.0
// The pipelines of a configuration on given ports: lcores, queue pairs, instances, pauses, and the
// rings between lcores that share a port. Independent of devices: an endpoint passes those of DPDK,
// the simulator its own.
#ifndef SUEDE_APP_ENDPOINT_ENDPOINT_PIPELINES_H_
#define SUEDE_APP_ENDPOINT_ENDPOINT_PIPELINES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "config/config.h"
#include "link/pauses.h"
#include "pipeline/pipeline.h"

namespace suede {

class EndpointPipelines {
 public:
  // The device of one of Config::ports.
  struct Device {
    std::vector<Port*> pairs;  // in the order of PairsOf
    MacAddress mac{};
    uint32_t max_frame_bytes = 0;
    uint64_t speed_bps = 0;  // of its link; 0: unknown
  };
  // `devices`: in the order of Config::ports. `draw_secret`: returns the key of each port and
  // instance. `libraries`: crypto libraries, for each of Config::lcores, or none.
  EndpointPipelines(const Config& config, const std::vector<Device>& devices,
                    const std::function<SecretKey()>& draw_secret,
                    const std::vector<Crypto*>& libraries = {});

  uint32_t count() const { return static_cast<uint32_t>(pipelines_.size()); }
  Pipeline& pipeline(uint32_t lcore) const { return *pipelines_[lcore]; }
  // Returns the number of Config::instances[instance] in its lcore's pipeline.
  uint32_t number_of(uint32_t instance) const { return numbers_[instance]; }
  // Returns the index in Config::instances of a pipeline's instance.
  uint32_t instance_at(uint32_t lcore, uint32_t number) const { return instances_[lcore][number]; }
  // The places of Config::ports[port]: one for each queue pair, in the order of Config::lcores.
  // Empty if no instance has the port.
  struct PortPlace {
    uint32_t lcore = 0;
    uint32_t number = 0;  // in its pipeline
  };
  const std::vector<PortPlace>& places_of_port(uint32_t port) const { return port_places_[port]; }
  // Returns the management packets of a port, owned by the first of its lcores; null if no lcore
  // serves the port.
  PacketLane* lane(uint32_t port) const { return lanes_[port].get(); }
  uint32_t lane_count() const { return static_cast<uint32_t>(lanes_.size()); }
  // Returns null if the port has no link end, or no lcore serves it.
  const LinkCounters* link_counters(uint32_t port) const { return link_counters_[port]; }
  // Returns null if the port does not have pfc: software.
  const PortPauses* pauses(uint32_t port) const { return pauses_[port].get(); }

 private:
  void AddPort(const Config& config, uint32_t port, const Device& device, const SecretKey& secret);
  void AddInstance(const Config& config, uint32_t instance, const std::vector<uint64_t>& speeds,
                   const SecretKey& secret);
  void JoinLcores(const Config& config, uint32_t port);
  uint32_t PortNumber(const Config& config, uint32_t port, uint32_t instance) const;

  // Members that pipelines reference precede them, so that they are destroyed later.
  std::vector<std::unique_ptr<PacketLane>> lanes_;  // of each port
  std::vector<std::unique_ptr<PortPauses>> pauses_;
  std::vector<std::unique_ptr<HandoverRing>> handovers_;
  std::vector<std::unique_ptr<Pipeline>> pipelines_;
  std::vector<uint32_t> numbers_;
  std::vector<std::vector<uint32_t>> instances_;  // [lcore][number]
  std::vector<std::vector<PortPlace>> port_places_;
  std::vector<const LinkCounters*> link_counters_;  // of each port, or null
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_ENDPOINT_PIPELINES_H_
