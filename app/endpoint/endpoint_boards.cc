// SPDX-License-Identifier: Apache-2.0
#include "endpoint/endpoint_boards.h"

#include <algorithm>

#include "endpoint/pipeline_params.h"
#include "endpoint/router_params.h"

namespace suede {
namespace {

LinkPlace PlaceOf(const mesh::CableEnd& end) {
  return {.mesh = static_cast<uint16_t>(end.at.device.mesh),
          .device = static_cast<uint16_t>(end.at.device.device),
          .port = static_cast<uint8_t>(end.at.port),
          .plane = static_cast<uint8_t>(end.plane),
          .specification = end.specification};
}

}  // namespace

EndpointBoards::EndpointBoards(const Config& config, const std::vector<Device>& devices,
                               const std::function<SecretKey()>& draw_secret)
    : pools_(config.lcores.size()), boards_(config.lcores.size()) {
  AddBoards(config, devices);
  for (const CableConfig& cable : config.cables) {
    // Frames of a cable's end are released and allocated by routers alone, never by the cable.
    const PoolPort::Params params{.pool = nullptr, .max_frame_bytes = MeshFrameBytes(config)};
    cables_.push_back(cable.port ? nullptr : std::make_unique<Cable>(params));
  }
  for (uint32_t i = 0; i < config.devices.size(); ++i) AddRouter(config, i, devices, draw_secret);
  AddTaps(config);
  SetTables(config);
}

void EndpointBoards::AddTaps(const Config& config) {
  std::vector<std::vector<TapPoint*>> centres(MeshPlanesOf(config));
  for (uint32_t d = 0; d < config.devices.size(); ++d) {
    const std::vector<DeviceCable> ends = DeviceCablesOf(config, d);
    const auto count = static_cast<uint32_t>(ends.size());
    for (uint32_t i = 0; i < count; ++i) {
      taps_.emplace_back(NameOf(ends[i].own), std::vector{&routers_[d]->tap(i)});
    }
    for (uint32_t k = 0; k < centres.size(); ++k) {
      centres[k].push_back(&routers_[d]->tap(count + k));
    }
  }
  for (const PortConfig& port : config.ports) {
    if (IsCentre(port)) taps_.emplace_back(port.name, centres[*port.plane]);
  }
}

TappedPort* EndpointBoards::tapped_port(std::string_view name) {
  const auto at = std::ranges::find(taps_, name, &TapGroup::name);
  return at == taps_.end() ? nullptr : &*at;
}

void EndpointBoards::SetTables(const Config& config) {
  ++epoch_;
  for (uint32_t i = 0; i < config.devices.size(); ++i) {
    std::vector<mesh::RoutingTable> tables;
    for (const DeviceTable& table : config.devices[i].tables) {
      tables.push_back(table.routes);
      tables.back().epoch = epoch_;
    }
    routers_[i]->Offer(std::move(tables));
  }
}

// Adds a board for each lcore that runs devices, with the centre of each plane.
void EndpointBoards::AddBoards(const Config& config, const std::vector<Device>& devices) {
  for (uint32_t plane = 0; plane < MeshPlanesOf(config); ++plane) {
    const auto at = std::ranges::find_if(config.ports, [plane](const PortConfig& port) {
      return IsCentre(port) && port.plane == plane;
    });
    const auto p = static_cast<uint32_t>(at - config.ports.begin());
    const std::vector<PairUse> pairs = PairsOf(config, p);
    for (size_t pair = 0; pair < pairs.size(); ++pair) {
      const uint32_t lcore = pairs[pair].lcore;
      if (boards_[lcore] == nullptr) {
        boards_[lcore] = std::make_unique<Board>();
        pools_[lcore] = devices[p].pairs[pair];
      }
      boards_[lcore]->AddCentre(
          {.pool = devices[p].pairs[pair],
           .max_frame_bytes = devices[p].max_frame_bytes,
           .speed_bps = uint64_t{at->bandwidth_gbps.value_or(0)} * 1'000'000'000});
    }
  }
}

void EndpointBoards::AddRouter(const Config& config, uint32_t device,
                               const std::vector<Device>& devices,
                               const std::function<SecretKey()>& draw_secret) {
  const DeviceConfig& of = config.devices[device];
  const std::vector<DeviceCable> ends = DeviceCablesOf(config, device);
  fabric::SwitchParams params = RouterParamsOf(config, device);
  for (size_t i = 0; i < ends.size(); ++i) {
    fabric::PortParams& port = params.ports[i];
    const std::optional<uint32_t> p = config.cables[ends[i].cable].port;
    if (p) port.mac = port.link.mac = config.ports[*p].mac.value_or(devices[*p].mac);
    port.link.secret = draw_secret();
    if (p) port.link.place = PlaceOf(OwnEnd(config, ends[i]));
  }
  Board& board = *boards_[of.lcore];
  Router& router = board.AddRouter(of.device, params, *pools_[of.lcore]);
  for (const DeviceCable& end : ends) {
    const std::optional<uint32_t> p = config.cables[end.cable].port;
    Cable* const cable = cables_[end.cable].get();
    if (p) {
      router.AddOuterCable(devices[*p].pairs[0], OwnEnd(config, end), end.far);
    } else {
      router.AddCable(end.is_from ? &cable->a() : &cable->b());
    }
  }
  board.AddCentres(router, static_cast<uint32_t>(ends.size()));
  routers_.push_back(&router);
}

std::vector<EndpointBoards::Device> EndpointBoards::PipelineDevices(const Config& config,
                                                                    std::vector<Device> devices) {
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    if (!IsCentre(config.ports[p])) continue;
    const std::vector<PairUse> pairs = PairsOf(config, p);
    for (size_t pair = 0; pair < pairs.size(); ++pair) {
      devices[p].pairs[pair] = &boards_[pairs[pair].lcore]->centre(*config.ports[p].plane);
    }
  }
  return devices;
}

}  // namespace suede
