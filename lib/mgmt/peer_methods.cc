// SPDX-License-Identifier: Apache-2.0
// The method that pings a peer.
#include <optional>
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/known_peers.h"

namespace suede {
namespace {

constexpr Param kPing[] = {
    Param::Integer("peer", "XPU of the peer.", 0, 1023).Required(),
    Param::Integer("xpu", "Own XPU. Without it, the first that has the peer.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Integer("plane", "Number of the plane. Without it, all that lead to the peer.", 0, 3),
    Param::Integer("timeout_ms", "How long to wait for the answer.", 1, 1000, "1000"),
};

Json ToJson(const PlanePingView& plane) {
  const bool disagrees = !plane.disagrees.empty();
  return Json{{"plane", plane.plane},
              {"port", plane.port},
              {"state", plane.state},
              {"rtt_us", plane.rtt_ns ? Json(static_cast<double>(*plane.rtt_ns) / 1000) : Json()},
              {"disagrees", disagrees ? Json(plane.disagrees) : Json()},
              {"own", disagrees ? Json(plane.own) : Json()},
              {"theirs", disagrees ? Json(plane.theirs) : Json()}};
}

Answer RunPing(Call& call) {
  const PingQuery query{.peer = static_cast<uint32_t>(call.arguments.Integer("peer")),
                        .xpu = Given(call.arguments, "xpu"),
                        .instance = Given(call.arguments, "instance"),
                        .plane = Given(call.arguments, "plane")};
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  absl::StatusOr<PeerPingView::PingQuestion> question = call.endpoint().Ping(query);
  if (!question.ok()) return question.status();
  auto look = [question = *std::move(question)](bool is_last) -> std::optional<Outcome> {
    const std::optional<absl::StatusOr<PingView>> view = question(is_last);
    if (!view) return std::nullopt;
    if (!view->ok()) return Outcome{.status = view->status(), .result = {}};
    Json planes = Json::array();
    for (const PlanePingView& plane : (*view)->planes) planes.push_back(ToJson(plane));
    return Outcome{.status = {},
                   .result = Json{{"xpu", (*view)->xpu},
                                  {"instance", (*view)->instance},
                                  {"peer", (*view)->peer},
                                  {"planes", std::move(planes)}}};
  };
  return Answer::Waiting{.look = std::move(look), .limit_ms = call.arguments.Integer("timeout_ms")};
}

constexpr Member kPingRow[] = {
    members::kPlane,
    members::kPort,
    Member::Choice("state", kPingStates,
                   "answered: by a HELLO; probe_answered: by a NACK, it speaks no HELLO, or not "
                   "yet; acknowledges: it was not asked, for it acknowledges PDUs sent to it; "
                   "no_mac: its MAC address is not known; down: an operator has set the port, the "
                   "plane or the instance down; no_room: the port takes no frame"),
    Member::Number("rtt_us", "there and back").Unit("µs").OrNull("no answer"),
    Member::Text("disagrees", "the key of the configuration that does not agree")
        .OrNull("its settings agree, or it did not tell them"),
    Member::Text("own", "the value here").OrNull("its settings agree, or it did not tell them"),
    Member::Text("theirs", "the peer's value")
        .OrNull("its settings agree, or it did not tell them"),
};
constexpr Member kPingResult[] = {members::kXpu, members::kInstance, members::kPeer,
                                  Member::Rows("planes", kPingRow)};

constexpr Method kPeerMethods[] = {
    {.name = "peers.ping",
     .sentence =
         "Asks a peer whether it is there, on each plane: with a HELLO that wants a reply, or "
         "a probe where it speaks none. At most ten a second per instance, a hundred in all; a "
         "further request waits, and is refused when its time is over.",
     .result = kPingResult,
     .run = RunPing,
     .params = kPing},
};

}  // namespace

std::span<const Method> PeerMethods() { return kPeerMethods; }

}  // namespace suede
