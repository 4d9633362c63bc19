// SPDX-License-Identifier: Apache-2.0
#include "initiator_client.h"

#include <algorithm>
#include <bit>
#include <cerrno>

using suede::CoarseNs;
using suede::Fail;
using suede::mem::Call;
using suede::mem::Initiator;
using suede::mem::Started;

namespace {

constexpr uint32_t kDefaultDeadlineMs = 10'000;
// Started operations after which OnStarted sends, without waiting for the next flush or poll.
constexpr uint32_t kCallsToSend = 16;
// Maximum of commands received per plane and poll.
constexpr uint32_t kCommandsOfPoll = 1024;

int FailGone() { return Fail(-ECONNRESET, "the daemon of the plane has gone"); }

}  // namespace

int suede_mem::Open(const char* name_or_path, const suede_mem_params& params) {
  const uint32_t request_vcs = params.request_vcs == 0 ? 1 : params.request_vcs;
  const uint32_t response_vcs = params.response_vcs == 0 ? 2 : params.response_vcs;
  const uint32_t requests = params.max_requests == 0 ? 4096 : params.max_requests;
  const uint32_t operations = params.max_operations == 0 ? 4096 : params.max_operations;
  const uint32_t to_target = params.max_requests_to_target == 0 ? std::min(1024u, requests)
                                                                : params.max_requests_to_target;
  if (params.plane_count > SUEDE_MEM_MAX_PLANES) {
    return Fail(-EINVAL, "suede_mem_params: plane_count is 0 to 16");
  }
  if (request_vcs > 15 || response_vcs > 15 || !std::has_single_bit(response_vcs)) {
    return Fail(-EINVAL, "suede_mem_params: VCs are 0 to 3, and responses take one");
  }
  if (requests < 64 || requests > 65536 || !std::has_single_bit(requests) || to_target > requests ||
      operations > 65536) {
    return Fail(-EINVAL,
                "suede_mem_params: max_requests is a power of two, 64 to 65536, those to a target "
                "no more, max_operations up to 65536");
  }
  const int error = planes.Open(name_or_path, {params.planes, params.plane_count},
                                params.timeout_ms, response_vcs);
  if (error != 0) return error;
  uint32_t first_number = 0;
  if (const int failed = suede::Draw(&first_number); failed != 0) return failed;
  response_vc_ = static_cast<uint8_t>(std::countr_zero(response_vcs));
  deadline_ms_ = params.deadline_ms == 0 ? kDefaultDeadlineMs : params.deadline_ms;
  initiator =
      std::make_unique<Initiator>(suede::mem::InitiatorParams{.planes = planes.size(),
                                                              .requests = requests,
                                                              .requests_to_target = to_target,
                                                              .operations = operations,
                                                              .request_vcs = request_vcs,
                                                              .response_vc = response_vc_,
                                                              .is_unordered = params.unordered != 0,
                                                              .first_number = first_number});
  return 0;
}

int suede_mem::Reconnect() {
  GiveUpLost();
  uint32_t reconnected = 0;
  return planes.Reconnect(&reconnected);
}

// ---- Calls.

int suede_mem::FillIn(const suede_mem_call& call, Call* operation) const {
  if (call.size != sizeof call) {
    return Fail(-EINVAL, "suede_mem_call.size is not set, or another version's");
  }
  operation->xpuid = call.xpuid;
  operation->window = call.window;
  operation->offset = call.offset;
  operation->key = call.key;
  operation->plane = call.plane;
  operation->vc = call.vc;
  operation->counter = call.counter;
  operation->result = call.result;
  const uint32_t deadline_ms = call.deadline_ms == 0 ? deadline_ms_ : call.deadline_ms;
  if (deadline_ms != SUEDE_MEM_NO_DEADLINE) {
    operation->deadline = suede::TimeFromNs(CoarseNs() + int64_t{deadline_ms} * 1'000'000);
  }
  return 0;
}

bool suede_mem::IsConnected(const Call& operation, uint16_t xpuid) const {
  const uint8_t plane = suede::ChoosePlane(operation.plane, xpuid, planes.size());
  return plane >= planes.size() || planes[plane].is_connected();
}

int suede_mem::OnStarted(Started started, const Call& operation) {
  const char* mistake = nullptr;
  switch (started) {
    case Started::kInvalid:
      mistake = initiator->FindInvalidArgument(operation);
      return Fail(-EINVAL, mistake != nullptr
                               ? mistake
                               : "cannot start: one of xpuids is out of range; use 0 to 1023");
    case Started::kNoRoom:
      return Fail(-EAGAIN, "all operations are in use");
    case Started::kOk:
      break;
  }
  if (++unsent_calls_ >= kCallsToSend) {
    unsent_calls_ = 0;
    initiator->Pump(planes);
  }
  return 0;
}

int suede_mem::Start(const suede_mem_call& call, Call operation) {
  if (const int error = FillIn(call, &operation); error != 0) return error;
  if (!IsConnected(operation, operation.xpuid)) return FailGone();
  return OnStarted(initiator->Start(operation, call.handle), operation);
}

int suede_mem::StartMany(const suede_mem_call& call, Call operation,
                         std::span<const uint16_t> xpuids) {
  if (const int error = FillIn(call, &operation); error != 0) return error;
  for (const uint16_t xpuid : xpuids) {
    if (!IsConnected(operation, xpuid)) return FailGone();
  }
  const Started started = initiator->StartMany(operation, xpuids, call.handle);
  operation.xpuid = xpuids.front();
  return OnStarted(started, operation);
}

// ---- Progress.

void suede_mem::Flush() {
  unsent_calls_ = 0;
  initiator->Pump(planes);
  planes.Flush();
}

bool suede_mem::GiveUpLost() {
  return planes.GiveUpLost([this](uint32_t plane) { initiator->OnPlaneLost(plane); });
}

int suede_mem::Poll() {
  Flush();
  bool has_received = false;
  for (uint32_t i = 0; i < planes.size(); ++i) {
    if (planes.IsGivenUp(i)) continue;
    planes.TakeCompletions(i, [&](const suede_completion& each) {
      initiator->OnCompletion(
          {.xpuid = each.xpuid, .plane = static_cast<uint8_t>(i), .vc = each.vc},
          static_cast<uint32_t>(each.tag), each.status);
    });
    // Processes responses that arrived before these completions.
    has_received |=
        planes.TakeCommands(suede::PlaneIndex(i), suede::Vc(response_vc_), kCommandsOfPoll,
                            [this](const suede::Route& from, auto... command) {
                              initiator->OnCommand(from, command...);
                            }) != 0;
  }
  const bool is_lost = GiveUpLost();
  if (has_received && initiator->HasUnsent()) Flush();
  if (initiator->open_operations() != 0) initiator->OnTime(suede::TimeFromNs(CoarseNs()));
  const uint64_t completed = initiator->completed() - reported_;
  reported_ += completed;
  if (is_lost) return FailGone();
  return static_cast<int>(completed);
}

template <class Done>
int suede_mem::PollUntil(int timeout_ms, const Done& is_done) {
  const int64_t deadline = suede::DeadlineOf(timeout_ms);
  constexpr int kWaitMs = 5;
  idler_.OnBusy();
  uint32_t round = 0;
  for (;;) {
    const uint64_t before = initiator->completed();
    // Poll completes the operations of a lost plane, whose statuses report the loss.
    Poll();
    if (is_done()) return 0;
    if (initiator->completed() != before) {
      idler_.OnBusy();
      continue;
    }
    if (suede::NowNs() >= deadline) return suede::FailTimedOut();
    const int wait_ms = planes.size() == 1 ? kWaitMs : 1;
    idler_.OnIdle(planes[round++ % planes.size()], 1u << response_vc_, initiator->HasUnsent(),
                  wait_ms);
  }
}

int suede_mem::Wait(suede_mem_handle handle, suede_mem_result* result, int timeout_ms) {
  suede_mem_result outcome{};
  int found = 0;
  const int error = PollUntil(timeout_ms, [&] {
    found = initiator->Test(handle, &outcome);
    return found != 0;
  });
  if (error != 0) return error;
  if (found < 0) return Fail(-EINVAL, "the handle stands for no operation");
  if (result != nullptr) *result = outcome;
  return outcome.status == SUEDE_MEM_OK ? 0 : Fail(-EIO, suede_mem_status_name(outcome.status));
}

int suede_mem::Barrier(uint32_t counter, bool of_reads, int timeout_ms,
                       suede_mem_failures* failures) {
  const int error = PollUntil(timeout_ms, [&] {
    return (of_reads ? initiator->pending_reads(counter) : initiator->pending_writes(counter)) == 0;
  });
  if (error != 0) return error;
  const suede_mem_failures taken = initiator->TakeFailures(counter, of_reads);
  if (failures != nullptr) *failures = taken;
  return taken.count == 0 ? 0 : Fail(-EIO, suede_mem_status_name(taken.status));
}
