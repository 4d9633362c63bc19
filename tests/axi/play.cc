// SPDX-License-Identifier: Apache-2.0
#include "play.h"

#include <algorithm>

namespace suede::axi {
namespace {

constexpr uint32_t kMaxSteps = 20'000'000;
constexpr Duration kDeadline = std::chrono::seconds(10);

}  // namespace

Play::Play(const PlayParams& params) : params_(params), dice_(params.seed), nodes_(kNodes) {
  for (uint16_t i = 0; i < kNodes; ++i) {
    nodes_[i].play = this;
    nodes_[i].xpuid = i;
    MakeNode(nodes_[i]);
  }
}

void Play::MakeNode(Node& node) {
  // In a play without differing widths, user values of beats are carried.
  const bool has_users = (params_.seed & 3) == 0;
  const uint32_t bus_bytes = has_users ? 16 : 4u << dice_.Below(6);
  std::vector<suede_axi_route> routes;
  for (uint16_t i = 0; i < kNodes; ++i) {
    routes.push_back({.first = i * kNodeBytes,
                      .last = (i + 1) * kNodeBytes - 1,
                      .remote_base = 0,
                      .xpuid = i,
                      .interface = 0,
                      .by = SUEDE_AXI_BY_ADDRESS});
  }
  node.subordinate = std::make_unique<Subordinate>(
      SubordinateParams{.bus_bytes = bus_bytes,
                        .transactions = params_.is_tight ? 16u : 64u,
                        .transactions_to_target = params_.is_tight ? 4u : 32u,
                        .address_places = params_.is_tight ? 1u : 16u,
                        .beat_places = params_.is_tight ? 1u : 32u,
                        .write_user_bytes = has_users ? 2u : 0u,
                        .is_unordered = params_.is_unordered,
                        .deadline = kDeadline,
                        .first_number = dice_.OneIn(2) ? dice_.Below(1u << 31) : UINT32_MAX - 20},
      AddressMap(routes));
  node.master =
      std::make_unique<Master>(MasterParams{.xpuid = node.xpuid,
                                            .nodes = kNodes,
                                            .bus_bytes = bus_bytes,
                                            .transactions = params_.transactions,
                                            .user_bytes = has_users ? 2u : 0u,
                                            .has_own_target = params_.has_own_target,
                                            .has_exclusives = params_.has_exclusives,
                                            .is_patient = !params_.is_tight || !dice_.OneIn(3)},
                               &records_, dice_.Below(1u << 31));
  node.soc = std::make_unique<Soc>(SocParams{.xpuid = node.xpuid,
                                             .bus_bytes = has_users ? 16 : 4u << dice_.Below(6),
                                             .user_bytes = has_users ? 2u : 0u,
                                             .is_patient = !params_.is_tight || !dice_.OneIn(3)},
                                   &records_, dice_.Below(1u << 31));
  MakeManager(node);
}

void Play::MakeManager(Node& node) {
  node.manager =
      std::make_unique<Manager>(ManagerParams{.bus_bytes = node.soc->bus_bytes(),
                                              .transactions = params_.is_tight ? 16u : 128u,
                                              .transactions_per_source = params_.is_tight     ? 4u
                                                                         : params_.has_faults ? 128u
                                                                                              : 32u,
                                              .ids = params_.is_tight ? 1 + dice_.Below(3) : 16,
                                              .address_places = params_.is_tight ? 1u : 16u,
                                              .beat_places = params_.is_tight ? 1u : 32u,
                                              .read_user_bytes = node.soc->user_bytes(),
                                              .is_unordered = params_.is_unordered,
                                              .deadline = kDeadline});
}

void Play::Deliver(const Route& from, uint16_t to, std::span<const uint8_t> control,
                   std::span<const uint8_t> data) {
  Node& node = nodes_[to];
  const auto control_bytes = static_cast<uint32_t>(control.size());
  const auto data_bytes = static_cast<uint32_t>(data.size());
  if (from.vc == kAnswerVc) {
    node.subordinate->OnCommand(from, control.data(), control_bytes, data.data(), data_bytes);
  } else {
    node.manager->OnCommand(from, control.data(), control_bytes, data.data(), data_bytes, now_,
                            node);
  }
}

bool Play::Step() {
  now_ += std::chrono::microseconds(1);
  bool has_moved = false;
  for (Node& node : nodes_) {
    node.master->Step(*node.subordinate);
    has_moved |= node.subordinate->Pump(node, now_);
    if (node.reset_steps != 0 && --node.reset_steps == 0) node.manager->Reset(false);
    has_moved |= node.manager->Pump(node, now_);
    const bool is_stopped = params_.is_first_stopped && node.xpuid == 0 && !node.master->IsDone();
    if (node.reset_steps == 0 && !is_stopped) has_moved |= node.soc->Step(*node.manager);
  }
  has_moved |= MoveNetwork();
  return has_moved;
}

bool Play::IsDone() const {
  const bool is_attacked = params_.has_attacker;
  return IsNetworkIdle() && std::all_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
           return node.master->IsDone() && node.subordinate->open() == 0 &&
                  (is_attacked || (node.soc->IsIdle() && node.manager->open() == 0));
         });
}

std::string Play::Run() {
  for (uint32_t step = 0; step < kMaxSteps; ++step) {
    if (!records_.error().empty()) return records_.error();
    if (IsDone()) return {};
    idle_steps_ = Step() ? 0 : idle_steps_ + 1;
    if (idle_steps_ == IdleSteps()) {
      if (!params_.has_faults) break;
      for (const Node& node : nodes_) Doom(node.xpuid);
      now_ += kDeadline;
    }
    if (idle_steps_ > 2 * IdleSteps()) break;
    if (params_.has_faults && dice_.OneIn(1000)) Fault();
    if (step % 64 != 0) continue;
    for (Node& node : nodes_) {
      node.subordinate->CheckInvariants();
      node.manager->CheckInvariants();
    }
  }
  for (uint64_t tag = 0; tag < records_.size(); ++tag) {
    const Record& record = records_[tag];
    if (record.is_issued && !record.is_ended && !record.is_abandoned) {
      records_.Wrong("never ends", tag);
    }
  }
  return records_.error().empty() ? "the play does not end" : records_.error();
}

// ---- Faults

void Play::Fault() {
  ++faults_;
  Node& node = nodes_[dice_.Below(kNodes)];
  switch (dice_.Below(5)) {
    case 0:
      node.subordinate->Reset();
      node.master->Reset();
      return;
    case 1:
      return ResetManager(node);
    default:
      return FailNetwork();
  }
}

void Play::Doom(uint16_t target) {
  for (Record& record : records_) {
    if (record.target == target && record.is_issued && !record.is_ended) record.is_doomed = true;
  }
}

void Play::ResetManager(Node& node) {
  Doom(node.xpuid);
  node.manager->Reset(true);
  node.soc->Reset();
  node.reset_steps = 1 + dice_.Below(100);
}

uint64_t Play::Refused() const {
  uint64_t sum = 0;
  for (const Node& node : nodes_) {
    const ManagerCounters counters = node.manager->counters();
    sum += counters.malformed + counters.foreign + counters.busy + counters.dropped;
  }
  return sum;
}

uint64_t Play::Ended(Status status) const {
  uint64_t sum = 0;
  for (const Node& node : nodes_) {
    sum += node.subordinate->counters().ended[static_cast<size_t>(status)];
  }
  return sum;
}

}  // namespace suede::axi
