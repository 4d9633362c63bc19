// SPDX-License-Identifier: Apache-2.0
// Pipelines on a simulated device with several queue pairs.
#ifndef SUEDE_TESTS_PIPELINE_STEERED_DEVICE_H_
#define SUEDE_TESTS_PIPELINE_STEERED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../sim/steered_device.h"
#include "bench.h"

namespace suede {

// The XPU that a frame of udp4 is from, or for.
inline uint32_t SourceOf(const Frame& frame) { return frame.data[29] - (IpOf(0) & 0xff); }
inline uint32_t DestinationOf(const Frame& frame) { return frame.data[33] - (IpOf(0) & 0xff); }

// Pipelines that share a device.
class SteeredTest : public ByHandTest {
 protected:
  Host& NewHost() {
    hosts.push_back(std::make_unique<Host>());
    hosts.back()->number = static_cast<uint32_t>(hosts.size() - 1);
    hosts.back()->pipeline = std::make_unique<Pipeline>();
    return *hosts.back();
  }
  // A peer is its XPU, and the XPU whose MAC address it has.
  InstanceParams ParamsOf(uint32_t xpu, uint32_t pair,
                          const std::vector<std::pair<uint32_t, uint32_t>>& peers) const {
    InstanceParams p = params;
    p.xpuid = static_cast<uint16_t>(xpu);
    p.secret = {p.xpuid, 1};
    p.planes = {{.port = pair, .address = {.low = IpOf(xpu)}}};
    for (const auto& [peer, mac] : peers) {
      p.peers.push_back({.xpuid = static_cast<uint16_t>(peer),
                         .planes = {{.address = {.low = IpOf(peer)}, .mac = MacOf(mac)}},
                         .plain = peers_are_plain});
    }
    return p;
  }
  uint64_t OfLcore(uint32_t host, Counter counter) const {
    return hosts[host]->pipeline->port_counters().Get(counter);
  }
  std::vector<uint8_t> FrameBetween(uint32_t from, uint32_t to) const {
    ReliabilityHeader rh = Rh();
    rh.xpuid = static_cast<uint16_t>(from);
    return Build(rh, Command(1), from, to);
  }

  std::unique_ptr<SteeredDevice> device;
  std::unique_ptr<PacketLane> lane;
  bool peers_are_plain = false;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PIPELINE_STEERED_DEVICE_H_
