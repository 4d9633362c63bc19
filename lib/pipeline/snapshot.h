// Connections as they were at one moment, for whoever looks at an endpoint from outside.
#ifndef SUEDE_PIPELINE_SNAPSHOT_H_
#define SUEDE_PIPELINE_SNAPSHOT_H_

#include <array>
#include <atomic>
#include <cstdint>

namespace suede {

enum class ConnectionState : uint8_t {
  kNew,             // no handshake was needed yet, or it is under way
  kOpen,
  kPaused,          // the peer said that it is not ready
  kRetransmitting,  // going back over what was sent
  kLost,            // unreachable, and probing
};

struct ConnectionRow {
  uint16_t peer_xpuid = 0;
  uint8_t vc = 0;  // where the PSN scope is one VC
  ConnectionState state = ConnectionState::kNew;
  bool peer_waits = false;  // we were not ready for its next PDU
  uint8_t tries = 0;
  uint16_t next_psn = 0;
  uint16_t expected_psn = 0;
  uint32_t unacked_pdus = 0;
  uint32_t unacked_bytes = 0;
  int64_t srtt_ns = 0;
  int64_t rto_ns = 0;
};

// The asker's memory. It belongs to the lcore from the request until `done`, and is written once.
struct ConnectionSnapshot {
  // Bounds what a request costs the lcore.
  static constexpr uint32_t kMaxRows = 128;
  static constexpr uint32_t kMaxLooks = 256;
  static constexpr uint32_t kAnyPeer = ~0u;

  // Asked.
  uint32_t instance = 0;          // the pipeline's number
  uint32_t first = 0;             // connection to begin with
  uint32_t peer_xpuid = kAnyPeer;
  bool unused = false;            // those too on which nothing was ever exchanged
  // Answered.
  uint32_t count = 0;
  uint32_t next = 0;              // connection to go on with
  bool more = false;              // there are connections from `next` on
  std::array<ConnectionRow, kMaxRows> rows;

  std::atomic<bool> done{true};   // stored by the lcore, with release
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_SNAPSHOT_H_
