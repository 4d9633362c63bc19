// SPDX-License-Identifier: Apache-2.0
#include "path/plane_session.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace suede {
namespace {

// A plane that dies within this many hold-downs after it came up is flapping.
constexpr int kStableHolds = 10;
constexpr uint8_t kMaxDoublings = 24;
constexpr uint32_t kQuestionsKept = 64;  // the bits of questions_
// The lcore reads a receive ring that is full in less time.
constexpr Duration kReading = std::chrono::microseconds(200);

template <typename T>
bool IsNewer(T a, T than) {
  return static_cast<std::make_signed_t<T>>(a - than) > 0;
}

}  // namespace

void PlaneSession::Begin(Time now) {
  begun_ = true;
  last_received_ = now;
  ProbeSoon(now);
}

void PlaneSession::ProbeSoon(Time now) {
  slow_ = 0;
  deadline_ = now;
}

void PlaneSession::GoDown(bool in_doubt, bool hold, Time now, const PathParams& params) {
  if (state_ == PlaneState::kUp) {
    ++deaths_;
    const bool flapping = hold_down_ != Duration{} && now - up_since_ < kStableHolds * hold_down_;
    hold_down_ = flapping ? std::min(2 * hold_down_, params.hold_down_max) : params.hold_down;
    held_until_ = hold ? now + hold_down_ : now;
  }
  state_ = PlaneState::kDown;
  fencing_ |= in_doubt;
  missed_ = silent_ = 0;
  ProbeSoon(now);
}

void PlaneSession::EndFence(Time now) {
  fencing_ = false;
  fences_ = 0;
  impossible_ = 0;
  NextGeneration();
  ProbeSoon(now);
}

PlaneSession::Want PlaneSession::OnTimer(Time now, const Facts& facts, const PathParams& params) {
  if (now < deadline_) return Want::kNothing;
  if (state_ == PlaneState::kUp) {
    if (!facts.port_up || facts.held) return Want::kGoDown;
    const bool urgent = facts.in_flight || missed_ != 0 || wants_reply_;
    const Duration wait = urgent ? params.hello_interval : params.hello_idle;
    if (now - silent_since() < wait) {
      deadline_ = silent_since() + wait;
      return Want::kNothing;
    }
    if (facts.held_too_long && facts.sibling_alive) return Want::kGoDown;
    checked_at_ = now;
    was_stopped_ = false;
    if (facts.held_up) {
      missed_ = silent_ = 0;
      deadline_ = now + (facts.in_flight ? params.hello_interval : params.hello_idle);
      return Want::kHeldUp;
    }
    if (missed_ != 0 && facts.sibling_alive && silent_ < missed_) ++silent_;
    // The other planes are asked from the second PLANE on: the first may count with the others. One
    // answer alone may have come a moment before that of this plane.
    const uint32_t answers = params.hello_multiplier - (params.hello_multiplier > 2 ? 1 : 0);
    if (missed_ >= params.hello_multiplier && silent_ >= answers) return Want::kGoDown;
    wants_reply_ = false;
    deadline_ = now + (urgent ? params.hello_interval : params.hello_idle);
    return Want::kPlane;
  }
  // Down or init: the PLANE is sent again, after longer and longer waits.
  deadline_ =
      std::min(now + std::min(params.hello_interval * (int64_t{1} << slow_), params.hello_idle),
               facts.check_at);
  if (slow_ < kMaxDoublings) ++slow_;
  if (fencing_) return Want::kFence;
  if (!facts.port_up || facts.held) {
    state_ = PlaneState::kDown;
    return Want::kNothing;
  }
  if (now < held_until_) {
    deadline_ = std::min({held_until_, now + params.hello_idle, facts.check_at});
    slow_ = 0;
    return Want::kNothing;
  }
  state_ = PlaneState::kInit;
  requested_at_ = now;
  return Want::kPlane;
}

bool PlaneSession::OnTraffic(Time now, const PathParams& params) {
  if (deadline_ - now <= params.hello_interval) return false;
  deadline_ = now + params.hello_interval;
  return true;
}

void PlaneSession::OnStandstill(Time now, Duration time, const PathParams& params) {
  // Where an lcore is stopped again and again, as one that yields its CPU after each poll
  // iteration, the answers were read after the first time.
  if (missed_ == 0 || was_stopped_) return;
  was_stopped_ = true;
  const Time counted = std::max(silent_since() + time, now + kReading - params.hello_interval);
  checked_at_ = std::min(counted, now);
}

void PlaneSession::OnHeldUp(Time now, Duration span) {
  // The plane was heard in between, or the peer has not repeated its report within `span`: this is
  // another hold.
  if (last_received_ > excused_since_ || now - excused_until_ > span) excused_since_ = now;
  excused_until_ = now + span;
}

void PlaneSession::OnLinkUp(Time now) {
  if (begun_ && state_ != PlaneState::kUp) ProbeSoon(now);
}

void PlaneSession::OnNewParams(Time now, const PathParams& params) {
  if (!begun_) return;
  held_until_ = std::min(held_until_, now + params.hold_down_max);
  deadline_ = std::min(deadline_, now + params.hello_interval);
}

// Each PLANE of ours proves the path once, and only while its answer is awaited: an old answer is
// no evidence of the present state. The age of an answer is the number of requests sent after its
// own. Our own answers take numbers too, but follow the other end's requests, several at once if
// these were held up.
bool PlaneSession::Proves(const PlaneHello& hello, const PathParams& params) const {
  const auto behind = static_cast<Sequence>(sequence_ - hello.heard);
  if (!hello.has_heard || behind >= unanswered_) return false;
  if (behind < params.hello_multiplier) return true;
  if (behind >= kQuestionsKept) return false;
  const uint64_t later = questions_ & ((uint64_t{1} << behind) - 1);
  return static_cast<uint32_t>(std::popcount(later)) < params.hello_multiplier;
}

// Pairs the plane: a PLANE of ours and its answer have gone there and back, so the two planes lead
// to each other.
void PlaneSession::Pair(uint8_t peer_plane, Time now) {
  // A generation of another plane, adopted while nothing was sealed, does not count.
  if (peer_plane_ != kUnknownPlane && peer_plane_ != peer_plane) has_rx_generation_ = false;
  peer_plane_ = peer_plane;
  paired_ = true;
  if (begun_ && state_ != PlaneState::kUp) deadline_ = std::min(deadline_, now);
}

bool PlaneSession::IsHopeless(Time now, Duration wait) {
  contrary_since_ = std::min(contrary_since_, now);
  return state_ != PlaneState::kUp && now - contrary_since_ >= wait;
}

PlaneSession::OnPlaneResult PlaneSession::OnPlane(const PlaneHello& hello, Time now,
                                                  const PathParams& params, uint8_t pairs_as) {
  OnPlaneResult result;
  const bool pairs = pairs_as != kUnknownPlane;
  // Frames are in flight for less than a hold-down. After that there are no stragglers: a PLANE
  // with an old number is new, however many were lost meanwhile. PLANEs of several planes, which
  // may come before this one is paired, are in no order.
  if ((!pairs || paired_) && has_received_ && !IsNewer(hello.sequence, received_) &&
      now - received_at_ <= params.hold_down) {
    result.stale = true;
    return result;
  }
  has_received_ = true;
  received_ = hello.sequence;
  received_at_ = now;
  heard_plane_ = static_cast<uint8_t>(hello.plane + 1);
  result.proved = Proves(hello, params) && (!pairs || hello.heard_plane == pairs_as + 1);
  if (!pairs) {
    peer_plane_ = hello.plane;
  } else if (!paired_ && result.proved) {
    Pair(hello.plane, now);
  }
  const bool is_unpaired = pairs && !paired_;
  // Sends one request in an interval: with more requests in flight every answer would be too old to
  // prove the path.
  result.wants_reply =
      is_unpaired && hello.reply_wanted && now - requested_at_ >= params.hello_interval;
  if (result.wants_reply) requested_at_ = now;
  const bool is_newer = !has_rx_generation_ || IsNewer(hello.tx_generation, rx_generation_);
  if (is_newer && !is_unpaired) {
    // Generation 0 is open from the start, and needs no adoption.
    result.adopt = hello.tx_generation != 0;
    has_rx_generation_ = result.adopt;
    rx_generation_ = hello.tx_generation;
  }
  if (result.proved) {
    contrary_since_ = kNever;
    unanswered_ = static_cast<Sequence>(sequence_ - hello.heard);
    OnProgress(now);
  }
  if (hello.state == PlaneState::kDown) {
    result.peer_down = state_ == PlaneState::kUp;
    return result;
  }
  if (state_ == PlaneState::kInit && result.proved && hello.rx_generation == tx_generation_ &&
      (!pairs || hello.paired)) {
    state_ = PlaneState::kUp;
    up_since_ = now;
    deadline_ = now + params.hello_interval;
    wants_reply_ = true;
    result.came_up = true;
  }
  // The other end brings the plane up: there is no need to wait for our own timer. But requests
  // that each end answers at once by another request would leave no time in which any counts as
  // answered.
  if (state_ != PlaneState::kUp && begun_ && hello.reply_wanted) {
    deadline_ = std::min(deadline_, std::max(now, requested_at_ + params.hello_interval));
  }
  return result;
}

void PlaneSession::FillPlane(bool wants_reply, PlaneHello& hello) {
  if (wants_reply && missed_ < UINT8_MAX) ++missed_;
  hello.state = state_;
  hello.tx_generation = tx_generation_;
  hello.rx_generation = rx_generation_;
  hello.sequence = ++sequence_;
  if (unanswered_ != UINT32_MAX) ++unanswered_;
  questions_ = questions_ << 1 | (wants_reply ? 1 : 0);
  hello.heard = received_;
  hello.has_heard = has_received_;
  hello.heard_plane = heard_plane_;
  hello.paired = paired_;
  hello.reply_wanted = wants_reply;
}

bool PlaneSession::OnFence(uint16_t generation, bool& known) {
  known = generation == rx_generation_;
  if (known) return true;
  if (has_rx_generation_ && !IsNewer(generation, rx_generation_)) return false;
  has_rx_generation_ = true;
  rx_generation_ = generation;
  return true;
}

void PlaneSession::Reset() {
  const uint16_t generation = tx_generation_;
  const Sequence sequence = sequence_;
  const uint32_t deaths = deaths_;
  *this = PlaneSession();
  tx_generation_ = generation;
  sequence_ = sequence;
  deaths_ = deaths;
}

}  // namespace suede
