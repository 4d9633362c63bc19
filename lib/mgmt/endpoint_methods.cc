// SPDX-License-Identifier: Apache-2.0
// Methods that show the endpoint's parts, its log level and its end.
#include <unistd.h>

#include <iterator>
#include <string>

#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/rpc.h"

namespace suede {
namespace {

constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};
constexpr std::string_view kLevelChoices = "debug|info|warning|error";

constexpr Param kSetLevel[] = {
    Param::Choice("level", "Least severity that is logged.", kLevelChoices).Required(),
};

Answer Version(Call& call) {
  const VersionView version = call.endpoint.Version();
  return Json{{"suede", version.version},   {"revision", version.revision},
              {"dpdk", version.dpdk},       {"protocol", kRpcProtocol},
              {"name", version.name},       {"pid", getpid()},
              {"uptime_s", version.uptime_s},
              {"http", version.http.empty() ? Json() : Json(version.http)},
              {"config", version.config.empty() ? Json() : Json(version.config)}};
}

Answer GetConfig(Call& call) { return Json{{"yaml", call.endpoint.EffectiveConfig()}}; }

Answer ListInstances(Call& call) {
  Json list = Json::array();
  for (const InstanceView& instance : call.endpoint.Instances()) {
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
  for (const PortView& port : call.endpoint.Ports()) {
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
  for (const PeerView& peer : call.endpoint.Peers()) {
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
  for (const ClientView& client : call.endpoint.Clients()) {
    list.push_back(Json{{"id", client.id},
                        {"pid", client.pid},
                        {"uid", client.uid},
                        {"queues", client.queues},
                        {"state", client.state},
                        {"claims", client.claims}});
  }
  return Json{{"clients", std::move(list)}};
}

Json Level(EndpointView& endpoint) {
  return Json{{"level", kLevels[static_cast<size_t>(endpoint.LogLevel())]}};
}

Answer GetLogLevel(Call& call) { return Level(call.endpoint); }

Answer SetLogLevel(Call& call) {
  for (size_t i = 0; i < std::size(kLevels); ++i) {
    if (call.arguments.Text("level") != kLevels[i]) continue;
    call.endpoint.SetLogLevel(static_cast<LogLevelView>(i));
  }
  return Level(call.endpoint);
}

Answer Drain(Call& call) { return Json{{"began", call.endpoint.Drain()}}; }

constexpr Member kVersionResult[] = {
    Member::Text("suede"),
    Member::Text("revision"),
    Member::Text("dpdk"),
    Member::Integer("protocol", "of this socket"),
    Member::Text("name", "of the endpoint"),
    Member::Integer("pid"),
    Member::Integer("uptime_s").Unit("s"),
    Member::Text("http", "address and port of the web server").OrNull("there is none"),
    Member::Text("config", "file that it was started with").OrNull("there was none"),
};
constexpr Member kConfigResult[] = {
    Member::Text("yaml", "a text that loads to the same configuration")};
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
constexpr Member kLevelResult[] = {Member::Choice("level", kLevelChoices)};
constexpr Member kBeganResult[] = {Member::Boolean(
    "began", "false where it was draining already, which goes on unchanged")};

constexpr Method kEndpointMethods[] = {
    {.name = "version",
     .sentence = "The version of suede, and how long it has run.",
     .result = kVersionResult,
     .run = Version},
    {.name = "config.get",
     .sentence = "The effective configuration, as `suede --dump_config` prints it.",
     .result = kConfigResult,
     .run = GetConfig},
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
    {.name = "log.get_level",
     .sentence = "The least severity that is logged.",
     .result = kLevelResult,
     .run = GetLogLevel},
    {.name = "log.set_level",
     .sentence = "Sets the least severity that is logged, until the daemon ends.",
     .result = kLevelResult,
     .run = SetLogLevel,
     .params = kSetLevel,
     .changes = true},
    {.name = "drain",
     .sentence = "Ends the daemon as SIGTERM does: PDUs in flight are delivered first.",
     .result = kBeganResult,
     .run = Drain,
     .changes = true},
};

}  // namespace

std::span<const Method> EndpointMethods() { return kEndpointMethods; }

}  // namespace suede
