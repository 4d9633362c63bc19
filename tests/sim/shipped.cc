// SPDX-License-Identifier: Apache-2.0
#include "shipped.h"

#include "endpoint/pipeline_params.h"
#include "world.h"

namespace suede {

ShippedSizes SizesOf(const WorldOptions& options, uint32_t host, uint32_t aggregate_lines) {
  const Wiring& wiring = options.wiring;
  Config config;
  config.lcores.push_back({});
  config.transport.inflight_pdus = options.inflight_pdus;
  if (options.selective != 0) config.transport.recovery = LossRecovery::kSelective;
  config.transport.window_pdus = options.transport.window_pdus;
  config.transport.psn_scope = options.transport.psn_scope;
  config.packing.limit_bytes = options.pack_limit_bytes;
  config.clients.max_clients = 1;
  config.clients.max_queues = options.queues;
  config.clients.aggregate_lines = aggregate_lines;
  config.clients.receive_lines = options.rx_lines;
  config.llr.window_frames = options.link.retry.window_frames;
  InstanceConfig& instance = config.instances.emplace_back();
  instance.xpu = host;
  instance.sealing = static_cast<InstanceConfig::Sealing>(options.seal.mode);
  for (uint32_t plane = 0; plane < wiring.PlanesOf(host); ++plane) {
    PortConfig& port = config.ports.emplace_back();
    const uint32_t number = wiring.SwitchOf(host, plane);
    port.encapsulation = static_cast<PortConfig::Encapsulation>(wiring.EncapOf(number));
    port.ether_type = wiring.RulesOf(number).ether_type;
    port.mtu_bytes = 4300;
    port.rx_descriptors = options.rx_descriptors;
    port.tx_descriptors = options.tx_descriptors;
    port.llr = options.link.retry.on ? OnOff::kOn : OnOff::kOff;
    const NetAddress address = wiring.AddressOf(host, number);
    instance.ports.push_back({.port = plane, .address = address});
  }
  for (uint32_t peer = 0; peer < wiring.hosts; ++peer) {
    if (peer == host) continue;
    PeerConfig& at = config.peers.emplace_back();
    at.xpu = peer;
    for (uint32_t plane = 0; plane < wiring.PlanesOf(host); ++plane) {
      at.ports.push_back({.port = plane, .instance = {}, .address = {}});
    }
  }
  ShippedSizes sizes{.pool_frames = {}, .packed_pdus = PackedPdusOf(config)};
  for (uint32_t plane = 0; plane < wiring.PlanesOf(host); ++plane) {
    sizes.pool_frames.push_back(PortOptionsOf(config, plane).pool_frames);
  }
  return sizes;
}

}  // namespace suede
