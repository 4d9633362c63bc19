// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

namespace suede {

Ledger::Stream& Ledger::StreamAt(const StreamName& name) {
  Stream& stream = streams_[name.Key()];
  stream.name = name;
  return stream;
}

void Ledger::OnSent(const StreamName& name) {
  Stream& stream = StreamAt(name);
  ++stream.sent;
  ++missing_;
  stream.fate.push_back(0);
  stream.taken.push_back(~0u);
}

std::string Ledger::OnDelivered(const StreamName& name, uint32_t sequence) {
  Stream& stream = StreamAt(name);
  if (sequence >= stream.sent) return Wrong(name, sequence, "arrived and was never sent");
  uint8_t& fate = stream.fate[sequence];
  if ((fate & kArrived) != 0) return Wrong(name, sequence, "arrived twice");
  if ((fate & kDoneWith) != 0) return Wrong(name, sequence, "arrived after it was given up");
  if (rules_.in_order && sequence < stream.next) return Wrong(name, sequence, "arrived too late");
  if (rules_.in_order && !rules_.gaps && sequence != stream.next) {
    return Wrong(name, sequence, "arrived before others");
  }
  if (stream.taken[sequence] == ~0u) return Wrong(name, sequence, "arrived before it was taken");
  StreamName all = name;
  all.queue = 0;
  uint32_t& last_taken = taken_[all.Key()];
  if (rules_.in_order && stream.taken[sequence] < last_taken) {
    return Wrong(name, sequence, "arrived after one that was taken later");
  }
  last_taken = stream.taken[sequence];
  fate |= kArrived;
  stream.next = sequence + 1;
  if ((fate & (kGivenUp | kExcused)) == 0) --missing_;
  ++delivered_;
  return "";
}

void Ledger::OnAcknowledged(const StreamName& name, uint32_t sequence, bool excused) {
  uint8_t& fate = StreamAt(name).fate[sequence];
  fate |= kAcknowledged;
  if (!excused || (fate & kArrived) != 0) return;
  fate |= kExcused;
  --missing_;
}

uint64_t Ledger::MissingBeside(uint32_t vc) const {
  uint64_t missing = 0;
  for (const auto& [key, stream] : streams_) {
    if (stream.name.vc == vc) continue;
    for (const uint8_t fate : stream.fate) missing += (fate & (kArrived | kGivenUp)) == 0;
  }
  return missing;
}

std::string Ledger::OnGivenUp(const StreamName& name, uint32_t sequence, End end) {
  if (!rules_.gaps) return Wrong(name, sequence, "was given up");
  uint8_t& fate = StreamAt(name).fate[sequence];
  if (end == End::kNever && (fate & kArrived) != 0) {
    return Wrong(name, sequence, "had arrived when it was said that it never would");
  }
  if ((fate & kArrived) == 0) --missing_;
  fate |= kGivenUp | (end == End::kInDoubt ? 0 : kDoneWith);
  return "";
}

std::string Ledger::Audit() const {
  for (const auto& [key, stream] : streams_) {
    for (uint32_t sequence = 0; sequence < stream.sent; ++sequence) {
      const uint8_t fate = stream.fate[sequence];
      if ((fate & kAcknowledged) != 0 && (fate & (kArrived | kExcused)) == 0) {
        return Wrong(stream.name, sequence, "was acknowledged and never arrived");
      }
    }
  }
  return "";
}

std::string Ledger::Wrong(const StreamName& name, uint32_t sequence, const char* what) {
  return "command " + std::to_string(sequence) + " of queue " + std::to_string(name.queue) +
         " of host " + std::to_string(name.source) + " (life " + std::to_string(name.life) +
         ") to host " + std::to_string(name.destination) + ", VC " + std::to_string(name.vc) + " " +
         what;
}

}  // namespace suede
