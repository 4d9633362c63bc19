// SPDX-License-Identifier: Apache-2.0
#include "simulated_play.h"

#include <cstring>

#include "sim/checks.h"

namespace suede::mem {
namespace {

constexpr Duration kTurn{500};
constexpr uint32_t kRing = 256;  // descriptors
constexpr uint32_t kFrames = 4096;
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

SimulatedPlay::SimulatedPlay(uint64_t seed, bool is_unordered) : MemoryPlay(seed, is_unordered) {
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    networks_.push_back(std::make_unique<SimNetwork>(seed * kPlanes + plane));
    networks_.back()->SetPorts(kNodes);
  }
  for (uint16_t number = 0; number < kNodes; ++number) AddHost(number, is_unordered);
}

void SimulatedPlay::AddHost(uint16_t number, bool is_unordered) {
  Host& host = hosts_[number];
  host.pipeline = std::make_unique<Pipeline>();
  const SegmentShape shape{.queue_count = 1};
  InstanceParams params;
  params.xpuid = number;
  params.receive_lines = shape.rx_lines;
  params.secret = {Draw(1u << 31), number};
  params.paths = Paths(is_unordered);
  params.transport.max_tries = 1000;
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    const MacAddress mac = MacOf(number, plane);
    uint8_t octets[6];
    std::copy(mac.begin(), mac.end(), octets);
    const SimFaults faults{.loss = 0.01, .loss_back = 0.01};
    host.ports[plane] = networks_[plane]->AddPort(octets, kFrames, kRing, faults, kRing);
    host.pipeline->AddPort(host.ports[plane],
                           {.rules = {.encap = Encap::kUdp4}, .mac = mac, .packed_pdus = 256});
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
  const uint64_t bytes = SegmentOffsets(shape).bytes;
  host.segment.reset(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  std::memset(host.segment.get(), 0, bytes);
  FormatSegment(host.segment.get(), shape);
  const uint32_t instances[SUEDE_MAX_QUEUES] = {};
  auto& requests = host.pipeline->mailbox().requests;
  requests.Push(request::Attach{
      .client = 1, .queue_instances = instances, .segment = host.segment.get(), .shape = &shape});
  requests.Push(request::Claim{.vc_mask = 0xf, .client = 1, .instance = 0});
  host.pipeline->Poll(time_);
  host.queue = std::make_unique<ClientQueue>(host.segment.get(), 0);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) host.receivers.emplace_back(host.segment.get(), vc);
}

uint64_t SimulatedPlay::Count(Counter counter) const {
  uint64_t sum = 0;
  for (const Host& host : hosts_) {
    sum += host.pipeline->counters(0).Get(counter) + host.pipeline->port_counters().Get(counter);
  }
  return sum;
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
  return Offer(key, command);
}

bool SimulatedPlay::OfferResponse(const LaneKey& key, const Command& command) {
  return Offer(key, command);
}

bool SimulatedPlay::TakeCommands(uint16_t number, uint8_t vc) {
  ClientReceiver& receiver = hosts_[number].receivers[vc];
  if (!receiver.HasWork()) return false;
  constexpr uint32_t kMost = 16;
  ReceivedCommand got[kMost];
  const uint32_t count = receiver.Poll(got, kMost);
  for (uint32_t i = 0; i < count; ++i) {
    Command command;
    command.control.assign(got[i].control, got[i].control + got[i].control_bytes);
    if (got[i].data_bytes != 0) {
      command.data.assign(got[i].data, got[i].data + got[i].data_bytes);
    }
    const LaneKey key = {got[i].source_xpuid, number, vc};
    if (vc == kResponseVc) {
      OnResponse(key, command);
      continue;
    }
    command.number = static_cast<uint32_t>(command.control[3]) << 24 | command.control[4] << 16 |
                     command.control[5] << 8 | command.control[6];
    OnRequest(key, command);
  }
  receiver.Release();
  return count != 0;
}

void SimulatedPlay::TakeCompletions(uint16_t number) {
  suede_completion got[16];
  const uint32_t count = hosts_[number].queue->PollCompletions(got, 16);
  for (uint32_t i = 0; i < count; ++i) {
    if (got[i].status != SUEDE_STATUS_OK) Wrong("a completion without a fault has an error");
    OnCompletion({number, got[i].xpuid, got[i].vc}, static_cast<uint32_t>(got[i].tag),
                 got[i].status);
  }
}

// ---- Time.

// One port is dead at a time: its link is down, or it loses what it sends, or receives, or both.
void SimulatedPlay::TroubleSomeone() {
  if (time_ < next_trouble_) return;
  next_trouble_ = time_ + kTroubleEvery + Duration(Draw(500'000));
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
    TakeCompletions(number);
    for (uint8_t vc = 0; vc < kVcCount; ++vc) has_received |= TakeCommands(number, vc);
  }
  return has_received;
}

bool SimulatedPlay::MoveOn() { return Turn(); }

// Whether a client gets anything while the endpoints still have work, or for some time.
bool SimulatedPlay::IsMoving() {
  constexpr uint32_t kMostTurns = 2'000'000;  // a second
  for (uint32_t turn = 0; turn < kMostTurns; ++turn) {
    if (Turn()) return true;
    const bool all_quiet = std::all_of(hosts_.begin(), hosts_.end(),
                                       [](const Host& host) { return host.pipeline->IsQuiet(); });
    if (all_quiet) return false;
  }
  Wrong("the endpoints do not come to rest");
  return false;
}

}  // namespace suede::mem
