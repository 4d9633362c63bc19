// SPDX-License-Identifier: Apache-2.0
// The state behind suede_axi: both ports of lib/axi over libsuede.
#ifndef SUEDE_LIBSUEDE_AXI_PORT_PAIR_H_
#define SUEDE_LIBSUEDE_AXI_PORT_PAIR_H_

#include <cstdint>
#include <memory>

#include "axi/manager.h"
#include "axi/memory.h"
#include "axi/subordinate.h"
#include "planes/planes.h"
#include "suede/axi.h"

// A name of the C ABI, hence outside of any namespace.
struct suede_axi {
  // Checks the parameters and connects the interfaces. Returns 0 or a negative errno.
  int Open(const char* name_or_path, const suede_axi_params& params);
  int Reconnect();
  int Poll();
  int Wait(int timeout_ms);

  std::unique_ptr<suede::axi::Subordinate> subordinate;
  std::unique_ptr<suede::axi::Manager> manager;
  std::unique_ptr<suede::axi::Memory> memory;

 private:
  // Passes what interface `index` has received to the ports. Returns whether there was anything.
  bool Receive(uint32_t index, suede::Time now);

  // Returns the time of the ports, in which deadlines are. A time without polls, as of a stopped
  // program, counts at most max_step_.
  suede::Time Advance();

  suede::Planes planes_;
  suede::Time now_{};
  suede::Time polled_at_{};
  suede::Duration max_step_{};
  uint8_t request_vc_ = 0;
  uint8_t answer_vc_ = 1;
};

#endif  // SUEDE_LIBSUEDE_AXI_PORT_PAIR_H_
