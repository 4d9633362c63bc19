// SPDX-License-Identifier: Apache-2.0
// A host simulator at the subordinate port: its requests become AXI4 transactions
// (docs/simbricks.md, "Requests of the host").
#ifndef SUEDE_SIMBRICKS_HOST_PORT_H_
#define SUEDE_SIMBRICKS_HOST_PORT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "axi/transfer.h"
#include "simbricks/counters.h"
#include "simbricks/link.h"
#include "suede/axi.h"

namespace suede::simbricks {

inline constexpr uint32_t kMaxHostBytes = 8192;  // of a request
inline constexpr uint32_t kMaxOutstanding = 64;

// Returns the first burst of the octets from `address` on: of the largest beats that cover no octet
// beyond, and within a page of 4 KiB. `bytes` is at least 1.
axi::Address BurstOf(uint64_t address, uint32_t bytes);

// One thread.
class HostPort {
 public:
  // `outstanding`: requests under way, 1 to kMaxOutstanding.
  HostPort(suede_axi* axi, Link* link, Counters* counters, uint32_t outstanding)
      : axi_(axi), link_(*link), counters_(*counters), slots_(outstanding) {}

  // Takes requests, moves transfers, sends completions. Returns whether anything moved.
  bool Poll(Time now);

 private:
  // A request. Its place is the AxID of its bursts.
  struct Slot {
    bool is_used = false;
    bool is_read = false;
    bool is_posted = false;
    uint8_t response = SUEDE_AXI_OKAY;  // the worst of its bursts
    uint32_t generation = 0;            // of the link
    uint64_t request = 0;
    uint64_t space = 0;
    uint64_t address = 0;
    uint32_t bytes = 0;
    uint32_t issued = 0;    // bytes
    uint32_t answered = 0;  // bytes
    uint32_t beat = 0;      // of the burst that is read
    std::array<uint8_t, kMaxHostBytes> data;
  };

  bool Take();
  bool Issue();
  bool IssueWrite(Slot& slot, const axi::Address& burst);
  bool TakeAnswers();
  void OnBeat(Slot& slot, const suede_axi_read_beat& beat);
  bool Complete(Time now);
  void Report(const Slot& slot, Time now);
  axi::Address NextBurst(const Slot& slot, uint32_t done) const;
  bool Overlaps(const Header& header) const;

  suede_axi* const axi_;
  Link& link_;
  Counters& counters_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> order_;  // places of the slots whose bursts are to be issued, oldest first
  bool has_address_ = false;     // AW of the first one's next burst is sent
  uint32_t beats_ = 0;           // W beats of it that are sent
  TokenBucket lines_{1, 1};
};

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_HOST_PORT_H_
