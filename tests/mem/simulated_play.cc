// SPDX-License-Identifier: Apache-2.0
#include "simulated_play.h"

#include <algorithm>
#include <cstring>

#include "base/big_endian.h"
#include "sim/checks.h"

namespace suede::mem {
namespace {

constexpr Duration kTurn{500};
constexpr uint32_t kRing = 256;  // descriptors
constexpr uint32_t kFrames = 4096;
constexpr SegmentShape kShape{.queue_count = 1};
constexpr uint32_t kTargetBit = 1u << 31;  // of the number of a client's target
constexpr Duration kTroubleEvery = std::chrono::microseconds(700);

MacAddress MacOf(uint32_t number, uint32_t plane) {
  return {2, 0, 0, 0, static_cast<uint8_t>(plane), static_cast<uint8_t>(number + 1)};
}

NetAddress AddressOf(uint32_t number, uint32_t plane) {
  return {.low = 0xc6120000u + plane * 256 + number};
}

// Times are short, so that planes die and live again within a program.
PathParams Paths(bool is_unordered) {
  return {.ordering = is_unordered ? Ordering::kUnordered : Ordering::kStrict,
          .hello_interval = std::chrono::microseconds(30),
          .hello_idle = std::chrono::microseconds(300),
          .hold_down = std::chrono::microseconds(100),
          .hold_down_max = std::chrono::microseconds(200)};
}

}  // namespace

SimulatedPlay::SimulatedPlay(uint64_t seed, bool is_unordered, bool is_on_lcore)
    : MemoryPlay(seed, is_unordered, is_on_lcore) {
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    networks_.push_back(std::make_unique<SimNetwork>(seed * kPlanes + plane));
    networks_.back()->SetPorts(kNodes);
  }
  for (uint16_t number = 0; number < kNodes; ++number) AddHost(number);
}

void SimulatedPlay::AddHost(uint16_t number) {
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    const MacAddress mac = MacOf(number, plane);
    uint8_t octets[6];
    std::copy(mac.begin(), mac.end(), octets);
    const SimFaults faults{.loss = 0.01, .loss_back = 0.01};
    hosts_[number].ports[plane] = networks_[plane]->AddPort(octets, kFrames, kRing, faults, kRing);
  }
  Boot(number);
}

void SimulatedPlay::Boot(uint16_t number) {
  Host& host = hosts_[number];
  host.pipeline = std::make_unique<Pipeline>();
  InstanceParams params;
  params.xpuid = number;
  params.partition = 4;  // of the windows that are open
  params.receive_lines = kShape.rx_lines;
  params.secret = {Draw(1u << 31), number};
  params.paths = Paths(is_unordered());
  params.transport.max_tries = 1000;
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    host.pipeline->AddPort(
        host.ports[plane],
        {.rules = {.encap = Encap::kUdp4}, .mac = MacOf(number, plane), .packed_pdus = 256});
    params.planes.push_back({.port = plane, .address = AddressOf(number, plane)});
  }
  for (uint16_t peer = 0; peer < kNodes; ++peer) {
    if (peer == number) continue;
    PeerParams of_peer{.xpuid = peer};
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      of_peer.planes.push_back({.address = AddressOf(peer, plane), .mac = MacOf(peer, plane)});
    }
    params.peers.push_back(of_peer);
  }
  params.inflight_pdus = 256;
  host.pipeline->AddInstance(params);
  AttachClient(number);
}

void SimulatedPlay::AttachClient(uint16_t number) {
  Host& host = hosts_[number];
  const uint64_t bytes = SegmentOffsets(kShape).bytes;
  host.segment.reset(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  std::memset(host.segment.get(), 0, bytes);
  FormatSegment(host.segment.get(), kShape);
  const uint32_t instances[SUEDE_MAX_QUEUES] = {};
  auto& requests = host.pipeline->mailbox().requests;
  const auto claims = static_cast<uint8_t>(is_served_by_lcore() ? 0xf & ~kRequestVcs : 0xf);
  requests.Push(request::Attach{.client = ++host.client,
                                .queue_instances = instances,
                                .segment = host.segment.get(),
                                .shape = &kShape});
  requests.Push(request::Claim{.vc_mask = claims, .client = host.client, .instance = 0});
  host.pipeline->Poll(time_);
  host.queue = std::make_unique<ClientQueue>(host.segment.get(), 0);
  host.receivers.clear();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) host.receivers.emplace_back(host.segment.get(), vc);
  if (is_served_by_lcore()) AttachServed(number);
}

// As app/endpoint does it.
void SimulatedPlay::AttachServed(uint16_t number) {
  Host& host = hosts_[number];
  host.served = std::make_unique<ServedTarget>(kShape, kRequestVcs);
  host.followers.clear();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    host.followers.emplace_back(host.served->segment(), vc);
  }
  auto& requests = host.pipeline->mailbox().requests;
  const uint32_t client = host.client | kTargetBit;
  requests.Push(request::AttachTarget{.client = client,
                                      .owner = host.client,
                                      .instance = 0,
                                      .vc_mask = 0xf,
                                      .target = host.served.get()});
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

uint64_t SimulatedPlay::Count(Counter counter) const {
  uint64_t sum = 0;
  for (uint16_t number = 0; number < kNodes; ++number) {
    const Pipeline& pipeline = *hosts_[number].pipeline;
    sum += before_[number][static_cast<size_t>(counter)] + pipeline.counters(0).Get(counter) +
           pipeline.port_counters().Get(counter);
  }
  return sum;
}

// ---- Restarts.

// The process has ended: its initiator knows nothing of what was under way, its target has new
// keys.
void SimulatedPlay::ForgetClient(Node& node) {
  ++restarts_;
  Host& host = hosts_[node.xpuid];
  host.old_segments.push_back(std::move(host.segment));
  if (host.served != nullptr) {
    host.served->CheckInvariants();
    host.old_served.push_back(std::move(host.served));
  }
  host.sent.clear();
  ForgetUnsent(node.xpuid);
  node.initiator->OnPlaneLost(0);
  MakeTarget(node);
}

void SimulatedPlay::RestartTarget(Node& node) {
  Host& host = hosts_[node.xpuid];
  host.pipeline->counters(0).AddTo(before_[node.xpuid]);
  host.pipeline->port_counters().AddTo(before_[node.xpuid]);
  host.pipeline.reset();
  SimPort::Restart(host.ports);
  ForgetClient(node);
  host.old_segments.clear();
  host.old_served.clear();
  Boot(node.xpuid);
}

void SimulatedPlay::LosePlane(Node& node) {
  Host& host = hosts_[node.xpuid];
  auto& requests = host.pipeline->mailbox().requests;
  if (is_served_by_lcore()) requests.Push(request::Detach{.client = host.client | kTargetBit});
  requests.Push(request::Detach{.client = host.client});
  host.pipeline->Poll(time_);
  LcoreReply reply;
  while (host.pipeline->mailbox().replies.Pop(reply)) continue;
  ForgetClient(node);
  AttachClient(node.xpuid);
}

void SimulatedPlay::MakeUnreachable(uint16_t xpuid) {
  if (cut_off_ >= 0 || troubled_ != nullptr) return;
  cut_off_ = xpuid;
  for (SimPort* port : hosts_[xpuid].ports) port->SetSilent(true, true);
  next_trouble_ = time_ + kTroubleEvery;
}

// ---- Commands.

bool SimulatedPlay::Offer(const LaneKey& key, const Command& command) {
  const SendResult result = hosts_[key[0]].queue->Send(
      {.xpuid = key[1],
       .vc = static_cast<uint8_t>(key[2]),
       .flags = static_cast<uint8_t>(command.wants_completion ? SUEDE_RECORD_COMPLETION : 0),
       .tag = command.number,
       .control = command.control.data(),
       .data = command.data.data()});
  if (result != SendResult::kOk && result != SendResult::kWouldBlock) Wrong("a send failed");
  hosts_[key[0]].queue->Flush();
  return result == SendResult::kOk;
}

bool SimulatedPlay::OfferRequest(const LaneKey& key, const Command& command) {
  if (!Offer(key, command)) return false;
  hosts_[key[0]].sent[key].push_back(command.number);
  return true;
}

bool SimulatedPlay::OfferResponse(const LaneKey& key, const Command& command) {
  return Offer(key, command);
}

bool SimulatedPlay::TakeCommands(uint16_t number, uint8_t vc) {
  ClientReceiver& receiver = hosts_[number].receivers[vc];
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
  Host& host = hosts_[number];
  const auto* head = static_cast<const suede_segment*>(host.served->segment());
  for (uint8_t vc = 0; vc < kVcCount; ++vc) {
    if ((kRequestVcs & 1u << vc) == 0) continue;
    ClientReceiver& follower = host.followers[vc];
    const auto* ring = AtOffset<suede_ring>(host.served->segment(), head->rx_ring[vc]);
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
  const uint32_t count = hosts_[number].queue->PollCompletions(got, 16);
  for (uint32_t i = 0; i < count; ++i) {
    const LaneKey key = {number, got[i].xpuid, got[i].vc};
    if (got[i].status != SUEDE_STATUS_OK) {
      if (restarts_ == 0) Wrong("a completion without a fault has an error");
      for (const uint32_t each : hosts_[number].sent[key]) Disturb(number, each);
    }
    OnCompletion(key, static_cast<uint32_t>(got[i].tag), got[i].status);
  }
}

// ---- Time.

// One port is dead at a time: its link is down, or it loses what it sends, or receives, or both.
void SimulatedPlay::TroubleSomeone() {
  if (time_ < next_trouble_) return;
  next_trouble_ = time_ + kTroubleEvery + Duration(Draw(500'000));
  if (cut_off_ >= 0) {
    for (SimPort* port : hosts_[static_cast<size_t>(cut_off_)].ports) port->SetSilent(false, false);
    cut_off_ = -1;
    return;
  }
  if (troubled_ != nullptr) {
    troubled_->SetLink(true);
    troubled_->SetSilent(false, false);
    troubled_ = nullptr;
    return;
  }
  troubled_ = hosts_[Draw(kNodes)].ports[Draw(kPlanes)];
  ++plane_failures_;
  const uint32_t kind = Draw(4);
  if (kind == 0)
    troubled_->SetLink(false);
  else
    troubled_->SetSilent((kind & 1) != 0, (kind & 2) != 0);
}

bool SimulatedPlay::Turn() {
  TroubleSomeone();
  time_ += kTurn;
  for (auto& network : networks_) network->AdvanceTo(time_);
  bool has_received = false;
  for (uint16_t number = 0; number < kNodes; ++number) {
    hosts_[number].pipeline->Poll(time_);
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
    const bool all_quiet = std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
      return host.pipeline->IsQuiet() &&
             std::none_of(host.followers.begin(), host.followers.end(),
                          [](const ClientReceiver& each) { return each.HasWork(); });
    });
    if (all_quiet) return false;
  }
  Wrong("the endpoints do not come to rest");
  return false;
}

}  // namespace suede::mem
