// SPDX-License-Identifier: Apache-2.0
#include "daemon/pulses.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_format.h"

namespace suede {
namespace {

// A high limit: on a busy machine a thread may not run for seconds.
constexpr int64_t kStuckNs = 5'000'000'000;

}  // namespace

Pulses::Pulses(std::vector<uint32_t> cpus)
    : cpus_(std::move(cpus)), pulses_(new Pulse[cpus_.size()]), control_ns_(NowNs()) {}

int64_t Pulses::NowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Pulses::RecordProgress(size_t lcore, uint64_t progress, bool started) {
  Pulse& pulse = pulses_[lcore];
  if (progress == pulse.progress && started) return;
  pulse.progress = progress;
  pulse.seen_ns.store(NowNs(), std::memory_order_relaxed);
}

std::vector<std::string> Pulses::HealthFaults() const {
  std::vector<std::string> ailments;
  const int64_t seen = control_ns_.load(std::memory_order_relaxed);
  const int64_t silence = NowNs() - seen;
  if (silence > kStuckNs) {
    ailments.push_back(
        absl::StrFormat("control thread: no poll iteration for %d s", silence / 1'000'000'000));
    return ailments;  // the control thread samples the lcores
  }
  for (size_t l = 0; l < cpus_.size(); ++l) {
    // Relative to the control thread's last sample.
    const int64_t still = seen - pulses_[l].seen_ns.load(std::memory_order_relaxed);
    if (still <= kStuckNs) continue;
    ailments.push_back(
        absl::StrFormat("lcore %u: no poll iteration for %d s", cpus_[l], still / 1'000'000'000));
  }
  return ailments;
}

}  // namespace suede
