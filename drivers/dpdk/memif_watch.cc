// SPDX-License-Identifier: Apache-2.0
#include "dpdk/memif_watch.h"

#include <rte_alarm.h>
#include <rte_interrupts.h>
#include <rte_log.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace suede::internal {
namespace {

struct WatchState {
  std::mutex mutex;
  std::vector<BurstGate*> gates;
  std::vector<BurstGate*> closed;  // by OnDriverLog(), until the alarm
};

WatchState& State() {
  static WatchState* const state = new WatchState;
  return *state;
}

std::atomic<int> memif_log_type{-1};

void OpenGates(void* /*argument*/) {
  WatchState& state = State();
  const std::lock_guard lock(state.mutex);
  for (BurstGate* gate : state.closed) gate->Open();
  state.closed.clear();
}

}  // namespace

void StartMemifWatch() {
  // Returns the type that the driver registered, if it was loaded; a driver loaded later has no
  // port here.
  const int type = rte_log_register("pmd.net.memif");
  if (type < 0) return;
  rte_log_set_level(static_cast<uint32_t>(type), RTE_LOG_DEBUG);
  rte_log_set_global_level(RTE_LOG_DEBUG);
  memif_log_type.store(type, std::memory_order_release);
}

void WatchMemifGate(BurstGate* gate) {
  WatchState& state = State();
  const std::lock_guard lock(state.mutex);
  state.gates.push_back(gate);
}

void UnwatchMemifGate(BurstGate* gate) {
  WatchState& state = State();
  const std::lock_guard lock(state.mutex);
  std::erase(state.gates, gate);
  if (std::erase(state.closed, gate) > 0) gate->Open();
}

void OnDriverLog(int log_type) {
  if (log_type < 0 || log_type != memif_log_type.load(std::memory_order_acquire)) return;
  if (rte_thread_is_intr() == 0) return;
  WatchState& state = State();
  const std::lock_guard lock(state.mutex);
  if (!state.closed.empty() || state.gates.empty()) return;
  state.closed = state.gates;
  for (BurstGate* gate : state.closed) gate->Close();
  if (rte_eal_alarm_set(1, OpenGates, nullptr) == 0) return;
  for (BurstGate* gate : state.closed) gate->Open();  // out of memory for an alarm: unprotected
  state.closed.clear();
}

}  // namespace suede::internal
