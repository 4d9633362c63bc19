// SPDX-License-Identifier: Apache-2.0
#include "daemon/lldp_service.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace suede {
namespace {

std::string TextOf(const std::optional<std::string>& text) {
  return text ? lldp::TextOf(*text) : "";
}

std::string CreditText(const lldp::LinkOptions& link) {
  if (link.cbfc_sender && link.cbfc_receiver) return "on";
  if (link.cbfc_sender) return "sender";
  return link.cbfc_receiver ? "receiver" : "off";
}

std::string_view RemedyOf(lldp::AddressVerdict verdict) {
  return verdict == lldp::AddressVerdict::kChanged ? "restart the daemon to use it"
                                                   : "correct ports[].lldp_assign at the neighbour";
}

LldpNeighbourView ViewOf(const std::string& port, const lldp::Neighbour& neighbour, Time now) {
  const lldp::Lldpdu& pdu = neighbour.pdu;
  LldpNeighbourView view{.port = port,
                         .chassis = lldp::ChassisText(pdu.chassis),
                         .port_id = lldp::PortText(pdu.port),
                         .system = TextOf(pdu.system_name),
                         .age_ns = static_cast<uint64_t>((now - neighbour.heard).count()),
                         .ttl_s = pdu.ttl_s,
                         .max_frame_bytes = pdu.max_frame_bytes,
                         .port_description = TextOf(pdu.port_description),
                         .system_description = TextOf(pdu.system_description)};
  if (pdu.pfc) view.pfc_classes = lldp::ClassesText(pdu.pfc->classes);
  if (pdu.link) {
    view.llr = pdu.link->llr;
    view.cbfc = CreditText(*pdu.link);
    view.credit_bytes = pdu.link->credit_octets;
    view.credits.assign(pdu.link->credits.begin(), pdu.link->credits.end());
  }
  if (pdu.assignment) {
    view.assigned = lldp::AssignmentText(*pdu.assignment);
    view.address_state = lldp::NameOf(neighbour.address);
    if (pdu.assignment->gateway) view.gateway = lldp::AddressText(*pdu.assignment->gateway);
  }
  for (const lldp::Difference& one : neighbour.differences) {
    view.differences.push_back(
        {.what = std::string(one.what), .own = one.own, .theirs = one.theirs});
  }
  return view;
}

}  // namespace

void LldpService::AddPort(uint32_t port, PortFacts facts) {
  auto counters = std::make_unique<LldpCounters>();
  auto agent = std::make_unique<lldp::Agent>(
      facts.own, facts.source, lldp::AgentParams{.addresses = facts.addresses}, counters.get());
  ports_.push_back({.number = port,
                    .facts = std::move(facts),
                    .counters = std::move(counters),
                    .agent = std::move(agent)});
}

LldpService::Port* LldpService::Find(uint32_t number) {
  const auto at = std::ranges::find(ports_, number, &Port::number);
  return at != ports_.end() ? &*at : nullptr;
}

bool LldpService::OnFrame(uint32_t port, std::span<const uint8_t> frame, Time now) {
  if (!lldp::IsLldp(frame)) return false;
  Port* const own = Find(port);
  if (own == nullptr) return false;
  own->agent->OnFrame(frame, now);
  return true;
}

void LldpService::OnDropped(uint32_t port, uint64_t frames) {
  if (Port* const own = Find(port); own != nullptr)
    own->counters->Add(LldpCounter::kRxRate, frames);
}

void LldpService::Send(Port& port, std::span<const uint8_t> frame) {
  port.counters->Add(port.facts.send(frame) ? LldpCounter::kTxFrames : LldpCounter::kTxFull);
}

void LldpService::Poll(Time now) {
  for (Port& port : ports_) {
    lldp::Agent& agent = *port.agent;
    agent.OnLink(port.facts.link_up(), now);
    agent.Poll(now);
    const std::span<const uint8_t> frame =
        ended_ ? std::span<const uint8_t>() : agent.TakeFrame(now);
    if (!frame.empty()) Send(port, frame);
    while (const auto report = agent.TakeReport()) Raise(port, *report);
  }
}

bool LldpService::Shutdown() {
  if (std::exchange(ended_, true)) return false;
  for (Port& port : ports_) {
    if (port.agent->link_up()) Send(port, port.agent->LastFrame());
  }
  return !ports_.empty();
}

void LldpService::Raise(const Port& port, const lldp::Report& report) {
  const lldp::Lldpdu& pdu = report.neighbour.pdu;
  std::vector<EventValue> values = {{EventField::kPort, port.facts.name},
                                    {EventField::kChange, NameOf(report.change)},
                                    {EventField::kChassis, lldp::ChassisText(pdu.chassis)},
                                    {EventField::kPortId, lldp::PortText(pdu.port)}};
  if (pdu.system_name) values.emplace_back(EventField::kSystem, TextOf(pdu.system_name));
  if (!report.reason.empty()) values.emplace_back(EventField::kReason, report.reason);
  events_->Raise(EventKind::kLldpNeighbour, std::move(values));
  for (const lldp::Difference& one : report.appeared) {
    events_->Raise(EventKind::kLldpDiffers, {{EventField::kPort, port.facts.name},
                                             {EventField::kWhat, one.what},
                                             {EventField::kOwn, one.own},
                                             {EventField::kTheirs, one.theirs}});
  }
  if (!report.assigns || !lldp::IsRefused(report.neighbour.address)) return;
  events_->Raise(EventKind::kLldpAddressRefused,
                 {{EventField::kPort, port.facts.name},
                  {EventField::kAssigned, lldp::AssignmentText(*pdu.assignment)},
                  {EventField::kReason, lldp::NameOf(report.neighbour.address)},
                  {EventField::kRemedy, RemedyOf(report.neighbour.address)}});
}

LldpView LldpService::View(Time now) const {
  LldpView view;
  for (const Port& port : ports_) {
    for (const lldp::Neighbour& neighbour : port.agent->neighbours()) {
      view.neighbours.push_back(ViewOf(port.facts.name, neighbour, now));
    }
    view.ports.push_back({.port = port.facts.name, .counters = port.counters.get()});
  }
  return view;
}

const LldpCounters* LldpService::counters(uint32_t port) const {
  const auto at = std::ranges::find(ports_, port, &Port::number);
  return at != ports_.end() ? at->counters.get() : nullptr;
}

}  // namespace suede
