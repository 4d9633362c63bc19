// SPDX-License-Identifier: Apache-2.0
// The load of one instance at one moment, for recordings (docs/record.md): sums over its peers, for
// each plane and VC. Counts grow, modulo 2^32 where they are of 32 bits; the reader takes the
// differences of two snapshots.
#ifndef SUEDE_LCORE_RECORD_SNAPSHOT_H_
#define SUEDE_LCORE_RECORD_SNAPSHOT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/sue.h"
#include "base/time.h"
#include "path/peer_paths.h"

namespace suede {

// Load of a {plane, VC}; of a plane and VC 0 if each connection carries all VCs.
struct PathLoad {
  uint32_t tx_pdus = 0;
  uint32_t retransmissions = 0;
  uint32_t rx_pdus = 0;
  uint64_t tx_bytes = 0;  // of commands, while the instance was recorded
  uint64_t rx_bytes = 0;
  uint64_t marked = 0;
  uint64_t trimmed = 0;
  uint32_t inflight_pdus = 0;
  uint64_t inflight_bytes = 0;
  bool operator==(const PathLoad&) const = default;
};
// Load of a plane.
struct PlaneLoad {
  uint64_t window_octets = 0;         // congestion windows or remaining credit
  uint64_t granted_octets = 0;        // to peers
  std::optional<uint64_t> grant_bps;  // nullopt: no peer requests credit
  bool has_pauses = false;
  std::array<int64_t, kVcCount> paused_ns{};  // so far
};
// Load of a VC.
struct VcLoad {
  uint64_t queued_octets = 0;  // on the wire, of PDUs that wait
  uint64_t credit_lines = 0;   // granted by peers and unused
  uint64_t promised_lines = 0;
  uint64_t unclaimed_pdus = 0;
  std::optional<uint32_t> ring_lines;  // filled ones of the receive ring; nullopt: no client
};

// Memory of the requester, which belongs to the lcore from the request until `done`.
struct RecordSnapshot {
  // Connections that one request visits: bounds its cost for the lcore.
  static constexpr uint32_t kMaxVisited = 256;

  // Asked.
  uint32_t instance = 0;  // the pipeline's number
  uint32_t first = 0;     // connection to begin with; 0: begins a snapshot
  bool record = true;     // false: ends the recording
  // Answered, once `more` is false.
  uint32_t next = 0;  // the connection to continue with
  bool more = false;
  Time at{};
  std::array<std::array<PathLoad, kVcCount>, kMaxPlanes> paths{};
  std::array<PlaneLoad, kMaxPlanes> planes{};
  std::array<VcLoad, kVcCount> vcs{};
  uint64_t tx_ring_lines = 0;  // handed over by clients, and not taken
  uint64_t queued_pdus = 0;
  uint64_t waits_credit = 0;
  uint64_t waits_congestion = 0;
  std::atomic<bool> done{true};  // stored by the lcore, with release
};

}  // namespace suede

#endif  // SUEDE_LCORE_RECORD_SNAPSHOT_H_
