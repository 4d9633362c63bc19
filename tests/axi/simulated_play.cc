// SPDX-License-Identifier: Apache-2.0
#include "simulated_play.h"

namespace suede::axi {

SimulatedPlay::SimulatedPlay(const PlayParams& params)
    : Play(params), endpoints_(params.seed, kNodes, params.is_unordered, [this](uint32_t bound) {
        return dice_.Below(bound);
      }) {
  for (uint16_t number = 0; number < kNodes; ++number) {
    endpoints_.Boot(number);
    endpoints_.AttachClient(number, 1u << kRequestVc | 1u << kAnswerVc, now_);
  }
}

// ---- Commands

int SimulatedPlay::OnBurst(uint16_t from, const Burst& burst) {
  ClientQueue& queue = *endpoints_.host(from).queue;
  const SendResult result = queue.Send(
      {.xpuid = burst.to.xpuid,
       .vc = burst.to.vc,
       .flags = static_cast<uint8_t>(burst.wants_completion ? SUEDE_RECORD_COMPLETION : 0),
       .tag = burst.tag,
       .control = burst.controls,
       .data = burst.data});
  if (result != SendResult::kOk && result != SendResult::kWouldBlock)
    records_.Wrong("a send failed");
  queue.Flush();
  return result == SendResult::kOk ? 1 : 0;
}

bool SimulatedPlay::TakeCommands(uint16_t number, uint8_t vc) {
  ClientReceiver& receiver = endpoints_.host(number).receivers[vc];
  bool has_taken = false;
  for (uint32_t i = 0; i < 16 && receiver.HasWork(); ++i) {
    if (vc == kRequestVc && !nodes_[number].manager->CanTake()) break;
    ReceivedCommand got;
    if (receiver.Poll(&got, 1) == 0) break;
    has_taken = true;
    Deliver({.xpuid = got.source_xpuid, .vc = vc}, number, {got.control, got.control_bytes},
            {got.data, got.data_bytes});
  }
  if (has_taken) receiver.Release();
  return has_taken;
}

bool SimulatedPlay::TakeCompletions(uint16_t number) {
  suede_completion got[16];
  const uint32_t count = endpoints_.host(number).queue->PollCompletions(got, 16);
  for (uint32_t i = 0; i < count; ++i) {
    if (got[i].status != SUEDE_STATUS_OK) records_.Wrong("a completion has an error");
    nodes_[number].subordinate->OnCompletion({.xpuid = got[i].xpuid, .vc = got[i].vc},
                                             static_cast<uint32_t>(got[i].tag), got[i].status);
  }
  return count != 0;
}

// ---- Time

bool SimulatedPlay::MoveNetwork() {
  endpoints_.MakeTrouble(now_);
  endpoints_.AdvanceTo(now_);
  bool has_moved = false;
  for (uint16_t number = 0; number < kNodes; ++number) {
    endpoints_.host(number).pipeline->Poll(now_);
    has_moved |= TakeCommands(number, kAnswerVc);
    has_moved |= TakeCompletions(number);
    has_moved |= TakeCommands(number, kRequestVc);
  }
  return has_moved;
}

}  // namespace suede::axi
