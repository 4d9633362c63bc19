// SPDX-License-Identifier: Apache-2.0
#include "lab_switches.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "endpoint/router_params.h"
#include "mesh/address.h"
#include "switch/address_text.h"

namespace suede::lab {
namespace {

constexpr Duration kSayAgain = std::chrono::milliseconds(100);

// The queues of a class: one, or one for each level.
template <class Each>
void EachQueueOf(const fabric::Switch& at, uint32_t traffic_class, Each each) {
  const uint32_t levels = at.params().queue_count() / fabric::kClasses;
  for (uint32_t level = 0; level < levels; ++level) each(traffic_class * levels + level);
}

void AddDevice(const LabEndpoint& endpoint, uint32_t device, SwitchNode& node) {
  const fabric::Switch& at = endpoint.device(device);
  const std::vector<DeviceCable> cables = DeviceCablesOf(endpoint.config(), device);
  for (uint32_t p = 0; p < at.params().ports.size(); ++p) {
    node.ports.push_back({.name = p < cables.size()
                                      ? NameOf(cables[p].own)
                                      : NameOf(endpoint.config().devices[device].device),
                          .at = &at,
                          .number = p});
  }
}

}  // namespace

uint32_t SwitchPortView::QueuedBytes(uint32_t traffic_class) const {
  uint32_t bytes = 0;
  EachQueueOf(*at, traffic_class,
              [&](uint32_t queue) { bytes += at->buffer().queued(number, queue); });
  return bytes;
}

uint32_t SwitchPortView::MaxQueuedBytes(uint32_t traffic_class) const {
  uint32_t bytes = 0;
  EachQueueOf(*at, traffic_class, [&](uint32_t queue) {
    bytes = std::max(bytes, port().output().max_queued_bytes(queue));
  });
  return bytes;
}

std::string SwitchPortView::NameOfDestination(uint64_t destination) const {
  const fabric::Forwarding forwarding = at->params().forwarding;
  if (forwarding == fabric::Forwarding::kMesh) {
    const auto to = mesh::Decode(static_cast<uint32_t>(destination));
    return to ? NameOf(to->device) : "";
  }
  return fabric::IsByMac(forwarding) ? MacText(destination) : absl::StrCat(destination);
}

std::vector<const fabric::Switch*> SwitchNode::switches() const {
  std::vector<const fabric::Switch*> all;
  for (const SwitchPortView& port : ports) {
    if (all.empty() || all.back() != port.at) all.push_back(port.at);
  }
  return all;
}

std::vector<SwitchNode> SwitchNodesOf(const LabRun& run) {
  std::vector<SwitchNode> nodes;
  for (const auto& endpoint : run.endpoints()) {
    const auto devices = static_cast<uint32_t>(endpoint->config().devices.size());
    if (devices == 0) continue;
    SwitchNode& node = nodes.emplace_back(SwitchNode{.name = endpoint->name(), .ports = {}});
    for (uint32_t device = 0; device < devices; ++device) AddDevice(*endpoint, device, node);
  }
  for (const auto& at : run.fabric().switches()) {
    SwitchNode& node = nodes.emplace_back(SwitchNode{.name = at->name, .ports = {}});
    for (uint32_t p = 0; p < at->config.ports.size(); ++p) {
      node.ports.push_back(
          {.name = at->config.ports[p].name, .at = &at->the_switch(), .number = p});
    }
  }
  return nodes;
}

bool DropWatch::IsNew(const fabric::DropNote& note, Said& said, Time now) {
  if (note.count == said.count || now < said.again) return false;
  said.again = now + kSayAgain;
  return true;
}

void DropWatch::Look(Time now, const Say& say) {
  for (size_t p = 0; p < ports_.size(); ++p) {
    const auto look = [&](EventKind kind, const fabric::DropNote& note, Said& said) {
      if (!IsNew(note, said, now)) return;
      say(kind, ports_[p], note.count - said.count, note);
      said.count = note.count;
    };
    const fabric::SwitchPort& port = ports_[p].port();
    look(EventKind::kHopLimitDrops, port.without_hops(), said_[p].without_hops);
    look(EventKind::kAgeDrops, port.output().too_old(), said_[p].too_old);
  }
}

}  // namespace suede::lab
