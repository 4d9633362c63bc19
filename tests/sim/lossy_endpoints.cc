// SPDX-License-Identifier: Apache-2.0
#include "lossy_endpoints.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace suede {
namespace {

constexpr uint32_t kRing = 256;  // descriptors
constexpr uint32_t kFrames = 4096;
constexpr SimFaults kFaults{.loss = 0.01, .loss_back = 0.01};
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

LossyEndpoints::LossyEndpoints(uint64_t seed, uint16_t nodes, bool is_unordered,
                               std::function<uint32_t(uint32_t)> draw)
    : is_unordered_(is_unordered), draw_(std::move(draw)), hosts_(nodes) {
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    networks_.push_back(std::make_unique<SimNetwork>(seed * kPlanes + plane));
    networks_.back()->SetPorts(nodes);
    for (uint32_t number = 0; number < nodes; ++number) {
      const MacAddress mac = MacOf(number, plane);
      uint8_t octets[6];
      std::copy(mac.begin(), mac.end(), octets);
      hosts_[number].ports[plane] =
          networks_[plane]->AddPort(octets, kFrames, kRing, kFaults, kRing);
    }
  }
}

void LossyEndpoints::Boot(uint16_t number) {
  Host& host = hosts_[number];
  if (host.pipeline != nullptr) {
    host.pipeline->counters(0).AddTo(before_);
    host.pipeline->port_counters().AddTo(before_);
    host.pipeline.reset();
    SimPort::Restart(host.ports);
    host.segments.clear();
  }
  host.pipeline = std::make_unique<Pipeline>();
  InstanceParams params;
  params.xpuid = number;
  params.partition = 4;  // of the windows that tests/mem opens
  params.receive_lines = kShape.rx_lines;
  params.secret = {draw_(1u << 31), number};
  params.paths = Paths(is_unordered_);
  params.transport.max_tries = 1000;
  for (uint32_t plane = 0; plane < kPlanes; ++plane) {
    host.pipeline->AddPort(
        host.ports[plane],
        {.rules = {.encap = Encap::kUdp4}, .mac = MacOf(number, plane), .packed_pdus = 256});
    params.planes.push_back({.port = plane, .address = AddressOf(number, plane)});
  }
  for (uint16_t peer = 0; peer < hosts_.size(); ++peer) {
    if (peer == number) continue;
    PeerParams of_peer{.xpuid = peer};
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      of_peer.planes.push_back({.address = AddressOf(peer, plane), .mac = MacOf(peer, plane)});
    }
    params.peers.push_back(of_peer);
  }
  params.inflight_pdus = 256;
  host.pipeline->AddInstance(params);
}

void LossyEndpoints::AttachClient(uint16_t number, uint32_t vc_mask, Time now) {
  Host& host = hosts_[number];
  const uint64_t bytes = SegmentOffsets(kShape).bytes;
  host.segments.emplace_back(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  void* const segment = host.segments.back().get();
  std::memset(segment, 0, bytes);
  FormatSegment(segment, kShape);
  const uint32_t instances[SUEDE_MAX_QUEUES] = {};
  auto& requests = host.pipeline->mailbox().requests;
  requests.Push(request::Attach{
      .client = ++host.client, .queue_instances = instances, .segment = segment, .shape = &kShape});
  requests.Push(request::Claim{
      .vc_mask = static_cast<uint8_t>(vc_mask), .client = host.client, .instance = 0});
  host.pipeline->Poll(now);
  host.queue = std::make_unique<ClientQueue>(segment, 0);
  host.receivers.clear();
  for (uint32_t vc = 0; vc < kVcCount; ++vc) host.receivers.emplace_back(segment, vc);
}

void LossyEndpoints::CutOff(uint16_t number, Time now) {
  if (!troubled_.empty()) return;
  troubled_.assign(hosts_[number].ports.begin(), hosts_[number].ports.end());
  for (SimPort* port : troubled_) port->SetSilent(true, true);
  next_trouble_ = now + kTroubleEvery;
}

void LossyEndpoints::MakeTrouble(Time now) {
  if (now < next_trouble_) return;
  next_trouble_ = now + kTroubleEvery + Duration(draw_(500'000));
  SwitchTrouble();
}

// A port is dead: its link is down, or it loses what it sends, or receives, or both.
void LossyEndpoints::SwitchTrouble() {
  if (!troubled_.empty()) {
    for (SimPort* port : troubled_) {
      port->SetLink(true);
      port->SetSilent(false, false);
    }
    troubled_.clear();
    return;
  }
  SimPort* const port = hosts_[draw_(static_cast<uint32_t>(hosts_.size()))].ports[draw_(kPlanes)];
  troubled_.push_back(port);
  ++plane_failures_;
  const uint32_t kind = draw_(4);
  if (kind == 0) {
    port->SetLink(false);
  } else {
    port->SetSilent((kind & 1) != 0, (kind & 2) != 0);
  }
}

void LossyEndpoints::AdvanceTo(Time now) {
  for (auto& network : networks_) network->AdvanceTo(now);
}

bool LossyEndpoints::IsQuiet() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const Host& host) {
    return host.pipeline->IsQuiet() &&
           std::none_of(host.receivers.begin(), host.receivers.end(),
                        [](const ClientReceiver& each) { return each.HasWork(); });
  });
}

uint64_t LossyEndpoints::Count(Counter counter) const {
  uint64_t sum = before_[static_cast<size_t>(counter)];
  for (const Host& host : hosts_) {
    sum += host.pipeline->counters(0).Get(counter) + host.pipeline->port_counters().Get(counter);
  }
  return sum;
}

}  // namespace suede
