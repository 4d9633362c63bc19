// SPDX-License-Identifier: Apache-2.0
// Two peers (tests/peer/peer_pair.h) whose schedule is the input: with any losses, duplicates,
// overtaking, restarts, and planes set down or held up, in any order, both hold to their invariants
// after each step, and to the oracle until all is healed and calm.
#include "peer_pair.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Dice dice(data, size);
  suede::PeerPair pair(&dice);
  while (!dice.empty() && pair.error().empty()) {
    pair.Step();
    pair.CheckInvariants();
  }
  if (const std::string error = pair.Settle(); !error.empty()) {
    std::fprintf(stderr, "%s\n", error.c_str());
    abort();
  }
  return 0;
}
