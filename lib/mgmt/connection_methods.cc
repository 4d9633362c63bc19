// SPDX-License-Identifier: Apache-2.0
// Methods that show the transport's connections, which the lcores are asked for.
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
    Param::Boolean("unused", "Those too on which nothing was ever exchanged."),
    Param::Integer("limit", "Most that are listed.", 1, 10000, "1000"),
};

// Microseconds, to the nanosecond.
Json Us(int64_t ns) { return static_cast<double>(ns) / 1000; }

Json ToJson(const ConnectionView& view) {
  return Json{{"xpu", view.xpu},
              {"instance", view.instance},
              {"peer", view.peer},
              {"plane", view.plane},
              {"vc", view.vc ? Json(*view.vc) : Json()},
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
  return Answer::Later([survey = call.endpoint().Connections(query)]() -> std::optional<Outcome> {
    const std::optional<ConnectionsView> view = survey();
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

constexpr Method kConnectionMethods[] = {
    {.name = "connections.list",
     .sentence = "The transport's connections, as their lcores see them.",
     .result = kConnectionsResult,
     .run = ListConnections,
     .params = kList},
};

}  // namespace

std::span<const Method> ConnectionMethods() { return kConnectionMethods; }

}  // namespace suede
