// SPDX-License-Identifier: Apache-2.0
#include "loop_link.h"

#include <algorithm>
#include <utility>

namespace suede::rtl {
namespace {

using Violation = LoopParams::Violation;

// Times are in ticks; four links make four in a cycle.
constexpr uint32_t kMaxDelay = 200;
constexpr uint32_t kMaxReset = 200;
constexpr uint32_t kMaxOutage = 2000;
constexpr uint32_t kFaultInterval = 16'000;
constexpr size_t kRoom = 24;             // commands on a wire
constexpr uint32_t kViolationOdds = 40;  // one command in so many

}  // namespace

LoopNetwork& LoopNetwork::Get() {
  static LoopNetwork network;
  return network;
}

void LoopNetwork::Start(uint64_t seed, const LoopParams& params) {
  random_ = seed * 0x9e3779b97f4a7c15u + 1;
  params_ = params;
}

uint32_t LoopNetwork::Random(uint32_t bound) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<uint32_t>(random_ >> 32) % bound;
}

LoopNetwork::Wire::iterator LoopNetwork::Lose(Wire& wire, Wire::iterator flight) {
  lost(flight->source).push_back(flight->command.number);
  return wire.erase(flight);
}

bool LoopOutage::Poll() {
  network_->Tick();
  if (is_first_) {
    is_first_ = false;
    Begin(kMaxReset);
    next_fault_ = network_->now() + network_->Random(kFaultInterval);
  }
  if (faults_ == network_->params().faults || network_->now() < next_fault_) return false;
  ++faults_;
  next_fault_ = network_->now() + network_->Random(kFaultInterval);
  Begin(kMaxOutage);
  return true;
}

LoopTxLink::LoopTxLink(uint16_t own)
    : network_(&LoopNetwork::Get()), own_(own), outage_(network_) {}

// The instance goes out of service, or the daemon is lost with the commands that it has not
// delivered.
bool LoopTxLink::IsReady() {
  if (outage_.Poll() && network_->Random(2) == 0) LoseTails();
  return outage_.IsOver();
}

bool LoopTxLink::Send(const Command& command) {
  LoopNetwork::Wire& wire = network_->wire(command.xpuid, command.vc);
  if (wire.size() >= kRoom || network_->Random(8) == 0) return false;
  if (command.is_error) return true;
  const bool violates = network_->Random(kViolationOdds) == 0;
  const Violation violation = violates ? network_->params().violation : Violation::kNone;
  if (violation == Violation::kLoses) return true;
  LoopNetwork::Flight flight{.command = command, .source = own_, .arrival = network_->now()};
  flight.command.xpuid = own_;
  flight.arrival += network_->Random(kMaxDelay);
  if (!wire.empty()) flight.arrival = std::max(flight.arrival, wire.back().arrival);
  if (violation == Violation::kAlters) flight.command.control[2] ^= 1;
  if (violation == Violation::kDuplicates) wire.push_back(flight);
  wire.push_back(flight);
  if (violation == Violation::kReorders && wire.size() > 1) {
    std::swap(wire.back().command, wire[wire.size() - 2].command);
  }
  return true;
}

void LoopTxLink::LoseTails() {
  for (auto& [key, wire] : network_->wires()) {
    size_t kept = network_->Random(kRoom);
    for (auto flight = wire.begin(); flight != wire.end();) {
      const bool is_lost = flight->source == own_ && (kept == 0 || kept-- == 0);
      flight = is_lost ? network_->Lose(wire, flight) : flight + 1;
    }
  }
}

void LoopTxLink::Reset() {
  LoseTails();
  outage_.Begin(kMaxReset);
}

int64_t LoopTxLink::TakeLost() {
  std::deque<uint64_t>& lost = network_->lost(own_);
  if (lost.empty()) return -1;
  const uint64_t number = lost.front();
  lost.pop_front();
  return static_cast<int64_t>(number);
}

LoopRxLink::LoopRxLink(uint16_t own)
    : network_(&LoopNetwork::Get()), own_(own), outage_(network_) {}

// The instance goes out of service, or the daemon is lost with the commands on their way to it.
bool LoopRxLink::IsReady() {
  if (outage_.Poll() && network_->Random(2) == 0) {
    for (uint8_t vc = 0; vc < kVcs; ++vc) {
      LoopNetwork::Wire& wire = network_->wire(own_, vc);
      for (auto flight = wire.begin(); flight != wire.end();) {
        flight = flight->arrival > network_->now() ? network_->Lose(wire, flight) : flight + 1;
      }
    }
  }
  return outage_.IsOver();
}

bool LoopRxLink::Receive(uint8_t vc, Command* command) {
  LoopNetwork::Wire& wire = network_->wire(own_, vc);
  if (wire.empty() || wire.front().arrival > network_->now()) return false;
  // As from a ring: without bytes of the XPU's behind the lengths.
  const Command& from = wire.front().command;
  *command = {};
  command->xpuid = from.xpuid;
  command->vc = vc;
  std::copy_n(from.control.begin(), from.control_bytes(), command->control.begin());
  std::copy_n(from.data.begin(), from.data_bytes(), command->data.begin());
  wire.pop_front();
  return true;
}

void LoopRxLink::Reset() {
  for (uint8_t vc = 0; vc < kVcs; ++vc) {
    LoopNetwork::Wire& wire = network_->wire(own_, vc);
    while (!wire.empty() && wire.front().arrival <= network_->now()) wire.pop_front();
  }
  outage_.Begin(kMaxReset);
}

}  // namespace suede::rtl
