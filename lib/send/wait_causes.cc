// SPDX-License-Identifier: Apache-2.0
#include "send/wait_causes.h"

#include <algorithm>

#include "send/share_book.h"

namespace suede {

std::optional<WaitRow> WaitCauses::RowOf(PeerIndex peer, Vc vc) const {
  const TxQueue& queue = instance_.tx.scheduler.queue(Scheduler::IndexOf(peer, vc));
  WaitRow row{.peer_xpuid = instance_.params.peers[peer].xpuid, .vc = static_cast<uint8_t>(vc)};
  AddInFlight(peer, vc, &row);
  const bool is_shown = !queue.pdus.empty() || ShowsAlone(peer, vc, row.inflight_pdus != 0);
  if (!is_shown) return std::nullopt;
  const Found found = CauseOf(peer, vc);
  if (!queue.pdus.empty()) {
    row.queued_octets = instance_.tx.OctetsOf(queue);
    row.queued_ns = queue.pdus.head()->Age(now_).count();
  } else if (found.cause >= WaitCause::kCongestion || found.cause == WaitCause::kTurn) {
    return row;  // nothing waits for this
  }
  row.cause = found.cause;
  row.plane = found.plane;
  if (found.since != kNever) row.since_ns = (now_ - found.since).count();
  if (queue.counts_credit) row.credit_lines = queue.credit;
  return row;
}

// Whether a {peer, VC} without queued PDUs has a row: for PDUs in flight, which are shown once
// where a connection carries all VCs, or as the peer does not answer any more.
bool WaitCauses::ShowsAlone(PeerIndex peer, Vc vc, bool in_flight) const {
  const uint32_t first = Scheduler::IndexOf(peer, Vc(0));
  const PeerPaths& paths = instance_.peers.paths[peer];
  const bool has_mac = (paths.present & ~paths.resolving) != 0;
  if (!in_flight) return vc == 0 && has_mac && instance_.tx.scheduler.queue(first).lost;
  if (instance_.map.is_per_vc()) return true;
  for (uint32_t other = 0; other < kVcCount; ++other) {
    if (!instance_.tx.scheduler.queue(first + other).pdus.empty()) return false;
  }
  return vc == 0;
}

// Adds the PDUs in flight on the connections of the {peer, VC}.
void WaitCauses::AddInFlight(PeerIndex peer, Vc vc, WaitRow* row) const {
  const ConnectionIndex first = instance_.map.At(peer, 0, 0);
  for (uint32_t i = 0; i < instance_.map.peer_connections(); ++i) {
    const ConnectionIndex number(first + i);
    if (instance_.map.is_per_vc() && instance_.map.VcOf(number) != vc) continue;
    const SendHalf& half = instance_.peers.connections[number].tx();
    row->tx_pdus += half.tx_pdus();
    if (half.lost() || half.in_flight().oldest() == nullptr) continue;
    row->inflight_pdus += half.in_flight().count();
    row->inflight_ns = std::max(row->inflight_ns, half.in_flight().oldest()->Age(now_).count());
  }
}

// Returns the cause for which the first PDU of the queue waits, or would wait.
WaitCauses::Found WaitCauses::CauseOf(PeerIndex peer, Vc vc) const {
  if (instance_.down) return {WaitCause::kDown};
  const PeerPaths& paths = instance_.peers.paths[peer];
  if (paths.choice[vc] == 0) return WithoutPlane(peer, vc);
  const TxQueue& queue = instance_.tx.scheduler.queue(Scheduler::IndexOf(peer, vc));
  const Pdu* const pdu = queue.pdus.head();
  const uint32_t bytes = pdu != nullptr ? pdu->bytes : 0;
  Found first;
  bool is_open = false;
  for (uint32_t left = paths.choice[vc]; left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    const Found found = OfPlane(peer, plane, vc, bytes);
    is_open |= found.cause == WaitCause::kTurn;
    if (left == paths.choice[vc]) first = found;
  }
  if (!is_open) return first;
  if (pdu == nullptr || pdu->credited) return {};
  if (!ShareBook::MayHold(instance_.tx, peer, vc)) return {WaitCause::kShare};
  if (queue.counts_credit && pdu->lines > queue.credit) return {WaitCause::kCredit};
  if (instance_.sealing.on() && !instance_.tx.home.frames().Has(kBurst))
    return {WaitCause::kFrames};
  return {};
}

// Returns the plane on which PDUs of the {peer, VC} are in doubt, as a FENCE asks for them.
std::optional<PlaneIndex> WaitCauses::FencedPlaneOf(PeerIndex peer, Vc vc) const {
  const ConnectionIndex first = instance_.map.At(peer, 0, 0);
  for (uint32_t i = 0; i < instance_.map.peer_connections(); ++i) {
    const ConnectionIndex number(first + i);
    const bool carries = (instance_.map.VcsOf(number) >> vc & 1) != 0;
    if (carries && instance_.peers.connections[number].tx().frozen())
      return instance_.map.PlaneOf(number);
  }
  return std::nullopt;
}

// Returns the cause for which no plane may be used for the next PDU of a {peer, VC}.
WaitCauses::Found WaitCauses::WithoutPlane(PeerIndex peer, Vc vc) const {
  const PeerPaths& paths = instance_.peers.paths[peer];
  if (paths.usable != 0) {
    const std::optional<PlaneIndex> fenced = FencedPlaneOf(peer, vc);
    if (fenced) return {WaitCause::kFence, static_cast<uint8_t>(*fenced)};
    return {WaitCause::kMoving};
  }
  if ((paths.present & ~paths.resolving) == 0) return {WaitCause::kNoMac};
  for (uint32_t left = paths.present; left != 0; left &= left - 1) {
    const auto plane = Lowest<PlaneIndex>(left);
    const Link& link = instance_.ports[plane]->link;
    const auto number = static_cast<uint8_t>(plane);
    if (link.down() || instance_.peers.own.admin[plane] == PlaneAdmin::kDown) {
      return {WaitCause::kDown, number};
    }
    if (!link.state().up) return {WaitCause::kNoLink, number};
  }
  if (paths.unreachable || instance_.tx.IsUnreachable(peer)) return {WaitCause::kUnreachable};
  if (!instance_.peers[peer].handshake().open()) return {WaitCause::kNoAssociation};
  return {WaitCause::kNoPlane};
}

// Returns the cause for which a PDU with `bytes` bytes of commands waits for a plane; kTurn: none.
WaitCauses::Found WaitCauses::OfPlane(PeerIndex peer, PlaneIndex plane, Vc vc,
                                      uint32_t bytes) const {
  const Link& link = instance_.ports[plane]->link;
  const auto of = [plane](WaitCause cause, Time since = kNever) {
    return Found{cause, static_cast<uint8_t>(plane), since};
  };
  if (link.down() || instance_.peers.own.admin[plane] == PlaneAdmin::kDown)
    return of(WaitCause::kDown);
  if (!link.state().up) return of(WaitCause::kNoLink);
  const LinkPauses* const pauses = link.pauses();
  if (pauses != nullptr && (pauses->paused() >> vc & 1) != 0) {
    return of(WaitCause::kPause, pauses->since(vc));
  }
  if (link.IsHeld(vc)) return of(WaitCause::kLinkCredit, link.HeldFlowSince(vc));
  if (!instance_.CanSend(peer, plane, vc, bytes)) {
    const ConnectionIndex number = instance_.map.At(peer, plane, 0, vc);
    const WaitCause cause = OfConnection(instance_.peers.connections[number]);
    const bool permits = instance_.tx.Permits(instance_.map.PathAt(peer, plane), bytes);
    const bool is_congestion = cause == WaitCause::kWindow && !permits;
    return of(is_congestion ? WaitCause::kCongestion : cause);
  }
  if (!link.HasRoom(vc)) return of(WaitCause::kPort);
  return of(WaitCause::kTurn);
}

// Returns the cause for which a connection takes no PDU, beside congestion control.
WaitCause WaitCauses::OfConnection(const Connection& connection) {
  const SendHalf& half = connection.tx();
  if (half.lost()) return WaitCause::kUnreachable;
  if (half.frozen()) return WaitCause::kFence;
  if (half.paused()) return WaitCause::kNotReady;
  if (half.in_flight().HasRetransmission()) return WaitCause::kRetransmission;
  return WaitCause::kWindow;
}

}  // namespace suede
