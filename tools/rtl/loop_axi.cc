// SPDX-License-Identifier: Apache-2.0
#include "loop_axi.h"

#include <algorithm>
#include <utility>

namespace suede::rtl {
namespace {

// Times are in ticks; the modules of two XPUs make four in a cycle.
constexpr uint32_t kMaxDelay = 200;
constexpr uint32_t kMaxOutage = 2000;
constexpr uint32_t kFaultInterval = 16'000;
constexpr size_t kRoom = 24;  // commands on a wire
constexpr uint8_t kRequestVc = 0;
constexpr uint8_t kAnswerVc = 1;
constexpr Duration kTick = std::chrono::microseconds(10);
constexpr Duration kDeadline = std::chrono::seconds(1);

Time TimeAt(uint64_t tick) { return Time{} + kTick * static_cast<int64_t>(tick + 1); }

}  // namespace

LoopAxiNetwork& LoopAxiNetwork::Get() {
  static LoopAxiNetwork network;
  return network;
}

void LoopAxiNetwork::Start(uint64_t seed, uint32_t faults) {
  random_ = seed * 0x9e3779b97f4a7c15u + 1;
  faults_ = faults;
  next_fault_ = Random(kFaultInterval);
}

uint32_t LoopAxiNetwork::Random(uint32_t bound) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<uint32_t>(random_ >> 32) % bound;
}

LoopAxiPort* LoopAxiNetwork::Find(uint16_t xpuid) {
  const auto found = ports_.find(xpuid);
  return found == ports_.end() ? nullptr : found->second;
}

void LoopAxiNetwork::Tick() {
  ++now_;
  if (faults_ == 0 || now_ < next_fault_) return;
  --faults_;
  next_fault_ = now_ + Random(kFaultInterval);
  const auto victim = std::next(ports_.begin(), Random(static_cast<uint32_t>(ports_.size())));
  switch (Random(3)) {
    case 0:
      return LoseRequests(victim->first, SUEDE_STATUS_UNREACHABLE);
    case 1:
      return LoseRequests(victim->first, SUEDE_STATUS_IN_DOUBT);
    default:
      break;
  }
  // The victim's daemon is lost with what is under way from and to it.
  LoseRequests(victim->first, SUEDE_STATUS_PEER_RESET);
  for (auto& [key, wire] : wires_) {
    if (std::get<0>(key) == victim->first || std::get<1>(key) == victim->first) wire.clear();
  }
  victim->second->BeginOutage(1 + Random(kMaxOutage));
}

// Loses the requests under way to an XPU and reports `status`.
void LoopAxiNetwork::LoseRequests(uint16_t to, uint8_t status) {
  for (auto& [key, wire] : wires_) {
    if (std::get<1>(key) != to || std::get<2>(key) != kRequestVc) continue;
    for (const Message& message : std::exchange(wire, {})) {
      if (message.wants_completion) Find(std::get<0>(key))->OnCompletion(to, message.tag, status);
    }
  }
}

LoopAxiPort::LoopAxiPort(const AxiParams& params)
    : network_(&LoopAxiNetwork::Get()),
      own_(params.own.xpuid),
      subordinate_({.bus_bytes = params.bus_bytes,
                    .write_user_bytes = params.write_user_bytes,
                    .request_vc = kRequestVc,
                    .deadline = kDeadline,
                    .first_number = network_->Random(UINT32_MAX)},
                   axi::AddressMap(params.routes)),
      manager_({.bus_bytes = params.bus_bytes,
                .read_user_bytes = params.read_user_bytes,
                .answer_vc = kAnswerVc,
                .deadline = kDeadline}) {
  network_->Join(own_, this);
}

bool LoopAxiPort::Poll() {
  network_->Tick();
  if (network_->now() < outage_end_) {
    subordinate_.OnInterfaceLost(0);
    manager_.OnInterfaceLost(0);
  } else {
    Receive();
  }
  subordinate_.Pump(*this, TimeAt(network_->now()));
  manager_.Pump(*this, TimeAt(network_->now()));
  return true;
}

uint32_t LoopAxiPort::Credit(uint32_t channel) const {
  if (channel == SUEDE_AXI_AW) return subordinate_.aw_credit();
  return channel == SUEDE_AXI_W ? subordinate_.w_credit() : subordinate_.ar_credit();
}

void LoopAxiPort::OnCompletion(uint16_t to, uint32_t tag, uint8_t status) {
  subordinate_.OnCompletion({.xpuid = to, .vc = kRequestVc}, tag, status);
}

void LoopAxiPort::BeginOutage(uint32_t ticks) { outage_end_ = network_->now() + ticks; }

int LoopAxiPort::Send(const Burst& burst) {
  if (network_->now() < outage_end_) return kLost;
  std::deque<LoopAxiNetwork::Message>& wire =
      network_->wires()[{own_, burst.to.xpuid, burst.to.vc}];
  uint32_t sent = 0;
  for (; sent < burst.count && wire.size() < kRoom && network_->Random(8) != 0; ++sent) {
    const uint8_t* const control = burst.controls + sent * kMaxControlBytes;
    LoopAxiNetwork::Message message;
    message.control.assign(control, control + (control[0] & 15u) * 2);
    if (burst.data_bytes != 0) {
      const uint8_t* const data = burst.data + sent * burst.data_bytes;
      message.data.assign(data, data + burst.data_bytes);
    }
    message.arrival = network_->now() + network_->Random(kMaxDelay);
    if (!wire.empty()) message.arrival = std::max(message.arrival, wire.back().arrival);
    message.tag = static_cast<uint32_t>(burst.tag);
    message.wants_completion = burst.wants_completion;
    wire.push_back(std::move(message));
  }
  return static_cast<int>(sent);
}

void LoopAxiPort::Receive() {
  for (auto& [key, wire] : network_->wires()) {
    const auto [from, to, vc] = key;
    if (to != own_) continue;
    while (!wire.empty() && wire.front().arrival <= network_->now()) {
      if (vc == kRequestVc && !manager_.CanTake()) break;
      const LoopAxiNetwork::Message message = std::move(wire.front());
      wire.pop_front();
      const auto control_bytes = static_cast<uint32_t>(message.control.size());
      const auto data_bytes = static_cast<uint32_t>(message.data.size());
      if (vc == kRequestVc) {
        manager_.OnCommand({.xpuid = from}, message.control.data(), control_bytes,
                           message.data.data(), data_bytes, TimeAt(network_->now()), *this);
      } else {
        subordinate_.OnCommand({.xpuid = from, .vc = vc}, message.control.data(), control_bytes,
                               message.data.data(), data_bytes);
      }
      if (message.wants_completion && vc == kRequestVc) {
        network_->Find(from)->OnCompletion(own_, message.tag, SUEDE_STATUS_OK);
      }
    }
  }
}

}  // namespace suede::rtl
