// SPDX-License-Identifier: Apache-2.0
// A port pair of the test: the functions of suede/axi.h that app/simbricks calls, over channels
// that the test fills and empties.
#ifndef SUEDE_TESTS_SIMBRICKS_FAKE_AXI_H_
#define SUEDE_TESTS_SIMBRICKS_FAKE_AXI_H_

#include <cstddef>
#include <deque>

#include "suede/axi.h"

// A name of the C ABI, hence outside of any namespace.
struct suede_axi {
  // Subordinate port: requests of the program, answers for it.
  std::deque<suede_axi_address> aw;
  std::deque<suede_axi_write_beat> w;
  std::deque<suede_axi_address> ar;
  std::deque<suede_axi_write_response> b;
  std::deque<suede_axi_read_beat> r;
  size_t address_places = 2;
  size_t beat_places = 3;
  // Manager port: requests for the program, its answers.
  std::deque<suede_axi_address> manager_aw;
  std::deque<suede_axi_write_beat> manager_w;
  std::deque<suede_axi_address> manager_ar;
  std::deque<suede_axi_write_response> manager_b;
  std::deque<suede_axi_read_beat> manager_r;
};

#endif  // SUEDE_TESTS_SIMBRICKS_FAKE_AXI_H_
