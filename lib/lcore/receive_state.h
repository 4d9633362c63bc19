// SPDX-License-Identifier: Apache-2.0
// The receive state of an instance: the addresses and marks of its peers' frames, acknowledgements
// that it has scheduled, PDUs that wait for a client, and the credit that it has granted.
#ifndef SUEDE_LCORE_RECEIVE_STATE_H_
#define SUEDE_LCORE_RECEIVE_STATE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "client/command_sink.h"
#include "credit/credit.h"
#include "lcore/params.h"
#include "path/connection_map.h"
#include "pdu/pdu_list.h"

namespace suede {

// Counts of the PDUs that an instance has received from a peer on a plane, modulo 2^32, for a peer
// that requests echoes (docs/control-pdus.md, CONGESTION).
struct ReceivedMarks {
  uint32_t received = 0;
  uint32_t marked = 0;
  uint32_t trimmed = 0;
  uint64_t sessions = 0;   // slots of the PDUs marked since the last echo, a mask
  bool wanted = false;     // the peer requests echoes
  bool requested = false;  // the peer has requested credit
  bool due = false;        // on the list of marks to be echoed
  bool is_counted() const { return wanted | requested; }
};

struct ReceiveState {
  // `instance_params` outlive this object.
  ReceiveState(uint32_t instance, const InstanceParams& instance_params,
               const ConnectionMap& connections)
      : number(instance),
        map(connections),
        params(instance_params),
        head(ReceivedHead(0, 0, params.xpuid, params.instance)),
        ack_list(map.plane_count()),
        ack_flags(params.peers.size() * map.peer_connections()),
        marks(params.peers.size() * map.plane_count()) {
    for (const PeerParams& peer : params.peers) {
      for (PlaneIndex plane = 0; plane < map.plane_count(); ++plane) {
        sources.push_back(peer.planes[plane].address);
      }
    }
    credit.queues.resize(params.peers.size() * kVcCount);
  }

  const uint32_t number;  // of the instance, in the pipeline
  const ConnectionMap map;
  const InstanceParams& params;
  const uint64_t head;              // the common part of ReceivedHead of the received records
  std::vector<NetAddress> sources;  // [path]: the source address of the peer's frames
  std::vector<uint32_t> ack_list;   // [plane]: index of the port's ack_due that has our delay
  std::vector<uint8_t> ack_flags;   // [connection], of:
  static constexpr uint8_t kOnAckList = 1;
  static constexpr uint8_t kOnAckNow = 2;
  std::vector<ReceivedMarks> marks;  // [path]
  RxCredits credit;                  // receive credit that peers hold here

  // Sums of the PDUs received on a plane and VC.
  struct Sums {
    uint64_t bytes = 0;  // of commands that were accepted, while there is a recording
    uint64_t marked = 0;
    uint64_t trimmed = 0;
  };
  Sums& SumsOf(ConnectionIndex connection) {
    return sums[map.PlaneOf(connection)][map.VcOf(connection)];
  }
  std::array<std::array<Sums, kVcCount>, kMaxPlanes> sums{};

  std::array<PduList, kVcCount> unclaimed;  // accepted PDUs that wait for a client
  std::array<uint32_t, kVcCount> unclaimed_count{};
  uint32_t kept_early = 0;  // frames of PDUs that have arrived ahead of others
};

}  // namespace suede

#endif  // SUEDE_LCORE_RECEIVE_STATE_H_
