// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tracer.h"

#include <algorithm>

namespace suede {

// Lets the next connections take part in the trace, or no longer.
void Tracer::Visit(Instance& instance, TraceSnapshot& asked) {
  const auto end = static_cast<uint32_t>(instance.peers.connections.size());
  const uint32_t stop = std::min(end, asked.first + TraceSnapshot::kMaxVisited);
  for (asked.next = asked.first; asked.next < stop; ++asked.next) {
    const ConnectionIndex number(asked.next);
    const uint16_t xpuid = instance.params.peers[instance.map.PeerOf(number)].xpuid;
    const bool is_wanted =
        asked.settings.peer_xpuid == TraceSettings::kAnyPeer || asked.settings.peer_xpuid == xpuid;
    instance.peers.connections[number].rx().SetTraced(asked.wish == TraceWish::kBegin && is_wanted);
  }
  asked.more = asked.next < end;
}

void Tracer::Serve(TraceSnapshot& asked, Time now) {
  asked.more = false;
  asked.count = 0;
  asked.now = now;
  if (asked.instance < lcore_.instances.size()) {
    Instance& instance = *lcore_.instances[asked.instance];
    if (asked.wish == TraceWish::kRead) {
      const std::span<const TraceRow> rows = instance.trace.rows();
      std::copy(rows.begin(), rows.end(), asked.rows.begin());
      asked.count = static_cast<uint32_t>(rows.size());
    } else {
      Visit(instance, asked);
      if (!asked.more) {
        const bool begins = asked.wish == TraceWish::kBegin;
        if (begins) instance.trace.Begin(asked.settings);
        if (!begins) instance.trace.End();
        instance.tx.SetTrace(begins ? &instance.trace : nullptr);
        is_active_ |= begins;
      }
    }
  }
  asked.done.store(true, std::memory_order_release);
}

TraceState Tracer::FollowSent(const Instance& instance, TraceRow& row, const Pdu* pdu, Time now) {
  if (row.At(TraceStage::kSent) == kNever) {
    const auto staged = instance.ports[row.path.plane]->link.staged();
    const bool has_left =
        std::ranges::none_of(staged, [pdu](const Frame* frame) { return frame == FrameOf(pdu); });
    if (has_left) row.At(TraceStage::kSent) = now;
  }
  const Connection& connection = instance.peers.connections[row.path.connection];
  if (connection.in_flight().DistanceFromOldest(row.psn) >= 0) return row.state;
  row.At(TraceStage::kAcked) = now;
  return TraceState::kAcked;
}

// Returns the state of a row that is under way, kept or unread.
TraceState Tracer::Follow(const Instance& instance, TraceRow& row, const Pdu* pdu,
                          const RingMark& mark, Time now) {
  if (row.state == TraceState::kUnderWay) return FollowSent(instance, row, pdu, now);
  if (row.state == TraceState::kEarly) {
    const ReceiveHalf& rx = instance.peers.connections[row.path.connection].rx();
    return rx.has_early() && rx.early().Has(row.psn) ? row.state : TraceState::kLost;
  }
  const bool is_claimant = lcore_.clients.claimant(instance.number, row.path.vc) == mark.slot &&
                           lcore_.clients.client(mark.slot).client == mark.client;
  if (!is_claimant) return TraceState::kLost;
  if (!lcore_.clients.ring(mark.slot, row.path.vc).HasRead(mark.head)) return row.state;
  row.At(TraceStage::kRead) = now;
  return TraceState::kRead;
}

void Tracer::Poll(Time now) {
  is_active_ = false;
  for (const auto& instance : lcore_.instances) {
    Trace& trace = instance->trace;
    trace.Update([&](TraceRow& row, const Pdu* pdu, const RingMark& mark) {
      return Follow(*instance, row, pdu, mark, now);
    });
    if (instance->tx.trace != nullptr && !trace.follows_sent()) instance->tx.SetTrace(nullptr);
    is_active_ |= trace.is_open();
  }
}

}  // namespace suede
