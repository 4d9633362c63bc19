// SPDX-License-Identifier: Apache-2.0
// Calls of peers.probe_path within bounds of time and frames.
#ifndef SUEDE_APP_SUEDECTL_PATH_PROBER_H_
#define SUEDE_APP_SUEDECTL_PATH_PROBER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "mgmt/json.h"
#include "suedectl/path_run.h"

namespace suede::ctl {

// Calls a method of a daemon.
using PathCall =
    std::function<absl::StatusOr<Json>(std::string_view method, const ForeignJson& params)>;

// The two ends. Without xpu or instance: the first that has the peer.
struct PathEnds {
  std::optional<uint32_t> xpu;
  std::optional<uint32_t> instance;
  uint32_t peer = 0;
};

// Parameters of one run, as of peers.probe_path.
struct ProbeSpec {
  uint32_t traffic_class = 4;
  uint32_t count = 16;
  uint32_t bytes = 0;  // 0: as few as possible
  bool long_reply = false;
  uint32_t sessions = 1;
  uint32_t first_session = 0;
  std::optional<uint32_t> ecn{};
  std::optional<uint32_t> hop_limit{};
  std::string_view to = "peer";
  bool pause = false;
  uint32_t interval_us = 1000;
  uint32_t timeout_ms = 500;
};

class PathProber {
 public:
  using Clock = std::chrono::steady_clock;
  PathProber(PathCall call, const PathEnds& ends) : call_(std::move(call)), ends_(ends) {}

  // Permits so many frames until `deadline`.
  void Permit(uint64_t frames, Clock::time_point deadline) {
    max_frames_ = frames_ + frames;
    deadline_ = deadline;
  }
  // Sends a run. RESOURCE_EXHAUSTED: frames or time ran out, and nothing was sent.
  absl::StatusOr<ProbeRun> Run(uint32_t plane, const ProbeSpec& spec);

  uint64_t frames() const { return frames_; }
  uint64_t bytes() const { return bytes_; }

 private:
  PathCall call_;
  PathEnds ends_;
  uint64_t frames_ = 0;
  uint64_t bytes_ = 0;
  uint64_t max_frames_ = 0;
  Clock::time_point deadline_{};
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_PROBER_H_
