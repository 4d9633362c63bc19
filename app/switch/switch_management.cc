// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_management.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/event_line.h"
#include "daemon/memif_reports.h"
#include "mgmt/catalog.h"
#include "switch/address_text.h"
#include "switch/impair_values.h"

namespace suede {
namespace {

using fabric::kClasses;

absl::Status Busy() {
  return absl::UnavailableError("the request queue of the switch is full; try again");
}

TappedPort* NoPort(std::string_view, bool) { return nullptr; }

}  // namespace

absl::StatusOr<std::unique_ptr<SwitchManagement>> SwitchManagement::Create(
    SwitchMailbox* mailbox, const fabric::Switch* the_switch, Logger* logger,
    SwitchManagementOptions options) {
  std::unique_ptr<SwitchManagement> management(
      new SwitchManagement(mailbox, the_switch, logger, std::move(options)));
  const SwitchManagementOptions& own = management->options_;
  const absl::Status listens = management->Listen(
      {.path = own.socket_path, .mode = own.socket_mode, .max_clients = own.max_clients},
      SwitchCatalog());
  if (!listens.ok()) return listens;
  return management;
}

SwitchManagement::SwitchManagement(SwitchMailbox* mailbox, const fabric::Switch* the_switch,
                                   Logger* logger, SwitchManagementOptions options)
    : DaemonManagement(
          options.name, options.config_file,
          options.find_port != nullptr ? options.find_port : Captures::FindPort(NoPort), logger),
      mailbox_(mailbox),
      switch_(the_switch),
      options_(std::move(options)),
      ports_(options_.ports.size()) {
  events_.AddObserver([logger](const Event& event) { LogEvent(event, std::ref(*logger)); });
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    ports_[p].in = the_switch->port(p).in().params();
    ports_[p].out = the_switch->port(p).out().params();
    ports_[p].reported_down = the_switch->port(p).is_down();
  }
  for (const fabric::PortGroup& group : the_switch->params().groups) {
    std::vector<uint8_t>& weights = weights_.emplace_back(group.ports.size());
    for (uint32_t m = 0; m < weights.size(); ++m) weights[m] = group.WeightOf(m);
  }
}

absl::StatusOr<uint32_t> SwitchManagement::Find(std::string_view port) const {
  for (uint32_t p = 0; p < options_.ports.size(); ++p) {
    if (options_.ports[p].name == port) return p;
  }
  return absl::NotFoundError(
      absl::StrCat("there is no port ", std::string(port), "; ports.list names them"));
}

absl::StatusOr<uint16_t> SwitchManagement::FindOutput(std::string_view name) const {
  const auto group = std::ranges::find(options_.groups, name);
  if (group != options_.groups.end()) {
    return static_cast<uint16_t>(fabric::kFirstGroup + (group - options_.groups.begin()));
  }
  const absl::StatusOr<uint32_t> port = Find(name);
  if (!port.ok()) return port.status();
  return static_cast<uint16_t>(*port);
}

const std::string& SwitchManagement::NameOfOutput(uint16_t number) const {
  return number >= fabric::kFirstGroup ? options_.groups[number - fabric::kFirstGroup]
                                       : options_.ports[number].name;
}

// ---- Counters.

namespace {

// Returns the counters of a port; `value_of` returns the value of a SwitchPortCounter.
template <typename ValueOf>
CounterSetView PortSet(std::string of, ValueOf value_of) {
  CounterSetView set{.of = std::move(of), .counters = {}};
  AddCounters(set, SwitchPortRows(),
              [&](size_t i) { return value_of(static_cast<SwitchPortCounter>(i)); });
  return set;
}

// Returns the counters of the whole switch.
template <typename OfPorts, typename OfClasses>
CounterSetView TotalSet(OfPorts of_ports, OfClasses of_classes,
                        const ManagementCounters& management) {
  CounterSetView set = PortSet("", of_ports);
  AddCounters(set, SwitchClassRows(),
              [&](size_t i) { return of_classes(static_cast<SwitchClassCounter>(i)); });
  AddCounters(set, management);
  return set;
}

}  // namespace

std::string SwitchNames() {
  const auto zero = [](auto) { return uint64_t{0}; };
  return NamesAsText(TotalSet(zero, zero, {}), PortSet("", zero), kSwitchEventNames);
}

CounterSetView SwitchManagement::TotalCounters() const {
  const auto of_ports = [this](SwitchPortCounter counter) {
    uint64_t sum = 0;
    for (uint32_t p = 0; p < ports_.size(); ++p) sum += switch_->port(p).counters().Get(counter);
    return sum;
  };
  const auto of_classes = [this](SwitchClassCounter counter) {
    uint64_t sum = 0;
    for (uint32_t p = 0; p < ports_.size(); ++p) {
      for (uint32_t c = 0; c < kClasses; ++c) sum += switch_->port(p).counters(c).Get(counter);
    }
    return sum;
  };
  return TotalSet(of_ports, of_classes, counters());
}

std::vector<CounterSetView> SwitchManagement::Counters(CounterScope scope) {
  std::vector<CounterSetView> sets;
  switch (scope) {
    case CounterScope::kTotal:
      sets.push_back(TotalCounters());
      break;
    case CounterScope::kPort:
      for (uint32_t p = 0; p < ports_.size(); ++p) {
        sets.push_back(PortSet(options_.ports[p].name, [&](SwitchPortCounter counter) {
          return switch_->port(p).counters().Get(counter);
        }));
      }
      break;
    case CounterScope::kClass:
      for (uint32_t p = 0; p < ports_.size(); ++p) {
        for (uint32_t c = 0; c < kClasses; ++c) {
          CounterSetView set{.of = absl::StrCat(options_.ports[p].name, ".", c), .counters = {}};
          AddCounters(set, SwitchClassRows(), [&](size_t i) {
            return switch_->port(p).counters(c).Get(static_cast<SwitchClassCounter>(i));
          });
          sets.push_back(std::move(set));
        }
      }
      break;
    case CounterScope::kInstance:
    case CounterScope::kLcore:
      break;  // not on a switch
  }
  return sets;
}

std::vector<SwitchPortView> SwitchManagement::SwitchPorts() {
  std::vector<SwitchPortView> all;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    const SwitchPortFacts& facts = options_.ports[p];
    const SwitchLink link = options_.link(p);
    const SwitchPortCounters& counters = switch_->port(p).counters();
    all.push_back({.name = facts.name,
                   .driver = facts.driver,
                   .mac = facts.mac,
                   .lcore = facts.lcore,
                   .admin_up = ports_[p].admin_up,
                   .link_up = link.up && ports_[p].IsUsed(),
                   .speed_bps = link.speed_bps,
                   .rate_bps = switch_->params().ports[p].rate_bps,
                   .rx_frames = counters.Get(SwitchPortCounter::kRxFrames),
                   .rx_bytes = counters.Get(SwitchPortCounter::kRxFrameBytes),
                   .tx_frames = counters.Get(SwitchPortCounter::kTxFrames),
                   .tx_bytes = counters.Get(SwitchPortCounter::kTxFrameBytes),
                   .device = facts.device});
  }
  return all;
}

// ---- Changes.

Question<absl::Status> SwitchManagement::Change(
    SwitchRequest request, std::function<absl::Status(const SwitchTicket&)> done) {
  const Ticket ticket = mailbox_->Ask(std::move(request));
  if (ticket == nullptr) return [] { return std::optional<absl::Status>(Busy()); };
  return [ticket, done = std::move(done)]() -> std::optional<absl::Status> {
    if (!ticket->done()) return std::nullopt;
    return done != nullptr ? done(*ticket) : absl::OkStatus();
  };
}

absl::StatusOr<SwitchManagement::Ticket> SwitchManagement::PostDown(uint32_t port) {
  Port& own = ports_[port];
  const bool down = !own.admin_up || !own.link_up;
  if (down == own.reported_down) return Ticket();
  Ticket ticket =
      mailbox_->Ask(switch_request::SetDown{.port = static_cast<uint16_t>(port), .down = down});
  if (ticket == nullptr) return Busy();
  own.reported_down = down;
  own.change = ticket;
  return ticket;
}

absl::StatusOr<AdminQuestion> SwitchManagement::SetPortAdmin(std::string_view name, bool up) {
  const absl::StatusOr<uint32_t> port = Find(name);
  if (!port.ok()) return port.status();
  const bool before = std::exchange(ports_[*port].admin_up, up);
  absl::StatusOr<Ticket> ticket = PostDown(*port);
  if (!ticket.ok()) {
    ports_[*port].admin_up = before;
    return ticket.status();
  }
  if (before != up) {
    events_.Raise(EventKind::kPortAdmin, {{EventField::kPort, options_.ports[*port].name},
                                          {EventField::kAdmin, up ? "up" : "down"}});
  }
  return [ticket = *std::move(ticket)] { return ticket == nullptr || ticket->done(); };
}

void SwitchManagement::FollowLinks() {
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    Port& own = ports_[p];
    const SwitchLink link = options_.link(p);
    if (link.up != own.link_up) {
      own.link_up = link.up;
      std::vector<EventValue> values = {{EventField::kPort, options_.ports[p].name}};
      if (link.up && link.speed_bps != 0) {
        values.emplace_back(EventField::kSpeedBps, link.speed_bps);
      }
      events_.Raise(link.up ? EventKind::kLinkUp : EventKind::kLinkDown, std::move(values));
    }
    if (memif::Device* const own_memif = memif(p); own_memif != nullptr) {
      ReportMemif(options_.ports[p].name, *own_memif, events_);
    }
    PostDown(p).IgnoreError();  // retried next time
    if (const LinkEnd* end = switch_->port(p).link(); end != nullptr) {
      own.link.Check(options_.ports[p].name, link.up, end->counters(), events_);
    }
  }
}

std::vector<LinkView> SwitchManagement::Links() {
  std::vector<LinkView> links;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    const LinkEnd* const end = switch_->port(p).link();
    links.push_back(
        {.port = options_.ports[p].name, .counters = end != nullptr ? &end->counters() : nullptr});
  }
  return links;
}

LldpView SwitchManagement::Lldp() { return lldp_ != nullptr ? lldp_->View() : LldpView{}; }

Question<absl::Status> SwitchManagement::ResetHighWater() {
  return Change(switch_request::ResetHighWater{});
}

Question<absl::Status> SwitchManagement::AddAddress(std::string_view address, uint32_t vid,
                                                    std::string_view port) {
  const absl::StatusOr<uint16_t> at = FindOutput(port);
  const absl::StatusOr<NetAddress> key = KeyOf(address, vid, switch_->params().forwarding);
  const absl::Status wrong = !at.ok() ? at.status() : key.status();
  if (!wrong.ok()) return [wrong] { return std::optional(wrong); };
  return Change(switch_request::AddAddress{.key = *key, .port = *at},
                [](const SwitchTicket& ticket) {
                  return ticket.answer<switch_request::AddAddress>().added
                             ? absl::OkStatus()
                             : absl::ResourceExhaustedError(
                                   "the forwarding table is full; flush or remove addresses");
                });
}

Question<absl::Status> SwitchManagement::RemoveAddress(std::string_view address, uint32_t vid) {
  const absl::StatusOr<NetAddress> key = KeyOf(address, vid, switch_->params().forwarding);
  if (!key.ok()) return [wrong = key.status()] { return std::optional(wrong); };
  return Change(switch_request::RemoveAddress{.key = *key}, [](const SwitchTicket& ticket) {
    return ticket.answer<switch_request::RemoveAddress>().removed
               ? absl::OkStatus()
               : absl::NotFoundError("there is no such address; addresses.list names them");
  });
}

Question<absl::Status> SwitchManagement::FlushAddresses(std::string_view port) {
  if (port.empty()) return Change(switch_request::Flush{.ports = ~uint64_t{0}});
  const absl::StatusOr<uint32_t> at = Find(port);
  if (!at.ok()) return [wrong = at.status()] { return std::optional(wrong); };
  return Change(switch_request::Flush{.ports = uint64_t{1} << *at});
}

// ---- Groups.

std::vector<SwitchMemberView> SwitchManagement::Groups() {
  static constexpr std::string_view kSpreads[] = {"flow", "round_robin", "queue"};
  std::vector<SwitchMemberView> members;
  for (uint32_t g = 0; g < weights_.size(); ++g) {
    const fabric::PortGroup& group = switch_->params().groups[g];
    for (uint32_t m = 0; m < group.ports.size(); ++m) {
      members.push_back({.group = options_.groups[g],
                         .port = options_.ports[group.ports[m]].name,
                         .spread = kSpreads[static_cast<size_t>(group.spread)],
                         .weight = weights_[g][m],
                         .frames = switch_->group(g).frames(m).load(std::memory_order_relaxed)});
    }
  }
  return members;
}

Question<absl::Status> SwitchManagement::SetWeight(std::string_view group, std::string_view port,
                                                   uint32_t weight) {
  const auto refuse = [](absl::Status wrong) -> Question<absl::Status> {
    return [wrong = std::move(wrong)] { return std::optional(wrong); };
  };
  const auto at = std::ranges::find(options_.groups, group);
  if (at == options_.groups.end()) {
    return refuse(absl::NotFoundError(
        absl::StrCat("there is no group ", std::string(group), "; groups.list names them")));
  }
  const auto g = static_cast<uint16_t>(at - options_.groups.begin());
  const absl::StatusOr<uint32_t> number = Find(port);
  if (!number.ok()) return refuse(number.status());
  const std::vector<uint16_t>& ports = switch_->params().groups[g].ports;
  const auto member = static_cast<size_t>(std::ranges::find(ports, *number) - ports.begin());
  if (member == ports.size()) {
    return refuse(
        absl::NotFoundError(absl::StrCat("port ", std::string(port), " is not of group ",
                                         std::string(group), "; groups.list names its ports")));
  }
  std::vector<uint8_t> weights = weights_[g];
  weights[member] = static_cast<uint8_t>(weight);
  if (std::ranges::count(weights, 0) == static_cast<ptrdiff_t>(weights.size())) {
    return refuse(absl::FailedPreconditionError(
        "no port of the group would have a share; give another one a weight above 0 first"));
  }
  const Ticket ticket = mailbox_->Ask(switch_request::SetWeight{
      .group = g, .member = static_cast<uint16_t>(member), .weight = weights[member]});
  if (ticket == nullptr) return refuse(Busy());
  weights_[g] = std::move(weights);
  return [ticket]() -> std::optional<absl::Status> {
    if (!ticket->done()) return std::nullopt;
    return absl::OkStatus();
  };
}

// ---- Impairments.

std::vector<ImpairView> SwitchManagement::Impairments() {
  const bool by_mac = fabric::IsByMac(switch_->params().forwarding);
  std::vector<ImpairView> all;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    for (const bool out : {false, true}) {
      ImpairView view = ToView(out ? ports_[p].out : ports_[p].in, by_mac);
      view.port = options_.ports[p].name;
      view.in = !out;
      all.push_back(std::move(view));
    }
  }
  return all;
}

Question<absl::Status> SwitchManagement::ChangeImpairment(const ImpairWhere& where,
                                                          const Change1& change) {
  const auto refuse = [](absl::Status wrong) -> Question<absl::Status> {
    return [wrong = std::move(wrong)] { return std::optional(wrong); };
  };
  uint32_t first = 0;
  auto last = static_cast<uint32_t>(ports_.size());
  if (!where.port.empty()) {
    const absl::StatusOr<uint32_t> port = Find(where.port);
    if (!port.ok()) return refuse(port.status());
    first = *port;
    last = first + 1;
  }
  switch_request::Impair request;
  for (uint32_t p = first; p < last; ++p) {
    for (const bool out : {false, true}) {
      if (where.out && *where.out != out) continue;
      switch_request::Impair::Part part{.port = static_cast<uint16_t>(p),
                                        .out = out,
                                        .params = out ? ports_[p].out : ports_[p].in};
      if (absl::Status wrong = change(&part.params); !wrong.ok()) return refuse(std::move(wrong));
      request.parts.push_back(std::move(part));
    }
  }
  const std::vector<switch_request::Impair::Part> parts = request.parts;
  const Ticket ticket = mailbox_->Ask(std::move(request));
  if (ticket == nullptr) return refuse(Busy());
  for (const switch_request::Impair::Part& part : parts) {
    (part.out ? ports_[part.port].out : ports_[part.port].in) = part.params;
  }
  return [ticket]() -> std::optional<absl::Status> {
    if (!ticket->done()) return std::nullopt;
    return absl::OkStatus();
  };
}

Question<absl::Status> SwitchManagement::SetImpairment(const ImpairWhere& where,
                                                       const ImpairChange& change) {
  return ChangeImpairment(
      where, [&change](fabric::ImpairmentParams* params) { return Apply(change, params); });
}

Question<absl::Status> SwitchManagement::ClearImpairment(const ImpairWhere& where) {
  return ChangeImpairment(where, [](fabric::ImpairmentParams* params) {
    *params = {};
    return absl::OkStatus();
  });
}

}  // namespace suede
