// SPDX-License-Identifier: Apache-2.0
#include "perf/embedded_calls.h"

#include <cerrno>
#include <chrono>
#include <iterator>

#include "serve/burst_run.h"

namespace suede::perf {
namespace {

constexpr uint32_t kOperations = 4096;
constexpr auto kDeadline = std::chrono::seconds(10);

}  // namespace

EmbeddedCalls::EmbeddedCalls(EmbedEndpoint& end, const Options& options)
    : end_(end),
      response_vc_(ResponseVc(MaskOf(options.vcs))),
      initiator_({.requests = kOperations,
                  .requests_to_target = RequestsToTarget(options.inflight),
                  .operations = kOperations,
                  .request_vcs = MaskOf(options.vcs),
                  .response_vc = response_vc_,
                  .is_unordered = options.unordered,
                  .first_number = static_cast<uint32_t>(end.Now().time_since_epoch().count())}) {}

int EmbeddedCalls::Start(const mem::Call& call, uint32_t deadline_ms) {
  mem::Call timed = call;
  // Uses the time of the last Poll, to avoid a read of the clock per operation.
  timed.deadline =
      polled_ + (deadline_ms == 0 ? Duration(kDeadline) : std::chrono::milliseconds(deadline_ms));
  switch (initiator_.Start(timed, nullptr)) {
    case mem::Started::kOk:
      return 0;
    case mem::Started::kNoRoom:
      return -EAGAIN;
    case mem::Started::kInvalid:
      break;
  }
  return -EINVAL;
}

int EmbeddedCalls::Poll(Time now) {
  polled_ = now;
  TakeCompletions();
  TakeResponses();
  if (end_.lost()) {
    initiator_.OnPlaneLost(0);
    return -ECONNRESET;
  }
  initiator_.OnTime(now);
  const uint64_t completed = initiator_.completed() - reported_;
  reported_ += completed;
  return static_cast<int>(completed);
}

void EmbeddedCalls::Flush() {
  initiator_.Pump(*this);
  end_.Flush();
}

int EmbeddedCalls::Send(const Burst& burst) {
  uint32_t sent = 0;
  end_.SendRun(RunOf(burst), burst.count, &sent);
  return end_.lost() ? kLost : static_cast<int>(sent);
}

void EmbeddedCalls::TakeCompletions() {
  suede_completion completions[64];
  uint32_t count;
  do {
    count = end_.PollCompletions(completions, std::size(completions));
    for (uint32_t i = 0; i < count; ++i) {
      const suede_completion& each = completions[i];
      initiator_.OnCompletion({.xpuid = each.xpuid, .vc = each.vc}, static_cast<uint32_t>(each.tag),
                              each.status);
    }
  } while (count == std::size(completions));
}

// Receives up to the maximum of a burst of full PDUs, to bound the lcore's poll iteration.
void EmbeddedCalls::TakeResponses() {
  constexpr uint32_t kMax = 1024;
  ReceivedSpan span;
  uint32_t taken = 0;
  while (taken < kMax) {
    const uint32_t count = end_.Receive(response_vc_, &span, kMax - taken);
    if (count == 0) break;
    const Route from{.xpuid = span.source_xpuid, .vc = response_vc_};
    for (uint32_t i = 0; i < count; ++i) {
      const size_t at = size_t{i} * span.stride;
      initiator_.OnCommand(from, span.control + at, span.control_bytes,
                           span.data == nullptr ? nullptr : span.data + at, span.data_bytes);
    }
    taken += count;
  }
  if (taken != 0) end_.Release(response_vc_);
}

}  // namespace suede::perf
