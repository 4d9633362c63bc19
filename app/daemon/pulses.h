// SPDX-License-Identifier: Apache-2.0
// Detects stalled threads of a daemon: the control thread and the lcores.
#ifndef SUEDE_APP_DAEMON_PULSES_H_
#define SUEDE_APP_DAEMON_PULSES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace suede {

class Pulses {
 public:
  // `cpus`: of the lcores.
  explicit Pulses(std::vector<uint32_t> cpus);

  static int64_t NowNs();  // of the steady clock

  // ---- Control thread.

  // Records a poll iteration of the control thread.
  void Beat(int64_t now_ns) { control_ns_.store(now_ns, std::memory_order_relaxed); }
  // Records the progress of an lcore, a number that grows with its poll iterations. Until `started`
  // it may stand still.
  void RecordProgress(size_t lcore, uint64_t progress, bool started);

  // ---- Any thread.

  // Returns a line for each thread without a poll iteration for some seconds.
  std::vector<std::string> HealthFaults() const;

 private:
  // When an lcore last progressed.
  struct Pulse {
    uint64_t progress = 0;
    std::atomic<int64_t> seen_ns{0};
  };
  const std::vector<uint32_t> cpus_;
  const std::unique_ptr<Pulse[]> pulses_;
  std::atomic<int64_t> control_ns_;
};

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_PULSES_H_
