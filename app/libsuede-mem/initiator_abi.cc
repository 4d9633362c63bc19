// SPDX-License-Identifier: Apache-2.0
// The functions of mem.h for initiators.
#include <cerrno>

#include "abi.h"
#include "initiator_client.h"

using suede::Fail;
using suede::mem::Call;
using suede::mem::FindStatus;
using suede::mem::Opcode;
using suede::mem::OpenNew;

namespace {

int FailNoMem() {
  return Fail(-EINVAL, "cannot use memory: suede_mem is NULL; take it from suede_mem_open");
}

int CheckCall(const suede_mem* mem, const suede_mem_call* call) {
  if (mem == nullptr) return FailNoMem();
  return call != nullptr ? 0 : Fail(-EINVAL, "cannot start: suede_mem_call is NULL; pass one");
}

int CheckCounter(const suede_mem* mem, uint32_t counter) {
  if (mem == nullptr) return FailNoMem();
  if (counter < SUEDE_MEM_COUNTERS) return 0;
  return Fail(-EINVAL, "cannot wait for the counter: no such number; use 0 to 15");
}

int StartAtomic(suede_mem* mem, const suede_mem_call* call, uint32_t bits, Call operation) {
  if (const int error = CheckCall(mem, call); error != 0) return error;
  if (bits != 32 && bits != 64) return Fail(-EINVAL, "atomics are on 32 or 64 bits");
  operation.is_wide = bits == 64;
  return mem->Start(*call, operation);
}

int StartIncrement(suede_mem* mem, const suede_mem_call* call, uint32_t bits, Opcode opcode,
                   uint64_t amount, uint32_t boundary) {
  if (boundary >= bits) return Fail(-EINVAL, "the boundary is below the number of bits");
  return StartAtomic(
      mem, call, bits,
      {.opcode = opcode, .boundary = static_cast<uint8_t>(boundary), .operand = amount});
}

// Stores the XPUs of the rectangle around `origin`. Returns their number; 0 if it leaves the mesh.
uint32_t XpusOf(const suede_mem_mesh& mesh, uint16_t origin, uint16_t* xpuids) {
  constexpr uint32_t kXpus = SUEDE_XPUS;
  const uint32_t columns = mesh.columns;
  if (origin < mesh.first_xpuid || columns == 0) return 0;
  const uint32_t column = (origin - mesh.first_xpuid) % columns;
  const uint32_t row = (origin - mesh.first_xpuid) / columns;
  if (row >= mesh.rows || mesh.first_xpuid + columns * mesh.rows > kXpus || mesh.west > column ||
      column + mesh.east >= columns || mesh.north > row || row + mesh.south >= mesh.rows) {
    return 0;
  }
  uint32_t count = 0;
  for (uint32_t r = row - mesh.north; r <= row + mesh.south; ++r) {
    for (uint32_t c = column - mesh.west; c <= column + mesh.east; ++c) {
      xpuids[count++] = static_cast<uint16_t>(mesh.first_xpuid + r * columns + c);
    }
  }
  return count;
}

constexpr suede::mem::StatusText kStatuses[] = {
    {SUEDE_MEM_OK, "OK", "executed"},
    {SUEDE_MEM_PENDING, "PENDING", "not complete yet"},
    {SUEDE_MEM_NO_WINDOW, "NO_WINDOW", "refused: the target has no window of this id"},
    {SUEDE_MEM_KEY, "KEY", "refused: the key is not the window's"},
    {SUEDE_MEM_PARTITION, "PARTITION", "refused: the window belongs to another partition"},
    {SUEDE_MEM_RIGHTS, "RIGHTS", "refused: the window does not permit this kind of operation"},
    {SUEDE_MEM_BOUNDS, "BOUNDS", "refused: the access leaves the window"},
    {SUEDE_MEM_ALIGNMENT, "ALIGNMENT",
     "refused: the offset of an atomic is no multiple of its size"},
    {SUEDE_MEM_MALFORMED, "MALFORMED", "refused: no request that the target knows"},
    {SUEDE_MEM_BUSY, "BUSY", "refused: the target's queue of notices is full"},
    {SUEDE_MEM_UNREACHABLE, "UNREACHABLE",
     "not executed: the endpoint does not know the target, or has no path to it"},
    {SUEDE_MEM_IN_DOUBT, "IN_DOUBT",
     "in doubt: the path or the target was lost before it answered"},
    {SUEDE_MEM_TIMED_OUT, "TIMED_OUT", "in doubt: the deadline passed before the target answered"},
};

}  // namespace

extern "C" {

uint32_t suede_mem_abi_version(void) { return SUEDE_MEM_ABI_VERSION; }

const char* suede_mem_error_text(void) { return suede::ErrorText(); }

const char* suede_mem_status_name(uint32_t status) {
  return FindStatus(kStatuses, status, "?").name;
}

const char* suede_mem_status_text(uint32_t status) {
  return FindStatus(kStatuses, status, "no status of an operation").text;
}

int suede_mem_open(const char* name_or_path, const suede_mem_params* params, suede_mem** mem) {
  return OpenNew(name_or_path, params, mem, "cannot open: mem is NULL; pass a variable's address",
                 "suede_mem_params.size is not set, or another version's");
}

int suede_mem_reconnect(suede_mem* mem) { return mem == nullptr ? FailNoMem() : mem->Reconnect(); }

void suede_mem_close(suede_mem* mem) { delete mem; }

uint16_t suede_mem_xpuid(const suede_mem* mem) {
  return mem == nullptr ? uint16_t{0} : mem->planes[0].instance().xpuid;
}

int suede_mem_put(suede_mem* mem, const suede_mem_call* call, const void* source, uint64_t bytes) {
  if (const int error = CheckCall(mem, call); error != 0) return error;
  return mem->Start(
      *call,
      {.opcode = Opcode::kPut, .bytes = bytes, .source = static_cast<const uint8_t*>(source)});
}

int suede_mem_put_immediate(suede_mem* mem, const suede_mem_call* call, const void* source,
                            uint64_t bytes, uint32_t immediate) {
  if (const int error = CheckCall(mem, call); error != 0) return error;
  return mem->Start(*call, {.opcode = Opcode::kPutImmediate,
                            .immediate = immediate,
                            .bytes = bytes,
                            .source = static_cast<const uint8_t*>(source)});
}

int suede_mem_get(suede_mem* mem, const suede_mem_call* call, void* room, uint64_t bytes) {
  if (const int error = CheckCall(mem, call); error != 0) return error;
  return mem->Start(*call,
                    {.opcode = Opcode::kGet, .bytes = bytes, .room = static_cast<uint8_t*>(room)});
}

int suede_mem_fetch_add(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                        uint64_t amount) {
  return StartAtomic(mem, call, bits, {.opcode = Opcode::kFetchAdd, .operand = amount});
}

int suede_mem_compare_swap(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                           uint64_t expected, uint64_t desired) {
  return StartAtomic(mem, call, bits,
                     {.opcode = Opcode::kCompareSwap, .operand = expected, .desired = desired});
}

int suede_mem_swap(suede_mem* mem, const suede_mem_call* call, uint32_t bits, uint64_t value) {
  return StartAtomic(mem, call, bits, {.opcode = Opcode::kSwap, .operand = value});
}

int suede_mem_increment(suede_mem* mem, const suede_mem_call* call, uint32_t bits, uint64_t amount,
                        uint32_t boundary) {
  return StartIncrement(mem, call, bits, Opcode::kIncrement, amount, boundary);
}

int suede_mem_read_increment(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                             uint64_t amount, uint32_t boundary) {
  return StartIncrement(mem, call, bits, Opcode::kReadIncrement, amount, boundary);
}

int suede_mem_put_many(suede_mem* mem, const suede_mem_call* call, const uint16_t* xpuids,
                       uint32_t count, const void* source, uint64_t bytes) {
  if (const int error = CheckCall(mem, call); error != 0) return error;
  if (xpuids == nullptr || count == 0 || count > SUEDE_XPUS) {
    return Fail(-EINVAL, "a multicast has 1 to 1024 targets");
  }
  return mem->StartMany(
      *call,
      {.opcode = Opcode::kPut, .bytes = bytes, .source = static_cast<const uint8_t*>(source)},
      {xpuids, count});
}

int suede_mem_put_mesh(suede_mem* mem, const suede_mem_call* call, const suede_mem_mesh* mesh,
                       const void* source, uint64_t bytes) {
  if (const int error = CheckCall(mem, call); error != 0) return error;
  if (mesh == nullptr || mesh->size != sizeof *mesh) {
    return Fail(-EINVAL, "no mesh, or suede_mem_mesh.size is not set, or another version's");
  }
  uint16_t xpuids[SUEDE_XPUS];
  const uint32_t count = XpusOf(*mesh, call->xpuid, xpuids);
  if (count == 0) return Fail(-EINVAL, "the rectangle leaves the mesh, or the mesh the XPU ids");
  return suede_mem_put_many(mem, call, xpuids, count, source, bytes);
}

void suede_mem_flush(suede_mem* mem) {
  if (mem != nullptr) mem->Flush();
}

int suede_mem_poll(suede_mem* mem) { return mem == nullptr ? FailNoMem() : mem->Poll(); }

int suede_mem_test(suede_mem* mem, suede_mem_handle handle, suede_mem_result* result) {
  if (mem == nullptr) return FailNoMem();
  mem->Poll();
  const int found = mem->initiator->Test(handle, result);
  return found >= 0 ? found : Fail(-EINVAL, "the handle stands for no operation");
}

int suede_mem_wait(suede_mem* mem, suede_mem_handle handle, suede_mem_result* result,
                   int timeout_ms) {
  return mem == nullptr ? FailNoMem() : mem->Wait(handle, result, timeout_ms);
}

int suede_mem_pending(const suede_mem* mem, uint32_t counter, uint32_t kinds) {
  constexpr uint32_t kBoth = SUEDE_MEM_WRITES | SUEDE_MEM_READS;
  if (mem == nullptr) return FailNoMem();
  if (counter >= SUEDE_MEM_COUNTERS || kinds == 0 || (kinds & ~kBoth) != 0) {
    return Fail(-EINVAL, "counters are 0 to 15, kinds SUEDE_MEM_WRITES and SUEDE_MEM_READS");
  }
  uint32_t pending = 0;
  if ((kinds & SUEDE_MEM_WRITES) != 0) pending += mem->initiator->pending_writes(counter);
  if ((kinds & SUEDE_MEM_READS) != 0) pending += mem->initiator->pending_reads(counter);
  return static_cast<int>(pending);
}

int suede_mem_write_barrier(suede_mem* mem, uint32_t counter, int timeout_ms,
                            suede_mem_failures* failures) {
  const int error = CheckCounter(mem, counter);
  return error != 0 ? error : mem->Barrier(counter, /*of_reads=*/false, timeout_ms, failures);
}

int suede_mem_read_barrier(suede_mem* mem, uint32_t counter, int timeout_ms,
                           suede_mem_failures* failures) {
  const int error = CheckCounter(mem, counter);
  return error != 0 ? error : mem->Barrier(counter, /*of_reads=*/true, timeout_ms, failures);
}

int suede_mem_get_counts(const suede_mem* mem, suede_mem_counts* counts) {
  if (mem == nullptr) return FailNoMem();
  if (counts == nullptr || counts->size != sizeof *counts) {
    return Fail(-EINVAL, "suede_mem_counts.size is not set, or another version's");
  }
  const suede::mem::InitiatorCounters& counters = mem->initiator->counters();
  *counts = {.size = sizeof *counts,
             .open_operations = mem->initiator->open_operations(),
             .open_requests = mem->initiator->open_requests(),
             .reserved = 0,
             .operations = counters.operations,
             .failed = counters.failed,
             .requests = counters.requests,
             .stray_responses = counters.stray,
             .foreign_commands = counters.foreign,
             .blocked = counters.blocked};
  return 0;
}

}  // extern "C"
