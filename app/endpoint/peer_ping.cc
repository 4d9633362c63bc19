// SPDX-License-Identifier: Apache-2.0
#include "endpoint/peer_ping.h"

#include <chrono>
#include <memory>

#include "base/text.h"
#include "endpoint/hello_mismatch.h"

namespace suede {
namespace {

int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string_view NameOf(PingState state) {
  constexpr std::string_view kNames[] = {"no_answer", "down",           "no_link",
                                         "no_mac",    "no_room",        "no_answer",
                                         "answered",  "probe_answered", "acknowledges"};
  return kNames[static_cast<size_t>(state)];
}

bool IsAnswer(PingState state) {
  return state == PingState::kAnswered || state == PingState::kAnsweredProbe ||
         state == PingState::kAcknowledges;
}

}  // namespace

absl::StatusOr<PeerPlanes> FindPeerPlanes(const Endpoint& endpoint, const PingQuery& query) {
  const auto& instances = endpoint.config().instances;
  bool any = false;
  for (uint32_t i = 0; i < instances.size(); ++i) {
    if (query.xpu.value_or(instances[i].xpu) != instances[i].xpu) continue;
    if (query.instance.value_or(instances[i].instance) != instances[i].instance) continue;
    any = true;
    const auto& peers = endpoint.instance_pipeline(i).instance(endpoint.number_of(i)).params.peers;
    for (PeerIndex peer = 0; peer < peers.size(); ++peer) {
      if (peers[peer].xpuid != query.peer) continue;
      uint8_t planes = 0;
      for (uint32_t plane = 0; plane < instances[i].ports.size(); ++plane) {
        const bool leads = peers[peer].planes[plane].present;
        const bool meant = leads && query.plane.value_or(plane) == plane;
        if (meant) planes |= static_cast<uint8_t>(1u << plane);
      }
      if (planes != 0) return PeerPlanes{.instance = i, .peer = peer, .planes = planes};
    }
  }
  if (!any) {
    return absl::NotFoundError("there is no such own XPU and instance; instances.list names them");
  }
  const std::string plane = query.plane ? StrCat("plane ", *query.plane, " of ") : "";
  return absl::NotFoundError(StrCat(plane, "the instance leads to no XPU ", query.peer,
                                    "; peers.list says which port a peer is on"));
}

absl::StatusOr<EndpointView::PingQuestion> PingLimits::Begin(const PingQuery& query) {
  const absl::StatusOr<PeerPlanes> found = FindPeerPlanes(*endpoint_, query);
  if (!found.ok()) return found.status();
  return [ping = std::make_shared<PeerPing>(this, found->instance, found->peer, found->planes)](
             bool is_last) { return ping->Poll(is_last); };
}

const PingBoard& PeerPing::board() const {
  return limits_->endpoint_->instance_pipeline(instance_).ping_board(
      limits_->endpoint_->number_of(instance_));
}

std::optional<absl::StatusOr<PingView>> PeerPing::Poll(bool is_last) {
  if (asked_ || Ask()) {
    if (IsOver() || is_last) return View();
  } else if (is_last) {
    return absl::ResourceExhaustedError(
        "the instance is asked to ask too often, or its lcore has no time; try again");
  }
  return std::nullopt;
}

// Posts the ping. Returns false if it must wait for its turn, or the mailbox is full.
bool PeerPing::Ask() {
  PingLimits::Limit& limit = limits_->of_instance_[instance_];
  const Time now = TimeFromMs(NowMs());
  if (limit.taken || !limit.rate.Take(now) || !limits_->all_.Take(now)) return false;
  Endpoint& endpoint = *limits_->endpoint_;
  asked_ = endpoint.pipeline(endpoint.pipeline_of(instance_))
               .mailbox()
               .requests.Push(request::Ping{.instance = endpoint.number_of(instance_),
                                            .peer = peer_,
                                            .ticket = limit.ticket + 1,
                                            .plane_mask = planes_});
  if (asked_) {
    ++limit.ticket;
    limit.taken = true;
  }
  return asked_;
}

bool PeerPing::IsOver() const {
  const PingBoard& board = this->board();
  const uint32_t ticket = limits_->of_instance_[instance_].ticket;
  if (board.ticket.load(std::memory_order_acquire) != ticket) return false;
  for (const PingBoard::Plane& plane : board.planes) {
    if (plane.state.load(std::memory_order_acquire) == PingState::kAsked) return false;
  }
  return true;
}

PingView PeerPing::View() const {
  const Config& config = limits_->endpoint_->config();
  const InstanceConfig& instance = config.instances[instance_];
  const auto& peers = limits_->endpoint_->instance_pipeline(instance_)
                          .instance(limits_->endpoint_->number_of(instance_))
                          .params.peers;
  PingView view{
      .xpu = instance.xpu, .instance = instance.instance, .peer = peers[peer_].xpuid, .planes = {}};
  const PingBoard& board = this->board();
  // Otherwise the lcore has not yet processed the request.
  const bool is_ours =
      board.ticket.load(std::memory_order_acquire) == limits_->of_instance_[instance_].ticket;
  for (uint32_t plane = 0; plane < instance.ports.size(); ++plane) {
    if ((planes_ & 1u << plane) == 0) continue;
    const PingBoard::Plane& shown = board.planes[plane];
    const PingState state =
        is_ours ? shown.state.load(std::memory_order_acquire) : PingState::kAsked;
    PlanePingView& row = view.planes.emplace_back();
    row.plane = plane;
    row.port = config.ports[instance.ports[plane].port].name;
    row.state = NameOf(state);
    if (IsAnswer(state)) row.rtt_ns = shown.rtt_ns.load(std::memory_order_relaxed);
    const HelloMismatch what = shown.mismatch.load(std::memory_order_relaxed);
    if (state != PingState::kAnswered || what == HelloMismatch::kNone) continue;
    row.disagrees = KeyOf(what);
    row.own = ValueOf(row.disagrees, shown.own.load(std::memory_order_relaxed));
    row.theirs = ValueOf(row.disagrees, shown.theirs.load(std::memory_order_relaxed));
  }
  return view;
}

}  // namespace suede
