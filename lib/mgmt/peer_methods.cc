// SPDX-License-Identifier: Apache-2.0
// Methods that list connections, sessions and planes, which the lcores are queried for, ping a
// peer, set planes down and up, and set their weights.
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/known_peers.h"

namespace suede {
namespace {

constexpr uint32_t kMaxConnections = 1'000'000;

constexpr Param kXpu = Param::Integer("xpu", "Own XPU.", 0, 1023);
constexpr Param kInstance = Param::Integer("instance", "Own instance number.", 0, 63);
constexpr Param kPeer = Param::Integer("peer", "XPU of the peer.", 0, 1023);
constexpr Param kPlane = Param::Integer("plane", "Number of the plane.", 0, 3);
constexpr Param kListLimit = Param::Integer("limit", "Max entries listed.", 1, 10000, "1000");

// ---- Connections and sessions.

constexpr Param kConnectionsParams[] = {
    kXpu, kInstance, kPeer,
    Param::Boolean("unused", "Also connections on which nothing was ever exchanged."), kListLimit};
constexpr Param kSessionsParams[] = {
    kXpu, kInstance, kPeer, Param::Boolean("idle", "Also slots that nothing takes."), kListLimit};

ConnectionQuery QueryOf(const Arguments& arguments, bool unused, uint32_t limit) {
  return {.xpu = Given(arguments, "xpu"),
          .instance = Given(arguments, "instance"),
          .peer = Given(arguments, "peer"),
          .unused = unused,
          .limit = limit};
}

Answer ListConnections(Call& call) {
  const ConnectionQuery query =
      QueryOf(call.arguments, call.arguments.Boolean("unused"), *Given(call.arguments, "limit"));
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  return Answer::To(call.endpoint().Connections(query));
}

constexpr Param kWaitsParams[] = {kXpu, kInstance, kPeer, kListLimit};

Answer ListWaits(Call& call) {
  const ConnectionQuery query =
      QueryOf(call.arguments, /*unused=*/false, *Given(call.arguments, "limit"));
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  return Answer::To(call.endpoint().Waits(query));
}

Answer ListSessions(Call& call) {
  const ConnectionQuery query = QueryOf(call.arguments, /*unused=*/true, kMaxConnections);
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  return Answer::To(Question<SessionsView>(
      [poll = call.endpoint().Connections(query), limit = *Given(call.arguments, "limit"),
       idle = call.arguments.Boolean("idle")]() -> std::optional<SessionsView> {
        const std::optional<ConnectionsView> view = poll();
        if (!view) return std::nullopt;
        SessionsView out;
        for (const ConnectionView& connection : view->connections) {
          const std::optional<SessionView>& session = connection.of_session;
          if (!session || connection.vc.value_or(0) != 0) continue;
          if (session->state == "idle" && !idle) continue;
          out.more = out.sessions.size() == limit;
          if (out.more) break;
          out.sessions.push_back(*session);
        }
        return out;
      }));
}

constexpr Method kConnectionMethods[] = {
    {"connections.list", "The transport's connections, as their lcores see them.",
     ConnectionsView::kMembers, ListConnections, kConnectionsParams},
    {"sessions.list", "Sessions to peers, where there are several on a plane (sessions.md).",
     SessionsView::kMembers, ListSessions, kSessionsParams},
    {"waits.list",
     "Commands that wait or are on the way, by peer and VC, with the cause; and receive rings "
     "(why.md).",
     WaitsView::kMembers, ListWaits, kWaitsParams},
};

// ---- Pings.

constexpr Param kPing[] = {
    Param::Integer("peer", "XPU of the peer.", 0, 1023).Required(),
    Param::Integer("xpu", "Own XPU. Without it, the first that has the peer.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Integer("plane", "Number of the plane. Without it, all that lead to the peer.", 0, 3),
    Param::Integer("timeout_ms", "How long to wait for the answer.", 1, 1000, "1000"),
};

Answer RunPing(Call& call) {
  const PingQuery query{.peer = *Given(call.arguments, "peer"),
                        .xpu = Given(call.arguments, "xpu"),
                        .instance = Given(call.arguments, "instance"),
                        .plane = Given(call.arguments, "plane")};
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  absl::StatusOr<EndpointView::PingQuestion> question = call.endpoint().Ping(query);
  if (!question.ok()) return question.status();
  auto poll = [question = *std::move(question)](bool is_last) -> std::optional<Outcome> {
    const std::optional<absl::StatusOr<PingView>> view = question(is_last);
    return view ? std::optional(OutcomeOf(*view)) : std::nullopt;
  };
  return Answer::Waiting{.poll = std::move(poll), .limit_ms = call.arguments.Integer("timeout_ms")};
}

// ---- Probes of the path.

constexpr int64_t kMaxPathMs = 10'000;   // from the first probe to the last
constexpr int64_t kMaxPathPauseMs = 50;  // less than what switches take for a storm
constexpr std::string_view kPathTargets = "peer|stranger|ether_type";
constexpr Param kProbePath[] = {
    Param::Integer("peer", "XPU of the peer.", 0, 1023).Required(),
    Param::Integer("xpu", "Own XPU. Without it, the first that has the peer.", 0, 1023),
    Param::Integer("instance", "Own instance number, likewise.", 0, 63),
    Param::Integer("plane", "Number of the plane.", 0, 3, "0"),
    Param::Integer("class",
                   "Class of the probes and reports: that of a VC, or 4: of PDUs without commands.",
                   0, 4, "4"),
    Param::Integer("count", "Probes.", 1, 1024, "16"),
    Param::Integer("bytes",
                   "Length of their frames, without FCS, as far as the port has it. 0: the least.",
                   0, 65535, "0"),
    Param::Boolean("long_reply", "Reports have the length of the probes."),
    Param::Integer("sessions", "Probes take so many sessions in turn.", 1, 64, "1"),
    Param::Integer("first_session", "Number of the first of these.", 0, 65535, "0"),
    Param::Integer("dscp", "DSCP. Without it, that of the class.", 0, 63),
    Param::Integer("ecn", "ECN field, likewise.", 0, 3),
    Param::Integer("hop_limit", "Hop limit. Without it, that of the port.", 1, 255),
    Param::Choice("to",
                  "Destination of all but the first and the last probe: the peer, an address that "
                  "nobody has, or the peer with an EtherType that nobody knows.",
                  kPathTargets, "peer"),
    Param::Boolean("pause",
                   "Requests by PFC that the neighbour pauses the class for count times "
                   "interval_us, up to 50 ms."),
    Param::Integer("interval_us", "Time between probes. 0: as fast as the port takes them.", 0,
                   100000, "1000"),
    Param::Integer("timeout_ms", "How long to wait for reports after the last probe.", 1, 5000,
                   "1000"),
};

Answer RunProbePath(Call& call) {
  const Arguments& given = call.arguments;
  PathQuery query{PingQuery{.peer = *Given(given, "peer"),
                            .xpu = Given(given, "xpu"),
                            .instance = Given(given, "instance"),
                            .plane = *Given(given, "plane")}};
  query.traffic_class = *Given(given, "class");
  query.count = *Given(given, "count");
  query.bytes = *Given(given, "bytes");
  query.long_reply = given.Boolean("long_reply");
  query.sessions = *Given(given, "sessions");
  query.first_session = *Given(given, "first_session");
  query.dscp = Given(given, "dscp");
  query.ecn = Given(given, "ecn");
  query.hop_limit = Given(given, "hop_limit");
  query.to = given.Text("to");
  query.pause = given.Boolean("pause");
  query.interval_us = *Given(given, "interval_us");
  query.timeout_ms = *Given(given, "timeout_ms");
  const int64_t takes_ms = int64_t{query.count} * query.interval_us / 1000;
  const int64_t max_ms = query.pause ? kMaxPathPauseMs : kMaxPathMs;
  if (takes_ms > max_ms) {
    return absl::InvalidArgumentError(
        StrCat("count times interval_us is ", takes_ms, " ms; a run of probes",
               query.pause ? " with a pause" : "", " has up to ", max_ms, " ms"));
  }
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  absl::StatusOr<EndpointView::PathQuestion> question = call.endpoint().ProbePath(query);
  if (!question.ok()) return question.status();
  auto poll = [question = *std::move(question)](bool is_last) -> std::optional<Outcome> {
    const std::optional<absl::StatusOr<PathView>> view = question(is_last);
    return view ? std::optional(OutcomeOf(*view)) : std::nullopt;
  };
  return Answer::Waiting{.poll = std::move(poll), .limit_ms = takes_ms + query.timeout_ms + 5000};
}

constexpr Method kPeerMethods[] = {
    {"peers.ping",
     "Probes a peer on each plane, by a HELLO, or the probe of a peer that speaks none. At most "
     "ten a second per instance, a hundred in all; a further request waits, and is refused when "
     "its time is over.",
     PingView::kMembers, RunPing, kPing},
    {"peers.probe_path",
     "Sends marked probes to a peer on a plane, and lists what its reports say (path.md). One run "
     "of an instance at a time.",
     PathView::kMembers, RunProbePath, kProbePath},
};

// ---- Planes.

constexpr Param kPeersParams[] = {kXpu, kInstance, kPeer, kPlane, kListLimit};
constexpr Param kSetAdmin[] = {kXpu.Required(), kInstance.Required(), kPlane.Required(),
                               Param::Choice("admin", "The setting.", kPlaneSettings).Required()};
constexpr Param kSetWeight[] = {
    kXpu.Required(), kInstance.Required(), kPlane.Required(),
    Param::Integer("weight",
                   "In relation to the other planes. 0, for one peer: no route to it. default: the "
                   "bandwidth of the port, or, for one peer, the plane's weight for all.",
                   0, 65535)
        .Required()
        .Or("default"),
    Param::Integer("peer", "XPU of the peer that it is for. Without it: all.", 0, 1023)};
constexpr Param kDrain[] = {
    kXpu.Required(), kInstance.Required(), kPlane.Required(),
    Param::Integer("seconds", "How long to wait; then the answer has the bytes left.", 0, 60,
                   "30")};

PlaneName NameIn(const Arguments& arguments) {
  return {.xpu = *Given(arguments, "xpu"),
          .instance = *Given(arguments, "instance"),
          .plane = *Given(arguments, "plane")};
}

Answer Peers(Call& call) {
  const PlanePeerQuery query{.xpu = Given(call.arguments, "xpu"),
                             .instance = Given(call.arguments, "instance"),
                             .peer = Given(call.arguments, "peer"),
                             .plane = Given(call.arguments, "plane"),
                             .limit = *Given(call.arguments, "limit")};
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  return Answer::To(call.endpoint().PlanePeers(query));
}

#define SUEDE_PLANE_NAME_ROW(X) \
  X(uint32_t, xpu)              \
  X(uint32_t, instance)         \
  X(uint32_t, plane, .Note("its number"))
#define SUEDE_PLANE_ADMIN_ROW(X) \
  SUEDE_PLANE_NAME_ROW(X)        \
  X(std::string, admin, .OneOf(kPlaneSettings))
SUEDE_ROW_STRUCT(PlaneAdminRow, SUEDE_PLANE_ADMIN_ROW);
#define SUEDE_PLANE_WEIGHT_ROW(X)                                  \
  SUEDE_PLANE_NAME_ROW(X)                                          \
  X(std::optional<uint32_t>, peer, .Note("its XPU").OrNull("all")) \
  X(uint32_t, weight)
SUEDE_ROW_STRUCT(PlaneWeightRow, SUEDE_PLANE_WEIGHT_ROW);
#define SUEDE_DRAINED_ROW(X)                          \
  SUEDE_PLANE_NAME_ROW(X)                             \
  X(bool, drained, .Note("false: the time was over")) \
  X(std::optional<uint64_t>, inflight_bytes,          \
    .Note("that are left").OrNull("the lcore has not said"))
SUEDE_ROW_STRUCT(DrainedRow, SUEDE_DRAINED_ROW);

Answer SetAdmin(Call& call) {
  const PlaneName name = NameIn(call.arguments);
  const std::string& admin = call.arguments.Text("admin");
  PlaneSetting setting = PlaneSetting::kUp;
  if (admin == NameOf(PlaneSetting::kDrain)) setting = PlaneSetting::kDrain;
  if (admin == NameOf(PlaneSetting::kDown)) setting = PlaneSetting::kDown;
  absl::StatusOr<AdminQuestion> done = call.endpoint().SetPlaneAdmin(name, setting);
  if (!done.ok()) return done.status();
  const PlaneAdminRow row{
      .xpu = name.xpu, .instance = name.instance, .plane = name.plane, .admin = admin};
  return Answer::When(*std::move(done), row.ToJson());
}

Answer SetWeight(Call& call) {
  const PlaneName name = NameIn(call.arguments);
  const std::optional<uint32_t> peer = Given(call.arguments, "peer");
  if (absl::Status unknown = CheckPeer(call.endpoint(), peer); !unknown.ok()) return unknown;
  std::optional<uint32_t> weight;
  if (!call.arguments.IsWord("weight")) weight = Given(call.arguments, "weight");
  if (weight == 0u && !peer) {
    return absl::InvalidArgumentError(
        "weight 0 is for one peer; give its XPU as peer, or take the plane from all of them with "
        "planes.drain");
  }
  absl::StatusOr<EndpointView::WeightChange> change =
      call.endpoint().SetPlaneWeight(name, peer, weight);
  if (!change.ok()) return change.status();
  const PlaneWeightRow row{.xpu = name.xpu,
                           .instance = name.instance,
                           .plane = name.plane,
                           .peer = peer,
                           .weight = change->weight};
  return Answer::When(std::move(change->done), row.ToJson());
}

Answer DrainPlane(Call& call) {
  const PlaneName name = NameIn(call.arguments);
  absl::StatusOr<EndpointView::DrainQuestion> question = call.endpoint().DrainPlane(name);
  if (!question.ok()) return question.status();
  auto poll = [question = *std::move(question),
               row = DrainedRow{.xpu = name.xpu, .instance = name.instance, .plane = name.plane}](
                  bool is_last) mutable -> std::optional<Outcome> {
    const absl::StatusOr<std::optional<uint64_t>> now = question();
    if (!now.ok()) return Outcome{.status = now.status(), .result = {}};
    if (*now) row.inflight_bytes = **now;
    row.drained = row.inflight_bytes == 0u;
    return row.drained || is_last ? std::optional(OutcomeOf(row)) : std::nullopt;
  };
  return Answer::Waiting{.poll = std::move(poll),
                         .limit_ms = call.arguments.Integer("seconds") * 1000};
}

constexpr Member kPlanesResult[] = {ListOf<PlaneView>("planes")};
constexpr Method kPlaneMethods[] = {
    RowsMethod<&EndpointView::Planes, kPlanesResult>("planes.list",
                                                     "Planes: the ports of each own instance."),
    {"planes.peers", "Planes to each peer, of instances with several of them.",
     PlanePeersView::kMembers, Peers, kPeersParams},
    {"planes.drain",
     "Takes a plane out of the choice, and answers when nothing is in flight there. It "
     "stays so until planes.set_admin sets it up.",
     DrainedRow::kMembers, DrainPlane, kDrain, /*changes=*/true},
    {"planes.set_admin",
     "Takes a plane of an instance out of service or puts it back. drain: as "
     "planes.drain, without the wait. down: at once, and PDUs in flight there go "
     "over the others; where an instance has one plane, as ports.set_admin.",
     PlaneAdminRow::kMembers, SetAdmin, kSetAdmin, /*changes=*/true},
    {"planes.set_weight",
     "Sets the weight of a plane, until the daemon ends or it is set to default: for one peer, or "
     "for all. A weight for all replaces those for one peer.",
     PlaneWeightRow::kMembers, SetWeight, kSetWeight, /*changes=*/true},
};

}  // namespace

std::string_view NameOf(PlaneSetting setting) {
  constexpr std::string_view kNames[] = {"up", "drain", "down"};
  return kNames[static_cast<size_t>(setting)];
}

absl::Status CheckPeer(EndpointView& endpoint, std::optional<uint32_t> peer) {
  constexpr size_t kMaxNamed = 16;
  if (!peer) return absl::OkStatus();
  std::set<uint32_t> known;
  for (const PeerView& view : endpoint.Peers()) known.insert(view.xpu);
  if (known.contains(*peer)) return absl::OkStatus();
  std::string message = StrCat("no peer with XPU id ", *peer);
  if (known.empty()) return absl::NotFoundError(message + "; there are no peers at all");
  std::string names;
  size_t named = 0;
  for (const uint32_t xpu : known) {
    if (named++ == kMaxNamed) break;
    StrAppend(&names, names.empty() ? "" : ", ", xpu);
  }
  StrAppend(&message, "; peers are: ", names);
  if (known.size() > kMaxNamed) {
    StrAppend(&message, " and ", known.size() - kMaxNamed, " more (peers.list)");
  }
  return absl::NotFoundError(message);
}

std::span<const Method> ConnectionMethods() { return kConnectionMethods; }
std::span<const Method> PeerMethods() { return kPeerMethods; }
std::span<const Method> PlaneMethods() { return kPlaneMethods; }

}  // namespace suede
