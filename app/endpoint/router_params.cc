// SPDX-License-Identifier: Apache-2.0
#include "endpoint/router_params.h"

#include <algorithm>
#include <bit>
#include <set>

#include "config/link_config.h"
#include "fabric/switch.h"
#include "router/cable.h"
#include "router/centre.h"
#include "wire/frame_class.h"

namespace suede {
namespace {

constexpr uint16_t kAlpha16th = 8 * 16;  // one queue may take nearly all of the buffer
constexpr uint32_t kMaxCellBytes = 4096;
constexpr int kInnerHello = 10;  // HELLO interval of cables inside, in those of others

// Returns a cell that holds the largest frame, if there is one.
uint32_t CellBytes(const Config& config) {
  return std::min(std::bit_ceil(MeshFrameBytes(config)), kMaxCellBytes);
}

// The class of a frame's link VCs.
uint8_t LinkClassOf(const TrafficClass& c, uint8_t unclassified) {
  const auto by_dscp = static_cast<uint8_t>(c.dscp / 8);
  return by_dscp == kUnclassified ? unclassified : by_dscp;
}

// Grants credit to the link VCs that frames of the endpoint use: all ends of cables have the same
// classes.
void SetCredit(const Config& config, fabric::SwitchParams& params) {
  CreditRule& rule = params.cbfc.rule;
  const uint32_t max = MeshFrameBytes(config);
  rule.shift = static_cast<uint8_t>(std::countr_zero(CellBytes(config)));
  const uint32_t credits = config.mesh.credit_frames * rule.CreditsOf(max);
  for (uint8_t vc = 0; vc < kVcCount; ++vc) {
    params.of_class[LinkClassOf(config.classes.vc[vc], vc)].credits = credits;
  }
  params.of_class[LinkClassOf(config.classes.ack, kAckLinkVc)].credits = credits;
  params.cbfc.times = config.cbfc;
  params.cbfc.largest_octets = max;
}

fabric::PortParams PortOf(const Config& config, const DeviceCable& end) {
  const CableConfig& cable = config.cables[end.cable];
  const bool crosses = end.own.device.mesh != end.far.device.mesh;
  fabric::PortParams params{.pfc = {.storm = config.pfc.storm},
                            .cbfc = config.mesh.cbfc == OnOff::kOn,
                            .plane = static_cast<uint8_t>(cable.plane),
                            .level = crosses ? fabric::LevelRule::kNext : fabric::LevelRule::kKeep};
  params.link = LinkParamsOf(config.llr, OnOff::kOff, PortConfig().link_ether_type, {});
  if (!cable.port) {
    // Nobody exchanges these cables, and there may be thousands.
    params.link.hello *= kInnerHello;
    return params;
  }
  const PortConfig& port = config.ports[*cable.port];
  params.cbfc = port.cbfc == OnOff::kOn;
  params.link = LinkParamsOf(config.llr, port.llr, port.link_ether_type, {});
  return params;
}

}  // namespace

std::vector<DeviceCable> DeviceCablesOf(const Config& config, uint32_t device) {
  const mesh::Device own = config.devices[device].device;
  std::vector<DeviceCable> ends;
  for (uint32_t i = 0; i < config.cables.size(); ++i) {
    const CableConfig& cable = config.cables[i];
    if (cable.from.device == own) {
      ends.push_back({.cable = i, .is_from = true, .own = cable.from, .far = cable.to});
    }
    if (!cable.port && cable.to.device == own) {
      ends.push_back({.cable = i, .is_from = false, .own = cable.to, .far = cable.from});
    }
  }
  return ends;
}

mesh::CableEnd OwnEnd(const Config& config, const DeviceCable& cable) {
  return {.at = cable.own,
          .plane = config.cables[cable.cable].plane,
          .specification = config.mesh.specification};
}

uint32_t MeshFrameBytes(const Config& config) {
  uint32_t bytes = 0;
  for (const PortConfig& port : config.ports) {
    if (IsCentre(port)) bytes = std::max(bytes, kEthernetBytes + port.mtu_bytes);
  }
  return bytes;
}

fabric::SwitchParams RouterParamsOf(const Config& config, uint32_t device) {
  fabric::SwitchParams params{.forwarding = fabric::Forwarding::kMesh,
                              .learns = false,
                              .floods = false,
                              .addresses = 1,
                              .addresses_of_port = 1,
                              .cell_bytes = CellBytes(config),
                              .max_on_cable = 0,
                              .levels = static_cast<uint8_t>(config.mesh.levels)};
  SetCredit(config, params);
  for (fabric::ClassParams& of_class : params.of_class) {
    of_class.reserved_bytes = 0;
    of_class.alpha_16th = kAlpha16th;
    of_class.max_wait = config.mesh.max_wait;
  }
  for (const DeviceCable& end : DeviceCablesOf(config, device)) {
    params.mesh.port_of[end.own.port] = static_cast<uint16_t>(params.ports.size());
    params.ports.push_back(PortOf(config, end));
  }
  for (uint32_t plane = 0; plane < MeshPlanesOf(config); ++plane) {
    params.mesh.centre_of[plane] = static_cast<uint16_t>(params.ports.size());
    params.ports.push_back({.hairpins = true,
                            .plane = static_cast<uint8_t>(plane),
                            .centre = true,
                            .level = fabric::LevelRule::kFirst});
  }
  params.seed = uint64_t{*mesh::Encode({.device = config.devices[device].device})} + 1;
  params.buffer_bytes = config.mesh.buffer_kb * 1024;
  params.buffer_bytes += static_cast<uint32_t>(CreditBytes(params));
  return params;
}

uint32_t RouterFramesOf(const Config& config) {
  uint64_t frames = 0;
  std::set<uint32_t> lcores;
  for (uint32_t i = 0; i < config.devices.size(); ++i) {
    const fabric::SwitchParams params = RouterParamsOf(config, i);
    frames += params.buffer_bytes / params.cell_bytes + fabric::Switch::MaxSpares(params);
    for (const fabric::PortParams& port : params.ports) {
      frames += Router::kPortFrames + (port.link.retry.on ? port.link.retry.window_frames : 0);
    }
    lcores.insert(config.devices[i].lcore);
  }
  const auto inner =
      std::ranges::count_if(config.cables, [](const CableConfig& cable) { return !cable.port; });
  frames += static_cast<uint64_t>(inner) * 2 * Cable::kFrames;
  frames += lcores.size() * MeshPlanesOf(config) * Centre::kDelivered;
  return static_cast<uint32_t>(frames);
}

}  // namespace suede
