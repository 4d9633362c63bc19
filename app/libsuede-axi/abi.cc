// SPDX-License-Identifier: Apache-2.0
// The functions of axi.h.
#include <algorithm>
#include <cerrno>
#include <memory>

#include "port_pair.h"

using suede::Fail;

namespace {

constexpr uint32_t kMaxServed = 1u << 30;  // bursts of one call: an int

int FailNull() { return Fail(-EINVAL, "cannot use the port pair: an argument is NULL; pass it"); }

// Return the result of a transfer on a channel of the subordinate or the manager port.
int ResultOfSend(bool is_sent) { return is_sent ? 0 : -EAGAIN; }
int ResultOfAnswer(bool is_taken) {
  return is_taken ? 0
                  : Fail(-EINVAL, "cannot answer: no transaction of that ID waits; answer once");
}

}  // namespace

extern "C" {

int suede_axi_open(const char* name_or_path, const suede_axi_params* params, suede_axi** axi) {
  if (axi == nullptr || params == nullptr || name_or_path == nullptr) return FailNull();
  *axi = nullptr;
  if (params->size != sizeof *params) {
    return Fail(-EINVAL, "suede_axi_params.size is not set, or another version's");
  }
  auto opened = std::make_unique<suede_axi>();
  const int error = opened->Open(name_or_path, *params);
  if (error == 0) *axi = opened.release();
  return error;
}

void suede_axi_close(suede_axi* axi) { delete axi; }

int suede_axi_reconnect(suede_axi* axi) { return axi == nullptr ? FailNull() : axi->Reconnect(); }

const char* suede_axi_error_text(void) { return suede::ErrorText(); }

int suede_axi_poll(suede_axi* axi) { return axi == nullptr ? FailNull() : axi->Poll(); }

int suede_axi_wait(suede_axi* axi, int timeout_ms) {
  return axi == nullptr ? FailNull() : axi->Wait(timeout_ms);
}

int suede_axi_send_aw(suede_axi* axi, const suede_axi_address* address) {
  if (axi == nullptr || address == nullptr) return FailNull();
  return ResultOfSend(axi->subordinate->SendAw(*address));
}

int suede_axi_send_w(suede_axi* axi, const suede_axi_write_beat* beat) {
  if (axi == nullptr || beat == nullptr) return FailNull();
  return ResultOfSend(axi->subordinate->SendW(*beat));
}

int suede_axi_send_ar(suede_axi* axi, const suede_axi_address* address) {
  if (axi == nullptr || address == nullptr) return FailNull();
  return ResultOfSend(axi->subordinate->SendAr(*address));
}

int suede_axi_take_b(suede_axi* axi, suede_axi_write_response* response) {
  if (axi == nullptr || response == nullptr) return FailNull();
  return axi->subordinate->TakeB(response) ? 1 : 0;
}

int suede_axi_take_r(suede_axi* axi, suede_axi_read_beat* beat) {
  if (axi == nullptr || beat == nullptr) return FailNull();
  return axi->subordinate->TakeR(beat) ? 1 : 0;
}

void suede_axi_reset_subordinate(suede_axi* axi) {
  if (axi != nullptr) axi->subordinate->Reset();
}

int suede_axi_take_aw(suede_axi* axi, suede_axi_address* address) {
  if (axi == nullptr || address == nullptr) return FailNull();
  return axi->manager->TakeAw(address) ? 1 : 0;
}

int suede_axi_take_w(suede_axi* axi, suede_axi_write_beat* beat) {
  if (axi == nullptr || beat == nullptr) return FailNull();
  return axi->manager->TakeW(beat) ? 1 : 0;
}

int suede_axi_take_ar(suede_axi* axi, suede_axi_address* address) {
  if (axi == nullptr || address == nullptr) return FailNull();
  return axi->manager->TakeAr(address) ? 1 : 0;
}

int suede_axi_send_b(suede_axi* axi, const suede_axi_write_response* response) {
  if (axi == nullptr || response == nullptr) return FailNull();
  return ResultOfAnswer(axi->manager->SendB(*response));
}

int suede_axi_send_r(suede_axi* axi, const suede_axi_read_beat* beat) {
  if (axi == nullptr || beat == nullptr) return FailNull();
  return ResultOfAnswer(axi->manager->SendR(*beat));
}

int suede_axi_serve_memory(suede_axi* axi, void* memory, uint64_t bytes, uint32_t max) {
  if (axi == nullptr || memory == nullptr) return FailNull();
  const uint32_t ended = axi->memory->Serve(*axi->manager, {static_cast<uint8_t*>(memory), bytes},
                                            std::min(max, kMaxServed));
  return static_cast<int>(ended);
}

void suede_axi_reset_manager(suede_axi* axi, uint32_t in_reset) {
  if (axi == nullptr) return;
  axi->manager->Reset(in_reset != 0);
  axi->memory->Reset();
}

uint32_t suede_axi_credit(const suede_axi* axi, uint32_t channel) {
  if (axi == nullptr) return 0;
  switch (channel) {
    case SUEDE_AXI_AW:
      return axi->subordinate->aw_credit();
    case SUEDE_AXI_W:
      return axi->subordinate->w_credit();
    case SUEDE_AXI_AR:
      return axi->subordinate->ar_credit();
    case SUEDE_AXI_B:
      return axi->manager->b_credit();
    case SUEDE_AXI_R:
      return axi->manager->r_credit();
    default:
      return 0;
  }
}

int suede_axi_get_counters(const suede_axi* axi, suede_axi_counters* counters) {
  if (axi == nullptr || counters == nullptr) return FailNull();
  if (counters->size != sizeof *counters) {
    return Fail(-EINVAL, "suede_axi_counters.size is not set, or another version's");
  }
  const suede::axi::SubordinateCounters& own = axi->subordinate->counters();
  const suede::axi::ManagerCounters served = axi->manager->counters();
  *counters = {.size = sizeof *counters,
               .writes = own.writes,
               .reads = own.reads,
               .stray = own.stray,
               .abandoned = own.abandoned,
               .served_writes = served.served_writes,
               .served_reads = served.served_reads,
               .served_bytes = served.served_bytes,
               .busy = served.busy,
               .dropped = served.dropped,
               .reset = served.reset,
               .expired = served.expired,
               .truncated = served.truncated,
               .exclusive_failed = served.exclusive_failed,
               .unexpected = served.unexpected,
               .malformed = own.malformed + served.malformed,
               .foreign = own.foreign + served.foreign};
  std::copy(own.ended.begin(), own.ended.end(), counters->ended);
  return 0;
}

}  // extern "C"
