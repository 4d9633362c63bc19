// SPDX-License-Identifier: Apache-2.0
// The targets that an lcore serves, and what each gets of a poll iteration.
//
// Owned by the lcore. Nothing here allocates after construction.
#ifndef SUEDE_SERVE_SERVED_TARGETS_H_
#define SUEDE_SERVE_SERVED_TARGETS_H_

#include <cstdint>
#include <vector>

#include "client/client_table.h"
#include "serve/served_target.h"
#include "stats/counters.h"

namespace suede {

class ServedTargets {
 public:
  // Requests that one poll iteration executes at most.
  static constexpr uint32_t kRequestsPerTurn = 256;

  // The clients of the lcore; they outlive this.
  explicit ServedTargets(ClientTable& clients) : clients_(clients) {
    entries_.reserve(ClientTable::kMaxClients);
  }

  bool empty() const { return entries_.empty(); }

  // A served target and its owner. All that is pointed to outlives the entry.
  struct Entry {
    uint32_t client = 0;  // the target's id in the ClientTable, which it is attached to
    uint32_t owner = 0;   // the client that has it
    ServedTarget* target = nullptr;
    CounterBlock* counters = nullptr;     // of its instance
    const uint16_t* partition = nullptr;  // of its instance
    mem::TargetCounters counted = {};     // as they are in `counters`
    uint64_t counted_passed_on = 0;
    uint32_t owner_slot = 0;  // slot of the ClientTable where the owner was seen last
  };
  void Add(const Entry& entry);
  // The target's windows are touched no more. False: there is no such target.
  bool Remove(uint32_t client);
  // False: there is no such target, or it refuses the window.
  bool SetWindow(uint32_t client, uint32_t id, const ServedWindow& window);

  // Once in a turn, between receiving and taking. Returns whether there was a request.
  bool Poll();

 private:
  uint32_t PollOne(Entry& entry, uint32_t max);
  ClientSlot* OwnerOf(Entry& entry) const;
  static void Count(Entry& entry);

  ClientTable& clients_;
  std::vector<Entry> entries_;
  size_t first_ = 0;  // to have its turn
};

}  // namespace suede

#endif  // SUEDE_SERVE_SERVED_TARGETS_H_
