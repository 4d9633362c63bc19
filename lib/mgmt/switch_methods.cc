// SPDX-License-Identifier: Apache-2.0
// Methods that list a switch's ports, queues, buffer and addresses, and change its settings.
#include <optional>
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
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
    Param::Text("port", "Only those behind this port.", 32),
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
    kSwitchAddress, Param::Text("port", "Port behind which it is.", 32).Required(), kSwitchVid};
constexpr Param kRemoveAddress[] = {kSwitchAddress, kSwitchVid};
constexpr Param kFlushAddresses[] = {Param::Text("port", "Only what was learnt on this port.", 32)};

Json OrNull(const auto& value) { return value ? Json(*value) : Json(); }
Json UnlessZero(uint64_t value) { return value != 0 ? Json(value) : Json(); }

Answer ListSwitchPorts(Call& call) {
  Json list = Json::array();
  for (const SwitchPortView& port : call.the_switch().SwitchPorts()) {
    list.push_back(Json{{"name", port.name},
                        {"driver", port.driver},
                        {"mac", port.mac},
                        {"lcore", OrNull(port.lcore)},
                        {"admin", port.admin_up ? "up" : "down"},
                        {"link_up", port.link_up},
                        {"speed_bps", UnlessZero(port.speed_bps)},
                        {"rate_bps", UnlessZero(port.rate_bps)},
                        {"rx_frames", port.rx_frames},
                        {"rx_bytes", port.rx_bytes},
                        {"tx_frames", port.tx_frames},
                        {"tx_bytes", port.tx_bytes},
                        {"device", port.device}});
  }
  return Json{{"ports", std::move(list)}};
}

Json ToJson(const SwitchQueueView& queue) {
  return Json{{"port", queue.port},
              {"class", queue.traffic_class},
              {"bytes", queue.bytes},
              {"frames", queue.frames},
              {"most_bytes", queue.most_bytes},
              {"paused", queue.paused},
              {"pausing", queue.pausing},
              {"stormy", queue.stormy},
              {"paused_us", static_cast<double>(queue.paused_ns) / 1000},
              {"sent_frames", queue.sent_frames},
              {"sent_bytes", queue.sent_bytes},
              {"marked", queue.marked},
              {"trimmed", queue.trimmed},
              {"drop_tail", queue.drop_tail},
              {"drop_trim", queue.drop_trim},
              {"drop_headroom", queue.drop_headroom},
              {"drop_down", queue.drop_down},
              {"drop_storm", queue.drop_storm},
              {"drop_age", queue.drop_age}};
}

std::string TextOr(const Arguments& arguments, std::string_view name) {
  return arguments.Has(name) ? arguments.Text(name) : "";
}

Answer ListSwitchQueues(Call& call) {
  const SwitchQueueQuery query{.port = TextOr(call.arguments, "port"),
                               .traffic_class = Given(call.arguments, "class"),
                               .in_use = call.arguments.Boolean("in_use")};
  return Answer::Later([question = call.the_switch().Queues(query)]() -> std::optional<Outcome> {
    const auto queues = question();
    if (!queues) return std::nullopt;
    if (!queues->ok()) return Outcome{.status = queues->status(), .result = {}};
    Json list = Json::array();
    for (const SwitchQueueView& queue : **queues) list.push_back(ToJson(queue));
    return Outcome{.status = {}, .result = Json{{"queues", std::move(list)}}};
  });
}

// Answers `result` once the query has succeeded.
Answer WhenDone(ImpairControlView::DoneQuestion question, Json result) {
  return Answer::Later(
      [question = std::move(question), result = std::move(result)]() -> std::optional<Outcome> {
        const std::optional<absl::Status> done = question();
        if (!done) return std::nullopt;
        return Outcome{.status = *done, .result = done->ok() ? result : Json()};
      });
}

Answer ResetQueues(Call& call) {
  return WhenDone(call.the_switch().ResetHighWater(), Json{{"reset", true}});
}

Answer ShowBuffer(Call& call) {
  return Answer::Later([question = call.the_switch().Buffer()]() -> std::optional<Outcome> {
    const std::optional<SwitchBufferView> buffer = question();
    if (!buffer) return std::nullopt;
    return Outcome{.status = {},
                   .result = Json{{"bytes", buffer->bytes},
                                  {"cell_bytes", buffer->cell_bytes},
                                  {"used_bytes", buffer->used_bytes},
                                  {"most_used_bytes", buffer->most_used_bytes},
                                  {"shared_bytes", buffer->shared_bytes},
                                  {"shared_free_bytes", buffer->shared_free_bytes},
                                  {"headroom_bytes", buffer->headroom_bytes},
                                  {"headroom_used_bytes", buffer->headroom_used_bytes},
                                  {"most_headroom_used_bytes", buffer->most_headroom_used_bytes}}};
  });
}

Json ToJson(const SwitchAddressView& view) {
  return Json{{"address", view.address},
              {"kind", view.kind},
              {"vid", OrNull(view.vid)},
              {"port", view.port},
              {"origin", view.configured ? "configured" : "learnt"},
              {"age_s", view.age_ns ? Json(static_cast<double>(*view.age_ns) / 1e9) : Json()}};
}

Answer ListAddresses(Call& call) {
  SwitchAddressQuery query{.port = TextOr(call.arguments, "port"),
                           .configured = {},
                           .from = static_cast<uint64_t>(call.arguments.Integer("from")),
                           .limit = *Given(call.arguments, "limit")};
  if (call.arguments.Has("origin")) {
    query.configured = call.arguments.Text("origin") == "configured";
  }
  return Answer::Later([question = call.the_switch().Addresses(query)]() -> std::optional<Outcome> {
    const auto page = question();
    if (!page) return std::nullopt;
    if (!page->ok()) return Outcome{.status = page->status(), .result = {}};
    Json list = Json::array();
    for (const SwitchAddressView& view : (*page)->addresses) list.push_back(ToJson(view));
    return Outcome{.status = {},
                   .result = Json{{"addresses", std::move(list)}, {"next", OrNull((*page)->next)}}};
  });
}

Answer AddSwitchAddress(Call& call) {
  const std::string& address = call.arguments.Text("address");
  const std::string& port = call.arguments.Text("port");
  return WhenDone(call.the_switch().AddAddress(address, *Given(call.arguments, "vid"), port),
                  Json{{"address", address}, {"port", port}});
}

Answer RemoveSwitchAddress(Call& call) {
  const std::string& address = call.arguments.Text("address");
  return WhenDone(call.the_switch().RemoveAddress(address, *Given(call.arguments, "vid")),
                  Json{{"address", address}});
}

Answer FlushSwitchAddresses(Call& call) {
  const std::string port = TextOr(call.arguments, "port");
  return WhenDone(call.the_switch().FlushAddresses(port),
                  Json{{"port", port.empty() ? Json() : Json(port)}});
}

constexpr Member kSwitchPortRow[] = {
    Member::Text("name"),
    Member::Text("driver"),
    Member::Text("mac"),
    Member::Integer("lcore", "CPU of that which serves it").OrNull("not known"),
    Member::Choice("admin", members::kUpOrDown),
    Member::Boolean("link_up"),
    Member::Integer("speed_bps", "of the link").Unit("bit/s").OrNull("not known"),
    Member::Integer("rate_bps", "at which frames leave").Unit("bit/s").OrNull("no limit"),
    Member::Integer("rx_frames"),
    Member::Integer("rx_bytes"),
    Member::Integer("tx_frames"),
    Member::Integer("tx_bytes"),
    Member::Text("device"),
};
constexpr Member kSwitchPortsResult[] = {Member::Rows("ports", kSwitchPortRow)};
constexpr Member kSwitchQueueRow[] = {
    members::kPort,
    Member::Integer("class"),
    Member::Integer("bytes", "in whole cells"),
    Member::Integer("frames"),
    Member::Integer("most_bytes", "since the start, or queues.reset"),
    Member::Boolean("paused", "by the peer"),
    Member::Boolean("pausing", "the peer: what the port has received in the class fills its part"),
    Member::Boolean("stormy", "a PFC storm: its frames are dropped"),
    Member::Number("paused_us", "in all").Unit("µs"),
    Member::Integer("sent_frames"),
    Member::Integer("sent_bytes"),
    Member::Integer("marked", "by ECN"),
    Member::Integer("trimmed"),
    Member::Integer("drop_tail"),
    Member::Integer("drop_trim"),
    Member::Integer("drop_headroom"),
    Member::Integer("drop_down"),
    Member::Integer("drop_storm"),
    Member::Integer("drop_age"),
};
constexpr Member kSwitchQueuesResult[] = {Member::Rows("queues", kSwitchQueueRow)};
constexpr Member kResetResult[] = {Member::Boolean("reset")};
constexpr Member kBufferResult[] = {
    Member::Integer("bytes"),
    Member::Integer("cell_bytes", "a frame takes whole cells"),
    Member::Integer("used_bytes"),
    Member::Integer("most_used_bytes", "since the start, or queues.reset"),
    Member::Integer("shared_bytes", "without reserved parts and headrooms"),
    Member::Integer("shared_free_bytes"),
    Member::Integer("headroom_bytes", "of all inputs of lossless classes"),
    Member::Integer("headroom_used_bytes"),
    Member::Integer("most_headroom_used_bytes", "since the start, or queues.reset"),
};
constexpr Member kAddressRow[] = {
    Member::Text("address"),
    Member::Choice("kind", kAddressKinds),
    Member::Integer("vid").OrNull("it is no MAC address"),
    members::kPort,
    Member::Choice("origin", "configured|learnt"),
    Member::Number("age_s", "since a frame came from there").Unit("s").OrNull("configured"),
};
constexpr Member kAddressesResult[] = {
    Member::Rows("addresses", kAddressRow),
    Member::Integer("next", "to give as `from` for the next page").OrNull("this was the last"),
};
constexpr Member kAddedResult[] = {Member::Text("address"), members::kPort};
constexpr Member kRemovedResult[] = {Member::Text("address")};
constexpr Member kFlushedResult[] = {Member::Text("port").OrNull("all")};

constexpr Method kSwitchMethods[] = {
    {.name = "ports.list",
     .sentence = "Ports, their links, and what they carried.",
     .result = kSwitchPortsResult,
     .run = ListSwitchPorts},
    {.name = "ports.set_admin",
     .sentence = "Takes a port out of service or puts it back: while it is down nothing leaves, "
                 "received frames are dropped, and nothing waits for it.",
     .result = port_admin::kResult,
     .run = port_admin::Set,
     .params = port_admin::kParams,
     .changes = true},
    {.name = "queues.list",
     .sentence = "Queues of each port and class, as the switching lcore sees them.",
     .result = kSwitchQueuesResult,
     .run = ListSwitchQueues,
     .params = kQueuesParams},
    {.name = "queues.reset",
     .sentence = "Begins the high-water marks of queues and buffer anew.",
     .result = kResetResult,
     .run = ResetQueues,
     .changes = true},
    {.name = "buffer.show",
     .sentence = "The buffer that all queues share.",
     .result = kBufferResult,
     .run = ShowBuffer},
    {.name = "addresses.list",
     .sentence = "The forwarding table, a page at a time, in no particular order. An entry that "
                 "moves meanwhile may be missing or there twice.",
     .result = kAddressesResult,
     .run = ListAddresses,
     .params = kAddressesParams},
    {.name = "addresses.add",
     .sentence = "Adds a configured entry, or moves it to another port.",
     .result = kAddedResult,
     .run = AddSwitchAddress,
     .params = kAddAddress,
     .changes = true},
    {.name = "addresses.remove",
     .sentence = "Removes an entry, configured or learnt.",
     .result = kRemovedResult,
     .run = RemoveSwitchAddress,
     .params = kRemoveAddress,
     .changes = true},
    {.name = "addresses.flush",
     .sentence = "Forgets learnt entries.",
     .result = kFlushedResult,
     .run = FlushSwitchAddresses,
     .params = kFlushAddresses,
     .changes = true},
};

}  // namespace

std::span<const Method> SwitchMethods() { return kSwitchMethods; }

}  // namespace suede
