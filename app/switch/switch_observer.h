// SPDX-License-Identifier: Apache-2.0
// The state of a running switch that is readable without a request to other threads: metrics,
// health and readiness.
//
// Counters are cells already. The control thread requests depths and pauses from the switching
// lcore, and copies the replies into cells; replies also prove that the lcore polls.
#ifndef SUEDE_APP_SWITCH_SWITCH_OBSERVER_H_
#define SUEDE_APP_SWITCH_SWITCH_OBSERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/observed.h"
#include "daemon/process_metrics.h"
#include "daemon/pulses.h"
#include "fabric/switch.h"
#include "http/server.h"
#include "switch/switch_mailbox.h"
#include "switch/switch_management.h"

namespace suede {

class SwitchObserver final : public Observed {
 public:
  // All arguments must outlive this. `cpu`: of the switching lcore. To be created before that lcore
  // starts.
  SwitchObserver(SwitchMailbox* mailbox, const fabric::Switch* the_switch,
                 SwitchManagement* management, uint32_t cpu, uint64_t tsc_hertz);

  // ---- Control thread.

  // To be called in each iteration of the control loop; samples every 100 ms. Also raises the
  // events of PFC storms.
  void Tick();
  // Reports that the lcore was started.
  void SetStarted() { started_ = true; }
  HttpCounters* http_counters() { return &http_; }
  // Returns the switch's state in a line for the service manager.
  std::string StatusLine() const;

  // ---- Any thread.

  const std::string& name() const override { return name_; }
  const MetricsPage& page() const override { return page_; }
  std::vector<std::string> HealthFaults() const override { return pulses_.HealthFaults(); }
  std::vector<std::string> Obstacles() const override;
  StatusPage status_page() const override;

 private:
  struct PortCells {
    std::string name;
    MetricCell* link_up;
    MetricCell* speed;
    MetricCell* admin_up;
  };
  struct QueueCells {
    MetricCell* bytes;
    MetricCell* frames;
    MetricCell* most_bytes;
    MetricCell* paused;
    MetricCell* pausing;
    MetricCell* stormy;
    MetricCell* paused_ns;
  };
  struct BufferCells {
    MetricCell* used;
    MetricCell* max_used;
    MetricCell* shared_free;
    MetricCell* headroom_used;
    MetricCell* max_headroom_used;
  };
  void AddPort(uint32_t port);
  void AddBuffer();
  void CopyPorts();
  // Copies the lcore's reply, if there is one, and submits the next request.
  void CopyState();
  void Take(const switch_request::State& state);

  SwitchMailbox* const mailbox_;
  const fabric::Switch* const switch_;
  SwitchManagement* const management_;
  HttpCounters http_;
  MetricsPage page_;
  ProcessMetrics process_;
  const std::string name_;
  Pulses pulses_;
  std::vector<PortCells> ports_;
  std::vector<QueueCells> queues_;  // [port * kClasses + class]
  BufferCells buffer_{};
  std::shared_ptr<const SwitchTicket> ticket_;
  std::atomic<bool> started_{false};
  std::atomic<bool> draining_{false};
  int64_t next_copy_ns_ = 0;
  int64_t next_process_ns_ = 0;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_OBSERVER_H_
