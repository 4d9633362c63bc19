// SPDX-License-Identifier: Apache-2.0
#include "client/client_table.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace suede {
namespace {

constexpr Duration kTellErrorEvery = std::chrono::milliseconds(100);

}  // namespace

ClientTable::ClientTable() : queues_(kMaxQueues), clients_(kMaxClients) {
  serving_.reserve(kMaxQueues);
  dirty_queues_.reserve(kMaxQueues);
  dirty_clients_.reserve(kMaxClients * kVcCount);
}

uint32_t ClientTable::Find(uint32_t client) const {
  for (uint32_t slot = 0; slot < kMaxClients; ++slot) {
    if (clients_[slot].used && clients_[slot].client == client) return slot;
  }
  return kNone;
}

uint32_t ClientTable::FreeClient() const {
  for (uint32_t slot = 0; slot < kMaxClients; ++slot) {
    if (!clients_[slot].used) return slot;
  }
  return kNone;
}

// ---- Attachment and detachment.

ClientVerdict ClientTable::Attach(const NewClient& added) {
  if (Find(added.client) != kNone) return ClientVerdict::kUnknown;
  const uint32_t free = FreeClient();
  const SegmentShape& shape = *added.shape;
  uint16_t numbers[SUEDE_MAX_QUEUES];
  uint32_t found = 0;
  for (uint32_t i = 0; i < kMaxQueues && found < shape.queue_count; ++i) {
    if (queues_[i].state == QueueSlot::State::kFree) numbers[found++] = static_cast<uint16_t>(i);
  }
  if (free == kNone || found < shape.queue_count) return ClientVerdict::kBusy;
  for (uint32_t i = 0; i < found; ++i) {
    if (added.queue_instances[i] >= claimants_.size()) return ClientVerdict::kUnknown;
  }
  ClientSlot& client = clients_[free];
  client = ClientSlot();
  client.used = true;
  client.client = added.client;
  client.segment = static_cast<suede_segment*>(added.segment);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    client.rings[vc] = RxRingWriter(added.segment, shape, vc);
  }
  for (uint32_t i = 0; i < found; ++i) {
    QueueSlot& slot = queues_[numbers[i]];
    slot = QueueSlot();
    slot.state = QueueSlot::State::kServing;
    slot.number = static_cast<uint16_t>(i);
    slot.client = added.client;
    slot.instance = added.queue_instances[i];
    if (added.queue_vc_masks != nullptr) slot.vc_mask = added.queue_vc_masks[i];
    slot.ring = TxRingReader(added.segment, shape, i);
    slot.credits = CreditWriter(added.segment, shape, i);
    slot.completions = CompletionWriter(added.segment, shape, i);
    slot.load = LoadWriter(added.segment, shape, i);
    slot.segment = client.segment;
    slot.drain_records = draining_ ? 0 : shape.tx_lines;
    serving_.push_back(numbers[i]);
  }
  return ClientVerdict::kDone;
}

void ClientTable::Open(uint32_t client) {
  for (const uint16_t number : serving_) {
    const QueueSlot& slot = queues_[number];
    if (slot.client != client || slot.state != QueueSlot::State::kServing) continue;
    StoreRelease(slot.segment->queue_state[slot.number].value, StateOf(slot));
  }
}

ClientVerdict ClientTable::Detach(uint32_t client) {
  const uint32_t gone = Find(client);
  if (gone == kNone) return ClientVerdict::kUnknown;
  for (auto& claimants : claimants_) {
    std::replace(claimants.begin(), claimants.end(), gone, kNone);
  }
  for (const uint16_t number : serving_) {
    if (queues_[number].client == client) queues_[number].state = QueueSlot::State::kDraining;
  }
  clients_[gone].detaching = true;
  detaching_ = true;
  return ClientVerdict::kDone;
}

void ClientTable::RetireQueues() {
  for (size_t i = 0; i < serving_.size();) {
    QueueSlot& slot = queues_[serving_[i]];
    if (slot.state != QueueSlot::State::kDraining ||
        (slot.ring.HasWork() && slot.drain_records != 0)) {
      ++i;
      continue;
    }
    slot.segment = nullptr;
    slot.state = slot.runs == 0 ? QueueSlot::State::kFree : QueueSlot::State::kGone;
    serving_[i] = serving_.back();
    serving_.pop_back();
  }
}

bool ClientTable::IsServed(uint32_t client) const {
  return std::any_of(serving_.begin(), serving_.end(),
                     [&](uint16_t number) { return queues_[number].client == client; });
}

std::optional<uint32_t> ClientTable::TakeDetached() {
  detaching_ = false;
  for (ClientSlot& client : clients_) {
    if (!client.used || !client.detaching) continue;
    if (IsServed(client.client)) {
      detaching_ = true;
      continue;
    }
    client.used = false;
    return client.client;
  }
  return std::nullopt;
}

// ---- Claims.

ClientVerdict ClientTable::Claim(uint32_t client, InstanceIndex instance, uint32_t vc_mask) {
  return SetClaims(client, instance, vc_mask, true);
}

ClientVerdict ClientTable::Unclaim(uint32_t client, InstanceIndex instance, uint32_t vc_mask) {
  return SetClaims(client, instance, vc_mask, false);
}

// Returns whether all of the VCs may be claimed, or given up.
bool ClientTable::MayClaim(uint32_t slot, InstanceIndex instance, uint32_t vc_mask,
                           bool claim) const {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((vc_mask & 1u << vc) == 0) continue;
    const uint32_t owner = claimant(instance, vc);
    if (owner != slot && (!claim || owner != kNone)) return false;
  }
  return true;
}

ClientVerdict ClientTable::SetClaims(uint32_t client, InstanceIndex instance, uint32_t vc_mask,
                                     bool claim) {
  const uint32_t slot = Find(client);
  if (slot == kNone || clients_[slot].detaching || instance >= claimants_.size()) {
    return ClientVerdict::kUnknown;
  }
  if (!MayClaim(slot, instance, vc_mask, claim)) return ClientVerdict::kClaimed;
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    if ((vc_mask & 1u << vc) != 0) claimants_[instance][vc] = claim ? slot : kNone;
  }
  ShowReceiveStates(slot);
  return ClientVerdict::kDone;
}

// ---- Reset of a queue.

uint32_t ClientTable::BeginReset(uint32_t client, uint16_t queue) {
  for (const uint16_t number : serving_) {
    QueueSlot& slot = queues_[number];
    if (slot.client != client || slot.number != queue || slot.state != QueueSlot::State::kServing) {
      continue;
    }
    StoreRelease(slot.segment->queue_state[slot.number].value, SUEDE_QUEUE_IN_RESET);
    return number;
  }
  return kNone;
}

void ClientTable::EndReset(uint32_t number) {
  QueueSlot& slot = queues_[number];
  slot.ring.Restart();
  slot.credits.Restart();
  slot.completions.Publish();
  StoreRelease(slot.segment->queue_state[slot.number].value, StateOf(slot));
}

// ---- The end of service.

void ClientTable::BeginDrain() {
  draining_ = true;
  ShowStates();
}

bool ClientTable::IsDrained() const {
  return std::none_of(serving_.begin(), serving_.end(), [&](uint16_t number) {
    return queues_[number].drain_records != 0 && queues_[number].ring.HasWork();
  });
}

void ClientTable::EndDrain() {
  for (const uint16_t number : serving_) queues_[number].drain_records = 0;
}

// ---- States published to clients.

// Publishes queues and VCs that are out of service, or are draining, as in reset: their clients
// hand no commands over until that ends. Commands handed over before are not affected.
void ClientTable::ShowStates() {
  for (const uint16_t number : serving_) {
    QueueSlot& slot = queues_[number];
    if (slot.state != QueueSlot::State::kServing || slot.ring.broken()) continue;
    StoreRelease(slot.segment->queue_state[slot.number].value, StateOf(slot));
  }
  for (uint32_t slot = 0; slot < kMaxClients; ++slot) {
    if (clients_[slot].used && !clients_[slot].detaching) ShowReceiveStates(slot);
  }
}

uint32_t ClientTable::StateOf(const QueueSlot& slot) const {
  const bool in_reset = draining_ || !in_service_[slot.instance];
  return in_reset ? SUEDE_QUEUE_IN_RESET : SUEDE_QUEUE_READY;
}

// Publishes a VC as in reset if all instances that deliver on it are out of service.
void ClientTable::ShowReceiveStates(uint32_t slot) {
  for (uint32_t vc = 0; vc < kVcCount; ++vc) {
    bool claims = false;
    bool delivers = false;
    for (size_t instance = 0; instance < claimants_.size(); ++instance) {
      if (claimants_[instance][vc] != slot) continue;
      claims = true;
      delivers |= in_service_[instance];
    }
    StoreRelease(clients_[slot].segment->rx_state[vc].value,
                 claims && !delivers ? SUEDE_QUEUE_IN_RESET : SUEDE_QUEUE_READY);
  }
}

bool ClientTable::ShowBroken(QueueSlot& slot) {
  if (slot.segment == nullptr) return false;
  StoreRelease(slot.segment->queue_state[slot.number].value, SUEDE_QUEUE_BROKEN);
  return !std::exchange(slot.told_broken, true);
}

bool ClientTable::MayEmitError(QueueSlot& slot, Time now) {
  if (now < slot.may_tell_error) return false;
  slot.may_tell_error = now + kTellErrorEvery;
  return true;
}

// ---- The data path's side.

void ClientTable::PublishCompletions() {
  for (const uint16_t number : dirty_queues_) {
    QueueSlot& slot = queues_[number];
    slot.completions_dirty = false;
    if (slot.segment != nullptr) slot.completions.Publish();
  }
  dirty_queues_.clear();
}

void ClientTable::PublishReceived() {
  for (ClientSlot* client : dirty_clients_) {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      if (!client->dirty[vc]) continue;
      client->rings[vc].Publish();
      client->dirty[vc] = false;
    }
  }
  dirty_clients_.clear();
}

void ClientTable::CheckInvariants() const {
  std::vector<uint32_t> served(queues_.size());
  for (const uint16_t number : serving_) ++served[number];
  for (size_t i = 0; i < queues_.size(); ++i) {
    const QueueSlot& slot = queues_[i];
    const bool is_served =
        slot.state == QueueSlot::State::kServing || slot.state == QueueSlot::State::kDraining;
    if (served[i] != (is_served ? 1u : 0u) || is_served != (slot.segment != nullptr)) std::abort();
    if (slot.state == QueueSlot::State::kFree && slot.runs != 0) std::abort();
    if (is_served && Find(slot.client) == kNone) std::abort();
  }
  for (const uint16_t number : dirty_queues_) {
    if (!queues_[number].completions_dirty) std::abort();
  }
  for (const auto& claimants : claimants_) {
    for (const uint32_t slot : claimants) {
      if (slot != kNone && (!clients_[slot].used || clients_[slot].detaching)) std::abort();
    }
  }
}

}  // namespace suede
