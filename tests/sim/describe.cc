// SPDX-License-Identifier: Apache-2.0
// The progress of every host, which shows why a world does not come to its end.
#include "world.h"

namespace suede {

void World::Describe() {
  for (const auto& host : hosts_) {
    if (!host->alive()) {
      log_.Add(now_, "host %u is dead", host->number);
      continue;
    }
    log_.Add(now_, "host %u: %s, %u to send, %zu of %u completions are missing, %s, %u queued",
             host->number, IsAwake(*host) ? "awake" : "asleep", host->to_send,
             host->tags.size() - host->completions, static_cast<uint32_t>(host->tags.size()),
             host->pipeline().IsQuiet() ? "quiet" : "not quiet",
             host->pipeline().instance(0).tx.queued);
    if (options_.seal.mode != SealMode::kOff) DescribeSealing(*host);
    for (uint32_t peer = 0; peer + 1 < hosts_.size(); ++peer) DescribePeer(*host, peer);
  }
}

void World::DescribeSealing(const Host& host) {
  for (const Counter counter : {Counter::kTxFrames,
                                Counter::kRxFrames,
                                Counter::kTxPortFull,
                                Counter::kTxControlPdus,
                                Counter::kRxTruncated,
                                Counter::kRxRcrc,
                                Counter::kRxAdminDown,
                                Counter::kRxUnknownXpu,
                                Counter::kRxSession,
                                Counter::kRxNotSue,
                                Counter::kRxUnknownDestination,
                                Counter::kRxSource,
                                Counter::kRxVersion,
                                Counter::kRxPartition,
                                Counter::kTxNoFrame,
                                Counter::kTxSealed,
                                Counter::kRxSealed,
                                Counter::kTxSealKey,
                                Counter::kRxUnsealed,
                                Counter::kRxSealMalformed,
                                Counter::kRxSealKey,
                                Counter::kRxSealBudget,
                                Counter::kRxSealTag,
                                Counter::kRxSealReplay,
                                Counter::kRxSealPlane,
                                Counter::kSealRotations,
                                Counter::kSealEpochs}) {
    log_.Add(now_, "  %s %llu",
             std::string(CounterRows()[static_cast<size_t>(counter)].name).c_str(),
             static_cast<unsigned long long>(host.Count(counter)));
  }
}

void World::DescribePeer(const Host& host, uint32_t peer) {
  const Instance& instance = host.pipeline().instance(0);
  const Handshake& handshake = instance.peers[PeerIndex(peer)].handshake();
  const PeerPaths& paths = instance.peers.paths[peer];
  log_.Add(now_,
           "  to %u: handshake %s, peer %llx, sessions %d, usable %x, home %u%s%s, blocked %x",
           instance.params.peers[peer].xpuid, handshake.open() ? "open" : "not open",
           static_cast<unsigned long long>(handshake.identities().peer), paths.sessions,
           paths.usable, paths.home[0], paths.moving ? " moving" : "",
           paths.unreachable ? " unreachable" : "", instance.tx.blocked[peer]);
  for (uint32_t plane = 0; instance.tx.is_paced && plane < instance.map.plane_count(); ++plane) {
    const CongestionContext& context =
        instance.tx.contexts[instance.map.PathAt(PeerIndex(peer), PlaneIndex(plane))];
    log_.Add(now_, "    plane %u: congestion control %s, %lld octets allowed, %llu in flight", plane,
             std::string(context.state_name()).c_str(),
             static_cast<long long>(context.allowance()),
             static_cast<unsigned long long>(context.in_flight()));
  }
  for (uint32_t plane = 0; instance.peers.own.has_sessions && plane < instance.map.plane_count();
       ++plane) {
    const PathIndex path = instance.map.PathAt(PeerIndex(peer), PlaneIndex(plane));
    const PlaneSession& session = instance.peers.sessions[path];
    uint32_t unacked = 0;
    bool closed = false;
    for (PathConnection number = 0; number < instance.map.path_connections(); ++number) {
      const Connection& connection = instance.peers.connections[instance.map.At(path, number)];
      unacked += connection.in_flight().count();
      closed |= connection.rx().closed();
    }
    log_.Add(
        now_,
        "    plane %u: %s%s%s%s%s, generations %u and %u, %u missed, %u in flight, receives %s",
        plane,
        session.state() == PlaneState::kUp     ? "up"
        : session.state() == PlaneState::kInit ? "init"
                                               : "down",
        session.begun() ? "" : ", not begun", session.fencing() ? ", fencing" : "",
        instance.peers.own.admin[plane] == PlaneAdmin::kUp ? "" : ", not in use",
        instance.peers.own.port_up(PlaneIndex(plane)) ? "" : ", port down", session.tx_generation(),
        session.rx_generation(), session.missed(), unacked, closed ? "nothing" : "");
  }
}

}  // namespace suede
