// SPDX-License-Identifier: Apache-2.0
// Causes for which commands wait at one moment, for readers outside the endpoint (docs/why.md).
#ifndef SUEDE_LCORE_WAIT_SNAPSHOT_H_
#define SUEDE_LCORE_WAIT_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <optional>

#include "base/sue.h"
#include "lcore/snapshot.h"

namespace suede {

// In the order of kWaitCauseNames (lib/mgmt).
enum class WaitCause : uint8_t {
  kFlight,          // none waits: PDUs are on the way, and not acknowledged yet
  kTurn,            // the first PDU may leave, and waits for the lcore
  kDown,            // an operator has set the port, the instance or the plane down
  kNoLink,          // the port has no link
  kNoMac,           // the peer's MAC address is not known
  kNoAssociation,   // the peer has not answered a HELLO
  kUnreachable,     // the peer does not answer any more
  kNoPlane,         // no plane that leads to the peer may be used
  kMoving,          // the flow changes its plane, behind PDUs in flight on the former one
  kPause,           // the neighbour pauses the class (PFC)
  kLinkCredit,      // the neighbour grants no credit (CBFC)
  kPort,            // the port takes no more frames
  kNotReady,        // the peer has no room: NOT_READY
  kRetransmission,  // PDUs that were lost go first
  kFence,           // the plane is down, and a FENCE under way
  kCongestion,      // congestion control
  kWindow,          // as many PDUs or bytes are in flight as the window permits
  kShare,           // the destination has its share of the frames
  kCredit,          // the peer's client has granted no receive credit
  kFrames,          // the pool of frames is empty
};
inline constexpr size_t kWaitCauses = 20;

// Commands to one {peer, VC} that have not been acknowledged.
struct WaitRow {
  static constexpr uint8_t kAnyPlane = 0xff;

  uint16_t peer_xpuid = 0;
  uint8_t vc = 0;
  WaitCause cause = WaitCause::kFlight;
  uint8_t plane = kAnyPlane;             // of the cause
  int64_t since_ns = -1;                 // since the cause began; -1: not known
  uint32_t queued_octets = 0;            // on the wire, of PDUs that have not left
  int64_t queued_ns = -1;                // age of the first of them; -1: there is none
  uint32_t inflight_pdus = 0;            // of all VCs, if PSNs span them
  int64_t inflight_ns = -1;              // since the oldest was sent; -1: none
  std::optional<uint32_t> credit_lines;  // nullopt: no receive credit is counted
  uint32_t tx_pdus = 0;                  // sent so far, modulo 2^32; as inflight_pdus
};

// The receiving side of one VC.
struct ReaderRow {
  uint32_t client = 0;      // the one that has claimed the VC; valid if ring_lines is not 0
  uint32_t ring_lines = 0;  // of its receive ring; 0: no client
  uint32_t filled_lines = 0;
  uint32_t unclaimed_pdus = 0;  // kept for a client, or for its room
};

struct WaitSnapshot : PeersSnapshot<WaitRow> {
  std::array<ReaderRow, kVcCount> readers;  // of the instance
};

}  // namespace suede

#endif  // SUEDE_LCORE_WAIT_SNAPSHOT_H_
