// SPDX-License-Identifier: Apache-2.0
// peer_schedules FIRST_SEED COUNT [STEPS]: plays two peers under that many schedules (peer_pair.h),
// and names the seeds that fail. The invariants are checked after every step where it is one
// schedule.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "peer_pair.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: peer_schedules FIRST_SEED COUNT [STEPS]\n");
    return 2;
  }
  const uint64_t first = std::strtoull(argv[1], nullptr, 0);
  const uint64_t count = std::strtoull(argv[2], nullptr, 0);
  const uint64_t steps = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 150;
  const uint64_t check_every = count == 1 ? 1 : 16;
  suede::PeerPair::Seen sum;
  uint64_t failed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    suede::Dice dice(seed);
    suede::PeerPair pair(&dice);
    for (uint64_t step = 0; step < steps && pair.error().empty(); ++step) {
      pair.Step();
      if (step % check_every == 0) pair.CheckInvariants();
    }
    if (const std::string error = pair.Settle(); !error.empty()) {
      ++failed;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), error.c_str());
    }
    sum.delivered += pair.seen().delivered;
    sum.restarts += pair.seen().restarts;
    sum.planes_down += pair.seen().planes_down;
    sum.requeued += pair.seen().requeued;
    sum.peers_lost += pair.seen().peers_lost;
    for (int i = 0; i < 4; ++i) sum.ended[i] += pair.seen().ended[i];
  }
  std::printf(
      "%llu schedules, %llu failed: %llu arrived, %llu completed, %llu in doubt, %llu unreachable, "
      "%llu reset; %llu restarts, %llu planes down, %llu requeued, %llu times unreachable\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed),
      static_cast<unsigned long long>(sum.delivered), static_cast<unsigned long long>(sum.ended[0]),
      static_cast<unsigned long long>(sum.ended[1]), static_cast<unsigned long long>(sum.ended[2]),
      static_cast<unsigned long long>(sum.ended[3]), static_cast<unsigned long long>(sum.restarts),
      static_cast<unsigned long long>(sum.planes_down),
      static_cast<unsigned long long>(sum.requeued),
      static_cast<unsigned long long>(sum.peers_lost));
  return failed == 0 ? 0 : 1;
}
