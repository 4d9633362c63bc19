// SPDX-License-Identifier: Apache-2.0
#include "serve/served_targets.h"

#include <algorithm>

namespace suede {

void ServedTargets::Add(const Entry& entry) { entries_.push_back(entry); }

bool ServedTargets::Remove(uint32_t client) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.client == client; }) != 0;
}

bool ServedTargets::SetWindow(uint32_t client, uint32_t id, const ServedWindow& window) {
  for (Entry& entry : entries_) {
    if (entry.client == client) return entry.target->SetWindow(id, window);
  }
  return false;
}

// Rotates the first entry, so that no target gets only the remainder of the others.
[[gnu::noinline]] bool ServedTargets::Poll() {
  const size_t count = entries_.size();
  first_ = first_ + 1 < count ? first_ + 1 : 0;
  uint32_t left = kMaxRequestsPerPoll;
  for (size_t i = 0; i < count; ++i) {
    Entry& entry = entries_[first_ + i < count ? first_ + i : first_ + i - count];
    left -= PollOne(entry, std::min(left, ServedTarget::kMaxRequestsPerPoll));
  }
  return left != kMaxRequestsPerPoll;
}

// Returns null if the owner is gone or leaving. A client keeps its slot, which is cached.
ClientSlot* ServedTargets::OwnerOf(Entry& entry) const {
  const ClientSlot& seen = clients_.client(entry.owner_slot);
  if (!seen.used || seen.client != entry.owner) [[unlikely]] {
    const uint32_t slot = clients_.Find(entry.owner);
    if (slot == ClientTable::kNone) return nullptr;
    entry.owner_slot = slot;
  }
  ClientSlot& owner = clients_.client(entry.owner_slot);
  return owner.detaching ? nullptr : &owner;
}

uint32_t ServedTargets::PollOne(Entry& entry, uint32_t max) {
  ClientSlot* const owner = OwnerOf(entry);
  const uint32_t served =
      entry.target->Poll(max, *entry.partition, owner != nullptr ? owner->rings.data() : nullptr);
  if (const uint8_t vcs = entry.target->TakePassedOn(); vcs != 0) [[unlikely]] {
    for (uint32_t vc = 0; vc < kVcCount; ++vc) {
      if ((vcs & 1u << vc) != 0) clients_.MarkReceived(*owner, vc);
    }
    clients_.PublishReceived();
  }
  if (served != 0) Count(entry);
  return served;
}

void ServedTargets::Count(Entry& entry) {
  const mem::TargetCounters& now = entry.target->counters();
  mem::TargetCounters& then = entry.counted;
  const auto add = [&entry](Counter counter, uint64_t more) {
    if (more != 0) entry.counters->Add(counter, more);
  };
  uint64_t executed = 0;
  uint64_t refused = 0;
  for (size_t i = 0; i < std::size(now.executed); ++i)
    executed += now.executed[i] - then.executed[i];
  for (size_t i = 0; i < std::size(now.refused); ++i) refused += now.refused[i] - then.refused[i];
  add(Counter::kMemoryExecuted, executed);
  add(Counter::kMemoryWrittenBytes, now.written_bytes - then.written_bytes);
  add(Counter::kMemoryReadBytes, now.read_bytes - then.read_bytes);
  add(Counter::kMemoryRefused, refused);
  add(Counter::kMemoryDropped, now.dropped - then.dropped);
  add(Counter::kMemoryForeign, now.foreign - then.foreign);
  add(Counter::kMemoryWaited, now.waited - then.waited);
  add(Counter::kMemoryPassedOn, entry.target->passed_on_count() - entry.counted_passed_on);
  then = now;
  entry.counted_passed_on = entry.target->passed_on_count();
}

}  // namespace suede
