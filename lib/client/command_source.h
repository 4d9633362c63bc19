// SPDX-License-Identifier: Apache-2.0
// The origin of commands, such as the ring of a client's queue (tx_ring.h). The code that takes
// commands uses the concept, with the source's static type: no call is virtual.
//
// A source belongs to one lcore.
#ifndef SUEDE_CLIENT_COMMAND_SOURCE_H_
#define SUEDE_CLIENT_COMMAND_SOURCE_H_

#include <concepts>
#include <cstdint>

#include "client/tx_record.h"

namespace suede {

// - Poll returns up to `max` new records, checked: each indexes tables safely with any verdict.
//   Similar records are returned as one run; the result is the number of runs. The lines of a run
//   stay until Release.
// - Release frees all records that Poll has returned.
// - HasWork returns whether Poll would return any, Waiting the number of their lines, for reports.
// - broken: the client wrote invalid values; Poll returns no more before Restart.
// - Restart discards records that Poll has not returned.
template <typename T>
concept CommandSource = requires(T source, const T& view, TxRecord* records, uint32_t max) {
  { source.Poll(records, max) } -> std::same_as<uint32_t>;
  { source.Release() } -> std::same_as<void>;
  { source.Restart() } -> std::same_as<void>;
  { view.HasWork() } -> std::same_as<bool>;
  { view.Waiting() } -> std::same_as<uint32_t>;
  { view.broken() } -> std::same_as<bool>;
};

// Takes a burst of up to `max` records, for which `runs` has room: calls `look_up(i, run)` for each
// run, then `take(i, run)` for each, then releases them. Returns the number of records.
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

// Takes the records left before a Restart, which releases them: up to `max`, as a malicious client
// may keep writing.
template <CommandSource Source, typename Take>
void TakeRest(Source& source, uint32_t max, const Take& take) {
  TxRecord record;
  for (; max != 0 && source.Poll(&record, 1) != 0; --max) take(record);
}

}  // namespace suede

#endif  // SUEDE_CLIENT_COMMAND_SOURCE_H_
