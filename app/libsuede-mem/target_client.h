// SPDX-License-Identifier: Apache-2.0
// The state behind suede_mem_target: a target of lib/mem over libsuede, served by calls or by a
// thread.
#ifndef SUEDE_LIBSUEDE_MEM_TARGET_CLIENT_H_
#define SUEDE_LIBSUEDE_MEM_TARGET_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "mem/target.h"
#include "planes/planes.h"
#include "suede/mem.h"
#include "window_file.h"

// A name of the C ABI, hence outside of any namespace.
struct suede_mem_target final : suede::mem::ResponseSink {
  ~suede_mem_target();
  // Connects the planes. The caller has checked null arguments and sizes. Returns 0 or a negative
  // errno.
  int Open(const char* name_or_path, const suede_mem_target_params& params);
  int Reconnect();

  int AddWindow(suede_mem_window* window);
  int RemoveWindow(uint32_t id);

  int Serve(uint32_t max);
  int Wait(int timeout_ms);
  int Start() { return thread_.Start(this); }
  int Stop() { return thread_.Stop(); }
  int Take(suede_mem_notice* notices, uint32_t max);
  int GetCounts(suede_mem_target_counts* counts);

  bool Send(const suede::Route& to, const uint8_t* control, uint32_t control_bytes,
            const uint8_t* data, uint32_t data_bytes) override;

 private:
  struct Mapping {
    void* address = nullptr;
    uint64_t bytes = 0;
  };
  // A window that the lcore serves, kept to be registered with a restarted daemon.
  struct LcoreWindow {
    suede_window window = {};
    std::shared_ptr<suede::mem::WindowFile> file;
  };
  // Require the lock.
  uint32_t ServePlanes(uint32_t max);
  uint32_t ServeVc(uint32_t plane, uint8_t vc);
  bool ProcessLostPlanes();
  int MoveToLcore(uint32_t number);
  int AddToPlanes(const suede_window& window);
  int RemoveFromPlanes(uint32_t id, size_t planes);
  int MapLcoreWindow(const suede_mem_window& window, std::shared_ptr<suede::mem::WindowFile>* file);
  int AddLcoreWindow(const suede_mem_window& window, uint32_t key,
                     const std::shared_ptr<suede::mem::WindowFile>& file);
  int RenewFiles(uint32_t planes);
  int RegisterAgain(uint32_t planes);
  int FindInstance();
  int ReadPartition();
  void RefreshPartition();

  friend class suede::PollThread;
  void BeforeRun() { is_lost_ = false; }
  void Run();  // body of the thread

  suede::PriorityLock lock_;
  std::unique_ptr<suede::mem::Target> target_;
  suede::Planes planes_;
  std::map<uint32_t, Mapping> mappings_;  // by window id; of windows that the program serves
  std::map<uint32_t, LcoreWindow> lcore_windows_;
  std::set<uint32_t> program_windows_;
  uint32_t on_lcore_ = 0;  // mask of planes whose requests the lcore executes
  uint32_t request_vcs_ = 0;
  int64_t partition_read_ns_ = 0;
  std::optional<uint32_t> register_index_;  // of the instance; nullopt: not found yet

  // Also serializes Reconnect with Start.
  suede::PollThread thread_{"a thread serves the target already", "no thread serves the target"};
  std::atomic<bool> is_lost_{false};  // the thread ended because a plane was lost
  std::atomic<bool> has_notices_{false};
  std::atomic<bool> has_lcore_windows_{false};  // a window served by the lcore was added
};

#endif  // SUEDE_LIBSUEDE_MEM_TARGET_CLIENT_H_
