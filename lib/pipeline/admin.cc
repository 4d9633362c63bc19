// What an operator takes out of service and puts back, and what the lcore tells of its own accord.
#include "pipeline/pipeline.h"

namespace suede {

void Pipeline::SetAdmin(const LcoreRequest& request) {
  const bool is_port = request.kind == LcoreRequestKind::kSetPort;
  if (is_port && request.port < ports_.size()) ports_[request.port]->down = !request.up;
  if (!is_port && request.instance < instances_.size()) {
    instances_[request.instance]->down = !request.up;
    if (request.up) Resume(*instances_[request.instance]);
  }
  admin_done_.store(admin_done_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// What an instance that is down was left with when its turn came on its port's lists is put on
// them again. A port that is down stands still as it is and needs nothing of the kind.
void Pipeline::Resume(Instance& instance) {
  if (instance.scheduler.HasWork()) Enlist(instance);
  for (uint32_t number = 0; number < instance.connections.size(); ++number) {
    Connection& connection = instance.connections[number];
    if (connection.HasRetransmission()) WantRetransmission(instance, number);
    if (!connection.OwesAck()) continue;
    uint8_t& flags = instance.flags[number];
    if ((flags & Instance::kOnAckNow) != 0) continue;
    flags |= Instance::kOnAckNow;
    PortOf(instance).ack_now.push_back({instance.number, number});
  }
}

void Pipeline::Tell(LcoreEventKind kind, const Instance& instance, uint32_t connection) {
  const bool per_vc = instance.params.transport.psn_scope == PsnScope::kVc;
  const uint32_t peer = instance.PeerOfConnection(connection);
  Tell({.kind = kind,
        .vc = per_vc ? instance.VcOfConnection(connection) : LcoreEvent::kAllVcs,
        .peer_xpuid = instance.params.peers[peer].xpuid,
        .instance = instance.number});
}

void Pipeline::Tell(const LcoreEvent& event) {
  if (!mailbox_.events.Push(event)) lcore_counters_.Add(Counter::kEventsLost);
}

}  // namespace suede
