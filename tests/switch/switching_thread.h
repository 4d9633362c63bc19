// SPDX-License-Identifier: Apache-2.0
// A switch on a thread of its own, under traffic: two stations that send to each other.
#ifndef SUEDE_TESTS_SWITCH_SWITCHING_THREAD_H_
#define SUEDE_TESTS_SWITCH_SWITCHING_THREAD_H_

#include <atomic>
#include <functional>
#include <thread>

#include "fabric_fixture.h"
#include "switch/switch_mailbox.h"

namespace suede {

class SwitchingThread {
 public:
  explicit SwitchingThread(const fabric::SwitchParams& params) : fabric_(params) {}
  ~SwitchingThread() { Stop(); }

  // A poll iteration takes a microsecond of the switch's time.
  void Start(bool traffic = true) {
    stop_ = false;
    thread_ = std::thread([this, traffic] {
      for (int64_t us = 1; !stop_.load(std::memory_order_relaxed); ++us) {
        const Time now = fabric::At(us);
        if (traffic) {
          fabric_.In(0, fabric::SueFrame{.from = 1, .to = 2}, now);
          fabric_.In(1, fabric::SueFrame{.from = 2, .to = 1}, now);
        }
        for (uint32_t port = 0; port < fabric_.the_switch.params().ports.size(); ++port) {
          fabric_.Out(port, now);
        }
        const uint64_t before = mailbox.answered();
        mailbox.Serve(fabric_.the_switch, now);
        if (mailbox.answered() - before > 1) many_at_once = true;
        turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
    });
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  const fabric::Switch& the_switch() const { return fabric_.the_switch; }
  fabric::Switch& the_switch() { return fabric_.the_switch; }  // before the start, or after the end

  SwitchMailbox mailbox;
  std::atomic<uint64_t> turns{0};
  std::atomic<bool> many_at_once{false};

 private:
  fabric::Fabric fabric_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SWITCH_SWITCHING_THREAD_H_
