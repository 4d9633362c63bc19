// SPDX-License-Identifier: Apache-2.0
#include "memory_network.h"

#include <algorithm>

#include "suede/layout.h"

namespace suede::mem {

bool MemoryNetwork::OfferRequest(const LaneKey& key, const Command& command) {
  Channel& channel = channels_[key];
  if (channel.commands.size() >= 24) return false;
  channel.commands.push_back({.command = command, .completion = channel.completions.size()});
  channel.completions.push_back({.number = command.number, .is_wanted = command.wants_completion});
  return true;
}

bool MemoryNetwork::OfferResponse(const LaneKey& key, const Command& command) {
  Channel& channel = channels_[key];
  if (channel.commands.size() >= 4) return false;
  channel.commands.push_back({.command = command});
  return true;
}

bool MemoryNetwork::IsMoving() {
  return std::any_of(channels_.begin(), channels_.end(),
                     [](const auto& entry) { return !entry.second.IsIdle(); });
}

bool MemoryNetwork::MoveOn() {
  std::vector<std::pair<const LaneKey, Channel>*> busy;
  for (auto& entry : channels_) {
    if (!entry.second.IsIdle()) busy.push_back(&entry);
  }
  while (!busy.empty()) {
    const uint32_t chosen = Draw(static_cast<uint32_t>(busy.size()));
    auto& [key, channel] = *busy[chosen];
    if (!channel.commands.empty()) {
      Deliver(key, channel);
      return true;
    }
    if (TellCompletion(key, channel)) return true;
    busy.erase(busy.begin() + chosen);
  }
  return false;
}

void MemoryNetwork::Deliver(const LaneKey& key, Channel& channel) {
  const size_t which = is_unordered() ? Draw(static_cast<uint32_t>(channel.commands.size())) : 0;
  const UnderWay taken = channel.commands[which];
  channel.commands.erase(channel.commands.begin() + static_cast<int64_t>(which));
  if (key[2] == kResponseVc) return OnResponse(key, taken.command);
  channel.completions[taken.completion].status = SUEDE_STATUS_OK;
  OnRequest(key, taken.command);
}

bool MemoryNetwork::TellCompletion(const LaneKey& key, Channel& channel) {
  const Completion completion = channel.completions[channel.reported];
  if (completion.status < 0) return false;
  ++channel.reported;
  if (!completion.is_wanted) return true;
  if (completion.status != SUEDE_STATUS_OK) {
    for (const Completion& each : channel.completions) Disturb(key[0], each.number);
  }
  OnCompletion(key, completion.number, completion.status);
  return true;
}

// ---- Faults.

void MemoryNetwork::DropRequestsTo(uint16_t xpuid, int status) {
  for (auto& [key, channel] : channels_) {
    if (key[1] != xpuid || key[2] == kResponseVc) continue;
    for (const UnderWay& each : channel.commands) {
      channel.completions[each.completion].status = status;
    }
    channel.commands.clear();
  }
}

void MemoryNetwork::MakeUnreachable(uint16_t xpuid) {
  DropRequestsTo(xpuid, SUEDE_STATUS_UNREACHABLE);
}

void MemoryNetwork::RestartTarget(Node& node) {
  DropRequestsTo(node.xpuid, Draw(2) == 0 ? SUEDE_STATUS_PEER_RESET : SUEDE_STATUS_IN_DOUBT);
  for (auto& [key, channel] : channels_) {
    if (key[0] == node.xpuid && key[2] == kResponseVc) channel.commands.clear();
  }
  node.target->CheckInvariants();
  MakeTarget(node);
}

void MemoryNetwork::LosePlane(Node& node) {
  for (auto& [key, channel] : channels_) {
    const bool is_response = key[2] == kResponseVc;
    if (key[0] == node.xpuid && !is_response) {
      channel.commands.clear();
      channel.reported = channel.completions.size();
    }
    if (key[1] == node.xpuid && is_response) channel.commands.clear();
  }
  ForgetUnsent(node.xpuid);
  node.initiator->OnPlaneLost(0);
}

}  // namespace suede::mem
