// SPDX-License-Identifier: Apache-2.0
// Targets that an lcore serves, and their shares of a poll iteration.
//
// Owned by the lcore. Allocates only in the constructor.
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
  // Maximum requests that one poll iteration executes.
  static constexpr uint32_t kMaxRequestsPerPoll = 256;

  // `clients`: the lcore's; must outlive this object.
  explicit ServedTargets(ClientTable& clients) : clients_(clients) {
    entries_.reserve(ClientTable::kMaxClients);
  }

  bool empty() const { return entries_.empty(); }

  // A served target and its owner. All pointees must outlive the entry.
  struct Entry {
    uint32_t client = 0;  // the target's id in the ClientTable to which it is attached
    uint32_t owner = 0;   // the client that owns the target
    ServedTarget* target = nullptr;
    CounterBlock* counters = nullptr;     // of the target's instance
    const uint16_t* partition = nullptr;  // of the target's instance
    mem::TargetCounters counted = {};     // values already added to `counters`
    uint64_t counted_passed_on = 0;
    uint32_t owner_slot = 0;  // last known slot of the owner in the ClientTable
  };
  void Add(const Entry& entry);
  // Removes the target, after which its windows are no longer accessed. Returns false if there is
  // none.
  bool Remove(uint32_t client);
  // Returns false if there is no such target, or if it refuses the window.
  bool SetWindow(uint32_t client, uint32_t id, const ServedWindow& window);

  // Polls all targets; once per poll iteration, between receiving and taking. Returns whether there
  // was a request.
  bool Poll();

 private:
  uint32_t PollOne(Entry& entry, uint32_t max);
  ClientSlot* OwnerOf(Entry& entry) const;
  static void Count(Entry& entry);

  ClientTable& clients_;
  std::vector<Entry> entries_;
  size_t first_ = 0;  // entry that is polled first
};

}  // namespace suede

#endif  // SUEDE_SERVE_SERVED_TARGETS_H_
