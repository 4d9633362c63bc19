// SPDX-License-Identifier: Apache-2.0
#include "send/congestion_use.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "frame/control_sender.h"

namespace suede {
namespace {

// Max PDUs since the last echo. A larger count is ignored: the peer has counted other PDUs.
constexpr uint32_t kMaxEchoed = 1u << 24;

// Whether the peer answers requests with grants.
bool IsGranted(const CongestionContext& context) { return context.state_name() != "speculating"; }

}  // namespace

void CongestionUse::AddInstance(Instance& instance) {
  if (!instance.tx.is_paced) return;
  instance.tx.first_context = static_cast<uint32_t>(of_timer_.size());
  for (PathIndex path = 0; path < instance.tx.contexts.size(); ++path) {
    of_timer_.push_back({instance.number, path});
  }
  echoes_.resize(of_timer_.size());
  wheel_.Resize(static_cast<uint32_t>(of_timer_.size()));
  changed_.Reserve(of_timer_.size() + 1);
  for (PeerIndex peer = 0; peer < instance.peers.size(); ++peer) Start(instance, peer);
}

// ---- Facts.

void CongestionUse::Start(Instance& instance, PeerIndex peer) {
  const Hello& hello = instance.peers[peer].hello();
  const bool open = instance.peers[peer].handshake().open();
  for (PlaneIndex plane = 0; plane < instance.map.plane_count(); ++plane) {
    const PathIndex path = instance.map.PathAt(peer, plane);
    ReceivedMarks& marks = instance.rx.marks[path];
    marks = {.wanted = open && hello.answers_congestion && hello.wants_echoes, .due = marks.due};
    for (PathConnection i = 0; i < instance.map.path_connections(); ++i) {
      instance.peers.connections[instance.map.At(peer, plane, i)].rx().SetPromptAcks(marks.wanted);
    }
    instance.peers.SetCounted(path, marks.is_counted());
    if (!instance.tx.is_paced) continue;
    // Only windows limit PDUs to a peer that grants no credit.
    const bool grants = open && hello.answers_congestion;
    const CongestionControl wanted = instance.params.congestion.control;
    const CongestionControl control =
        wanted == CongestionControl::kRccc && !grants ? CongestionControl::kFixed : wanted;
    const LinkState link = instance.ports[plane]->link.state();
    instance.tx.contexts[path].Start(control, instance.params.congestion,
                                     instance.LimitsOf(plane, link.speed_bps), lcore_.now);
    for (PathConnection i = 0; i < instance.map.path_connections(); ++i) {
      instance.tx.flying[instance.map.At(peer, plane, i)] = 0;
    }
    echoes_[instance.tx.first_context + path] = {};
    Wake(instance.peers, instance.tx, *instance.ports[plane], path);
  }
}

void CongestionUse::OnLinkSpeed(Instance& instance, PlaneIndex plane) {
  if (!instance.tx.is_paced) return;
  const uint64_t rate = instance.LimitsOf(plane, instance.ports[plane]->speed_bps).rate_bps;
  for (PeerIndex peer = 0; peer < instance.peers.size(); ++peer) {
    instance.tx.contexts[instance.map.PathAt(peer, plane)].SetRate(rate);
  }
}

bool CongestionUse::HasInFlight(const PeerArrays& peers, PathIndex path) {
  const ConnectionMap& map = peers.own.map;
  for (PathConnection i = 0; i < map.path_connections(); ++i) {
    const Connection& connection = peers.connections[map.At(path, i)];
    if (!connection.tx().lost() && connection.in_flight().count() != 0) return true;
  }
  return false;
}

void CongestionUse::OnAcked(Instance& instance, ConnectionIndex number, const PduList& acked,
                            uint32_t bytes, Time now) {
  const PeerIndex peer = instance.map.PeerOf(number);
  const PlaneIndex plane = instance.map.PlaneOf(number);
  const PathIndex path = instance.map.PathAt(peer, plane);
  uint32_t count = 0;
  for (const Pdu* pdu = acked.head(); pdu != nullptr; pdu = pdu->next) ++count;
  const std::optional<Duration> rtt = acked.empty() ? std::nullopt : RttSample(*acked.tail(), now);
  // PDUs that are to be retransmitted after a go-back are not in flight.
  uint32_t& flying = instance.tx.flying[number];
  const uint32_t octets = std::min(flying, instance.tx.OctetsOf(count, bytes));
  flying -= octets;
  instance.tx.contexts[path].OnAcked(octets, rtt, !HasInFlight(instance.peers, path), now);
  OnChanged(instance.tx, path);
  // Other connections of the plane may have waited for it.
  if (instance.tx.blocked[peer] != 0 || instance.map.path_connections() != 1 ||
      (instance.tx.flags[number] & TransmitState::kAwaitsPermit) != 0) {
    Wake(instance.peers, instance.tx, *instance.ports[plane], path);
  }
}

void CongestionUse::OnGoBack(const PeerArrays& peers, TransmitState& tx, PortContext& port,
                             ConnectionIndex number, Time now) {
  const PathIndex path = tx.map.PathOf(number);
  tx.contexts[path].OnGoBack(std::exchange(tx.flying[number], 0), now);
  OnChanged(tx, path);
  Wake(peers, tx, port, path);
}

void CongestionUse::OnWanted(Instance& instance, ConnectionIndex number,
                             const InFlight::Wanted& wanted, Time now) {
  uint32_t& flying = instance.tx.flying[number];
  const uint32_t octets = std::min(flying, instance.tx.OctetsOf(wanted.pdus, wanted.bytes));
  flying -= octets;
  const PathIndex path = instance.map.PathOf(number);
  instance.tx.contexts[path].OnGoBack(octets, now);
  OnChanged(instance.tx, path);
  Wake(instance.peers, instance.tx, *instance.ports[instance.map.PlaneOf(number)], path);
}

void CongestionUse::OnEnded(const PeerArrays& peers, TransmitState& tx, PortContext& port,
                            PathIndex path, Time now) {
  uint32_t octets = 0;
  for (PathConnection i = 0; i < tx.map.path_connections(); ++i) {
    const ConnectionIndex number = tx.map.At(path, i);
    const Connection& connection = peers.connections[number];
    if (!connection.tx().lost() && connection.in_flight().count() != 0) continue;
    octets += std::exchange(tx.flying[number], 0);
  }
  tx.contexts[path].OnEnded(octets, now);
  Wake(peers, tx, port, path);
}

void CongestionUse::OnCongestion(Instance& instance, PeerIndex peer, PlaneIndex plane,
                                 const Congestion& message, Time now) {
  const PathIndex path = instance.map.PathAt(peer, plane);
  CongestionContext& context = instance.tx.contexts[path];
  if (message.grant) {
    instance.stats.counters.Add(Counter::kRxCongestionGrants);
    context.OnGrant(Credit24(message.granted), now);
    echoes_[instance.tx.first_context + path].no_grant = false;
  }
  if (message.echo) {
    instance.stats.counters.Add(Counter::kRxCongestionEchoes);
    Echo& last = echoes_[instance.tx.first_context + path];
    const uint32_t trimmed = message.trimmed - last.trimmed;
    const EcnEcho echo{.received = message.received - last.received + trimmed,
                       .marked = message.marked - last.marked,
                       .trimmed = trimmed};
    // An echo that was overtaken has lower counts than the last echo.
    const bool is_newer =
        echo.received <= kMaxEchoed && echo.trimmed <= kMaxEchoed && echo.marked <= echo.received;
    if (is_newer) {
      last.received = message.received;
      last.marked = message.marked;
      last.trimmed = message.trimmed;
      context.OnEcho(echo);
      instance.peers.groups[path].OnMarked(message.sessions, echo.marked);
    }
  }
  OnChanged(instance.tx, path);
  Wake(instance.peers, instance.tx, *instance.ports[plane], path);
}

// ---- Verdicts.

uint32_t CongestionUse::BytesFor(const TransmitState& tx, PathIndex path, uint32_t count) {
  const int64_t left = tx.contexts[path].allowance() - int64_t{tx.frame_octets} * count;
  return static_cast<uint32_t>(std::clamp<int64_t>(left, 0, std::numeric_limits<uint32_t>::max()));
}

void CongestionUse::OnBlocked(const PeerArrays& peers, TransmitState& tx, CounterBlock& counters,
                              PeerIndex peer, uint32_t bytes) {
  for (uint32_t left = peers.paths[peer].choices(); left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    const PathIndex path = tx.map.PathAt(peer, plane);
    OnChanged(tx, path);
    if (!tx.Permits(path, bytes)) counters.Add(Counter::kTxWaitsCongestion);
  }
}

bool CongestionUse::DefersRetransmission(TransmitState& tx, ConnectionIndex number,
                                         uint32_t bytes) {
  const PathIndex path = tx.map.PathOf(number);
  if (tx.Permits(path, bytes)) return false;
  tx.flags[number] |= TransmitState::kAwaitsPermit;
  OnChanged(tx, path);
  return true;
}

bool CongestionUse::IsHeldBack(const TransmitState& tx, ConnectionIndex number) {
  if (!tx.is_paced || (tx.flags[number] & TransmitState::kAwaitsPermit) == 0) return false;
  const CongestionContext& context = tx.contexts[tx.map.PathOf(number)];
  return context.control() == CongestionControl::kRccc && IsGranted(context);
}

// Retries PDUs that wait for an allowance, both new PDUs and retransmissions.
void CongestionUse::Wake(const PeerArrays& peers, TransmitState& tx, PortContext& port,
                         PathIndex path) {
  for (PathConnection i = 0; i < tx.map.path_connections(); ++i) {
    const ConnectionIndex number = tx.map.At(path, i);
    uint8_t& flags = tx.flags[number];
    if ((flags & TransmitState::kAwaitsPermit) != 0) {
      flags &= static_cast<uint8_t>(~TransmitState::kAwaitsPermit);
      port.retransmit.push_back({tx.number, number});
    }
    run_queue_.Unblock(peers, tx, number);
  }
}

// ---- Time.

bool CongestionUse::OnTime(Time now) {
  return wheel_.Advance(now, [&](uint32_t timer) {
    const ContextRef ref = of_timer_[timer];
    Instance& instance = *lcore_.instances[ref.instance];
    CongestionContext& context = instance.tx.contexts[ref.path];
    if (context.deadline() > now) return wheel_.Arm(timer, context.deadline());
    context.OnTimer(now);
    const PeerIndex peer = instance.map.PeerOf(ref.path);
    const PlaneIndex plane = instance.map.PlaneOf(ref.path);
    if (!IsGranted(context)) EmitNoGrant(instance, peer, plane);
    OnChanged(instance.tx, ref.path);
    Wake(instance.peers, instance.tx, *instance.ports[plane], ref.path);
  });
}

// Emits an event that the peer does not grant, once until it grants again.
void CongestionUse::EmitNoGrant(const Instance& instance, PeerIndex peer, PlaneIndex plane) {
  bool& emitted = echoes_[instance.tx.first_context + instance.map.PathAt(peer, plane)].no_grant;
  if (std::exchange(emitted, true)) return;
  lcore_.events.EmitPlane(LcoreEventKind::kNoGrant, instance, peer, plane, 0);
}

// Returns the octets that wait for the plane: new PDUs, in equal parts if they may take any of
// several planes, and retransmissions. PDUs that wait for receive credit could not use more. While
// octets wait, clients hand over as much as is acknowledged, so octets in flight count as well.
uint64_t CongestionUse::BacklogOf(const PeerArrays& peers, const TransmitState& tx,
                                  PathIndex path) {
  uint64_t octets = 0;
  const PeerIndex peer = tx.map.PeerOf(path);
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t choice = peers.paths[peer].choice[vc];
    const uint32_t queue = Scheduler::IndexOf(peer, vc);
    if ((choice & 1u << tx.map.PlaneOf(path)) == 0 || tx.credit[queue].waiting()) continue;
    octets += tx.OctetsOf(tx.scheduler.queue(queue)) / static_cast<uint32_t>(std::popcount(choice));
  }
  for (PathConnection i = 0; i < tx.map.path_connections(); ++i) {
    const Connection& connection = peers.connections[tx.map.At(path, i)];
    if (!connection.in_flight().HasRetransmission()) continue;
    octets += tx.OctetsOf(connection.in_flight().count(), connection.in_flight().bytes());
  }
  return octets == 0 ? 0 : octets + tx.contexts[path].in_flight();
}

// Returns false if there is no room to stage a request.
bool CongestionUse::SendRequest(Instance& instance, PathIndex path, Time now) {
  const PeerIndex peer = instance.map.PeerOf(path);
  const PlaneIndex plane = instance.map.PlaneOf(path);
  CongestionContext& context = instance.tx.contexts[path];
  if (!instance.ports[plane]->link.HasFrontRoom()) return false;
  const std::optional<CreditRequest> request =
      context.PollRequest(BacklogOf(instance.peers, instance.tx, path), now);
  if (request) {
    const bool staged = ControlSender::SendControl(instance, peer, plane,
                                                   Congestion{.request = true,
                                                              .target = request->target.value(),
                                                              .sent = request->sent.value(),
                                                              .limit = request->limit.value()});
    // A request that was not staged counts as lost: the context repeats it.
    if (staged) instance.stats.counters.Add(Counter::kTxCongestionRequests);
  }
  wheel_.Arm(instance.tx.first_context + path, context.deadline());
  return true;
}

void CongestionUse::SendChanged(Time now) {
  for (size_t left = changed_.size(); left != 0; --left) {
    const ContextRef ref = changed_.front();
    changed_.pop_front();
    Instance& instance = *lcore_.instances[ref.instance];
    instance.tx.changed[ref.path] = 0;
    if (instance.down || !SendRequest(instance, ref.path, now)) OnChanged(instance.tx, ref.path);
  }
}

}  // namespace suede
