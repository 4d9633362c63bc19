// SPDX-License-Identifier: Apache-2.0
#include "lab_fabric.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "endpoint/pipeline_params.h"
#include "switch/impair_values.h"
#include "switch/switch_check.h"
#include "switch/switch_params.h"

namespace suede::lab {
namespace {

constexpr uint32_t kRelayed = 64;  // frames between two switches at once

// The PCI addresses stand for devices, which nobody opens.
std::string DeviceOf(uint32_t number) {
  return absl::StrFormat("%04x:%02x:%02x.0", number / 1024, number / 32 % 32, number % 32);
}

// A configured rate that the cable has anyway is the device's at its end.
uint64_t WithoutCable(uint64_t rate_bps, uint64_t cable_bps) {
  return rate_bps == cable_bps ? 0 : rate_bps;
}

std::optional<double> NumberIn(const ForeignJson& params, const char* key) {
  const auto found = params.find(key);
  if (found == params.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// nullptr: there is none.
const PlanLink* LinkAt(const Plan& plan, const std::string& node, const ForeignJson& port) {
  if (!port.is_string()) return nullptr;
  const auto name = port.get<std::string>();
  for (const PlanLink& link : plan.links) {
    for (const PlanEnd* end : {&link.a, &link.b}) {
      if (end->node == node && end->port == name) return &link;
    }
  }
  return nullptr;
}

// "none", or entries with commas between them.
std::optional<std::vector<std::string>> ListIn(const ForeignJson& params, const char* key) {
  const auto found = params.find(key);
  if (found == params.end() || !found->is_string()) return std::nullopt;
  const auto text = found->get<std::string>();
  if (text == "none") return std::vector<std::string>();
  return absl::StrSplit(text, ',');
}

constexpr std::string_view kKnownKeys[] = {
#define SUEDE_LAB_KEY(Y, name, max, unit, sentence) #name,
    SUEDE_IMPAIR_NUMBERS(SUEDE_LAB_KEY, )
#undef SUEDE_LAB_KEY
#define SUEDE_LAB_FIELD_KEY(Y, name, max, sentence) #name,
        SUEDE_IMPAIR_FIELDS(SUEDE_LAB_FIELD_KEY, )
#undef SUEDE_LAB_FIELD_KEY
            "port",
    "direction",
    "down",
    "strip_tag",
    "hole_classes",
    "hole_destinations"};

// "on" or "off".
std::optional<bool> SwitchIn(const ForeignJson& params, const char* key) {
  const auto found = params.find(key);
  if (found == params.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>() == "on";
}

// A number, or a word where the field is the frame's own.
std::optional<std::optional<uint32_t>> FieldIn(const ForeignJson& params, const char* key) {
  if (!params.contains(key)) return std::nullopt;
  const std::optional<double> number = NumberIn(params, key);
  return number ? std::optional(static_cast<uint32_t>(*number)) : std::optional<uint32_t>();
}

absl::StatusOr<ImpairChange> ChangeOf(const ForeignJson& params) {
  for (const auto& [key, value] : params.items()) {
    if (std::find(std::begin(kKnownKeys), std::end(kKnownKeys), key) == std::end(kKnownKeys)) {
      return absl::InvalidArgumentError(absl::StrCat("impair.set: the simulator has no key ", key));
    }
  }
  ImpairChange change;
#define SUEDE_LAB_VALUE(Y, name, max, unit, sentence) change.name = NumberIn(params, #name);
  SUEDE_IMPAIR_NUMBERS(SUEDE_LAB_VALUE, )
#undef SUEDE_LAB_VALUE
#define SUEDE_LAB_FIELD(Y, name, max, sentence) change.name = FieldIn(params, #name);
  SUEDE_IMPAIR_FIELDS(SUEDE_LAB_FIELD, )
#undef SUEDE_LAB_FIELD
  change.down = SwitchIn(params, "down");
  change.strip_tag = SwitchIn(params, "strip_tag");
  if (const auto classes = ListIn(params, "hole_classes")) {
    change.hole_classes.emplace();
    for (const std::string& text : *classes) {
      uint32_t one = 0;
      if (!absl::SimpleAtoi(text, &one) || one > 7) {
        return absl::InvalidArgumentError("impair.set: hole_classes: " + text + " is no class");
      }
      change.hole_classes->push_back(one);
    }
  }
  change.hole_destinations = ListIn(params, "hole_destinations");
  return change;
}

// The delay of a link may be a fraction of a microsecond, which no configuration can have.
void LeaveToCable(const PlanLink& link, ForeignJson& port) {
  for (const char* side : {"impair_in", "impair_out"}) {
    const auto impair = port.find(side);
    if (impair == port.end() || !impair->is_object()) continue;
    const auto delay = NumberIn(*impair, "delay_us");
    if (delay && std::llround(*delay * 1e3) == link.delay.count()) impair->erase("delay_us");
  }
}

// A frame that leaves a port occupies the cable for the time of its bits, and no other leaves
// meanwhile: a switch in real time may make up for being late, and here it never is late.
void KeepRate(const SwitchPortConfig& port, uint64_t cable_bps, fabric::ImpairmentParams* out) {
  for (const uint64_t bps : {BpsOf(port.rate_gbps), cable_bps}) {
    if (bps != 0 && (out->rate_bps == 0 || out->rate_bps > bps)) out->rate_bps = bps;
  }
}

// A direction's impairment at the begin: the cable's delay where it has none of its own.
fabric::ImpairmentParams OnCable(const SwitchImpairConfig& config, const PlanLink& link) {
  fabric::ImpairmentParams params = ImpairmentOf(config);
  if (params.delay.count() == 0) params.delay = link.delay;
  return params;
}

// The configuration of a switch, with what a back end has to add.
absl::StatusOr<SwitchConfig> SwitchConfigOf(const PlanNode& node, const Plan& plan) {
  ForeignJson config = node.config;
  config["management"]["socket"] = "/nowhere/" + node.name + ".ctl";
  if (const auto ports = config.find("ports"); ports != config.end() && ports->is_array()) {
    uint32_t number = 0;
    for (ForeignJson& port : *ports) {
      if (!port.is_object()) continue;  // the error comes below
      port["device"] = DeviceOf(number++);
      const ForeignJson name = port.value("name", ForeignJson());
      if (!name.is_string()) continue;
      const PlanLink* const link = LinkAt(plan, node.name, name);
      if (link == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(node.name, ": no link is at the port ", name.get<std::string>()));
      }
      LeaveToCable(*link, port);
    }
  }
  return ParseSwitchConfig(config.dump(1), absl::StrCat("the configuration of ", node.name),
                           {.cpu_count = kCpus,
                            .runtime_root = "/nowhere",
                            .runtime_directory = {},
                            .switch_ports = fabric::Switch::kMaxPorts});
}

}  // namespace

uint32_t LabSwitch::PortNamed(const std::string& port) const {
  const auto found = std::find_if(config.ports.begin(), config.ports.end(),
                                  [&](const SwitchPortConfig& one) { return one.name == port; });
  return found == config.ports.end() ? ~0u : static_cast<uint32_t>(found - config.ports.begin());
}

absl::StatusOr<std::unique_ptr<LabFabric>> LabFabric::Build(
    const Plan& plan, const std::map<std::string, Config>& endpoints) {
  auto built = std::make_unique<LabFabric>();
  for (const PlanNode& node : plan.nodes) {
    if (!node.is_switch) continue;
    if (absl::Status status = built->AddSwitch(node, plan); !status.ok()) return status;
  }
  // A switch's ports are numbered by its configuration.
  for (const auto& at : built->switches_) {
    for (const SwitchPortConfig& port : at->config.ports) {
      const PlanLink* const link = LinkAt(plan, at->name, ForeignJson(port.name));
      if (absl::Status status = built->AddLink(*at, *link, endpoints); !status.ok()) return status;
    }
  }
  for (const PlanLink& link : plan.links) {
    if (built->SwitchNamed(link.a.node) != nullptr || built->SwitchNamed(link.b.node) != nullptr) {
      continue;
    }
    if (absl::Status status = built->AddCable(link, endpoints); !status.ok()) return status;
  }
  if (absl::Status status = built->AddPools(endpoints); !status.ok()) return status;
  for (const auto& at : built->switches_) {
    for (const SwitchAddressConfig& address : at->config.addresses) {
      bool room = true;
      at->network->Change(at->ports[0], [&](fabric::Switch& the_switch, uint32_t) {
        room = the_switch.table().AddStatic(AddressKeyOf(address),
                                            static_cast<uint16_t>(address.port_number));
      });
      if (!room) return absl::InvalidArgumentError(at->name + ": table.addresses is too small");
    }
  }
  for (SimNetwork* network : built->networks_) network->TakeDigest();
  return built;
}

absl::Status LabFabric::AddSwitch(const PlanNode& node, const Plan& plan) {
  auto config = SwitchConfigOf(node, plan);
  if (!config.ok()) return config.status();
  auto at = std::make_unique<LabSwitch>();
  at->name = node.name;
  at->config = *std::move(config);
  fabric::SwitchParams params = SwitchParamsOf(at->config);
  for (uint32_t p = 0; p < params.ports.size(); ++p) {
    if (at->config.ports[p].mac) continue;
    params.ports[p].mac = {0x02, 0x5f, 0, 0, static_cast<uint8_t>(p >> 8), static_cast<uint8_t>(p)};
  }
  at->network = std::make_unique<SimNetwork>(params.seed);
  at->network->SetSwitch(params);
  networks_.push_back(at->network.get());
  switches_.push_back(std::move(at));
  return absl::OkStatus();
}

LabSwitch* LabFabric::SwitchNamed(const std::string& name) const {
  for (const auto& at : switches_) {
    if (at->name == name) return at.get();
  }
  return nullptr;
}

absl::Status LabFabric::AddCable(const PlanLink& link,
                                 const std::map<std::string, Config>& endpoints) {
  SimNetwork* const cable = cables_.emplace_back(std::make_unique<SimNetwork>(0)).get();
  cable->SetCable(link.delay);
  networks_.push_back(cable);
  for (const PlanEnd* end : {&link.a, &link.b}) {
    auto port = AddPort(cable, *end, link, endpoints);
    if (!port.ok()) return port.status();
  }
  return absl::OkStatus();
}

absl::Status LabFabric::AddPools(const std::map<std::string, Config>& endpoints) {
  for (const auto& [name, config] : endpoints) {
    for (const PortConfig& port : config.ports) {
      if (!IsCentre(port)) continue;
      SimNetwork* const pool = pools_.emplace_back(std::make_unique<SimNetwork>(0)).get();
      pool->SetCable(Duration::zero());
      auto made =
          AddPort(pool, {.node = name, .port = port.name}, {.rate_gbps = kAssumedGbps}, endpoints);
      if (!made.ok()) return made.status();
    }
  }
  return absl::OkStatus();
}

absl::Status LabFabric::AddLink(LabSwitch& at, const PlanLink& link,
                                const std::map<std::string, Config>& endpoints) {
  const bool is_a = link.a.node == at.name;
  const bool is_trunk = SwitchNamed(link.a.node) != nullptr && SwitchNamed(link.b.node) != nullptr;
  auto far = is_trunk ? FarEndOf(at, link)
                      : AddPort(at.network.get(), is_a ? link.b : link.a, link, endpoints);
  if (!far.ok()) return far.status();
  const uint32_t number = at.PortNamed(is_a ? link.a.port : link.b.port);
  at.ports.push_back(*far);
  at.rate_bps.push_back(static_cast<uint64_t>(std::llround(link.rate_gbps * 1e9)));
  const SwitchPortConfig& own = at.config.ports[number];
  at.network->Change(*far, [&](fabric::Switch& the_switch, uint32_t port) {
    fabric::ImpairmentParams in = OnCable(own.impair_in, link);
    in.rate_bps = WithoutCable(in.rate_bps, at.rate_bps[number]);
    the_switch.port(port).in().Set(in);
    // The far switch has the delay of a link between two.
    fabric::ImpairmentParams out =
        is_trunk ? ImpairmentOf(own.impair_out) : OnCable(own.impair_out, link);
    KeepRate(own, at.rate_bps[number], &out);
    the_switch.port(port).out().Set(out);
  });
  return absl::OkStatus();
}

absl::StatusOr<SimPort*> LabFabric::FarEndOf(LabSwitch& at, const PlanLink& link) {
  Trunk& trunk = trunks_[&link];
  const size_t end = trunk.end[0] == nullptr ? 0 : 1;
  trunk.network[end] = at.network.get();
  trunk.end[end] = at.network->AddPort(kRelayed, kRelayed, {.bits_per_ns = link.rate_gbps});
  trunk.end[end]->SetObeysPfc(false);
  return trunk.end[end];
}

void LabFabric::Relay() {
  Frame* frames[kRelayed];
  for (auto& [link, trunk] : trunks_) {
    for (const size_t from : {0, 1}) {
      SimPort* const port = trunk.end[from];
      while (const uint32_t count = port->Receive(frames, kRelayed)) {
        for (uint32_t i = 0; i < count; ++i) {
          trunk.network[1 - from]->Enter(trunk.end[1 - from], {frames[i]->data, frames[i]->length});
        }
        port->Release(frames, count);
      }
    }
  }
}

absl::StatusOr<SimPort*> LabFabric::AddPort(SimNetwork* network, const PlanEnd& end,
                                            const PlanLink& link,
                                            const std::map<std::string, Config>& endpoints) {
  const auto found = endpoints.find(end.node);
  if (found == endpoints.end()) return absl::InvalidArgumentError(end.node + " is no endpoint");
  const Config& config = found->second;
  uint32_t number = 0;
  while (number < config.ports.size() && config.ports[number].name != end.port) ++number;
  if (number == config.ports.size()) {
    return absl::InvalidArgumentError(absl::StrCat(end.node, " has no port ", end.port));
  }
  const PortConfig& port = config.ports[number];
  const std::string name = absl::StrCat("port ", end.port, " of ", end.node);
  if (ports_.contains({end.node, end.port}))
    return absl::InvalidArgumentError(name + " has two links");
  if (port.pfc == PortConfig::Pfc::kDevice) {
    return absl::UnimplementedError(name +
                                    ": the simulator's devices do no PFC; use pfc: software");
  }
  if (port.tap) return absl::UnimplementedError(name + ": the simulator has no TAP devices");
  const PortOptions options = PortOptionsOf(config, number);
  if (options.frame_bytes > SimPort::kMaxFrameBytes) {
    return absl::UnimplementedError(absl::StrCat(name, ": the simulator's frames have up to ",
                                                 SimPort::kMaxFrameBytes, " bytes, not ",
                                                 options.frame_bytes, "; lower mtu_bytes"));
  }
  SimPort* const made = network->AddPort(options.pool_frames, port.tx_descriptors,
                                         {.bits_per_ns = link.rate_gbps}, port.rx_descriptors);
  made->SetObeysPfc(false);
  ports_[{end.node, end.port}] = made;
  networks_of_[made] = network;
  return made;
}

SimPort* LabFabric::PortOf(const std::string& node, const std::string& port) const {
  const auto found = ports_.find({node, port});
  return found == ports_.end() ? nullptr : found->second;
}

Time LabFabric::next_event() const {
  Time next = kNever;
  for (const SimNetwork* network : networks_) next = std::min(next, network->next_event());
  return next;
}

void LabFabric::AdvanceTo(Time time) {
  for (SimNetwork* network : networks_) network->AdvanceTo(time);
  Relay();
}

uint64_t LabFabric::digest() const {
  uint64_t digest = 0;
  for (const SimNetwork* network : networks_) digest = digest * 31 + network->digest();
  return digest;
}

absl::Status LabFabric::Impair(LabSwitch& at, uint32_t port, const PlanAction& action) {
  const auto change = ChangeOf(action.impairments);
  if (!change.ok()) return change.status();
  absl::Status status;
  at.network->Change(at.ports[port], [&](fabric::Switch& the_switch, uint32_t number) {
    fabric::Impairment& impairment =
        action.in ? the_switch.port(number).in() : the_switch.port(number).out();
    fabric::ImpairmentParams params = impairment.params();
    status = suede::Apply(*change, &params);
    if (action.in) {
      params.rate_bps = WithoutCable(params.rate_bps, at.rate_bps[number]);
    } else {
      KeepRate(at.config.ports[number], at.rate_bps[number], &params);
    }
    if (status.ok()) impairment.Set(params);
  });
  return status;
}

absl::Status LabFabric::Apply(const PlanAction& action) {
  LabSwitch* const at = SwitchNamed(action.node);
  const uint32_t port = at != nullptr ? at->PortNamed(action.port) : ~0u;
  if (port == ~0u) {
    return absl::InvalidArgumentError(
        absl::StrCat("a fault: no switch ", action.node, " with a port ", action.port));
  }
  if (action.kind == PlanAction::Kind::kImpair) return Impair(*at, port, action);
  at->network->Change(at->ports[port], [&](fabric::Switch& the_switch, uint32_t number) {
    the_switch.SetDown(number, !action.up);
  });
  return absl::OkStatus();
}

}  // namespace suede::lab
