// SPDX-License-Identifier: Apache-2.0
// Pings a peer by its lcore.
#ifndef SUEDE_APP_ENDPOINT_PEER_PING_H_
#define SUEDE_APP_ENDPOINT_PEER_PING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/coordinates.h"
#include "base/token_bucket.h"
#include "endpoint/endpoint.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// The planes of an instance that lead to a peer.
struct PeerPlanes {
  uint32_t instance = 0;  // index into Config::instances
  PeerIndex peer = 0;     // index into the instance's peers
  uint8_t planes = 0;     // mask, not empty
};
// Returns the planes of the first instance that the query names.
absl::StatusOr<PeerPlanes> FindPeerPlanes(const Endpoint& endpoint, const PingQuery& query);

// Limits pings: one at a time per instance, and a number per second. Must outlive the pings.
// Control thread only.
class PingLimits {
 public:
  static constexpr uint32_t kPerSecond = 10;      // of an instance
  static constexpr uint32_t kPerSecondAll = 100;  // of all instances

  explicit PingLimits(Endpoint* endpoint)
      : endpoint_(endpoint), of_instance_(endpoint->config().instances.size()) {}

  // Begins a ping of the query's instance and planes.
  absl::StatusOr<EndpointView::PingQuestion> Begin(const PingQuery& query);

 private:
  friend class PeerPing;
  struct Limit {
    bool taken = false;
    uint32_t ticket = 0;
    TokenBucket rate = TokenBucket::QuarterAtOnce(kPerSecond);
  };
  Endpoint* const endpoint_;
  std::vector<Limit> of_instance_;  // in the order of Config::instances
  TokenBucket all_ = TokenBucket::QuarterAtOnce(kPerSecondAll);
};

// One ping. Control thread only.
class PeerPing {
 public:
  // `peer`: index into the instance's peers.
  PeerPing(PingLimits* limits, uint32_t instance, PeerIndex peer, uint8_t planes)
      : limits_(limits), instance_(instance), peer_(peer), planes_(planes) {}
  ~PeerPing() {
    if (asked_) limits_->of_instance_[instance_].taken = false;
  }
  PeerPing(const PeerPing&) = delete;
  PeerPing& operator=(const PeerPing&) = delete;

  std::optional<absl::StatusOr<PingView>> Poll(bool is_last);

 private:
  bool Ask();
  const PingBoard& board() const;
  bool IsOver() const;
  PingView View() const;

  PingLimits* const limits_;
  const uint32_t instance_;
  const PeerIndex peer_;
  const uint8_t planes_;  // mask
  bool asked_ = false;    // the ping was posted to the lcore
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PEER_PING_H_
