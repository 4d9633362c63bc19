// SPDX-License-Identifier: Apache-2.0
#include "simulated_play.h"

#include <algorithm>

#include "base/big_endian.h"

namespace suede::mem {
namespace {

constexpr Duration kTurn{500};
constexpr uint32_t kTargetBit = 1u << 31;  // of the number of a client's target

}  // namespace

SimulatedPlay::SimulatedPlay(uint64_t seed, bool is_unordered, bool is_on_lcore)
    : MemoryPlay(seed, is_unordered, is_on_lcore),
      endpoints_(seed, kNodes, is_unordered, [this](uint32_t below) { return Draw(below); }) {
  for (uint16_t number = 0; number < kNodes; ++number) {
    endpoints_.Boot(number);
    AttachClient(number);
  }
}

void SimulatedPlay::AttachClient(uint16_t number) {
  endpoints_.AttachClient(number, is_served_by_lcore() ? 0xf & ~kRequestVcs : 0xf, time_);
  if (is_served_by_lcore()) AttachServed(number);
}

// As app/endpoint does it.
void SimulatedPlay::AttachServed(uint16_t number) {
  LossyEndpoints::Host& host = endpoints_.host(number);
  Machine& machine = machines_[number];
  machine.targets.push_back(std::make_unique<ServedTarget>(LossyEndpoints::kShape, kRequestVcs));
  ServedTarget* const served = machine.targets.back().get();
  machine.followers.clear();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) machine.followers.emplace_back(served->segment(), vc);
  auto& requests = host.pipeline->mailbox().requests;
  const uint32_t client = host.client | kTargetBit;
  requests.Push(request::AttachTarget{
      .client = client, .owner = host.client, .instance = 0, .vc_mask = 0xf, .target = served});
  ServedWindow windows[8];
  for (const ModelWindow& window : node(number).model.windows) {
    const Window* of_target = node(number).target->windows().Find(window.id);
    windows[window.id] = {.kind = ServedWindow::Kind::kLcore, .window = *of_target};
    windows[window.id].window.is_served_by_lcore = false;
    requests.Push(
        request::SetWindow{.client = client, .id = window.id, .window = &windows[window.id]});
  }
  // Windows first: a request that came before them would be refused.
  requests.Push(request::Claim{.vc_mask = kRequestVcs, .client = client, .instance = 0});
  host.pipeline->Poll(time_);
  LcoreReply reply;
  while (host.pipeline->mailbox().replies.Pop(reply)) {
    if (reply.status != LcoreStatus::kDone) Wrong("the lcore refuses something");
  }
  Follow(number);
}

// ---- Restarts.

// The process has ended: its initiator knows nothing of what was under way, its target has new
// keys.
void SimulatedPlay::ForgetClient(Node& node) {
  ++restarts_;
  Machine& machine = machines_[node.xpuid];
  if (!machine.targets.empty()) machine.targets.back()->CheckInvariants();
  machine.sent.clear();
  ForgetUnsent(node.xpuid);
  node.initiator->OnPlaneLost(0);
  MakeTarget(node);
}

void SimulatedPlay::RestartTarget(Node& node) {
  ForgetClient(node);
  endpoints_.Boot(node.xpuid);
  machines_[node.xpuid].targets.clear();
  AttachClient(node.xpuid);
}

void SimulatedPlay::LosePlane(Node& node) {
  LossyEndpoints::Host& host = endpoints_.host(node.xpuid);
  auto& requests = host.pipeline->mailbox().requests;
  if (is_served_by_lcore()) requests.Push(request::Detach{.client = host.client | kTargetBit});
  requests.Push(request::Detach{.client = host.client});
  host.pipeline->Poll(time_);
  LcoreReply reply;
  while (host.pipeline->mailbox().replies.Pop(reply)) continue;
  ForgetClient(node);
  AttachClient(node.xpuid);
}

// ---- Commands.

bool SimulatedPlay::Offer(const LaneKey& key, const Command& command) {
  ClientQueue& queue = *endpoints_.host(key[0]).queue;
  const SendResult result = queue.Send(
      {.xpuid = key[1],
       .vc = static_cast<uint8_t>(key[2]),
       .flags = static_cast<uint8_t>(command.wants_completion ? SUEDE_RECORD_COMPLETION : 0),
       .tag = command.number,
       .control = command.control.data(),
       .data = command.data.data()});
  if (result != SendResult::kOk && result != SendResult::kWouldBlock) Wrong("a send failed");
  queue.Flush();
  return result == SendResult::kOk;
}

bool SimulatedPlay::OfferRequest(const LaneKey& key, const Command& command) {
  if (!Offer(key, command)) return false;
  machines_[key[0]].sent[key].push_back(command.number);
  return true;
}

bool SimulatedPlay::OfferResponse(const LaneKey& key, const Command& command) {
  return Offer(key, command);
}

bool SimulatedPlay::TakeCommands(uint16_t number, uint8_t vc) {
  ClientReceiver& receiver = endpoints_.host(number).receivers[vc];
  if (!receiver.HasWork()) return false;
  constexpr uint32_t kMax = 16;
  ReceivedCommand got[kMax];
  const uint32_t count = receiver.Poll(got, kMax);
  for (uint32_t i = 0; i < count; ++i) {
    Command command;
    command.control.assign(got[i].control, got[i].control + got[i].control_bytes);
    if (got[i].data_bytes != 0) {
      command.data.assign(got[i].data, got[i].data + got[i].data_bytes);
    }
    const LaneKey key = {got[i].source_xpuid, number, vc};
    if (vc == kResponseVc) {
      OnResponse(key, command);
    } else if (is_served_by_lcore()) {
      Node& of = node(number);
      of.target->OnCommand({.xpuid = key[0], .plane = 0, .vc = vc}, got[i].control,
                           got[i].control_bytes, got[i].data, got[i].data_bytes, of);
    } else {
      command.number = LoadBe32(&command.control[3]);
      OnRequest(key, command);
    }
  }
  receiver.Release();
  return count != 0;
}

// The requests that the lcore has executed in its last turn, in that order.
void SimulatedPlay::Follow(uint16_t number) {
  Machine& machine = machines_[number];
  void* const segment = machine.targets.back()->segment();
  const auto* head = static_cast<const suede_segment*>(segment);
  for (uint8_t vc = 0; vc < kVcCount; ++vc) {
    if ((kRequestVcs & 1u << vc) == 0) continue;
    ClientReceiver& follower = machine.followers[vc];
    const auto* ring = AtOffset<suede_ring>(segment, head->rx_ring[vc]);
    while (follower.position() != LoadAcquire(ring->tail.value)) {
      ReceivedCommand got;
      if (follower.Poll(&got, 1) == 0) continue;
      Command command;
      command.control.assign(got.control, got.control + got.control_bytes);
      if (got.data_bytes != 0) command.data.assign(got.data, got.data + got.data_bytes);
      command.number = LoadBe32(&command.control[3]);
      Check({got.source_xpuid, number, vc}, command);
    }
  }
}

void SimulatedPlay::TakeCompletions(uint16_t number) {
  suede_completion got[16];
  const uint32_t count = endpoints_.host(number).queue->PollCompletions(got, 16);
  for (uint32_t i = 0; i < count; ++i) {
    const LaneKey key = {number, got[i].xpuid, got[i].vc};
    if (got[i].status != SUEDE_STATUS_OK) {
      if (restarts_ == 0) Wrong("a completion without a fault has an error");
      for (const uint32_t each : machines_[number].sent[key]) Disturb(number, each);
    }
    OnCompletion(key, static_cast<uint32_t>(got[i].tag), got[i].status);
  }
}

// ---- Time.

bool SimulatedPlay::Turn() {
  endpoints_.MakeTrouble(time_);
  time_ += kTurn;
  endpoints_.AdvanceTo(time_);
  bool has_received = false;
  for (uint16_t number = 0; number < kNodes; ++number) {
    endpoints_.host(number).pipeline->Poll(time_);
    if (is_served_by_lcore()) Follow(number);
    TakeCompletions(number);
    for (uint8_t vc = 0; vc < kVcCount; ++vc) has_received |= TakeCommands(number, vc);
  }
  return has_received;
}

bool SimulatedPlay::MoveOn() { return Turn(); }

// Whether a client gets anything while the endpoints still have work, or for some time.
bool SimulatedPlay::IsMoving() {
  constexpr uint32_t kMaxTurns = 2'000'000;  // a second
  for (uint32_t turn = 0; turn < kMaxTurns; ++turn) {
    if (Turn()) return true;
    const bool all_quiet =
        endpoints_.IsQuiet() &&
        std::all_of(machines_.begin(), machines_.end(), [](const Machine& machine) {
          return std::none_of(machine.followers.begin(), machine.followers.end(),
                              [](const ClientReceiver& each) { return each.HasWork(); });
        });
    if (all_quiet) return false;
  }
  Wrong("the endpoints do not come to rest");
  return false;
}

}  // namespace suede::mem
