// SPDX-License-Identifier: Apache-2.0
// A bridge between SimBricks' Ethernet interface and a TAP device (docs/simbricks.md, "Network").
#ifndef SUEDE_SIMBRICKS_TAP_PORT_H_
#define SUEDE_SIMBRICKS_TAP_PORT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simbricks/counters.h"
#include "simbricks/link.h"
#include "tap/tap.h"

namespace suede::simbricks {

// One thread.
class TapPort {
 public:
  TapPort(std::unique_ptr<Tap> tap, Link* link, Counters* counters)
      : tap_(std::move(tap)), link_(*link), counters_(*counters), frame_(kMaxFrameBytes) {}

  // Moves frames both ways. Returns whether there were any.
  bool Poll();

 private:
  static constexpr uint32_t kMaxFrameBytes = 65536;
  bool Receive();
  bool Send();

  const std::unique_ptr<Tap> tap_;
  Link& link_;
  Counters& counters_;
  std::vector<uint8_t> frame_;
};

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_TAP_PORT_H_
