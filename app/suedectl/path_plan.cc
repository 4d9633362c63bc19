// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_plan.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/config.h"
#include "config/config_encapsulation.h"

namespace suede::ctl {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kTagBytes = 4;

PathCongestion CongestionOf(CongestionControl control) {
  switch (control) {
    case CongestionControl::kRccc:
      return PathCongestion::kRccc;
    case CongestionControl::kNscc:
      return PathCongestion::kNscc;
    default:
      return PathCongestion::kFixed;
  }
}

// Whether frames of both classes look the same on the port.
bool LookAlike(const PortConfig& port, const TrafficClass& a, const TrafficClass& b) {
  const EncapTraits& traits = TraitsOf(port.encapsulation);
  const bool same_pcp = a.pcp == b.pcp || !port.vid;
  const uint32_t dropped_bits = 6u - traits.class_bits;
  return same_pcp && (a.dscp >> dropped_bits) == (b.dscp >> dropped_bits);
}

std::vector<PathClass> ClassesOf(const Config& config, const PortConfig& port) {
  std::vector<PathClass> classes;
  std::array<const TrafficClass*, kVcCount + 1> all{};
  for (size_t v = 0; v < kVcCount; ++v) all[v] = &config.classes.vc[v];
  all[kVcCount] = &config.classes.ack;
  for (uint32_t c = 0; c < all.size(); ++c) {
    const std::string name = c == kPathAckClass ? "ack" : StrCat("VC ", c);
    const auto same = std::find_if(classes.begin(), classes.end(), [&](const PathClass& other) {
      return LookAlike(port, *all[other.number], *all[c]);
    });
    if (same == classes.end()) {
      classes.push_back({.number = c, .name = name, .ecn = all[c]->ecn});
    } else {
      StrAppend(&same->name, ",", c == kPathAckClass ? "ack" : StrCat(c));
    }
  }
  return classes;
}

PathPlan PlanOf(const Config& config, const InstanceConfig& instance, uint32_t plane) {
  const PortConfig& port = config.ports[instance.ports[plane].port];
  return {.plane = plane,
          .port = port.name,
          .encapsulation = std::string(NameOf(port.encapsulation)),
          .max_bytes = port.mtu_bytes + kEthernetBytes + (port.vid ? kTagBytes : 0),
          .has_sessions = TraitsOf(port.encapsulation).sessions > 1,
          .is_lossless = port.pfc != PortConfig::Pfc::kOff || port.cbfc == OnOff::kOn,
          .has_pfc = port.pfc != PortConfig::Pfc::kOff,
          .sends_pauses = port.pfc == PortConfig::Pfc::kSoftware,
          .trims = port.trimmed_dscp.has_value(),
          .congestion = CongestionOf(instance.congestion),
          .classes = ClassesOf(config, port)};
}

bool IsChosen(const InstanceConfig& own, const PathChoice& choice) {
  return own.xpu != choice.peer && own.xpu == choice.xpu.value_or(own.xpu) &&
         own.instance == choice.instance.value_or(own.instance);
}

// Returns the planes of the instance that lead to the peer.
std::vector<PathPlan> PlansOf(const Config& config, const InstanceConfig& own,
                              const PeerConfig& peer, const PathChoice& choice) {
  std::vector<PathPlan> plans;
  for (uint32_t plane = 0; plane < own.ports.size(); ++plane) {
    if (plane != choice.plane.value_or(plane)) continue;
    if (FindPeerPort(peer, own.ports[plane].port, own.instance) == nullptr) continue;
    plans.push_back(PlanOf(config, own, plane));
  }
  return plans;
}

// Keeps the class that has the chosen number, or its marks.
void KeepClass(uint32_t number, PathPlan* plan) {
  const std::string text = number == kPathAckClass ? "ack" : StrCat(number);
  std::erase_if(plan->classes, [&](const PathClass& of) {
    const std::vector<std::string_view> names =
        Split(std::string_view(of.name).substr(of.name.starts_with("VC ") ? 3 : 0), ',');
    return std::find(names.begin(), names.end(), text) == names.end();
  });
}

}  // namespace

absl::StatusOr<PathTask> PlanPath(std::string_view text, const PathChoice& choice) {
  MachineFacts machine;
  machine.cpu_count = 4096;
  const absl::StatusOr<Config> config = ParseConfig(text, "the daemon's configuration", machine);
  if (!config.ok()) return config.status();
  const auto peer =
      std::find_if(config->peers.begin(), config->peers.end(),
                   [&](const PeerConfig& candidate) { return candidate.xpu == choice.peer; });
  if (peer == config->peers.end()) {
    return absl::InvalidArgumentError(
        StrCat("peer: no peer with XPU id ", choice.peer, "; 'suedectl peers list' has the peers"));
  }
  for (const InstanceConfig& own : config->instances) {
    if (!IsChosen(own, choice)) continue;
    PathTask task{
        .xpu = own.xpu, .instance = own.instance, .planes = PlansOf(*config, own, *peer, choice)};
    if (task.planes.empty()) continue;
    if (choice.traffic_class) {
      for (PathPlan& plan : task.planes) KeepClass(*choice.traffic_class, &plan);
    }
    return task;
  }
  return absl::InvalidArgumentError(
      StrCat("no own instance has a plane to XPU ", choice.peer,
             choice.plane || choice.xpu || choice.instance ? " as given" : "",
             "; 'suedectl planes list' has the planes"));
}

}  // namespace suede::ctl
