// SPDX-License-Identifier: Apache-2.0
// The origin of commands: the ring of a client's queue (tx_ring.h) is one source. The code that
// takes commands is written against the concept, and knows a source by its type: no call is
// virtual.
//
// A source belongs to one lcore.
#ifndef SUEDE_CLIENT_COMMAND_SOURCE_H_
#define SUEDE_CLIENT_COMMAND_SOURCE_H_

#include <concepts>
#include <cstdint>

#include "client/tx_record.h"

namespace suede {

// - Poll gives up to `max` records that no earlier call gave, checked: each indexes tables safely
//   with any verdict. Records that are alike come as one run; Poll returns the number of runs. The
//   lines of a run stay until Release.
// - Release gives back all that Poll has given.
// - HasWork says whether Poll would give any, Waiting how many lines those have, for a look from
//   outside.
// - broken: the client wrote nonsense; Poll gives nothing more before Restart.
// - Restart forgets records that Poll has not given.
template <typename T>
concept CommandSource = requires(T source, const T& view, TxRecord* records, uint32_t max) {
  { source.Poll(records, max) } -> std::same_as<uint32_t>;
  { source.Release() } -> std::same_as<void>;
  { source.Restart() } -> std::same_as<void>;
  { view.HasWork() } -> std::same_as<bool>;
  { view.Waiting() } -> std::same_as<uint32_t>;
  { view.broken() } -> std::same_as<bool>;
};

// Takes a burst of up to `max` records, for which `runs` has room: `look_up(i, run)` of each run,
// then `take(i, run)` of each, then they are released. Returns the number of records.
template <CommandSource Source, typename LookUp, typename Take>
[[gnu::always_inline]] inline uint32_t TakeBurst(Source& source, TxRecord* runs, uint32_t max,
                                                 const LookUp& look_up, const Take& take) {
  const uint32_t count = source.Poll(runs, max);
  uint32_t records = 0;
  for (uint32_t i = 0; i < count; ++i) look_up(i, runs[i]);
  for (uint32_t i = 0; i < count; ++i) {
    records += runs[i].count;
    take(i, runs[i]);
  }
  source.Release();
  return records;
}

// Takes the records left before a Restart, which releases them: up to `max`, as a client that
// means ill goes on writing.
template <CommandSource Source, typename Take>
void TakeRest(Source& source, uint32_t max, const Take& take) {
  TxRecord record;
  for (; max != 0 && source.Poll(&record, 1) != 0; --max) take(record);
}

}  // namespace suede

#endif  // SUEDE_CLIENT_COMMAND_SOURCE_H_
