// SPDX-License-Identifier: Apache-2.0
// Methods that list the endpoint's parts.
#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

Answer ListInstances(Call& call) {
  Json list = Json::array();
  for (const InstanceView& instance : call.endpoint().Instances()) {
    list.push_back(Json{{"xpu", instance.xpu},
                        {"instance", instance.instance},
                        {"lcore", instance.lcore},
                        {"port", instance.port},
                        {"address", instance.address}});
  }
  return Json{{"instances", std::move(list)}};
}

Answer ListPorts(Call& call) {
  Json list = Json::array();
  for (const PortView& port : call.endpoint().Ports()) {
    list.push_back(Json{{"name", port.name},
                        {"driver", port.driver},
                        {"mac", port.mac},
                        {"mtu_bytes", port.mtu_bytes},
                        {"encapsulation", port.encapsulation},
                        {"admin", port.admin_up ? "up" : "down"},
                        {"link_up", port.link_up},
                        {"speed_bps", port.speed_bps != 0 ? Json(port.speed_bps) : Json()},
                        {"pool_frames", port.pool_frames},
                        {"pool_free", port.pool_free},
                        {"lcores", port.lcores},
                        {"queue_pairs", port.queue_pairs},
                        {"steering", port.steering},
                        {"paused", port.paused},
                        {"device", port.device}});
  }
  return Json{{"ports", std::move(list)}};
}

Answer ListPeers(Call& call) {
  Json list = Json::array();
  for (const PeerView& peer : call.endpoint().Peers()) {
    list.push_back(
        Json{{"xpu", peer.xpu},
             {"port", peer.port},
             {"address", peer.address},
             {"mac", peer.mac},
             {"resolving", peer.resolving}});
  }
  return Json{{"peers", std::move(list)}};
}

Answer ListClients(Call& call) {
  Json list = Json::array();
  for (const ClientView& client : call.endpoint().Clients()) {
    list.push_back(Json{{"id", client.id},
                        {"pid", client.pid},
                        {"uid", client.uid},
                        {"queues", client.queues},
                        {"state", client.state},
                        {"claims", client.claims}});
  }
  return Json{{"clients", std::move(list)}};
}

Answer ListWindows(Call& call) {
  const auto or_null = [](const std::optional<uint32_t>& value) {
    return value ? Json(*value) : Json();
  };
  Json list = Json::array();
  for (const WindowView& window : call.endpoint().Windows()) {
    list.push_back(Json{{"client", window.client},
                        {"xpu", window.xpu},
                        {"instance", window.instance},
                        {"window", window.window},
                        {"served_by", window.served_by},
                        {"rights", window.rights},
                        {"has_key", window.has_key},
                        {"partition", or_null(window.partition)},
                        {"size_bytes", window.size_bytes},
                        {"page_bytes", window.page_bytes},
                        {"numa_node", or_null(window.numa_node)}});
  }
  return Json{{"windows", std::move(list)}};
}

constexpr Member kInstanceRow[] = {
    members::kXpu,
    members::kInstance,
    Member::Integer("lcore", "its CPU"),
    members::kPort,
    members::kAddress,
};
constexpr Member kInstancesResult[] = {Member::Rows("instances", kInstanceRow)};
constexpr Member kPortRow[] = {
    Member::Text("name"),
    Member::Text("driver"),
    Member::Text("mac"),
    Member::Integer("mtu_bytes"),
    Member::Text("encapsulation", "as the configuration writes it"),
    Member::Choice("admin", members::kUpOrDown),
    Member::Boolean("link_up"),
    Member::Integer("speed_bps").Unit("bit/s").OrNull("not known"),
    Member::Integer("pool_frames"),
    Member::Integer("pool_free", "frames of these"),
    Member::Integer("lcores", "CPUs of those that serve it").List(),
    Member::Integer("queue_pairs", "of the device"),
    Member::Text("steering",
                 "how frames come to the lcore of their instance: one queue, rules, rss, software"),
    Member::Text("paused",
                 "VCs, and ack for PDUs without commands, that the neighbour pauses now (pfc: "
                 "software): 0,ack; empty: none"),
    Member::Text("device"),
};
constexpr Member kPortsResult[] = {Member::Rows("ports", kPortRow)};
constexpr Member kPeerRow[] = {
    members::kXpu,
    members::kPort,
    members::kAddress,
    Member::Text("mac", "empty where frames have none, and while it is resolving"),
    Member::Boolean("resolving", "the MAC address is to be learnt and not known yet"),
};
constexpr Member kPeersResult[] = {Member::Rows("peers", kPeerRow)};
constexpr Member kClientRow[] = {
    Member::Integer("id"),
    Member::Integer("pid"),
    Member::Integer("uid"),
    Member::Integer("queues"),
    Member::Choice("state", "connected|open|packets|leaving",
                   "connected: has no segment yet; packets: carries management packets; leaving: "
                   "the lcore still delivers commands that it had handed over"),
    Member::Text("claims", "VCs that are received for it: XPU.INSTANCE:VC,VC… …"),
};
constexpr Member kClientsResult[] = {Member::Rows("clients", kClientRow)};
constexpr Member kWindowRow[] = {
    Member::Integer("client", "its id, as clients.list has it"),
    members::kXpu,
    members::kInstance,
    Member::Integer("window", "its id"),
    Member::Choice("served_by", "lcore|program",
                   "program: requests are passed on to the client, and the rest is not known"),
    Member::Text("rights", "read,write,atomic"),
    Member::Boolean("has_key", "requests have to give its key"),
    Member::Integer("partition", "of the endpoint while it is served").OrNull("any"),
    Member::Integer("size_bytes"),
    Member::Integer("page_bytes"),
    Member::Integer("numa_node", "of its first page").OrNull("not known"),
};
constexpr Member kWindowsResult[] = {Member::Rows("windows", kWindowRow)};
constexpr Method kEndpointMethods[] = {
    {.name = "instances.list",
     .sentence = "Own instances.",
     .result = kInstancesResult,
     .run = ListInstances},
    {.name = "ports.list",
     .sentence = "Network ports, their links and their frame pools.",
     .result = kPortsResult,
     .run = ListPorts},
    {.name = "peers.list",
     .sentence = "Addresses of peers: one entry for each port that reaches one.",
     .result = kPeersResult,
     .run = ListPeers},
    {.name = "clients.list",
     .sentence = "Client processes.",
     .result = kClientsResult,
     .run = ListClients},
    {.name = "windows.list",
     .sentence = "Windows of memory of clients whose targets the lcores serve.",
     .result = kWindowsResult,
     .run = ListWindows},
};

}  // namespace

std::span<const Method> EndpointMethods() { return kEndpointMethods; }

}  // namespace suede
