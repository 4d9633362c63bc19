// SPDX-License-Identifier: Apache-2.0
// Methods that list a switch's ports, queues, buffer and addresses, and change its settings.

#include "mgmt/catalog.h"
#include "mgmt/port_admin.h"
#include "mgmt/switch_view.h"

namespace suede {
namespace {

constexpr Param kQueuesParams[] = {
    Param::Text("port", "Only those of this port.", 32),
    Param::Integer("class", "Only those of this class.", 0, 7),
    Param::Boolean("in_use", "Only those that have had a frame, or hold one."),
};
constexpr Param kAddressesParams[] = {
    Param::Text("port", "Only those behind this port, or group of ports.", 32),
    Param::Choice("origin", "Only these.", "configured|learnt"),
    Param::Integer("limit", "Max entries listed.", 1, 10000, "1000"),
    Param::Integer("from", "Where the list goes on: `next` of the answer before.", 0,
                   int64_t{1} << 53, "0"),
};
constexpr Param kSwitchAddress =
    Param::Text("address", "A MAC address, an AFH address as a number, IPv4 or IPv6.", 64)
        .Required();
constexpr Param kSwitchVid =
    Param::Integer("vid", "VLAN of a MAC address; 0: frames without a tag.", 0, 4094, "0");
constexpr Param kAddAddress[] = {
    kSwitchAddress,
    Param::Text("port", "Port, or group of ports, behind which it is.", 32).Required(), kSwitchVid};
constexpr Param kRemoveAddress[] = {kSwitchAddress, kSwitchVid};
constexpr Param kFlushAddresses[] = {Param::Text("port", "Only what was learnt on this port.", 32)};
constexpr Param kSetGroupWeight[] = {
    Param::Text("group", "A group of ports.", 32).Required(),
    Param::Text("port", "One of its ports.", 32).Required(),
    Param::Integer("weight", "Its share, relative to those of the others; 0: none.", 0, 255)
        .Required()};

std::string TextOr(const Arguments& arguments, std::string_view name) {
  return arguments.Has(name) ? arguments.Text(name) : "";
}

Answer ListSwitchQueues(Call& call) {
  const SwitchQueueQuery query{.port = TextOr(call.arguments, "port"),
                               .traffic_class = Given(call.arguments, "class"),
                               .in_use = call.arguments.Boolean("in_use")};
  return Answer::To(call.the_switch().Queues(query), "queues");
}

Answer ListAddresses(Call& call) {
  SwitchAddressQuery query{.port = TextOr(call.arguments, "port"),
                           .configured = {},
                           .from = static_cast<uint64_t>(call.arguments.Integer("from")),
                           .limit = *Given(call.arguments, "limit")};
  if (call.arguments.Has("origin")) {
    query.configured = call.arguments.Text("origin") == "configured";
  }
  return Answer::To(call.the_switch().Addresses(query));
}

Answer AddSwitchAddress(Call& call) {
  const std::string& address = call.arguments.Text("address");
  const std::string& port = call.arguments.Text("port");
  return Answer::When(call.the_switch().AddAddress(address, *Given(call.arguments, "vid"), port),
                      Json{{"address", address}, {"port", port}});
}

Answer RemoveSwitchAddress(Call& call) {
  const std::string& address = call.arguments.Text("address");
  return Answer::When(call.the_switch().RemoveAddress(address, *Given(call.arguments, "vid")),
                      Json{{"address", address}});
}

Answer FlushSwitchAddresses(Call& call) {
  const std::string port = TextOr(call.arguments, "port");
  return Answer::When(call.the_switch().FlushAddresses(port),
                      Json{{"port", port.empty() ? Json() : Json(port)}});
}

Answer SetGroupWeight(Call& call) {
  const std::string& group = call.arguments.Text("group");
  const std::string& port = call.arguments.Text("port");
  const uint32_t weight = *Given(call.arguments, "weight");
  return Answer::When(call.the_switch().SetWeight(group, port, weight),
                      Json{{"group", group}, {"port", port}, {"weight", weight}});
}

constexpr Member kSwitchPortsResult[] = {ListOf<SwitchPortView>("ports")};
constexpr Member kSwitchQueuesResult[] = {ListOf<SwitchQueueView>("queues")};
constexpr Member kResetResult[] = {Member::Boolean("reset")};
constexpr Member kAddedResult[] = {Member::Text("address"), Member::Text("port")};
constexpr Member kRemovedResult[] = {Member::Text("address")};
constexpr Member kGroupsResult[] = {ListOf<SwitchMemberView>("members")};
constexpr Member kWeightResult[] = {Member::Text("group"), Member::Text("port"),
                                    Member::Integer("weight")};
constexpr Member kFlushedResult[] = {Member::Text("port").OrNull("all")};

constexpr Method kSwitchMethods[] = {
    RowsMethod<&SwitchView::SwitchPorts, kSwitchPortsResult>(
        "ports.list", "Ports, their links, and what they carried."),
    port_admin::Row("Takes a port out of service or puts it back: while it is down nothing leaves "
                    "or waits, received frames are dropped."),
    {"queues.list", "Queues of each port and class, as the switching lcore sees them.",
     kSwitchQueuesResult, ListSwitchQueues, kQueuesParams},
    {"queues.reset",
     "Begins the high-water marks of queues and buffer anew.",
     kResetResult,
     [](Call& call) {
       return Answer::When(call.the_switch().ResetHighWater(), Json{{"reset", true}});
     },
     {},
     /*changes=*/true},
    {"buffer.show", "The buffer that all queues share.", SwitchBufferView::kMembers,
     [](Call& call) { return Answer::To(call.the_switch().Buffer()); }},
    {"addresses.list",
     "The forwarding table by pages, in no order. An entry that moves meanwhile may be missing or "
     "there twice.",
     SwitchAddressesView::kMembers, ListAddresses, kAddressesParams},
    {"addresses.add", "Adds a configured entry, or moves it to another port.", kAddedResult,
     AddSwitchAddress, kAddAddress, /*changes=*/true},
    {"addresses.remove", "Removes an entry, configured or learnt.", kRemovedResult,
     RemoveSwitchAddress, kRemoveAddress, /*changes=*/true},
    {"addresses.flush", "Forgets learnt entries.", kFlushedResult, FlushSwitchAddresses,
     kFlushAddresses, /*changes=*/true},
    RowsMethod<&SwitchView::Groups, kGroupsResult>(
        "groups.list", "Ports of each group, their weights, and what the group gave them."),
    {"groups.set_weight",
     "Sets the share of a port of a group; only frames of that share move. Ends with the switch.",
     kWeightResult, SetGroupWeight, kSetGroupWeight, /*changes=*/true},
};

}  // namespace

std::span<const Method> SwitchMethods() { return kSwitchMethods; }

}  // namespace suede
