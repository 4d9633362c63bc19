// SPDX-License-Identifier: Apache-2.0
// Asks a peer, by its lcore, whether it is there.
#ifndef SUEDE_APP_ENDPOINT_PEER_PING_H_
#define SUEDE_APP_ENDPOINT_PEER_PING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/coordinates.h"
#include "base/token_bucket.h"
#include "endpoint/endpoint.h"
#include "mgmt/peer_view.h"

namespace suede {

// The limits of questions: an instance has one at a time, and a number per second. Outlives the
// questions. Control thread only.
class PingLimits {
 public:
  static constexpr uint32_t kPerSecond = 10;      // of an instance
  static constexpr uint32_t kPerSecondAll = 100;  // of all

  explicit PingLimits(Endpoint* endpoint)
      : endpoint_(endpoint), of_instance_(endpoint->config().instances.size()) {}

  // The instance and the planes that the query means.
  absl::StatusOr<PeerAskView::PingQuestion> Begin(const PingQuery& query);

 private:
  friend class PeerPing;
  struct Limit {
    bool taken = false;
    uint32_t ticket = 0;
    TokenBucket rate = TokenBucket::QuarterAtOnce(kPerSecond);
  };
  Endpoint* const endpoint_;
  std::vector<Limit> of_instance_;  // as Config::instances
  TokenBucket all_ = TokenBucket::QuarterAtOnce(kPerSecondAll);
};

// A question to a peer. Control thread only.
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
  const uint8_t planes_;  // a mask
  bool asked_ = false;    // it is this one's turn, and the lcore has been told
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PEER_PING_H_
