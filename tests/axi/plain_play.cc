// SPDX-License-Identifier: Apache-2.0
#include "plain_play.h"

#include <algorithm>

#include "suede/layout.h"

namespace suede::axi {

int PlainPlay::OnBurst(uint16_t from, const Burst& burst) {
  if (burst.to.xpuid == kAttacker) return dice_.OneIn(20) ? 1 : 0;
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
  if (params_.has_attacker) Attack();
  for (uint32_t i = dice_.Below(6); i-- != 0 && MoveMessage();) has_moved = true;
  return has_moved;
}

// Sends a node commands of all kinds, some of which are whole requests.
void PlainPlay::Attack() {
  const auto to = static_cast<uint16_t>(dice_.Below(kNodes));
  for (uint32_t i = dice_.Below(4); i-- != 0;) {
    uint8_t control[kMaxControlBytes];
    uint8_t data[kMaxDataBytes];
    for (uint8_t& octet : control) octet = static_cast<uint8_t>(dice_.Below(256));
    for (uint8_t& octet : data) octet = static_cast<uint8_t>(dice_.OneIn(2) ? dice_.Below(256) : 0);
    const uint32_t kind = 10 + dice_.Below(6);
    const uint32_t control_bytes = kind <= 12 ? 18 : kind == 14 ? 10 : 8;
    const uint32_t data_bytes = dice_.OneIn(3) ? 0 : dice_.OneIn(2) ? 256 : 1 + dice_.Below(256);
    control[0] =
        static_cast<uint8_t>(kClass << 5 | (data_bytes != 0 ? 0x10 : 0) | control_bytes / 2);
    control[2] = static_cast<uint8_t>(kind << 4 | (dice_.OneIn(2) ? 0 : control[2] & 0x0f));
    std::fill(control + 3, control + 6, uint8_t{0});  // few numbers, so that parts meet
    if (kind == 13 || kind == 15) control[7] = static_cast<uint8_t>(1 + dice_.Below(24));
    if (kind <= 12) control[7] |= 0x80;  // an address that no node uses
    const uint8_t vc = dice_.OneIn(4) ? kAnswerVc : kRequestVc;
    if (vc == kRequestVc && !nodes_[to].manager->CanTake()) continue;
    Deliver({.xpuid = kAttacker, .vc = vc}, to, {control, control_bytes}, {data, data_bytes});
  }
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
