// SPDX-License-Identifier: Apache-2.0
#include "endpoint/endpoint_pipelines.h"

#include <algorithm>

#include "endpoint/pipeline_params.h"

namespace suede {

EndpointPipelines::EndpointPipelines(const Config& config, const std::vector<Device>& devices,
                                     const std::function<SecretKey()>& draw_secret,
                                     const std::vector<Crypto*>& libraries)
    : lanes_(config.ports.size()),
      pauses_(config.ports.size()),
      port_places_(config.ports.size()),
      link_counters_(config.ports.size()) {
  for (size_t l = 0; l < config.lcores.size(); ++l) {
    pipelines_.push_back(std::make_unique<Pipeline>());
    if (l < libraries.size() && libraries[l] != nullptr) pipelines_[l]->SetCrypto(libraries[l]);
  }
  std::vector<uint64_t> speeds;
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    AddPort(config, p, devices[p], draw_secret());
    speeds.push_back(devices[p].speed_bps);
  }
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    AddInstance(config, i, speeds, draw_secret());
  }
  for (uint32_t p = 0; p < config.ports.size(); ++p) JoinLcores(config, p);
}

// Adds queue pairs to each lcore of the port, and the management packets to the first.
void EndpointPipelines::AddPort(const Config& config, uint32_t p, const Device& device,
                                const SecretKey& secret) {
  const PortConfig& port = config.ports[p];
  PortParams params = PortParamsOf(config, port, device.mac);
  params.link.secret = secret;
  params.rate_share = std::make_shared<std::atomic<uint32_t>>(0);
  if (port.pfc == PortConfig::Pfc::kSoftware) {
    pauses_[p] = std::make_unique<PortPauses>(PauseParamsOf(config, port));
  }
  std::vector<PortPlace>& places = port_places_[p];
  for (const PairUse& use : PairsOf(config, p)) {
    Port* const pair = device.pairs[places.size()];
    Pipeline& pipeline = *pipelines_[use.lcore];
    if (places.empty()) {
      lanes_[p] = std::make_unique<PacketLane>(RulesOf(port), device.max_frame_bytes,
                                               config.management.packet_burst);
    }
    const auto same_lcore =
        std::find_if(places.begin(), places.end(),
                     [&use](const PortPlace& place) { return place.lcore == use.lcore; });
    const uint32_t number =
        same_lcore != places.end()
            ? pipeline.AddPair(same_lcore->number, pair)
            : pipeline.AddPort(pair, params, places.empty() ? lanes_[p].get() : nullptr);
    if (pauses_[p] != nullptr) pipeline.SetPauses(number, pauses_[p].get(), places.empty());
    places.push_back({.lcore = use.lcore, .number = number});
  }
}

void EndpointPipelines::AddInstance(const Config& config, uint32_t i,
                                    const std::vector<uint64_t>& speeds, const SecretKey& secret) {
  const InstanceConfig& instance = config.instances[i];
  InstanceParams params = InstanceParamsOf(config, instance);
  params.secret = secret;
  const std::vector<uint32_t> weights = PlaneWeightsOf(config, instance, speeds);
  for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
    params.planes[plane].port = PortNumber(config, instance.ports[plane].port, i);
    params.planes[plane].weight = weights[plane];
  }
  const Pipeline& pipeline = *pipelines_[instance.lcore];
  numbers_.push_back(pipelines_[instance.lcore]->AddInstance(params));
  instances_.resize(pipelines_.size());
  instances_[instance.lcore].push_back(i);
  for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
    const LinkEnd* const end = pipeline.instance(numbers_.back()).ports[plane]->link.end();
    if (end != nullptr) link_counters_[instance.ports[plane].port] = &end->counters();
  }
}

// Connects the lcores of a port by rings, to hand over frames for other lcores.
void EndpointPipelines::JoinLcores(const Config& config, uint32_t p) {
  std::vector<PortPlace> lcores;  // the first place of each
  for (const PortPlace& place : port_places_[p]) {
    if (lcores.empty() || lcores.back().lcore != place.lcore) lcores.push_back(place);
  }
  const auto count = static_cast<uint32_t>(lcores.size());
  // A frame that a centre delivers is for its own lcore.
  if (count < 2 || IsCentre(config.ports[p])) return;
  std::vector<HandoverRing*> rings(count * count);  // [from * count + to]
  for (uint32_t i = 0; i < rings.size(); ++i) {
    if (i / count == i % count) continue;
    rings[i] = handovers_.emplace_back(std::make_unique<HandoverRing>()).get();
  }
  for (uint32_t one = 0; one < count; ++one) {
    for (uint32_t other = 0; other < count; ++other) {
      if (one == other) continue;
      pipelines_[lcores[one].lcore]->SharePort(
          lcores[one].number, {.from = rings[other * count + one],
                               .to = rings[one * count + other],
                               .addresses = AddressesOf(config, p, lcores[other].lcore),
                               .packets = other == 0 ? lanes_[p].get() : nullptr});
    }
  }
}

// Returns the number, in its lcore's pipeline, of an instance's queue pair of Config::ports[p].
uint32_t EndpointPipelines::PortNumber(const Config& config, uint32_t p, uint32_t instance) const {
  const std::vector<PairUse> pairs = PairsOf(config, p);
  return port_places_[p][static_cast<size_t>(PairOf(pairs, instance) - pairs.begin())].number;
}

}  // namespace suede
