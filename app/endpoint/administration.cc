#include "endpoint/administration.h"

#include "base/text.h"
#include "endpoint/endpoint.h"

namespace suede {

Administration::Administration(Endpoint* endpoint)
    : endpoint_(endpoint),
      port_up_(endpoint->config().ports.size(), true),
      instance_up_(endpoint->config().instances.size(), true),
      asked_(endpoint->pipeline_count()) {}

std::vector<PlaneView> Administration::Planes() const {
  const Config& config = endpoint_->config();
  std::vector<PlaneView> all;
  for (size_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
      const uint32_t port = instance.ports[plane].port;
      const bool link_up = endpoint_->ports()[port]->link().up;
      all.push_back({.xpu = instance.xpu,
                     .instance = instance.instance,
                     .plane = static_cast<uint32_t>(plane),
                     .port = config.ports[port].name,
                     .admin_up = instance_up_[i],
                     .port_up = port_up_[port],
                     .link_up = link_up,
                     .up = instance_up_[i] && port_up_[port] && link_up});
    }
  }
  return all;
}

absl::StatusOr<AdminView::AdminQuestion> Administration::Ask(uint32_t lcore,
                                                             const LcoreRequest& request) {
  Pipeline* const pipeline = &endpoint_->pipeline(lcore);
  if (!pipeline->mailbox().requests.Push(request)) {
    return absl::ResourceExhaustedError("the lcore has too many requests before it; try again");
  }
  const uint32_t number = ++asked_[lcore];
  return [pipeline, number] {
    return static_cast<int32_t>(pipeline->admin_done() - number) >= 0;
  };
}

absl::StatusOr<AdminView::AdminQuestion> Administration::SetPort(std::string_view name, bool up) {
  const auto& ports = endpoint_->config().ports;
  uint32_t port = 0;
  while (port < ports.size() && ports[port].name != name) ++port;
  if (port == ports.size()) {
    return absl::NotFoundError(StrCat("there is no port ", name, "; ports.list names them"));
  }
  AdminView::AdminQuestion question = [] { return true; };
  if (port_up_[port] == up) return question;
  if (const auto place = endpoint_->place_of_port(port)) {
    absl::StatusOr<AdminView::AdminQuestion> asked =
        Ask(place->lcore, {.kind = LcoreRequestKind::kSetPort, .port = place->number, .up = up});
    if (!asked.ok()) return asked;
    question = *std::move(asked);
  }
  port_up_[port] = up;
  // Few virtual devices can; the data path is closed all the same.
  endpoint_->ports()[port]->SetLink(up);
  endpoint_->events().Raise(EventKind::kPortAdmin, {{EventField::kPort, ports[port].name},
                                                    {EventField::kAdmin, up ? "up" : "down"}});
  return question;
}

absl::StatusOr<AdminView::AdminQuestion> Administration::SetPlane(uint32_t xpu, uint32_t instance,
                                                                  uint32_t plane, bool up) {
  const Config& config = endpoint_->config();
  uint32_t i = 0;
  while (i < config.instances.size() &&
         (config.instances[i].xpu != xpu || config.instances[i].instance != instance)) {
    ++i;
  }
  if (i == config.instances.size() || plane >= config.instances[i].ports.size()) {
    return absl::NotFoundError(StrCat("there is no plane ", plane, " of instance ", instance,
                                      " of XPU ", xpu, "; planes.list names them"));
  }
  if (instance_up_[i] == up) return AdminView::AdminQuestion([] { return true; });
  absl::StatusOr<AdminView::AdminQuestion> question =
      Ask(endpoint_->pipeline_of(i), {.kind = LcoreRequestKind::kSetInstance,
                                      .instance = endpoint_->number_of(i), .up = up});
  if (!question.ok()) return question;
  instance_up_[i] = up;
  endpoint_->events().Raise(
      EventKind::kPlaneAdmin,
      {{EventField::kXpu, xpu},
       {EventField::kInstance, instance},
       {EventField::kPlane, plane},
       {EventField::kPort, config.ports[config.instances[i].ports[plane].port].name},
       {EventField::kAdmin, up ? "up" : "down"}});
  return question;
}

}  // namespace suede
