// SPDX-License-Identifier: Apache-2.0
#include "pipeline/sampler.h"

#include <algorithm>

namespace suede {
namespace {

// Keeps what was asked.
void Clear(RecordSnapshot& out) {
  out.paths = {};
  out.planes = {};
  out.vcs = {};
  out.tx_ring_lines = 0;
}

}  // namespace

void Sampler::AddPeer(const Instance& instance, PeerIndex peer, RecordSnapshot& out) {
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    const TxQueue& queue = instance.tx.scheduler.queue(Scheduler::IndexOf(peer, vc));
    out.vcs[vc].queued_octets += instance.tx.OctetsOf(queue);
    if (queue.counts_credit) out.vcs[vc].credit_lines += queue.credit;
  }
  if (!instance.tx.is_paced) return;
  for (PlaneIndex plane = 0; plane < instance.map.plane_count(); ++plane) {
    out.planes[plane].window_octets +=
        instance.tx.contexts[instance.map.PathAt(peer, plane)].window_octets();
  }
}

void Sampler::Visit(Instance& instance, RecordSnapshot& out) const {
  const auto end = static_cast<uint32_t>(instance.peers.connections.size());
  const uint32_t stop = std::min(end, out.first + RecordSnapshot::kMaxVisited);
  for (out.next = out.first; out.next < stop; ++out.next) {
    const ConnectionIndex number(out.next);
    Connection& connection = instance.peers.connections[number];
    connection.rx().SetRecorded(out.record);
    PathLoad& path = out.paths[instance.map.PlaneOf(number)][instance.map.VcOf(number)];
    path.tx_pdus += connection.tx().tx_pdus();
    path.retransmissions += connection.tx().retransmissions();
    path.rx_pdus += connection.rx().rx_pdus();
    if (!connection.tx().lost()) {
      path.inflight_pdus += connection.in_flight().count();
      path.inflight_bytes += connection.in_flight().bytes();
    }
    if (instance.map.NumberAtPeer(number) == 0) AddPeer(instance, instance.map.PeerOf(number), out);
  }
  out.more = out.next < end;
}

// Adds the sums that are kept anyhow.
void Sampler::Finish(const Instance& instance, RecordSnapshot& out) const {
  for (PlaneIndex plane = 0; plane < instance.map.plane_count(); ++plane) {
    for (Vc vc = 0; vc < kVcCount; ++vc) {
      PathLoad& path = out.paths[plane][vc];
      path.tx_bytes = instance.tx.recorded_bytes[plane][vc];
      const ReceiveState::Sums& sums = instance.rx.sums[plane][vc];
      path.rx_bytes = sums.bytes;
      path.marked = sums.marked;
      path.trimmed = sums.trimmed;
    }
    PlaneLoad& of = out.planes[plane];
    const CongestionGrants::State granted = grants_.StateOf(instance, plane);
    of.granted_octets = granted.outstanding;
    of.grant_bps = granted.rate_bps;
    const LinkPauses* const pauses = instance.ports[plane]->link.pauses();
    of.has_pauses = pauses != nullptr;
    for (Vc vc = 0; of.has_pauses && vc < kVcCount; ++vc) {
      const PortPauses& port = pauses->port();
      of.paused_ns[vc] = port.PausedFor(port.ClassOf(vc), out.at).count();
    }
  }
  for (Vc vc = 0; vc < kVcCount; ++vc) {
    VcLoad& of = out.vcs[vc];
    of.promised_lines = instance.rx.credit.feeds[vc].promised;
    of.unclaimed_pdus = instance.rx.unclaimed_count[vc];
    const uint32_t client = lcore_.clients.claimant(instance.number, vc);
    if (client == ClientTable::kNone) continue;
    RxRingWriter& ring = lcore_.clients.ring(client, vc);
    of.ring_lines = ring.line_count() - ring.FreeLines();
  }
  for (const uint16_t number : lcore_.clients.serving()) {
    const QueueSlot& slot = lcore_.clients.queue(number);
    if (slot.instance == instance.number) out.tx_ring_lines += slot.ring.Waiting();
  }
  out.queued_pdus = instance.tx.queued;
  out.waits_credit = instance.stats.counters.Get(Counter::kTxWaitsCredit);
  out.waits_congestion = instance.stats.counters.Get(Counter::kTxWaitsCongestion);
}

void Sampler::Write(RecordSnapshot& out, Time now) {
  out.more = false;
  if (out.instance < lcore_.instances.size()) {
    Instance& instance = *lcore_.instances[out.instance];
    if (out.first == 0) {
      Clear(out);
      instance.tx.SetRecorded(out.record);
    }
    Visit(instance, out);
    out.at = now;
    if (!out.more) Finish(instance, out);
  }
  out.done.store(true, std::memory_order_release);
}

}  // namespace suede
