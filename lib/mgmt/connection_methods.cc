// SPDX-License-Identifier: Apache-2.0
// Methods that list the transport's connections, which the lcores are queried for.
#include <optional>
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/known_peers.h"

namespace suede {
namespace {

constexpr Param kList[] = {
    Param::Integer("xpu", "Own XPU.", 0, 1023),
    Param::Integer("instance", "Own instance number.", 0, 63),
    Param::Integer("peer", "XPU of the peer.", 0, 1023),
    Param::Boolean("unused", "Also connections on which nothing was ever exchanged."),
    Param::Integer("limit", "Max entries listed.", 1, 10000, "1000"),
};

// Converts nanoseconds to microseconds with a fraction.
Json Us(int64_t ns) { return static_cast<double>(ns) / 1000; }

Json ToJson(const ConnectionView& view) {
  return Json{{"xpu", view.xpu},
              {"instance", view.instance},
              {"peer", view.peer},
              {"plane", view.plane},
              {"vc", view.vc ? Json(*view.vc) : Json()},
              {"session", view.slot},
              {"state", view.state},
              {"next_psn", view.next_psn},
              {"expected_psn", view.expected_psn},
              {"unacked_pdus", view.unacked_pdus},
              {"window_pdus", view.window_pdus},
              {"unacked_bytes", view.unacked_bytes},
              {"window_bytes", view.window_bytes},
              {"srtt_us", view.srtt_ns != 0 ? Us(view.srtt_ns) : Json()},
              {"rto_us", Us(view.rto_ns)},
              {"congestion", view.congestion},
              {"congestion_window_octets",
               view.base_rtt_ns != 0 ? Json(view.congestion_window_octets) : Json()},
              {"base_rtt_us", view.base_rtt_ns != 0 ? Us(view.base_rtt_ns) : Json()},
              {"tries", view.tries},
              {"tx_pdus", view.tx_pdus},
              {"rx_pdus", view.rx_pdus},
              {"retransmissions", view.retransmissions},
              {"peer_waits", view.peer_waits}};
}

Answer ListConnections(Call& call) {
  const ConnectionQuery query{.xpu = Given(call.arguments, "xpu"),
                              .instance = Given(call.arguments, "instance"),
                              .peer = Given(call.arguments, "peer"),
                              .unused = call.arguments.Boolean("unused"),
                              .limit = *Given(call.arguments, "limit")};
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  return Answer::Later([poll = call.endpoint().Connections(query)]() -> std::optional<Outcome> {
    const std::optional<ConnectionsView> view = poll();
    if (!view) return std::nullopt;
    Json list = Json::array();
    for (const ConnectionView& connection : view->connections) list.push_back(ToJson(connection));
    return Outcome{.status = {},
                   .result = Json{{"connections", std::move(list)}, {"more", view->more}}};
  });
}

constexpr std::string_view kCongestionStates =
    "fixed|idle|granted|asking|speculating|open|paced";
constexpr std::string_view kStates = "new|open|paused|retransmitting|frozen|lost";
constexpr Member kConnectionRow[] = {
    members::kXpu,
    members::kInstance,
    members::kPeer,
    members::kPlane,
    Member::Integer("vc").OrNull("PSNs span all VCs"),
    Member::Integer("session", "its slot"),
    Member::Choice("state", kStates,
                   "paused: the peer is not ready; frozen: the plane is down, and the peer "
                   "is asked which PDUs arrived; lost: the peer is unreachable"),
    Member::Integer("next_psn", "to send"),
    Member::Integer("expected_psn", "to receive"),
    Member::Integer("unacked_pdus"),
    Member::Integer("window_pdus", "as many may be unacknowledged"),
    Member::Integer("unacked_bytes"),
    Member::Integer("window_bytes", "as many may be unacknowledged"),
    Member::Number("srtt_us").Unit("µs").OrNull("none measured"),
    Member::Number("rto_us").Unit("µs"),
    Member::Choice("congestion", kCongestionStates,
                   "congestion control of the peer's plane; rccc: idle, granted (it has credit), "
                   "asking, speculating (the peer grants none); nscc: open, paced (one PDU in "
                   "several round trips)"),
    Member::Integer("congestion_window_octets", "rccc: credit that is left").OrNull("fixed"),
    Member::Number("base_rtt_us").Unit("µs").OrNull("fixed"),
    Member::Integer("tries", "timeouts in a row"),
    Member::Integer("tx_pdus", "modulo 2^32"),
    Member::Integer("rx_pdus", "modulo 2^32"),
    Member::Integer("retransmissions", "modulo 2^32"),
    Member::Boolean("peer_waits", "we were not ready for it"),
};
constexpr Member kConnectionsResult[] = {Member::Rows("connections", kConnectionRow),
                                         members::kMore};

// ---- Sessions, represented by their connection on VC 0.

Json SessionJson(const ConnectionView& view) {
  const SessionView& session = *view.session;
  return Json{{"xpu", view.xpu},
              {"instance", view.instance},
              {"peer", view.peer},
              {"plane", view.plane},
              {"session", view.slot},
              {"state", session.state},
              {"number", session.number},
              {"peer_number", session.peer_number},
              {"weight_percent", session.weight_percent},
              {"moves", session.moves},
              {"age_us", Us(session.age_ns)},
              {"srtt_us", view.srtt_ns != 0 ? Us(view.srtt_ns) : Json()},
              {"tx_pdus", view.tx_pdus},
              {"rx_pdus", view.rx_pdus},
              {"retransmissions", view.retransmissions}};
}

Answer ListSessions(Call& call) {
  constexpr uint32_t kMaxConnections = 1'000'000;
  const uint32_t limit = *Given(call.arguments, "limit");
  const ConnectionQuery query{.xpu = Given(call.arguments, "xpu"),
                              .instance = Given(call.arguments, "instance"),
                              .peer = Given(call.arguments, "peer"),
                              .unused = true,
                              .limit = kMaxConnections};
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  const bool idle = call.arguments.Boolean("idle");
  return Answer::Later(
      [poll = call.endpoint().Connections(query), limit, idle]() -> std::optional<Outcome> {
        const std::optional<ConnectionsView> view = poll();
        if (!view) return std::nullopt;
        Json list = Json::array();
        bool more = false;
        for (const ConnectionView& connection : view->connections) {
          if (!connection.session || connection.vc.value_or(0) != 0) continue;
          if (connection.session->state == "idle" && !idle) continue;
          more = list.size() == limit;
          if (more) break;
          list.push_back(SessionJson(connection));
        }
        return Outcome{.status = {}, .result = Json{{"sessions", std::move(list)}, {"more", more}}};
      });
}

constexpr Param kListSessions[] = {
    Param::Integer("xpu", "Own XPU.", 0, 1023),
    Param::Integer("instance", "Own instance number.", 0, 63),
    Param::Integer("peer", "XPU of the peer.", 0, 1023),
    Param::Boolean("idle", "Also slots that nothing takes."),
    Param::Integer("limit", "Max entries listed.", 1, 10000, "1000"),
};
constexpr Member kSessionRow[] = {
    members::kXpu,
    members::kInstance,
    members::kPeer,
    members::kPlane,
    Member::Integer("session", "its slot"),
    Member::Choice("state", "idle|opening|open|moving|draining|clearing",
                   "idle: nothing takes it; opening, moving: the peer is asked for a number; "
                   "clearing: it has left a slow path, and waits for what is in flight there"),
    Member::Integer("number", "of our PDUs"),
    Member::Integer("peer_number", "of the peer's PDUs"),
    Member::Integer("weight_percent", "how congested it is; 100: not at all"),
    Member::Integer("moves", "numbers that were asked for"),
    Member::Number("age_us", "of its number").Unit("µs"),
    Member::Number("srtt_us", "of VC 0 where each has a connection")
        .Unit("µs")
        .OrNull("none measured"),
    Member::Integer("tx_pdus", "modulo 2^32"),
    Member::Integer("rx_pdus", "modulo 2^32"),
    Member::Integer("retransmissions", "modulo 2^32"),
};
constexpr Member kSessionsResult[] = {Member::Rows("sessions", kSessionRow), members::kMore};

constexpr Method kConnectionMethods[] = {
    {.name = "connections.list",
     .sentence = "The transport's connections, as their lcores see them.",
     .result = kConnectionsResult,
     .run = ListConnections,
     .params = kList},
    {.name = "sessions.list",
     .sentence = "Sessions to peers, where there are several on a plane (sessions.md).",
     .result = kSessionsResult,
     .run = ListSessions,
     .params = kListSessions},
};

}  // namespace

std::span<const Method> ConnectionMethods() { return kConnectionMethods; }

}  // namespace suede
