// SPDX-License-Identifier: Apache-2.0
// Snapshots of connections, planes and clients' queues at one moment, for readers outside the
// endpoint.
#ifndef SUEDE_LCORE_SNAPSHOT_H_
#define SUEDE_LCORE_SNAPSHOT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "path/session_group.h"
#include "wire/control_pdu.h"

namespace suede {

enum class ConnectionState : uint8_t {
  kNew,  // no handshake was needed yet, or it is in progress
  kOpen,
  kPaused,          // the peer has sent NOT_READY
  kRetransmitting,  // going back over sent PDUs
  kFrozen,          // its plane is down, and PDUs in flight there wait for a FENCED
  kLost,            // unreachable, and probing
};
inline constexpr size_t kConnectionStates = 6;

// The session of a connection, if there are several (docs/sessions.md).
struct SessionRow {
  uint16_t number = 0;       // of our PDUs
  uint16_t peer_number = 0;  // of the peer's
  SessionSlot::State state = SessionSlot::State::kIdle;
  uint32_t weight = 0;  // SessionSlot::kWeightOne: not congested
  uint32_t moves = 0;   // requests for numbers
  int64_t age_ns = 0;   // of its number; 0: never used
};

struct ConnectionRow {
  uint16_t peer_xpuid = 0;
  uint8_t plane = 0;
  uint8_t slot = 0;                   // of the session
  std::optional<SessionRow> session;  // none: there is one, or the slot was not agreed
  uint8_t vc = 0;                     // if the PSN scope is the VC
  ConnectionState state = ConnectionState::kNew;
  bool peer_waits = false;  // we were not ready for its next PDU
  uint8_t tries = 0;
  uint16_t next_psn = 0;
  uint16_t expected_psn = 0;
  uint32_t unacked_pdus = 0;
  uint32_t unacked_bytes = 0;
  uint32_t tx_pdus = 0;  // counts modulo 2^32
  uint32_t rx_pdus = 0;
  uint32_t retransmissions = 0;
  int64_t srtt_ns = 0;
  int64_t rto_ns = 0;
  // Congestion control of the {peer, plane}; without congestion control: "fixed", 0, 0.
  std::string_view congestion = "fixed";  // CongestionContext::state_name
  uint64_t congestion_window_octets = 0;
  int64_t base_rtt_ns = 0;
};

// Rows that an lcore writes, at most kMax at once. Memory of the requester, which belongs to the
// lcore from the request until `done`, and is written once.
template <typename Row, uint32_t kMax>
struct RowSnapshot {
  static constexpr uint32_t kMaxRows = kMax;
  uint32_t count = 0;
  std::array<Row, kMax> rows;
  std::atomic<bool> done{true};  // stored by the lcore, with release
};

// Rows of an instance's peers, a piece at a time.
template <typename Row>
struct PeersSnapshot : RowSnapshot<Row, 128> {
  static constexpr uint32_t kMaxVisited = 256;  // bounds the cost of a request for the lcore
  static constexpr uint32_t kAnyPeer = ~0u;

  // Asked.
  uint32_t instance = 0;  // the pipeline's number
  uint32_t first = 0;     // connection, or pair of peer and plane, to begin with
  uint32_t peer_xpuid = kAnyPeer;
  // Answered.
  uint32_t next = 0;  // the one to continue with
  bool more = false;  // there are some from `next` on
};

struct ConnectionSnapshot : PeersSnapshot<ConnectionRow> {
  bool unused = false;  // asked: include connections on which no PDU was ever exchanged
};

// A plane to one peer.
struct PlaneRow {
  uint16_t peer_xpuid = 0;
  uint8_t plane = 0;
  uint8_t peer_plane = 0;  // the other end's number of the plane; 0xff: not known
  PlaneState state = PlaneState::kDown;
  bool sessions = false;  // false: the peer answers no PLANE, and the rest is unknown
  bool usable = false;    // PDUs may be sent there
  uint8_t home_vcs = 0;   // strict: VCs whose PDUs to the peer all take this plane, a mask
  bool fencing = false;   // PDUs are in doubt, and the FENCE is not answered yet
  uint16_t tx_generation = 0;
  uint16_t rx_generation = 0;
  uint16_t weight = 0;
  uint16_t measured_part = 0;  // of the weight, of PathRate::kWhole; 0: not measured
  uint64_t measured_bps = 0;   // when the plane was last the limit; 0: never
  uint32_t inflight_bytes = 0;
  uint32_t deaths = 0;
  int64_t heard_ago_ns = -1;  // since the path was last proved in both directions; -1: never
  int64_t held_ns = 0;        // remaining hold-down
};

struct PlaneSnapshot : PeersSnapshot<PlaneRow> {
  std::array<uint32_t, 4> inflight_bytes{};  // of the instance, on each plane, at that moment
};

// A client's queue, by its lcore's state. The client can write its ring's words, so `waiting_lines`
// is unverified, but never more than its ring has.
struct QueueRow {
  uint32_t client = 0;
  uint32_t instance = 0;       // the pipeline's number
  uint16_t number = 0;         // within the client
  bool broken = false;         // no longer served: its indices were invalid
  bool leaving = false;        // the client is gone: its records are still taken
  uint32_t waiting_lines = 0;  // handed over and not taken
  uint32_t credit_lines = 0;   // taken, and the credit not returned yet
  uint64_t discarded = 0;      // discarded commands
};

struct QueueSnapshot : RowSnapshot<QueueRow, 256> {};  // as many queues as an lcore serves

}  // namespace suede

#endif  // SUEDE_LCORE_SNAPSHOT_H_
