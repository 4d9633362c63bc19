// SPDX-License-Identifier: Apache-2.0
// Methods that list planes and their peers, set planes down and up, and set their weights.
#include <optional>
#include <utility>

#include "base/sue.h"
#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/known_peers.h"

namespace suede {
namespace {

constexpr int64_t kMaxPlanes = 4;

constexpr Param kXpu = Param::Integer("xpu", "Own XPU.", 0, 1023).Required();
constexpr Param kInstance = Param::Integer("instance", "Own instance number.", 0, 63).Required();
constexpr Param kPlane =
    Param::Integer("plane", "Number of the plane.", 0, kMaxPlanes - 1).Required();

constexpr Param kPeers[] = {
    Param::Integer("xpu", "Own XPU.", 0, 1023),
    Param::Integer("instance", "Own instance number.", 0, 63),
    Param::Integer("peer", "XPU of the peer.", 0, 1023),
    Param::Integer("plane", "Number of the plane.", 0, kMaxPlanes - 1),
    Param::Integer("limit", "Max entries listed.", 1, 10000, "1000"),
};
constexpr Param kSetAdmin[] = {kXpu, kInstance, kPlane,
                               Param::Choice("admin", "The setting.", kPlaneSettings).Required()};
constexpr Param kSetWeight[] = {
    kXpu, kInstance, kPlane,
    Param::Integer(
        "weight",
        "In relation to the other planes. 0, for one peer: the plane has no route to it, and no "
        "PDU takes it. default: back to the bandwidth of the port, or, for one peer, to the "
        "plane's weight for all.",
        0, 65535)
        .Required()
        .Or("default"),
    Param::Integer("peer", "XPU of the peer that it is for. Without it, it is for all.", 0, 1023)};
constexpr Param kDrain[] = {
    kXpu, kInstance, kPlane,
    Param::Integer("seconds", "How long to wait; then the answer has the bytes left.", 0, 60,
                   "30")};

PlaneName NameIn(const Arguments& arguments) {
  return {.xpu = static_cast<uint32_t>(arguments.Integer("xpu")),
          .instance = static_cast<uint32_t>(arguments.Integer("instance")),
          .plane = static_cast<uint32_t>(arguments.Integer("plane"))};
}

Json ToJson(const PlaneName& name) {
  return Json{{"xpu", name.xpu}, {"instance", name.instance}, {"plane", name.plane}};
}

std::string_view UpOrDown(bool up) { return up ? "up" : "down"; }
// Converts nanoseconds to microseconds with a fraction.
Json Us(int64_t ns) { return static_cast<double>(ns) / 1000; }

Json ToJson(const PlaneView& plane) {
  Json out = ToJson(plane.name);
  out["port"] = plane.port;
  out["admin"] = NameOf(plane.admin);
  out["link"] = UpOrDown(plane.link_up);
  out["state"] = UpOrDown(plane.up);
  out["weight"] = plane.weight;
  out["peers_up"] = plane.peers_up;
  out["peers_down"] = plane.peers_down;
  out["peers_slow"] = plane.peers_slow;
  out["inflight_bytes"] = plane.inflight_bytes;
  return out;
}

Json VcsOf(uint32_t mask) {
  Json vcs = Json::array();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((mask & 1u << vc) != 0) vcs.push_back(vc);
  }
  return vcs;
}

Json ToJson(const PlanePeerView& peer) {
  return Json{{"xpu", peer.name.xpu},
              {"instance", peer.name.instance},
              {"peer", peer.peer},
              {"plane", peer.name.plane},
              {"peer_plane", peer.peer_plane ? Json(*peer.peer_plane) : Json()},
              {"state", peer.state},
              {"usable", peer.usable},
              {"home", peer.home_vcs != 0},
              {"home_vcs", VcsOf(peer.home_vcs)},
              {"fencing", peer.fencing},
              {"tx_generation", peer.tx_generation},
              {"rx_generation", peer.rx_generation},
              {"weight", peer.weight},
              {"measured_percent", peer.measured_percent ? Json(*peer.measured_percent) : Json()},
              {"measured_bits_per_second", peer.measured_bps ? Json(*peer.measured_bps) : Json()},
              {"inflight_bytes", peer.inflight_bytes},
              {"heard_ago_us", peer.heard_ago_ns ? Us(*peer.heard_ago_ns) : Json()},
              {"held_us", Us(peer.held_ns)},
              {"deaths", peer.deaths}};
}

Answer ListPlanes(Call& call) {
  return Answer::Later([question = call.endpoint().Planes()]() -> std::optional<Outcome> {
    const std::optional<std::vector<PlaneView>> planes = question();
    if (!planes) return std::nullopt;
    Json list = Json::array();
    for (const PlaneView& plane : *planes) list.push_back(ToJson(plane));
    return Outcome{.status = {}, .result = Json{{"planes", std::move(list)}}};
  });
}

Answer Peers(Call& call) {
  const PlanePeerQuery query{.xpu = Given(call.arguments, "xpu"),
                             .instance = Given(call.arguments, "instance"),
                             .peer = Given(call.arguments, "peer"),
                             .plane = Given(call.arguments, "plane"),
                             .limit = *Given(call.arguments, "limit")};
  if (absl::Status unknown = CheckPeer(call.endpoint(), query.peer); !unknown.ok()) return unknown;
  return Answer::Later([question = call.endpoint().PlanePeers(query)]() -> std::optional<Outcome> {
    const std::optional<PlanePeersView> view = question();
    if (!view) return std::nullopt;
    Json list = Json::array();
    for (const PlanePeerView& peer : view->peers) list.push_back(ToJson(peer));
    return Outcome{.status = {}, .result = Json{{"peers", std::move(list)}, {"more", view->more}}};
  });
}

Answer SetAdmin(Call& call) {
  const PlaneName name = NameIn(call.arguments);
  const std::string& admin = call.arguments.Text("admin");
  PlaneSetting setting = PlaneSetting::kUp;
  if (admin == NameOf(PlaneSetting::kDrain)) setting = PlaneSetting::kDrain;
  if (admin == NameOf(PlaneSetting::kDown)) setting = PlaneSetting::kDown;
  absl::StatusOr<PlaneAdminView::AdminQuestion> done = call.endpoint().SetPlaneAdmin(name, setting);
  if (!done.ok()) return done.status();
  Json result = ToJson(name);
  result["admin"] = admin;
  return Answer::When(*std::move(done), std::move(result));
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
  absl::StatusOr<PlaneAdminView::WeightChange> change =
      call.endpoint().SetPlaneWeight(name, peer, weight);
  if (!change.ok()) return change.status();
  Json result = ToJson(name);
  result["peer"] = peer ? Json(*peer) : Json();
  result["weight"] = change->weight;
  return Answer::When(std::move(change->done), std::move(result));
}

Answer DrainPlane(Call& call) {
  const PlaneName name = NameIn(call.arguments);
  absl::StatusOr<PlaneAdminView::DrainQuestion> question = call.endpoint().DrainPlane(name);
  if (!question.ok()) return question.status();
  auto look = [name, question = *std::move(question),
               left = std::optional<uint64_t>()](bool is_last) mutable -> std::optional<Outcome> {
    const absl::StatusOr<std::optional<uint64_t>> now = question();
    if (!now.ok()) return Outcome{.status = now.status(), .result = {}};
    if (*now) left = **now;
    if (left != 0u && !is_last) return std::nullopt;
    Json result = ToJson(name);
    result["drained"] = left == 0u;
    result["inflight_bytes"] = left ? Json(*left) : Json();
    return Outcome{.status = {}, .result = std::move(result)};
  };
  return Answer::Waiting{.look = std::move(look),
                         .limit_ms = call.arguments.Integer("seconds") * 1000};
}

constexpr Member kInflight = Member::Integer("inflight_bytes", "of commands");
constexpr Member kPlaneRow[] = {
    members::kXpu,
    members::kInstance,
    members::kPlane,
    members::kPort,
    Member::Choice("admin", kPlaneSettings),
    Member::Choice("link", members::kUpOrDown),
    Member::Choice("state", members::kUpOrDown,
                   "up: it carries traffic, for plane, port and link are up"),
    Member::Integer("weight"),
    Member::Integer("peers_up", "peers to which it is up"),
    Member::Integer("peers_down", "those to which it is not"),
    Member::Integer("peers_slow", "those to which it was measured to carry less than its weight"),
    kInflight,
};
constexpr Member kPlanesResult[] = {Member::Rows("planes", kPlaneRow)};
constexpr Member kPlanePeerRow[] = {
    members::kXpu,
    members::kInstance,
    members::kPeer,
    members::kPlane,
    Member::Integer("peer_plane", "the peer's number of it").OrNull("not known"),
    Member::Choice("state", "down|init|up|static", "static: the peer answers no PLANE"),
    Member::Boolean("usable", "PDUs may be sent there"),
    Member::Boolean("home", "strict ordering: all of some VC to the peer takes this one"),
    Member::Integer("home_vcs", "these VCs").List(),
    Member::Boolean("fencing", "PDUs are in doubt, and the FENCE is not answered yet"),
    Member::Integer("tx_generation"),
    Member::Integer("rx_generation"),
    Member::Integer("weight", "0: no route"),
    Member::Integer("measured_percent", "part of the weight that the plane was measured to carry")
        .OrNull("weights are not measured"),
    Member::Integer("measured_bits_per_second", "carried when the plane was the limit last")
        .OrNull("it never was"),
    kInflight,
    Member::Number("heard_ago_us", "since the way there and back was last proved")
        .Unit("µs")
        .OrNull("never"),
    Member::Number("held_us", "for which it is yet held down").Unit("µs"),
    Member::Integer("deaths", "times that it died"),
};
constexpr Member kPlanePeersResult[] = {Member::Rows("peers", kPlanePeerRow), members::kMore};
constexpr Member kDrainedResult[] = {
    members::kXpu,
    members::kInstance,
    members::kPlane,
    Member::Boolean("drained", "false: the time was over"),
    Member::Integer("inflight_bytes", "that are left").OrNull("the lcore has not said"),
};
constexpr Member kAdminResult[] = {
    members::kXpu,
    members::kInstance,
    members::kPlane,
    Member::Choice("admin", kPlaneSettings),
};
constexpr Member kWeightResult[] = {
    members::kXpu,
    members::kInstance,
    members::kPlane,
    Member::Integer("peer", "its XPU").OrNull("all"),
    Member::Integer("weight"),
};

constexpr Method kPlaneMethods[] = {
    {.name = "planes.list",
     .sentence = "Planes: the ports of each own instance.",
     .result = kPlanesResult,
     .run = ListPlanes},
    {.name = "planes.peers",
     .sentence = "Planes to each peer, of instances with several of them.",
     .result = kPlanePeersResult,
     .run = Peers,
     .params = kPeers},
    {.name = "planes.drain",
     .sentence = "Takes a plane out of the choice, and answers when nothing is in flight there. It "
                 "stays so until planes.set_admin sets it up.",
     .result = kDrainedResult,
     .run = DrainPlane,
     .params = kDrain,
     .changes = true},
    {.name = "planes.set_admin",
     .sentence = "Takes a plane of an instance out of service or puts it back. drain: as "
                 "planes.drain, without the wait. down: at once, and PDUs in flight there go "
                 "over the others; where an instance has one plane, as ports.set_admin.",
     .result = kAdminResult,
     .run = SetAdmin,
     .params = kSetAdmin,
     .changes = true},
    {.name = "planes.set_weight",
     .sentence = "Sets a plane's share of sent PDUs in relation to the other planes, until the "
                 "daemon ends or it is set to default: for one peer, or for all. A weight for all "
                 "replaces those for one peer.",
     .result = kWeightResult,
     .run = SetWeight,
     .params = kSetWeight,
     .changes = true},
};

}  // namespace

std::string_view NameOf(PlaneSetting setting) {
  switch (setting) {
    case PlaneSetting::kUp:
      return "up";
    case PlaneSetting::kDrain:
      return "drain";
    case PlaneSetting::kDown:
      break;
  }
  return "down";
}

std::span<const Method> PlaneMethods() { return kPlaneMethods; }

}  // namespace suede
