// SPDX-License-Identifier: Apache-2.0
#include "socket_play.h"

#include <algorithm>
#include <cstring>

#include "suede/layout.h"

namespace suede::message {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint32_t kCommandsOfLane = 24;
constexpr uint32_t kChannels = 24;

}  // namespace

SocketPlay::SocketPlay(uint64_t seed, const PlayOptions& options)
    : options_(options), random_(seed) {
  for (uint16_t number = 0; number < kNodes; ++number) {
    nodes_[number].play = this;
    nodes_[number].xpuid = number;
    Begin(nodes_[number]);
  }
}

void SocketPlay::Begin(Node& node) {
  ++node.life;
  node.sockets = std::make_unique<Sockets>(SocketsParams{.own_xpuid = node.xpuid,
                                                         .channels = kChannels,
                                                         .data_vcs = 0b0101,
                                                         .control_vc = kControlVc,
                                                         .seed = random_()});
  node.sockets->OnTime(TimeFromNs(now_ns_));
}

void SocketPlay::AddTotals(const Sockets& sockets) {
  const SocketsCounters& counters = sockets.counters();
  totals_.sent_bytes += counters.sent_bytes;
  totals_.received_bytes += counters.received_bytes;
  totals_.spilled_bytes += counters.spilled_bytes;
  totals_.torn += counters.torn;
  totals_.starved += counters.starved;
  totals_.blocked += counters.blocked;
  totals_.stray += counters.stray;
  totals_.foreign += counters.foreign;
  for (uint32_t i = 0; i < kRefusals; ++i) totals_.refused[i] += counters.refused[i];
}

int SocketPlay::Node::Send(const Burst& burst) {
  Lane& lane = play->lanes_[{xpuid, burst.to.xpuid, burst.to.vc}];
  uint32_t taken = 0;
  for (; taken < burst.count && lane.commands.size() < kCommandsOfLane; ++taken) {
    const uint8_t* const control = burst.controls + taken * kControlBytes;
    UnderWay under_way{.control = {control, control + kControlBytes},
                       .completion = lane.completions.size()};
    if (burst.data_bytes != 0) {
      const uint8_t* const data = burst.data + size_t{taken} * burst.data_bytes;
      under_way.data.assign(data, data + burst.data_bytes);
    }
    lane.commands.push_back(std::move(under_way));
    lane.completions.push_back({.tag = burst.tag, .is_wanted = burst.wants_completion});
  }
  return static_cast<int>(taken);
}

// ---- The network.

void SocketPlay::Pump() {
  for (Node& node : nodes_) node.sockets->Pump(node);
}

void SocketPlay::Deliver(const LaneKey& key, Lane& lane) {
  const UnderWay taken = lane.commands.front();
  const bool repeats = options_.repeats && Draw(key[2] == kControlVc ? 4 : 400) == 0;
  if (!repeats) lane.commands.pop_front();
  lane.completions[taken.completion].status = SUEDE_STATUS_OK;
  // The data is exactly as large as in a ring.
  const std::vector<uint8_t> data = taken.data;
  Sockets& sockets = *nodes_[key[1]].sockets;
  sockets.OnCommand({.xpuid = key[0], .plane = 0, .vc = static_cast<uint8_t>(key[2])},
                    taken.control.data(), kControlBytes, data.data(),
                    static_cast<uint32_t>(data.size()));
  if (Draw(16) == 0) sockets.CheckInvariants();
  for (Open& open : opens_) {
    if (open.is_open && open.node == key[1] && !open.params.is_sender) NoteSender(open);
  }
}

bool SocketPlay::TellCompletion(const LaneKey& key, Lane& lane) {
  if (lane.reported == lane.completions.size() || lane.completions[lane.reported].status < 0)
    return false;
  const Completion completion = lane.completions[lane.reported++];
  if (completion.is_wanted) {
    nodes_[key[0]].sockets->senders().OnCompletion(completion.tag,
                                                   static_cast<uint8_t>(completion.status));
  }
  return true;
}

bool SocketPlay::MoveOn() {
  std::vector<std::pair<const LaneKey, Lane>*> busy;
  for (auto& entry : lanes_) {
    const Lane& lane = entry.second;
    const bool has_told =
        lane.reported == lane.completions.size() || lane.completions[lane.reported].status < 0;
    if (!lane.commands.empty() || !has_told) busy.push_back(&entry);
  }
  if (busy.empty()) return false;
  auto& [key, lane] = *busy[Draw(static_cast<uint32_t>(busy.size()))];
  if (!lane.commands.empty() && (Draw(3) != 0 || !TellCompletion(key, lane)))
    Deliver(key, lane);
  else
    TellCompletion(key, lane);
  return true;
}

// The receiver's sender, once they are connected.
void SocketPlay::NoteSender(Open& open) {
  const Channel& channel = nodes_[open.node].sockets->PeerOf(open.socket, 0);
  if (channel.state == Channel::State::kWaiting || open.sender_tag != 0) return;
  open.sender_tag = channel.peer_tag;
  open.sender_node = channel.name.xpuid;
}

// ---- Steps.

SocketPlay::Open* SocketPlay::Choose(bool is_sender) {
  std::vector<Open*> found;
  for (Open& open : opens_) {
    if (open.is_open && open.params.is_sender == is_sender) found.push_back(&open);
  }
  return found.empty() ? nullptr : found[Draw(static_cast<uint32_t>(found.size()))];
}

void SocketPlay::OpenSocket() {
  Open open;
  open.node = static_cast<uint16_t>(Draw(kNodes));
  open.params.is_sender = Draw(2) == 0;
  open.params.id = static_cast<uint16_t>(Draw(3));
  open.params.is_datagram = open.params.id == 2 || Draw(10) == 0;
  open.params.epoch = Draw(2);
  open.params.vc = static_cast<int8_t>(open.params.id == 1 || Draw(20) == 0 ? 2 : 0);
  open.params.is_private = !open.params.is_datagram && Draw(12) == 0;
  open.params.ring_bytes = 4096 + Draw(3) * 1000;
  open.params.operations = 1 + Draw(8);
  open.peers.push_back(static_cast<uint16_t>(Draw(kNodes)));
  if (open.params.is_sender && Draw(3) == 0) {
    for (uint16_t peer = 0; peer < kNodes; ++peer) {
      if (peer != open.peers[0] && Draw(2) == 0) open.peers.push_back(peer);
    }
  }
  if (!open.params.is_sender && Draw(6) == 0) open.peers[0] = kAnyXpu;
  if (Draw(3) != 0) MatchSomebody(&open);
  Node& node = nodes_[open.node];
  open.life = node.life;
  if (node.sockets->Open(open.params, open.peers, &open.socket) != Opened::kOk) return;
  for (uint32_t i = 0; i < open.peers.size(); ++i) {
    open.tags.push_back(node.sockets->PeerOf(open.socket, i).tag);
  }
  opens_.push_back(std::move(open));
}

// Makes it the other end of a socket that waits.
void SocketPlay::MatchSomebody(Open* open) {
  const Open* const other = Choose(Draw(2) == 0);
  if (other == nullptr) return;
  const uint32_t peer = Draw(static_cast<uint32_t>(other->peers.size()));
  const uint32_t ring_bytes = open->params.ring_bytes;
  open->node = other->peers[peer] == kAnyXpu ? open->node : other->peers[peer];
  open->peers = {other->node};
  open->params = other->params;
  open->params.is_sender = !other->params.is_sender;
  open->params.ring_bytes = ring_bytes;
}

void SocketPlay::SendSomething() {
  Open* const open = Choose(/*is_sender=*/true);
  if (open == nullptr || open->ends_soon) return;
  Sockets& sockets = *nodes_[open->node].sockets;
  static constexpr uint32_t kMax[] = {0, 1, 9, 256, 2000, 2000, 9000};
  Sent& sent = open->sent.emplace_back();
  sent.octets.resize(Draw(kMax[Draw(7)] + 1));
  for (uint8_t& octet : sent.octets) octet = static_cast<uint8_t>(random_());
  const bool is_soon = Draw(open->params.is_datagram ? 2 : 4) == 0;
  const Time deadline = is_soon ? TimeFromNs(now_ns_ + Draw(60) * kMs) : kNever;
  const Started started = sockets.senders().Send(
      open->socket, sent.octets.data(), sent.octets.size(), deadline, &sent.result, nullptr);
  if (started != Started::kOk) open->sent.pop_back();
}

void SocketPlay::Receive(Open& open, uint32_t max) {
  Sockets& sockets = *nodes_[open.node].sockets;
  std::vector<uint8_t> room(max);
  uint32_t bytes = 0;
  switch (sockets.receivers().Receive(open.socket, room.data(), max, &bytes)) {
    case Got::kOctets:
      room.resize(bytes);
      if (open.params.is_datagram)
        open.messages.push_back(room);
      else
        open.octets.insert(open.octets.end(), room.begin(), room.end());
      break;
    case Got::kTooLong:
      if (bytes <= max) Wrong("a datagram that fits is too long");
      break;
    case Got::kEnd:
      open.got_end = true;
      break;
    case Got::kInvalid:
      Wrong("a receiver cannot receive");
      break;
    case Got::kNothing:
    case Got::kFailed:
      break;
  }
  // Room is offered, and taken back some time later with what came.
  if (open.params.is_datagram || Draw(2) == 0) return;
  room.assign(600, 0);
  if (!sockets.receivers().OfferBuffer(open.socket, room.data(), 600)) return;
  for (uint32_t i = Draw(40); i > 0; --i) MoveOn();
  const uint32_t filled = sockets.receivers().WithdrawBuffer(open.socket);
  open.octets.insert(open.octets.end(), room.begin(), room.begin() + filled);
}

void SocketPlay::Release(Open& open) {
  Sockets& sockets = *nodes_[open.node].sockets;
  open.has_closed = open.params.is_sender && sockets.IsClosed(open.socket) &&
                    sockets.StatusOf(open.socket) == Status::kOk;
  sockets.Release(open.socket);
  open.is_open = false;
}

void SocketPlay::CloseSomething() {
  Open* const open = Choose(Draw(2) == 0);
  if (open == nullptr) return;
  if (open->params.is_sender && Draw(3) != 0) {
    nodes_[open->node].sockets->Close(open->socket);
    open->ends_soon = true;
  } else if (Draw(4) == 0 || open->got_end) {
    Release(*open);
  }
}

// ---- Faults.

void SocketPlay::EndLife(Node& node) {
  AddTotals(*node.sockets);
  for (Open& open : opens_) {
    if (open.node == node.xpuid) open.is_open = false;
  }
  Begin(node);
}

void SocketPlay::DropTo(uint16_t xpuid, int status) {
  for (auto& [key, lane] : lanes_) {
    if (key[1] != xpuid) continue;
    for (const UnderWay& each : lane.commands) lane.completions[each.completion].status = status;
    lane.commands.clear();
  }
}

void SocketPlay::DoFault() {
  Node& node = nodes_[Draw(kNodes)];
  switch (Draw(4)) {
    case 0:  // its process ends; another one begins, and may get what came late
      if (Draw(2) == 0) DropTo(node.xpuid, SUEDE_STATUS_OK);
      for (auto& [key, lane] : lanes_) {
        if (key[0] == node.xpuid) lane.reported = lane.completions.size();
      }
      return EndLife(node);
    case 1:  // its endpoint restarts: what it was to send is lost, and what was sent to it
      DropTo(node.xpuid, Draw(2) == 0 ? SUEDE_STATUS_PEER_RESET : SUEDE_STATUS_IN_DOUBT);
      for (auto& [key, lane] : lanes_) {
        if (key[0] != node.xpuid) continue;
        lane.commands.clear();
        lane.reported = lane.completions.size();
      }
      return node.sockets->OnPlaneLost(0);
    case 2:
      return DropTo(node.xpuid, SUEDE_STATUS_UNREACHABLE);
    default: {
      Open* const open = Choose(Draw(2) == 0);
      if (open != nullptr) Release(*open);
      return;
    }
  }
}

void SocketPlay::DoStep() {
  const uint32_t kind = Draw(100);
  if (kind < 20)
    OpenSocket();
  else if (kind < 55)
    SendSomething();
  else if (kind < 72) {
    if (Open* const open = Choose(/*is_sender=*/false); open != nullptr)
      Receive(*open, 1 + Draw(5000));
  } else if (kind < 82)
    CloseSomething();
  else if (kind < 92) {
    now_ns_ += Draw(20) * kMs;
    for (Node& node : nodes_) node.sockets->OnTime(TimeFromNs(now_ns_));
  } else if (kind < 94 && options_.has_faults)
    DoFault();
  Pump();
  for (uint32_t i = Draw(Draw(4) == 0 ? 100 : 6); i > 0 && MoveOn(); --i) {
    if (Draw(4) == 0) Pump();
  }
  for (const Node& node : nodes_) node.sockets->CheckInvariants();
}

// ---- The end.

// Everybody reads and closes; nothing is left but sockets whose peers never came.
void SocketPlay::Settle() {
  for (int round = 0; round < 120; ++round) {
    for (Open& open : opens_) {
      if (!open.is_open) continue;
      Sockets& sockets = *nodes_[open.node].sockets;
      if (!open.params.is_sender) {
        for (int i = 0; i < 20; ++i) Receive(open, 9000);
      } else if (round == 20) {
        sockets.Close(open.socket);
      }
    }
    Pump();
    for (int i = 0; i < 3000 && MoveOn(); ++i) Pump();
    now_ns_ += 10 * kMs;
    for (Node& node : nodes_) node.sockets->OnTime(TimeFromNs(now_ns_));
    const bool all_closed = std::all_of(opens_.begin(), opens_.end(), [&](const Open& open) {
      return !open.is_open || !open.params.is_sender ||
             nodes_[open.node].sockets->IsClosed(open.socket);
    });
    if (round > 30 && all_closed) break;
  }
}

void SocketPlay::Finish() {
  Settle();
  for (Open& open : opens_) {
    if (!open.is_open) continue;
    Sockets& sockets = *nodes_[open.node].sockets;
    if (open.params.is_sender && !sockets.IsClosed(open.socket)) {
      Wrong("a sender does not come to its end");
    }
    if (open.params.is_sender && !sockets.senders().operations(open.socket)->is_empty()) {
      Wrong("an operation does not come to its end");
    }
    Release(open);
  }
  for (int i = 0; i < 400; ++i) {
    Pump();
    while (MoveOn()) Pump();
    const bool all_free = std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
      return node.sockets->free_channels() == kChannels;
    });
    if (all_free) break;
    now_ns_ += 10 * kMs;
    for (Node& node : nodes_) node.sockets->OnTime(TimeFromNs(now_ns_));
  }
  for (const Node& node : nodes_) {
    node.sockets->CheckInvariants();
    if (node.sockets->free_channels() != kChannels) Wrong("a channel is left over");
    if (node.sockets->HasUnsent()) Wrong("something is left to be sent");
    AddTotals(*node.sockets);
  }
  for (const Open& open : opens_) {
    if (!open.params.is_sender && open.sender_tag != 0) CheckReceiver(open);
  }
}

// Whether the sender's channel of this tag and the receiver agree on everything. Tags are random:
// one of another life may be the same.
bool SocketPlay::Match(const Open& sender, std::vector<uint32_t>::const_iterator tag,
                       const Open& receiver) {
  return sender.node == receiver.sender_node &&
         sender.peers[static_cast<size_t>(tag - sender.tags.begin())] == receiver.node &&
         sender.params.id == receiver.params.id && sender.params.epoch == receiver.params.epoch &&
         sender.params.vc == receiver.params.vc &&
         sender.params.is_datagram == receiver.params.is_datagram;
}

void SocketPlay::CheckReceiver(const Open& receiver) {
  for (const Open& sender : opens_) {
    const auto tag = std::find(sender.tags.begin(), sender.tags.end(), receiver.sender_tag);
    if (!sender.params.is_sender || tag == sender.tags.end() || !Match(sender, tag, receiver)) {
      continue;
    }
    const std::string which = "socket " + std::to_string(receiver.params.id) + " of XPU " +
                              std::to_string(receiver.node) + " from " +
                              std::to_string(sender.node);
    if (receiver.got_end) ++ended_;
    if (sender.has_closed && !receiver.got_end && receiver.octets.empty() &&
        receiver.messages.empty()) {
      return;  // it was released, or its life ended, before it was read
    }
    if (!receiver.params.is_datagram) return CheckStream(receiver, sender, which);
    if (!MatchesMessages(receiver, 0, sender, 0)) {
      Wrong(which + ": other datagrams than were sent, or one is missing");
    }
    return;
  }
  Wrong("socket " + std::to_string(receiver.params.id) + " of XPU " +
        std::to_string(receiver.node) + " has a sender that does not match, or never was");
}

// Whether the octets from `at` on are those of the operations from `next` on. An operation with a
// known number of pushed octets counts for these, except at the end of what came; one that failed
// without a target left counts for all of its octets or for none.
bool SocketPlay::Matches(const Open& receiver, size_t at, const Open& sender, size_t next,
                         bool must_be_all) {
  const size_t left = receiver.octets.size() - at;
  if (next == sender.sent.size()) return left == 0;
  const Sent& sent = sender.sent[next];
  const size_t pushed = static_cast<size_t>(sent.result.pushed_bytes);
  const size_t max = std::min(left, sent.octets.size());
  const size_t same = static_cast<size_t>(
      std::mismatch(sent.octets.begin(), sent.octets.begin() + static_cast<int64_t>(max),
                    receiver.octets.begin() + static_cast<int64_t>(at))
          .first -
      sent.octets.begin());
  if (same == left && !must_be_all) return true;
  const bool is_known = sent.result.status == SUEDE_SOCKET_OK ||
                        sent.result.status == SUEDE_SOCKET_TIMED_OUT || pushed != 0;
  if (same >= pushed && Matches(receiver, at + pushed, sender, next + 1, must_be_all)) return true;
  // `pushed_bytes` is that of the targets that were left; a failed target may have got more.
  return (!is_known || sender.peers.size() > 1) && same == sent.octets.size() &&
         Matches(receiver, at + same, sender, next + 1, must_be_all);
}

void SocketPlay::CheckStream(const Open& receiver, const Open& sender, const std::string& which) {
  for (const Sent& sent : sender.sent) {
    if (sent.result.pushed_bytes > sent.octets.size()) Wrong(which + ": pushed too much");
    if (sent.result.status == SUEDE_SOCKET_OK && sent.result.pushed_bytes != sent.octets.size()) {
      Wrong(which + ": good, and not pushed");
    }
  }
  if (!Matches(receiver, 0, sender, 0, /*must_be_all=*/false)) {
    Wrong(which + ": other octets than were sent");
  }
  if (receiver.got_end && sender.peers.size() == 1 && !Matches(receiver, 0, sender, 0, true)) {
    Wrong(which + ": it ended, and octets are missing");
  }
}

// Whether the messages from `at` on are those of the operations from `next` on, except for some
// that failed. A receiver that got the end has all messages that were good.
bool SocketPlay::MatchesMessages(const Open& receiver, size_t at, const Open& sender, size_t next) {
  if (at == receiver.messages.size() && !receiver.got_end) return true;
  if (next == sender.sent.size()) return at == receiver.messages.size();
  const Sent& sent = sender.sent[next];
  if (at < receiver.messages.size() && receiver.messages[at] == sent.octets &&
      MatchesMessages(receiver, at + 1, sender, next + 1)) {
    return true;
  }
  return sent.result.status != SUEDE_SOCKET_OK && MatchesMessages(receiver, at, sender, next + 1);
}

std::string SocketPlay::Run(uint32_t steps) {
  for (uint32_t i = 0; i < steps && error_.empty(); ++i) DoStep();
  if (error_.empty()) Finish();
  return error_;
}

}  // namespace suede::message
