// Methods that show the transport's connections, which the lcores are asked for.
#include <optional>
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

constexpr Param kList[] = {
    Param::Integer("xpu", "Own XPU.", 0, 1023),
    Param::Integer("instance", "Own instance number.", 0, 63),
    Param::Integer("peer", "XPU of the peer.", 0, 1023),
    Param::Boolean("unused", "Those too on which nothing was ever exchanged."),
    Param::Integer("limit", "Most that are listed.", 1, 10000, "1000"),
};

std::optional<uint32_t> Given(const Arguments& arguments, std::string_view name) {
  if (!arguments.Has(name)) return std::nullopt;
  return static_cast<uint32_t>(arguments.Integer(name));
}

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
  return Answer::Later([survey = call.endpoint.Connections(query)]() -> std::optional<Outcome> {
    const std::optional<ConnectionsView> view = survey();
    if (!view) return std::nullopt;
    Json list = Json::array();
    for (const ConnectionView& connection : view->connections) list.push_back(ToJson(connection));
    return Outcome{.status = {},
                   .result = Json{{"connections", std::move(list)}, {"more", view->more}}};
  });
}

constexpr Method kConnectionMethods[] = {
    {.name = "connections.list",
     .sentence = "The transport's connections, as their lcores see them.",
     .result =
         "connections: xpu, instance, peer (its XPU), plane, vc (null: PSNs span all VCs), state "
         "(new, open, paused: the peer is not ready, retransmitting, frozen: the plane is down, and "
         "what of it arrived is being asked, lost: the peer is unreachable), next_psn (to send), "
         "expected_psn (to receive), unacked_pdus and unacked_bytes with their windows, srtt_us "
         "(null: none measured), rto_us, tries (timeouts in a row), tx_pdus, rx_pdus and "
         "retransmissions (counts modulo 2^32), peer_waits (we were not ready for it); more: there "
         "are more than `limit`",
     .run = ListConnections,
     .params = kList},
};

}  // namespace

std::span<const Method> ConnectionMethods() { return kConnectionMethods; }

}  // namespace suede
