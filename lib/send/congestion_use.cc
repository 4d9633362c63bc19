// SPDX-License-Identifier: Apache-2.0
#include "send/congestion_use.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "send/control_sender.h"

namespace suede {
namespace {

// A count of more PDUs since the last echo is ignored: the peer has counted something else.
constexpr uint32_t kMaxEchoed = 1u << 24;

// Whether the peer does not leave its requests without a grant.
bool IsGranted(const CongestionContext& context) { return context.state_name() != "speculating"; }

}  // namespace

void CongestionUse::AddInstance(Instance& instance) {
  if (!instance.is_paced) return;
  instance.first_context = static_cast<uint32_t>(of_timer_.size());
  for (uint32_t index = 0; index < instance.congestion.size(); ++index) {
    of_timer_.push_back({instance.number, index});
  }
  heard_.resize(of_timer_.size());
  wheel_.Resize(static_cast<uint32_t>(of_timer_.size()));
  looked_at_.Reserve(of_timer_.size() + 1);
  for (uint32_t peer = 0; peer < instance.peers.size(); ++peer) Start(instance, peer);
}

// ---- Facts.

void CongestionUse::Start(Instance& instance, uint32_t peer) {
  const Hello& hello = instance.peers[peer].hello();
  const bool open = instance.peers[peer].handshake().open();
  for (uint32_t plane = 0; plane < instance.plane_count(); ++plane) {
    const uint32_t index = instance.PlaneIndex(peer, plane);
    ReceivedMarks& marks = instance.marks[index];
    marks = {.wanted = open && hello.answers_congestion && hello.wants_echoes, .due = marks.due};
    for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
      instance.connections[instance.ConnectionAt(peer, plane, i)].SetPromptAcks(marks.wanted);
    }
    instance.UpdateCounted(peer, plane);
    if (!instance.is_paced) continue;
    // A peer that grants nothing is sent to by windows alone.
    const bool grants = open && hello.answers_congestion;
    const CongestionControl wanted = instance.params.congestion.control;
    const CongestionControl control =
        wanted == CongestionControl::kRccc && !grants ? CongestionControl::kFixed : wanted;
    const LinkState link = instance.ports[plane]->link.state();
    instance.congestion[index].Start(control, instance.params.congestion,
                                     instance.LimitsOf(plane, link.speed_bps), lcore_.now);
    for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
      instance.flying[instance.ConnectionAt(peer, plane, i)] = 0;
    }
    heard_[instance.first_context + index] = {};
    Wake(instance, peer, plane);
  }
}

void CongestionUse::OnLinkSpeed(Instance& instance, uint32_t plane) {
  if (!instance.is_paced) return;
  const uint64_t rate = instance.LimitsOf(plane, instance.ports[plane]->speed_bps).rate_bps;
  for (uint32_t peer = 0; peer < instance.peers.size(); ++peer) {
    instance.congestion[instance.PlaneIndex(peer, plane)].SetRate(rate);
  }
}

bool CongestionUse::HasInFlight(const Instance& instance, uint32_t peer, uint32_t plane) {
  for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
    const Connection& connection = instance.connections[instance.ConnectionAt(peer, plane, i)];
    if (!connection.lost() && connection.unacked_count() != 0) return true;
  }
  return false;
}

void CongestionUse::OnAcked(Instance& instance, uint32_t number, const PduList& acked,
                            uint32_t bytes, Time now) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t plane = instance.PlaneOfConnection(number);
  const uint32_t index = instance.PlaneIndex(peer, plane);
  uint32_t count = 0;
  for (const Pdu* pdu = acked.head(); pdu != nullptr; pdu = pdu->next) ++count;
  const std::optional<Duration> rtt = acked.empty() ? std::nullopt : RttSample(*acked.tail(), now);
  // PDUs that the connection went back for, and that were not sent again yet, are not in flight.
  uint32_t& flying = instance.flying[number];
  const uint32_t octets = std::min(flying, instance.OctetsOf(count, bytes));
  flying -= octets;
  instance.congestion[index].OnAcked(octets, rtt, !HasInFlight(instance, peer, plane), now);
  UpdateTimer(instance, index);
  // Other connections of the plane may have waited for it.
  if (instance.blocked[peer] != 0 || instance.connections_per_plane() != 1 ||
      (instance.flags[number] & Instance::kAwaitsPermit) != 0) {
    Wake(instance, peer, plane);
  }
}

void CongestionUse::OnGoBack(Instance& instance, uint32_t number, Time now) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t plane = instance.PlaneOfConnection(number);
  const uint32_t index = instance.PlaneIndex(peer, plane);
  instance.congestion[index].OnGoBack(std::exchange(instance.flying[number], 0), now);
  UpdateTimer(instance, index);
  Wake(instance, peer, plane);
}

void CongestionUse::OnEnded(Instance& instance, uint32_t peer, uint32_t plane, Time now) {
  uint32_t octets = 0;
  for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
    const uint32_t number = instance.ConnectionAt(peer, plane, i);
    const Connection& connection = instance.connections[number];
    if (!connection.lost() && connection.unacked_count() != 0) continue;
    octets += std::exchange(instance.flying[number], 0);
  }
  instance.congestion[instance.PlaneIndex(peer, plane)].OnEnded(octets, now);
  Wake(instance, peer, plane);
}

void CongestionUse::OnCongestion(Instance& instance, uint32_t peer, uint32_t plane,
                                 const Congestion& heard, Time now) {
  const uint32_t index = instance.PlaneIndex(peer, plane);
  CongestionContext& context = instance.congestion[index];
  if (heard.grant) {
    instance.counters.Add(Counter::kRxCongestionGrants);
    context.OnGrant(Credit24(heard.granted), now);
    heard_[instance.first_context + index].no_grant = false;
  }
  if (heard.echo) {
    instance.counters.Add(Counter::kRxCongestionEchoes);
    Echo& last = heard_[instance.first_context + index];
    const uint32_t trimmed = heard.trimmed - last.trimmed;
    const EcnEcho echo{.received = heard.received - last.received + trimmed,
                       .marked = heard.marked - last.marked,
                       .trimmed = trimmed};
    // An echo that was overtaken says less than the last.
    const bool is_newer =
        echo.received <= kMaxEchoed && echo.trimmed <= kMaxEchoed && echo.marked <= echo.received;
    if (is_newer) {
      last.received = heard.received;
      last.marked = heard.marked;
      last.trimmed = heard.trimmed;
      context.OnEcho(echo);
      instance.groups[index].OnMarked(heard.sessions, echo.marked);
    }
  }
  UpdateTimer(instance, index);
  Wake(instance, peer, plane);
}

// ---- Verdicts.

uint32_t CongestionUse::BytesFor(const Instance& instance, uint32_t peer, uint32_t plane,
                                 uint32_t count) {
  const int64_t left = instance.congestion[instance.PlaneIndex(peer, plane)].allowance() -
                       int64_t{instance.frame_octets} * count;
  return static_cast<uint32_t>(std::clamp<int64_t>(left, 0, std::numeric_limits<uint32_t>::max()));
}

void CongestionUse::OnBlocked(Instance& instance, uint32_t peer, uint32_t bytes) {
  for (uint32_t left = instance.paths[peer].choices(); left != 0; left &= left - 1) {
    const auto plane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t index = instance.PlaneIndex(peer, plane);
    UpdateTimer(instance, index);
    if (!instance.Permits(peer, plane, bytes)) {
      instance.counters.Add(Counter::kTxWaitsCongestion);
    }
  }
}

bool CongestionUse::DefersRetransmission(Instance& instance, uint32_t number) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t plane = instance.PlaneOfConnection(number);
  if (instance.Permits(peer, plane, instance.connections[number].next_retransmission()->bytes)) {
    return false;
  }
  instance.flags[number] |= Instance::kAwaitsPermit;
  UpdateTimer(instance, instance.PlaneIndex(peer, plane));
  return true;
}

bool CongestionUse::IsHeldBack(const Instance& instance, uint32_t number) {
  if (!instance.is_paced || (instance.flags[number] & Instance::kAwaitsPermit) == 0) return false;
  const CongestionContext& context = instance.congestion[instance.PlaneIndex(
      instance.PeerOfConnection(number), instance.PlaneOfConnection(number))];
  return context.control() == CongestionControl::kRccc && IsGranted(context);
}

// Lets PDUs that wait for an allowance try again, new ones and those to be sent again.
void CongestionUse::Wake(Instance& instance, uint32_t peer, uint32_t plane) {
  for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
    const uint32_t number = instance.ConnectionAt(peer, plane, i);
    uint8_t& flags = instance.flags[number];
    if ((flags & Instance::kAwaitsPermit) != 0) {
      flags &= static_cast<uint8_t>(~Instance::kAwaitsPermit);
      instance.ports[plane]->retransmit.push_back({instance.number, number});
    }
    run_queue_.Unblock(instance, number);
  }
}

// ---- Time.

bool CongestionUse::OnTime(Time now) {
  return wheel_.Advance(now, [&](uint32_t timer) {
    const ContextRef ref = of_timer_[timer];
    Instance& instance = *lcore_.instances[ref.instance];
    CongestionContext& context = instance.congestion[ref.index];
    if (context.deadline() > now) return wheel_.Arm(timer, context.deadline());
    context.OnTimer(now);
    const uint32_t peer = ref.index >> instance.plane_bits;
    const uint32_t plane = ref.index & (instance.plane_count() - 1);
    if (!IsGranted(context)) EmitNoGrant(instance, peer, plane);
    UpdateTimer(instance, ref.index);
    Wake(instance, peer, plane);
  });
}

// Tells that the peer does not grant, once until it grants again.
void CongestionUse::EmitNoGrant(const Instance& instance, uint32_t peer, uint32_t plane) {
  bool& told = heard_[instance.first_context + instance.PlaneIndex(peer, plane)].no_grant;
  if (std::exchange(told, true)) return;
  lcore_.events.EmitPlane(LcoreEventKind::kNoGrant, instance, peer, plane, 0);
}

// Octets that wait for the plane: new PDUs, in equal parts where they may take any of several, and
// PDUs to be sent again. PDUs that wait for receive credit could not use more. While octets wait,
// clients will hand over as much as is acknowledged: what is in flight counts as well.
uint64_t CongestionUse::BacklogOf(const Instance& instance, uint32_t peer, uint32_t plane) {
  uint64_t octets = 0;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    const uint32_t choice = instance.paths[peer].choice[vc];
    const uint32_t index = Scheduler::QueueIndex(peer, vc);
    if ((choice & 1u << plane) == 0 || instance.tx_credit[index].waiting) continue;
    octets += instance.OctetsOf(instance.scheduler.queue(index)) /
              static_cast<uint32_t>(std::popcount(choice));
  }
  for (uint32_t i = 0; i < instance.connections_per_plane(); ++i) {
    const Connection& connection = instance.connections[instance.ConnectionAt(peer, plane, i)];
    if (!connection.HasRetransmission()) continue;
    octets += instance.OctetsOf(connection.unacked_count(), connection.unacked_bytes());
  }
  const uint64_t in_flight = instance.congestion[instance.PlaneIndex(peer, plane)].in_flight();
  return octets == 0 ? 0 : octets + in_flight;
}

// Returns false where there is no room to stage a request.
bool CongestionUse::SendRequest(Instance& instance, uint32_t index, Time now) {
  const uint32_t peer = index >> instance.plane_bits;
  const uint32_t plane = index & (instance.plane_count() - 1);
  CongestionContext& context = instance.congestion[index];
  if (!instance.ports[plane]->link.HasFrontRoom()) return false;
  const std::optional<CreditRequest> request =
      context.PollRequest(BacklogOf(instance, peer, plane), now);
  if (request) {
    const bool staged = ControlSender::SendControl(instance, peer, plane,
                                                   Congestion{.request = true,
                                                              .target = request->target.value(),
                                                              .sent = request->sent.value(),
                                                              .limit = request->limit.value()});
    // Otherwise it is as if it were lost: the context repeats it.
    if (staged) instance.counters.Add(Counter::kTxCongestionRequests);
  }
  wheel_.Arm(instance.first_context + index, context.deadline());
  return true;
}

void CongestionUse::SendRequestsOfThose(Time now) {
  for (size_t left = looked_at_.size(); left != 0; --left) {
    const ContextRef ref = looked_at_.front();
    looked_at_.pop_front();
    Instance& instance = *lcore_.instances[ref.instance];
    instance.looked_at[ref.index] = 0;
    if (instance.down || !SendRequest(instance, ref.index, now)) UpdateTimer(instance, ref.index);
  }
}

}  // namespace suede
