// SPDX-License-Identifier: Apache-2.0
#include "receive/congestion_grants.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "frame/control_sender.h"

namespace suede {
namespace {

// Octets of commands that 16 lines of a receive ring hold: max their bytes, and min a command
// without data in each.
constexpr uint32_t kMaxOfLines = 16 * SUEDE_LINE_BYTES;
constexpr uint32_t kMinOfLines = 16 * 2;

}  // namespace

TargetParams CongestionGrants::ParamsOf(const Instance& instance, PlaneIndex plane) {
  const PortContext& port = *instance.ports[plane];
  TargetParams params = instance.params.target;
  params.rate_bps = port.ReceiveRate();
  params.largest_octets = instance.LimitsOf(plane, port.link.state().speed_bps).largest_octets;
  return params;
}

void CongestionGrants::AddInstance(Instance& instance) {
  first_target_.push_back(static_cast<uint32_t>(targets_.size()));
  octets_of_lines_.push_back(kMaxOfLines / 2);
  for (PlaneIndex plane = 0; plane < instance.map.plane_count(); ++plane) {
    targets_.push_back(std::make_unique<Target>(ParamsOf(instance, plane)));
    Target& target = *targets_.back();
    target.instance = instance.number;
    target.plane = plane;
    target.credit.Resize(static_cast<uint32_t>(instance.peers.size()));
  }
  active_.reserve(targets_.size());
  echoes_.Reserve(echoes_.size() + lcore_.timers.count() + 1);
}

// ---- Facts.

void CongestionGrants::OnLinkSpeed(const Instance& instance, PlaneIndex plane) {
  Target& target = TargetOf(instance.number, plane);
  target.credit.SetRate(ParamsOf(instance, plane));
  target.credit.SetOthers(OthersOf(target));
}

void CongestionGrants::OnRequest(Instance& instance, PeerIndex peer, PlaneIndex plane,
                                 const Congestion& request, Time now) {
  instance.stats.counters.Add(Counter::kRxCongestionRequests);
  // A peer whose HELLO does not announce participation gets no grants.
  if (!instance.peers[peer].hello().answers_congestion) return;
  Target& target = TargetOf(instance.number, plane);
  const PathIndex path = instance.map.PathAt(peer, plane);
  if (bool& requested = instance.rx.marks[path].requested; !requested) {
    requested = true;
    instance.peers.SetCounted(path, true);
  }
  target.credit.OnRequest(peer,
                          {.target = Credit24(request.target),
                           .sent = Credit24(request.sent),
                           .limit = Credit24(request.limit)},
                          now);
  target.credit.OnUngranted(instance.tx.OctetsOf(1, kCongestionMessageBytes));
  ShowClaims(target);
  if (target.listed) return;
  target.listed = true;
  active_.push_back(&target);
}

void CongestionGrants::OnReceived(Instance& instance, ConnectionIndex connection, uint32_t pdus,
                                  uint64_t bytes, bool marked) {
  const PathIndex path = instance.map.PathOf(connection);
  ReceivedMarks& marks = instance.rx.marks[path];
  marks.received += pdus;
  if (marks.requested) {
    TargetOf(instance.number, instance.map.PlaneOf(connection))
        .credit.OnArrived(instance.map.PeerOf(connection),
                          instance.tx.OctetsOf(pdus, static_cast<uint32_t>(bytes)));
  }
  if (!marked) return;
  instance.stats.counters.Add(Counter::kRxMarked, pdus);
  instance.rx.SumsOf(connection).marked += pdus;
  marks.marked += pdus;
  marks.sessions |= uint64_t{1} << instance.map.SessionOf(connection);
  if (marks.wanted) WantEcho(instance.rx, path);
}

void CongestionGrants::OnDelivered(uint32_t instance, const DeliveredRun& run) {
  if (run.lines == 0) return;
  uint32_t& of_lines = octets_of_lines_[instance];
  const auto now = static_cast<uint32_t>(
      std::clamp<uint64_t>(run.bytes * 16 / run.lines, kMinOfLines, kMaxOfLines));
  of_lines = (7 * of_lines + now) / 8;
}

void CongestionGrants::OnTrimmed(ReceiveState& rx, PathIndex path) {
  ++rx.marks[path].trimmed;
  if (rx.marks[path].wanted) WantEcho(rx, path);
}

void CongestionGrants::Forget(ReceiveState& rx, PeerArrays& peers, PeerIndex peer) {
  for (PlaneIndex plane = 0; plane < rx.map.plane_count(); ++plane) {
    Target& target = TargetOf(rx.number, plane);
    target.credit.Forget(peer);
    const PathIndex path = rx.map.PathAt(peer, plane);
    rx.marks[path].requested = false;
    peers.SetCounted(path, rx.marks[path].is_counted());
    ShowClaims(target);
  }
}

// ---- Grants.

// Returns the room of the rings that clients have claimed, in octets of recent frames. A VC without
// a client has its places for PDUs, which also bound the credit of its queue.
uint64_t CongestionGrants::RoomOf(const ReceiveState& rx) const {
  uint64_t lines = 0;
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const uint32_t client = lcore_.clients.claimant(rx.number, vc);
    if (client == ClientTable::kNone) {
      const uint32_t places = rx.params.unclaimed_pdus;
      lines += (places - std::min(places, rx.unclaimed_count[vc])) * TxQueue::kUnknownReceiver;
    } else if (rx.unclaimed[vc].empty()) {
      lines += lcore_.clients.ring(client, vc).FreeLines();
    }
  }
  return lines * octets_of_lines_[rx.number] / 16;
}

std::atomic<uint32_t>& CongestionGrants::ClaimsOf(const Target& target) const {
  return *lcore_.instances[target.instance]->ports[target.plane]->params.rate_share;
}

// Publishes the target's claims to the port's rate for the port's other targets.
void CongestionGrants::ShowClaims(Target& target) {
  const uint32_t claims = target.credit.claims();
  if (claims == target.shown) return;
  ClaimsOf(target).fetch_add(claims - target.shown, std::memory_order_relaxed);
  target.shown = claims;
}

// Returns false if the target has no grants to send, now or later, without new facts.
bool CongestionGrants::SendGrantsOf(Target& target, Time now) {
  Instance& instance = *lcore_.instances[target.instance];
  target.others = OthersOf(target);
  target.credit.SetOthers(target.others);
  const uint64_t room = RoomOf(instance.rx);
  while (const std::optional<CreditTarget::Grant> grant = target.credit.Poll(now, room)) {
    if (!ControlSender::SendControl(instance, PeerIndex(grant->sender), target.plane,
                                    Congestion{.grant = true, .granted = grant->limit.value()})) {
      target.credit.Requeue(*grant);
      break;
    }
    instance.stats.counters.Add(Counter::kTxCongestionGrants);
  }
  ShowClaims(target);
  return !target.credit.idle() || target.credit.active() != 0;
}

void CongestionGrants::SendGrants(Time now) {
  for (size_t i = 0; i < active_.size();) {
    Target& target = *active_[i];
    // A changed share is a reason to poll, too: the next grant may be due already.
    const bool is_due = target.credit.deadline() <= now || OthersOf(target) != target.others;
    if (!is_due || SendGrantsOf(target, now)) {
      ++i;
      continue;
    }
    target.listed = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
}

void CongestionGrants::PublishGauges() const {
  for (const auto& instance : lcore_.instances) {
    uint64_t outstanding = 0;
    uint64_t active = 0;
    for (PlaneIndex plane = 0; plane < instance->map.plane_count(); ++plane) {
      const CreditTarget& credit = targets_[first_target_[instance->number] + plane]->credit;
      outstanding += credit.outstanding();
      active += credit.active();
    }
    instance->stats.gauges.Set(Gauge::kCongestionSenders, active);
    instance->stats.gauges.Set(Gauge::kCongestionGranted, outstanding);
  }
}

CongestionGrants::State CongestionGrants::StateOf(const Instance& instance,
                                                  PlaneIndex plane) const {
  const CreditTarget& credit = targets_[first_target_[instance.number] + plane]->credit;
  State state{.outstanding = credit.outstanding(), .rate_bps = {}};
  if (credit.active() != 0) state.rate_bps = credit.rate_bps();
  return state;
}

// ---- Echoes.

void CongestionGrants::WantEcho(ReceiveState& rx, PathIndex path) {
  ReceivedMarks& marks = rx.marks[path];
  if (marks.due) return;
  marks.due = true;
  echoes_.push_back({rx.number, path});
}

// Sends echoes in front of the poll iteration's acknowledgements; without room they wait for the
// next poll iteration.
void CongestionGrants::SendEchoes() {
  for (size_t left = echoes_.size(); left != 0; --left) {
    const EchoRef ref = echoes_.front();
    echoes_.pop_front();
    Instance& instance = *lcore_.instances[ref.instance];
    ReceivedMarks& marks = instance.rx.marks[ref.path];
    marks.due = false;
    if (!marks.wanted) continue;
    const PeerIndex peer = instance.map.PeerOf(ref.path);
    const PlaneIndex plane = instance.map.PlaneOf(ref.path);
    if (!ControlSender::SendControl(instance, peer, plane,
                                    Congestion{.echo = true,
                                               .received = marks.received,
                                               .marked = marks.marked,
                                               .trimmed = marks.trimmed,
                                               .sessions = marks.sessions})) {
      WantEcho(instance.rx, ref.path);
      continue;
    }
    marks.sessions = 0;
    instance.stats.counters.Add(Counter::kTxCongestionEchoes);
  }
}

void CongestionGrants::CheckInvariants() const {
  for (const auto& target : targets_) {
    target->credit.CheckInvariants();
    if (target->shown > target->credit.active() && !target->listed) std::abort();
  }
}

}  // namespace suede
