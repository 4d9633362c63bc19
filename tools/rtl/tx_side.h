// SPDX-License-Identifier: Apache-2.0
// SUE's end of Table 1: beats to commands, slots and their credit, reset (docs/rtl.md).
#ifndef SUEDE_RTL_TX_SIDE_H_
#define SUEDE_RTL_TX_SIDE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "command.h"
#include "link.h"

namespace suede::rtl {

class TxSide {
 public:
  static constexpr uint32_t kSlots = 8;  // of each {kind, VC}

  struct In {
    Beat beat;
    bool err = false;
    bool reset_in = false;
  };
  struct Out {
    uint8_t credit = 0;
    bool reset_out = true;
  };

  // `beat_bytes`: N / 8. `name` begins each report of a broken rule.
  TxSide(std::string name, uint32_t beat_bytes, std::unique_ptr<TxLink> link);

  // Samples the inputs at a rising edge. Returns the outputs after it.
  Out Edge(const In& in);
  // Returns the number of one more command that may be lost, or -1.
  int64_t TakeLost();
  uint64_t pending() const { return link_->pending(); }
  // Returns the number of commands discarded because they broke a rule.
  uint64_t broken() const { return broken_; }

 private:
  void TakeBeat(const In& in);
  // Returns the broken rule, or null.
  const char* Begin(const Beat& beat);
  const char* CheckNext(const Beat& beat) const;
  void Finish();
  void DiscardAll();
  void HandOver();
  uint8_t NextCredit();

  const std::string name_;
  const uint32_t beat_bytes_;
  const std::unique_ptr<TxLink> link_;

  bool in_reset_ = true;
  bool was_reset_in_ = false;
  bool is_skipping_ = false;  // the rest of a broken command
  uint32_t next_cycle_ = 0;   // 0: no command is incomplete
  Command command_;           // the incomplete one
  uint64_t next_number_ = 0;
  uint64_t broken_ = 0;
  std::deque<Command> slots_[kVcs];
  std::deque<uint64_t> lost_;
  uint32_t granted_[kKinds][kVcs] = {};  // slots in the XPU's hands
  uint32_t owed_[kKinds][kVcs] = {};     // free slots to be granted
  uint32_t next_vc_[kKinds] = {};
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_TX_SIDE_H_
