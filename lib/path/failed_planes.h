// SPDX-License-Identifier: Apache-2.0
// Planes of an instance that have failed to one of its peers: the other peers are probed on these
// planes at once, and get a report (docs/planes.md, "One plane, many peers").
//
// Takes facts and the time; bounds how often peers are probed, and returns them one by one. Owned
// by the instance's lcore.
#ifndef SUEDE_PATH_FAILED_PLANES_H_
#define SUEDE_PATH_FAILED_PLANES_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "path/params.h"
#include "path/peer_paths.h"

namespace suede {

// The planes on which a peer is probed, and the report of them to that peer.
struct PlaneReport {
  PlaneMask planes = 0;
  bool is_reported = false;
  uint8_t hops = 0;  // endpoints that may pass the report on, one after the other
};

class FailedPlanes {
 public:
  static constexpr uint8_t kMaxHops = 255;

  // `first`: the peer that is probed first; it differs between the endpoints of a fabric, so that
  // they do not probe the same peer at the same time.
  explicit FailedPlanes(uint32_t first) : next_(first) {}

  // This endpoint has found the plane dead to a peer. Ignores a repetition within `interval`.
  void OnFound(PlaneIndex plane, Time now, Duration interval) {
    if (now < found_until_[plane]) return;
    found_until_[plane] = reported_until_[plane] = now + interval;
    Add(plane, true, kMaxHops);
  }
  // A peer reports the plane. Ignores a report within `interval` of an earlier report, or of this
  // endpoint's own finding.
  void OnReported(PlaneIndex plane, uint8_t hops, Time now, Duration interval) {
    if (now < reported_until_[plane]) return;
    reported_until_[plane] = now + interval;
    Add(plane, hops != 0, static_cast<uint8_t>(std::max<int>(hops - 1, 0)));
  }

  // Whether peers are left to probe.
  bool has_work() const { return left_ != 0; }
  const PlaneReport& report() const { return report_; }
  // The next of `count` peers to probe, while there is work.
  uint32_t NextPeer(uint32_t count) {
    left_ = std::min(left_, count) - 1;
    const PeerIndex peer(next_ % count);
    next_ = peer + 1;
    return peer;
  }
  // The last peer was probed.
  void End() { report_ = {}; }

 private:
  void Add(PlaneIndex plane, bool is_reported, uint8_t hops) {
    report_.planes |= static_cast<PlaneMask>(1u << plane);
    report_.is_reported |= is_reported;
    report_.hops = std::max(report_.hops, hops);
    left_ = ~0u;
  }

  PlaneReport report_;
  uint32_t left_ = 0;  // peers left to probe; more than there are: all
  uint32_t next_;
  std::array<Time, kMaxPlanes> found_until_{};
  std::array<Time, kMaxPlanes> reported_until_{};
};

}  // namespace suede

#endif  // SUEDE_PATH_FAILED_PLANES_H_
