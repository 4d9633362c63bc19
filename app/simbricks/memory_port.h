// SPDX-License-Identifier: Apache-2.0
// A memory simulator behind the manager port: transactions of remote XPUs become requests to it
// (docs/simbricks.md, "Requests of remote XPUs").
#ifndef SUEDE_SIMBRICKS_MEMORY_PORT_H_
#define SUEDE_SIMBRICKS_MEMORY_PORT_H_

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>

#include "axi/transfer.h"
#include "simbricks/counters.h"
#include "simbricks/link.h"
#include "suede/axi.h"

namespace suede::simbricks {

// Octets of a transaction that are one request.
struct Run {
  uint64_t address = 0;
  uint32_t offset = 0;  // in the transaction's active octets
  uint32_t bytes = 0;   // 0: none is left
};

// A transaction of the manager port.
struct Transaction {
  axi::Address burst = {};
  bool is_write = false;
  bool has_data = false;  // of a write: all W beats have come
  uint8_t response = SUEDE_AXI_OKAY;
  uint32_t open = 0;     // requests without completion
  uint32_t beat = 0;     // of a write first the next to come, then of either the next to be issued
  uint32_t in_beat = 0;  // octets of that beat that are issued
  std::array<uint8_t, axi::kMaxBurstBytes> data;  // active octets
  std::bitset<axi::kMaxBurstBytes> strobes;

  bool is_whole() const { return !is_write || has_data; }
  bool is_issued() const { return is_whole() && beat == axi::BeatsOf(burst); }
  // Ends a whole one without further requests.
  void Refuse(uint8_t why);
  // Returns the next adjacent octets to be read or written, at most `max_bytes`.
  Run NextRun(uint32_t max_bytes);
};

// One thread.
class MemoryPort {
 public:
  // `link`: null: there is no memory simulator. `range`: addresses that may be accessed.
  MemoryPort(suede_axi* axi, Link* link, Counters* counters, axi::Range range)
      : axi_(axi),
        link_(link),
        counters_(*counters),
        range_(range),
        transactions_(new Transaction[kTransactions]) {}

  // Takes transactions, sends requests, sends answers. Returns whether anything moved.
  bool Poll();

 private:
  static constexpr uint32_t kTransactions = 64;
  static constexpr uint32_t kRequests = 256;
  // A request without completion; its number modulo kRequests is its place.
  struct Request {
    bool is_open = false;
    bool is_read = false;
    uint64_t number = 0;
    uint32_t transaction = 0;  // count
    uint32_t offset = 0;
    uint32_t bytes = 0;
  };

  Transaction& at(uint32_t count) { return transactions_[count % kTransactions]; }
  bool TakeAddress();
  bool TakeData();
  void Admit(Transaction& transaction);
  bool Issue();
  bool TakeCompletion();
  bool Answer();
  void AnswerRead(const Transaction& transaction);
  void OnLost();

  suede_axi* const axi_;
  Link* const link_;
  Counters& counters_;
  const axi::Range range_;
  const std::unique_ptr<Transaction[]> transactions_;
  // Counts of transactions. answered_ <= issued_ <= taken_.
  uint32_t answered_ = 0;
  uint32_t issued_ = 0;
  uint32_t taken_ = 0;
  uint32_t filled_ = 0;  // whole ones before the first that is not
  std::array<Request, kRequests> requests_;
  uint64_t number_ = 0;      // of the next request
  uint32_t generation_ = 0;  // of the link; 0: no connection
};

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_MEMORY_PORT_H_
