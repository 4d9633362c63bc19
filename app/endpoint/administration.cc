// SPDX-License-Identifier: Apache-2.0
#include "endpoint/administration.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "endpoint/endpoint.h"
#include "endpoint/pipeline_params.h"

namespace suede {
namespace {

PlaneAdmin ToLcore(PlaneSetting setting) {
  static_assert(static_cast<int>(PlaneSetting::kDown) == static_cast<int>(PlaneAdmin::kDown));
  return static_cast<PlaneAdmin>(setting);
}

}  // namespace

Administration::Administration(Endpoint* endpoint)
    : endpoint_(endpoint),
      port_up_(endpoint->config().ports.size(), true),
      speeds_(endpoint->LinkSpeeds()),
      asked_(endpoint->pipeline_count()) {
  for (const InstanceConfig& instance : endpoint->config().instances) {
    std::vector<Plane>& planes = planes_.emplace_back();
    for (const uint32_t weight : PlaneWeightsOf(endpoint->config(), instance, speeds_)) {
      planes.push_back({.weight = weight});
    }
  }
}

PlaneView Administration::PlaneOf(uint32_t i, uint32_t plane) const {
  const Config& config = endpoint_->config();
  const InstanceConfig& instance = config.instances[i];
  const uint32_t port = instance.ports[plane].port;
  const Plane& own = planes_[i][plane];
  const bool link_up = endpoint_->ports()[port]->link().up;
  return {.xpu = instance.xpu,
          .instance = instance.instance,
          .plane = plane,
          .port = config.ports[port].name,
          .admin = own.setting,
          .link_up = link_up,
          .up = own.setting != PlaneSetting::kDown && port_up_[port] && link_up,
          .weight = own.weight,
          .port_up = port_up_[port]};
}

std::vector<PlaneView> Administration::Planes() const {
  std::vector<PlaneView> all;
  for (uint32_t i = 0; i < planes_.size(); ++i) {
    for (uint32_t plane = 0; plane < planes_[i].size(); ++plane) all.push_back(PlaneOf(i, plane));
  }
  return all;
}

absl::StatusOr<uint32_t> Administration::Find(const PlaneName& name) const {
  const auto& instances = endpoint_->config().instances;
  for (uint32_t i = 0; i < instances.size(); ++i) {
    if (instances[i].xpu != name.xpu || instances[i].instance != name.instance) continue;
    if (name.plane < instances[i].ports.size()) return i;
  }
  return absl::NotFoundError(StrCat("there is no plane ", name.plane, " of instance ",
                                    name.instance, " of XPU ", name.xpu,
                                    "; planes.list names them"));
}

absl::StatusOr<AdminQuestion> Administration::Ask(uint32_t lcore, const LcoreRequest& request) {
  Pipeline* const pipeline = &endpoint_->pipeline(lcore);
  if (!pipeline->mailbox().requests.Push(request)) {
    return absl::ResourceExhaustedError("the request queue of the lcore is full; try again");
  }
  const uint32_t number = ++asked_[lcore];
  return [pipeline, number] {
    return static_cast<int32_t>(pipeline->admin_done() - number) >= 0;
  };
}

absl::StatusOr<AdminQuestion> Administration::SetPort(std::string_view name, bool up) {
  const auto& ports = endpoint_->config().ports;
  uint32_t port = 0;
  while (port < ports.size() && ports[port].name != name) ++port;
  if (port == ports.size()) {
    return absl::NotFoundError(StrCat("there is no port ", name, "; ports.list names them"));
  }
  if (port_up_[port] == up) return AdminQuestion([] { return true; });
  std::vector<AdminQuestion> questions;  // one for each lcore of the port
  for (const Endpoint::PortPlace& place : endpoint_->places_of_port(port)) {
    absl::StatusOr<AdminQuestion> asked =
        Ask(place.lcore, request::SetPort{.port = place.number, .up = up});
    // A retry by the operator repeats the requests already posted.
    if (!asked.ok()) return asked;
    questions.push_back(*std::move(asked));
  }
  port_up_[port] = up;
  // Ignores the result: few virtual devices support it, and the data path closes the port anyway.
  endpoint_->ports()[port]->SetLink(up);
  endpoint_->events().Raise(EventKind::kPortAdmin, {{EventField::kPort, ports[port].name},
                                                    {EventField::kAdmin, up ? "up" : "down"}});
  return [questions = std::move(questions)] {
    return std::all_of(questions.begin(), questions.end(), [](const auto& done) { return done(); });
  };
}

absl::StatusOr<AdminQuestion> Administration::SetPlane(const PlaneName& name,
                                                       PlaneSetting setting) {
  const absl::StatusOr<uint32_t> found = Find(name);
  if (!found.ok()) return found.status();
  const uint32_t i = *found;
  Plane& plane = planes_[i][name.plane];
  const bool is_only_one = planes_[i].size() == 1;
  if (is_only_one && setting == PlaneSetting::kDrain) {
    return absl::FailedPreconditionError(
        "the instance has no other plane that its PDUs could take; set this one down");
  }
  if (plane.setting == setting) return AdminQuestion([] { return true; });
  const uint32_t number = endpoint_->number_of(i);
  LcoreRequest asked = request::SetPlane{
      .instance = number, .plane = PlaneIndex(name.plane), .plane_admin = ToLcore(setting)};
  if (is_only_one) {
    asked = request::SetInstance{.instance = number, .up = setting != PlaneSetting::kDown};
  }
  absl::StatusOr<AdminQuestion> question = Ask(endpoint_->pipeline_of(i), asked);
  if (!question.ok()) return question;
  plane.setting = setting;
  endpoint_->events().Raise(EventKind::kPlaneAdmin, {{EventField::kXpu, name.xpu},
                                                     {EventField::kInstance, name.instance},
                                                     {EventField::kPlane, name.plane},
                                                     {EventField::kPort, PlaneOf(i, name.plane).port},
                                                     {EventField::kAdmin, NameOf(setting)}});
  return question;
}

uint32_t Administration::DefaultWeight(uint32_t instance, uint32_t plane) const {
  const Config& config = endpoint_->config();
  return PlaneWeightsOf(config, config.instances[instance], speeds_)[plane];
}

absl::StatusOr<EndpointView::WeightChange> Administration::SetWeight(
    const PlaneName& name, std::optional<uint32_t> peer, std::optional<uint32_t> weight) {
  const absl::StatusOr<uint32_t> found = Find(name);
  if (!found.ok()) return found.status();
  const uint32_t i = *found;
  const uint32_t lcore = endpoint_->pipeline_of(i);
  const uint32_t number = endpoint_->number_of(i);
  uint32_t index = request::SetWeight::kAllPeers;
  if (peer) {
    const auto& peers = endpoint_->pipeline(lcore).instance(number).params.peers;
    index = 0;
    while (index < peers.size() && peers[index].xpuid != *peer) ++index;
    if (index == peers.size() || !peers[index].planes[name.plane].present) {
      return absl::NotFoundError(StrCat("plane ", name.plane, " leads to no peer ", *peer,
                                        "; planes.peers names those that it leads to"));
    }
  }
  if (weight == 0u && planes_[i].size() == 1) {
    return absl::FailedPreconditionError(
        "the instance has no other plane that its PDUs could take; set this one down");
  }
  Plane& plane = planes_[i][name.plane];
  const uint32_t value = weight.value_or(peer ? plane.weight : DefaultWeight(i, name.plane));
  absl::StatusOr<AdminQuestion> question =
      Ask(lcore, request::SetWeight{.instance = number,
                                    .peer = PeerIndex(index),
                                    .plane = PlaneIndex(name.plane),
                                    .weight = value});
  if (!question.ok()) return question.status();
  if (!peer) {
    plane.weight = value;
    plane.weight_set = weight.has_value();
    plane.peers_set.clear();  // replaced by the plane's weight
  } else if (weight) {
    plane.peers_set.insert(*peer);
  } else {
    plane.peers_set.erase(*peer);
  }
  return EndpointView::WeightChange{.done = *std::move(question), .weight = value};
}

bool Administration::PostWeight(uint32_t instance, PlaneIndex plane, uint32_t weight) {
  return Ask(endpoint_->pipeline_of(instance),
             request::SetWeight{.instance = endpoint_->number_of(instance),
                                .peer = request::SetWeight::kAllPeers,
                                .plane = plane,
                                .weight = weight})
      .ok();
}

void Administration::NoteLinkSpeed(uint32_t port, uint64_t speed_bps) {
  if (speed_bps == 0 || speeds_[port] == speed_bps) return;
  speeds_[port] = speed_bps;
  speeds_noted_ = true;
}

void Administration::FollowLinkSpeeds() {
  if (!speeds_noted_) return;
  const Config& config = endpoint_->config();
  for (uint32_t i = 0; i < planes_.size(); ++i) {
    if (planes_[i].size() == 1) continue;
    const std::vector<uint32_t> weights = PlaneWeightsOf(config, config.instances[i], speeds_);
    for (uint32_t p = 0; p < weights.size(); ++p) {
      Plane& plane = planes_[i][p];
      if (plane.weight_set || !plane.peers_set.empty() || plane.weight == weights[p]) continue;
      if (!PostWeight(i, PlaneIndex(p), weights[p])) return;
      plane.weight = weights[p];
    }
  }
  speeds_noted_ = false;
}

}  // namespace suede
