// SPDX-License-Identifier: Apache-2.0
#include "client/load.h"

namespace suede {
namespace {

// Calls `write`, which stores word by word with release, between storing an odd and an even number:
// a reader that reads one of the words also reads the odd number.
template <class Write>
void InSequence(uint32_t& shared, uint32_t& own, const Write& write) {
  StoreRelease(shared, own + 1);
  write();
  StoreRelease(shared, own += 2);
}

void ShowMap(const DestinationMap& map, DestinationMap& shown, uint32_t* words) {
  for (uint32_t i = 0; i < SUEDE_MAP_WORDS; ++i) {
    if (map.word(i) != shown.word(i)) StoreRelease(words[i], map.word(i));
  }
  shown = map;
}

}  // namespace

void LoadWriter::Show(const LoadState& state) {
  suede_load_state& shared = area_->state;
  InSequence(shared.sequence, sequence_, [&] {
    StoreRelease(shared.flags, state.flags);
    StoreRelease(shared.load, state.load);
    StoreRelease(shared.queued_pdus, state.queued_pdus);
    StoreRelease(shared.inflight_pdus, state.inflight_pdus);
    StoreRelease(shared.inflight_bytes, state.inflight_bytes);
    StoreRelease(shared.credit_lines, state.credit_lines);
    StoreRelease(shared.paused, state.paused);
    StoreRelease(shared.unreachable, state.unreachable);
  });
}

void LoadWriter::ShowMaps(const DestinationMap& unreachable, const DestinationMap& paused) {
  ShowMap(unreachable, unreachable_, area_->unreachable_map);
  ShowMap(paused, paused_, area_->paused_map);
}

std::optional<Wish> LoadWriter::NextWish() {
  for (uint32_t tries = 0; tries < SUEDE_WISHES; ++tries) {
    const Wish wish{.slot = turn_, .word = LoadRelaxed(area_->wishes[turn_])};
    turn_ = (turn_ + 1) % SUEDE_WISHES;
    if ((wish.word & SUEDE_WISH_VALID) != 0 && wish.xpuid() < SUEDE_XPUS) return wish;
  }
  return std::nullopt;
}

void LoadWriter::Answer(const Wish& wish, const DestinationState& state) {
  suede_destination_state& shared = area_->destinations[wish.slot];
  InSequence(shared.sequence, answers_[wish.slot], [&] {
    StoreRelease(shared.wish, wish.word);
    StoreRelease(shared.flags, state.flags);
    StoreRelease(shared.queued_lines, state.queued_lines);
    StoreRelease(shared.inflight_pdus, state.inflight_pdus);
    StoreRelease(shared.inflight_bytes, state.inflight_bytes);
  });
}

}  // namespace suede
