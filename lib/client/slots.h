// SPDX-License-Identifier: Apache-2.0
// An lcore's state of each client queue and of each client.
//
// Owned by the ClientTable's lcore.
#ifndef SUEDE_CLIENT_SLOTS_H_
#define SUEDE_CLIENT_SLOTS_H_

#include <array>
#include <cstdint>

#include "base/sue.h"
#include "base/time.h"
#include "client/load.h"
#include "client/rx_ring.h"
#include "client/tx_ring.h"

namespace suede {

// One client queue. Runs of PDUs contain its number, which is not reused while such a run exists:
// `runs` counts them.
struct QueueSlot {
  enum class State : uint8_t {
    kFree,
    kServing,
    kDraining,  // the client is gone; commands that it had handed over are still taken
    kGone,      // its segment is no longer accessed; PDUs may still be in flight
  };
  State state = State::kFree;
  bool completions_dirty = false;
  uint8_t vc_mask = (1u << kVcCount) - 1;  // VCs on which the queue may send
  uint16_t number = 0;                     // within the client
  uint32_t client = 0;
  uint32_t instance = 0;
  uint32_t runs = 0;
  uint32_t packed = 0;         // PDUs that the queue has begun and that have not left yet
  bool merges = false;         // there are many: transmit-now does not close a PDU that has room
  uint32_t drain_records = 0;  // records still taken once the client is gone or the lcore drains
  bool told_broken = false;
  Time may_tell_error{};   // min time of the next event
  uint64_t discarded = 0;  // discarded commands
  TxRingReader ring;
  CreditWriter credits;
  CompletionWriter completions;
  LoadWriter load;
  Time load_shown{};
  uint32_t map_changes = 0;  // of the published maps
  bool held = false;         // its instance held PDUs or lines when its load was last measured
  suede_segment* segment = nullptr;
};

// A client's receive side.
struct ClientSlot {
  bool used = false;
  bool detaching = false;
  uint32_t client = 0;
  std::array<RxRingWriter, kVcCount> rings;
  std::array<bool, kVcCount> dirty{};
  suede_segment* segment = nullptr;
};

}  // namespace suede

#endif  // SUEDE_CLIENT_SLOTS_H_
