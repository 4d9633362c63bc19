// SPDX-License-Identifier: Apache-2.0
#include "plain_play.h"

#include <algorithm>

#include "suede/layout.h"

namespace suede::axi {

int PlainPlay::OnBurst(uint16_t from, const Burst& burst) {
  std::deque<Message>& channel = channels_[{from, burst.to.xpuid, burst.to.vc}];
  if (channel.size() >= (params_.is_tight ? 1u : 24u)) return 0;
  const uint32_t control_bytes = (burst.controls[0] & 0x0f) * 2;
  Message message;
  message.control.assign(burst.controls, burst.controls + control_bytes);
  if (burst.data_bytes != 0) message.data.assign(burst.data, burst.data + burst.data_bytes);
  message.tag = static_cast<uint32_t>(burst.tag);
  message.wants_completion = burst.wants_completion;
  channel.push_back(message);
  return 1;
}

bool PlainPlay::MoveNetwork() {
  bool has_moved = false;
  for (uint32_t i = dice_.Below(6); i-- != 0 && MoveMessage();) has_moved = true;
  return has_moved;
}

bool PlainPlay::IsNetworkIdle() const {
  return std::all_of(channels_.begin(), channels_.end(),
                     [](const auto& entry) { return entry.second.empty(); });
}

// Delivers a message of a channel drawn at random. Returns false where none can be delivered.
bool PlainPlay::MoveMessage() {
  std::vector<ChannelKey> busy;
  for (const auto& [key, channel] : channels_) {
    const auto& [from, to, vc] = key;
    if (channel.empty()) continue;
    if (vc == kRequestVc && !nodes_[to].manager->CanTake()) continue;
    busy.push_back(key);
  }
  if (busy.empty()) return false;
  const ChannelKey key = busy[dice_.Below(static_cast<uint32_t>(busy.size()))];
  std::deque<Message>& channel = channels_[key];
  const size_t which =
      params_.is_unordered ? dice_.Below(static_cast<uint32_t>(channel.size())) : 0;
  const Message message = channel[which];
  channel.erase(channel.begin() + static_cast<int64_t>(which));
  const auto [from, to, vc] = key;
  Deliver({.xpuid = from, .vc = vc}, to, message.control, message.data);
  if (message.wants_completion && vc == kRequestVc) {
    nodes_[from].subordinate->OnCompletion({.xpuid = to, .vc = vc}, message.tag, SUEDE_STATUS_OK);
  }
  return true;
}

// ---- Faults

void PlainPlay::FailNetwork() {
  const auto number = static_cast<uint16_t>(dice_.Below(kNodes));
  switch (dice_.Below(3)) {
    case 0:
      return LoseRequests(number, SUEDE_STATUS_UNREACHABLE);
    case 1:
      return LoseRequests(number, dice_.OneIn(2) ? SUEDE_STATUS_PEER_RESET : SUEDE_STATUS_IN_DOUBT);
    default:
      return LoseTarget(number);
  }
}

// The network loses the requests under way to the node and reports `status`.
void PlainPlay::LoseRequests(uint16_t number, uint8_t status) {
  Doom(number);
  for (auto& [key, channel] : channels_) {
    const auto& [from, to, vc] = key;
    if (to != number || vc != kRequestVc) continue;
    std::deque<Message> lost;
    lost.swap(channel);
    for (const Message& message : lost) {
      if (!message.wants_completion) continue;
      nodes_[from].subordinate->OnCompletion({.xpuid = to, .vc = vc}, message.tag, status);
    }
  }
}

// The target's program ends and comes back; nobody reports it.
void PlainPlay::LoseTarget(uint16_t number) {
  Doom(number);
  for (auto& [key, channel] : channels_) {
    const auto& [from, to, vc] = key;
    if ((to == number && vc == kRequestVc) || (from == number && vc == kAnswerVc)) channel.clear();
  }
  Node& node = nodes_[number];
  node.soc->Reset();
  node.reset_steps = 0;
  MakeManager(node);
}

}  // namespace suede::axi
