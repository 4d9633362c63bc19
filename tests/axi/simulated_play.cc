// SPDX-License-Identifier: Apache-2.0
#include "simulated_play.h"

#include <algorithm>
#include <cstring>

#include "sim/checks.h"

namespace suede::axi {
namespace {

constexpr uint32_t kRing = 256;  // descriptors
constexpr uint32_t kFrames = 4096;
constexpr SegmentShape kShape{.queue_count = 1};
constexpr Duration kTroubleEvery = std::chrono::microseconds(700);

MacAddress MacOf(uint32_t number, uint32_t plane) {
  return {2, 0, 0, 0, static_cast<uint8_t>(plane), static_cast<uint8_t>(number + 1)};
}

NetAddress AddressOf(uint32_t number, uint32_t plane) {
  return {.low = 0xc6120000u + plane * 256 + number};
}

// Times are short, so that planes die and live again within a play.
PathParams Paths(bool is_unordered) {
  return {.ordering = is_unordered ? Ordering::kUnordered : Ordering::kStrict,
          .hello_interval = std::chrono::microseconds(30),
          .hello_idle = std::chrono::microseconds(300),
          .hold_down = std::chrono::microseconds(100),
          .hold_down_max = std::chrono::microseconds(200)};
}

}  // namespace

SimulatedPlay::SimulatedPlay(const PlayParams& params) : Play(params) {
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    networks_.push_back(std::make_unique<SimNetwork>(params.seed * kPlanes + plane));
    networks_.back()->SetPorts(kNodes);
  }
  for (uint16_t number = 0; number < kNodes; ++number) {
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      const MacAddress mac = MacOf(number, plane);
      uint8_t octets[6];
      std::copy(mac.begin(), mac.end(), octets);
      const SimFaults faults{.loss = 0.01, .loss_back = 0.01};
      hosts_[number].ports[plane] =
          networks_[plane]->AddPort(octets, kFrames, kRing, faults, kRing);
    }
    Boot(number);
  }
}

void SimulatedPlay::Boot(uint16_t number) {
  Host& host = hosts_[number];
  host.pipeline = std::make_unique<Pipeline>();
  InstanceParams params;
  params.xpuid = number;
  params.receive_lines = kShape.rx_lines;
  params.secret = {dice_.Below(1u << 31), number};
  params.paths = Paths(params_.is_unordered);
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
  AttachClient(host);
}

void SimulatedPlay::AttachClient(Host& host) {
  const uint64_t bytes = SegmentOffsets(kShape).bytes;
  host.segment.reset(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  std::memset(host.segment.get(), 0, bytes);
  FormatSegment(host.segment.get(), kShape);
  const uint32_t instances[SUEDE_MAX_QUEUES] = {};
  auto& requests = host.pipeline->mailbox().requests;
  requests.Push(request::Attach{
      .client = 1, .queue_instances = instances, .segment = host.segment.get(), .shape = &kShape});
  requests.Push(
      request::Claim{.vc_mask = 1u << kRequestVc | 1u << kAnswerVc, .client = 1, .instance = 0});
  host.pipeline->Poll(now_);
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

// ---- Commands

int SimulatedPlay::OnBurst(uint16_t from, const Burst& burst) {
  const SendResult result = hosts_[from].queue->Send(
      {.xpuid = burst.to.xpuid,
       .vc = burst.to.vc,
       .flags = static_cast<uint8_t>(burst.wants_completion ? SUEDE_RECORD_COMPLETION : 0),
       .tag = burst.tag,
       .control = burst.controls,
       .data = burst.data});
  if (result != SendResult::kOk && result != SendResult::kWouldBlock)
    records_.Wrong("a send failed");
  hosts_[from].queue->Flush();
  return result == SendResult::kOk ? 1 : 0;
}

bool SimulatedPlay::TakeCommands(uint16_t number, uint8_t vc) {
  ClientReceiver& receiver = hosts_[number].receivers[vc];
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
  const uint32_t count = hosts_[number].queue->PollCompletions(got, 16);
  for (uint32_t i = 0; i < count; ++i) {
    if (got[i].status != SUEDE_STATUS_OK) records_.Wrong("a completion has an error");
    nodes_[number].subordinate->OnCompletion({.xpuid = got[i].xpuid, .vc = got[i].vc},
                                             static_cast<uint32_t>(got[i].tag), got[i].status);
  }
  return count != 0;
}

// ---- Time

bool SimulatedPlay::MoveNetwork() {
  MakeTrouble();
  for (auto& network : networks_) network->AdvanceTo(now_);
  bool has_moved = false;
  for (uint16_t number = 0; number < kNodes; ++number) {
    hosts_[number].pipeline->Poll(now_);
    has_moved |= TakeCommands(number, kAnswerVc);
    has_moved |= TakeCompletions(number);
    has_moved |= TakeCommands(number, kRequestVc);
  }
  return has_moved;
}

bool SimulatedPlay::IsNetworkIdle() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
    return host.pipeline->IsQuiet() &&
           std::none_of(host.receivers.begin(), host.receivers.end(),
                        [](const ClientReceiver& each) { return each.HasWork(); });
  });
}

void SimulatedPlay::MakeTrouble() {
  if (now_ < next_trouble_) return;
  next_trouble_ = now_ + kTroubleEvery + Duration(dice_.Below(500'000));
  FailNetwork();
}

void SimulatedPlay::FailNetwork() {
  if (troubled_ != nullptr) {
    troubled_->SetLink(true);
    troubled_->SetSilent(false, false);
    troubled_ = nullptr;
    return;
  }
  troubled_ = hosts_[dice_.Below(kNodes)].ports[dice_.Below(kPlanes)];
  ++plane_failures_;
  const uint32_t kind = dice_.Below(4);
  if (kind == 0) {
    troubled_->SetLink(false);
  } else {
    troubled_->SetSilent((kind & 1) != 0, (kind & 2) != 0);
  }
}

}  // namespace suede::axi
