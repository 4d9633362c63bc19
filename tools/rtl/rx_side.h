// SPDX-License-Identifier: Apache-2.0
// SUE's end of Table 2: commands to beats, the XPU's credit, reset (docs/rtl.md).
#ifndef SUEDE_RTL_RX_SIDE_H_
#define SUEDE_RTL_RX_SIDE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "command.h"
#include "link.h"

namespace suede::rtl {

class RxSide {
 public:
  static constexpr uint32_t kMaxCredit = 255;  // of each {kind, VC}

  struct In {
    uint8_t credit = 0;
    bool reset_in = false;
  };
  struct Out {
    Beat beat;
    bool reset_out = true;
  };

  // `beat_bytes`: N / 8.
  RxSide(uint32_t beat_bytes, std::unique_ptr<RxLink> link);

  // Samples the inputs at a rising edge. Returns the outputs after it.
  Out Edge(const In& in);

 private:
  void TakeCredit(uint8_t credit);
  // Begins the next command that there is and that has credit.
  void Choose();
  Beat NextBeat();

  const uint32_t beat_bytes_;
  const std::unique_ptr<RxLink> link_;

  bool in_reset_ = true;
  bool was_reset_in_ = false;
  uint32_t next_cycle_ = 0;             // 0: no command is under way
  Command command_;                     // the one under way
  std::optional<Command> heads_[kVcs];  // waiting for credit
  uint32_t next_vc_ = 0;
  uint32_t credit_[kKinds][kVcs] = {};
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_RX_SIDE_H_
