// SPDX-License-Identifier: Apache-2.0
// The state behind suede_mem: an initiator of lib/mem over libsuede.
#ifndef SUEDE_LIBSUEDE_MEM_INITIATOR_CLIENT_H_
#define SUEDE_LIBSUEDE_MEM_INITIATOR_CLIENT_H_

#include <cstdint>
#include <memory>
#include <span>

#include "mem/initiator.h"
#include "planes/planes.h"
#include "suede/mem.h"

// A name of the C ABI, hence outside of any namespace.
struct suede_mem {
  // Connects the planes. The caller has checked null arguments and sizes. Returns 0 or a negative
  // errno.
  int Open(const char* name_or_path, const suede_mem_params& params);
  int Reconnect();

  // Starts an operation. Sends the queued requests once several operations are queued.
  int Start(const suede_mem_call& call, suede::mem::Call operation);
  int StartMany(const suede_mem_call& call, suede::mem::Call operation,
                std::span<const uint16_t> xpuids);

  void Flush();
  // Returns the number of operations completed since the last call, or -ECONNRESET.
  int Poll();
  // Implement suede_mem_wait and the barriers.
  int Wait(suede_mem_handle handle, suede_mem_result* result, int timeout_ms);
  int Barrier(uint32_t counter, bool of_reads, int timeout_ms, suede_mem_failures* failures);

  std::unique_ptr<suede::mem::Initiator> initiator;
  suede::Planes planes;

 private:
  // Polls until is_done() returns true. Returns 0 or -ETIMEDOUT; `timeout_ms` < 0: no timeout.
  template <class Done>
  int PollUntil(int timeout_ms, const Done& is_done);
  int FillIn(const suede_mem_call& call, suede::mem::Call* operation) const;
  int OnStarted(suede::mem::Started started, const suede::mem::Call& operation);
  // Whether the operation's plane is connected; true for an invalid plane, which Start rejects.
  bool IsConnected(const suede::mem::Call& operation, uint16_t xpuid) const;
  // Fails the operations of newly lost planes. Returns whether there are any.
  bool GiveUpLost();

  uint32_t deadline_ms_ = 0;
  uint8_t response_vc_ = 0;
  uint32_t unsent_calls_ = 0;
  uint64_t reported_ = 0;  // completed operations that Poll has reported
  suede::Idler idler_;
};

#endif  // SUEDE_LIBSUEDE_MEM_INITIATOR_CLIENT_H_
