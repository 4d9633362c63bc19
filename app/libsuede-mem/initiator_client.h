// SPDX-License-Identifier: Apache-2.0
// The state behind suede_mem: an initiator of lib/mem over libsuede.
#ifndef SUEDE_LIBSUEDE_MEM_INITIATOR_CLIENT_H_
#define SUEDE_LIBSUEDE_MEM_INITIATOR_CLIENT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mem/initiator.h"
#include "plane.h"
#include "suede/mem.h"

// A name of the C ABI, hence outside of any namespace.
struct suede_mem final : suede::mem::RequestSink {
  // Null arguments and sizes have been checked.
  int Open(const char* name_or_path, const suede_mem_params& params);
  int Reconnect();

  // Starts an operation, and sends it where several wait to be sent.
  int Start(const suede_mem_call& call, suede::mem::Call operation);
  int StartMany(const suede_mem_call& call, suede::mem::Call operation,
                std::span<const uint16_t> xpuids);

  void Flush();
  // Returns the number of operations that became complete, or -ECONNRESET.
  int Poll();
  // As suede_mem_wait, and as the barriers.
  int Wait(suede_mem_handle handle, suede_mem_result* result, int timeout_ms);
  int Barrier(uint32_t counter, bool of_reads, int timeout_ms, suede_mem_failures* failures);

  int Send(const suede::mem::Burst& burst) override;

  std::unique_ptr<suede::mem::Initiator> initiator;
  std::vector<suede::mem::Plane> planes;

 private:
  // Polls until `is_done` says so. 0, or -ETIMEDOUT; `timeout_ms` < 0: for ever.
  template <class Done>
  int PollUntil(int timeout_ms, const Done& is_done);
  int FillIn(const suede_mem_call& call, suede::mem::Call* operation) const;
  int OnStarted(suede::mem::Started started, const suede::mem::Call& operation);
  // Whether a call that chooses this plane can be started.
  bool IsConnected(const suede::mem::Call& operation, uint16_t xpuid) const;
  void TakeCompletions(uint32_t plane);
  bool TakeCommands(uint32_t plane);
  // Gives up what is open on planes that were found to be lost. Whether there are any.
  bool GiveUpLost();

  uint32_t deadline_ms_ = 0;
  uint8_t response_vc_ = 0;
  uint32_t unsent_calls_ = 0;
  uint32_t given_up_ = 0;  // planes, by bits
  uint64_t told_ = 0;      // completed operations
  suede::mem::Idler idler_;
};

#endif  // SUEDE_LIBSUEDE_MEM_INITIATOR_CLIENT_H_
