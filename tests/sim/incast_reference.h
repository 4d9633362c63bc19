// SPDX-License-Identifier: Apache-2.0
// Figures of uet-htsim (at 40ccb05) for the same incasts, to be shown beside: htsim_uec -nodes 128
// -tiers 2 -linkspeed 100000 -mtu 4150 -hop_latency 0.25 -switch_latency 0 -paths 64 -seed 1, flows
// of 1 MiB to node 0 from its gen_incast.py with seed 13; its base round trip is 3.35 us.
#ifndef SUEDE_TESTS_SIM_INCAST_REFERENCE_H_
#define SUEDE_TESTS_SIM_INCAST_REFERENCE_H_

#include <cstdint>
#include <string_view>

namespace suede {

struct IncastReference {
  const char* name;
  uint32_t senders;
  double efficiency;
  double jain;  // of completion times
  uint32_t sent_twice;
};

inline constexpr IncastReference kIncastReferences[] = {
    {"nscc_trim", 4, 0.906, 0.990, 41},      {"nscc", 4, 0.923, 0.995, 0},
    {"rccc_trim", 4, 0.974, 1.0000, 34},     {"rccc", 4, 0.977, 1.0000, 0},
    {"nscc_trim", 16, 0.978, 0.998, 384},    {"nscc", 16, 0.977, 0.993, 169},
    {"rccc_trim", 16, 0.975, 1.0000, 176},   {"rccc", 16, 0.983, 0.9999, 178},
    {"nscc_trim", 64, 0.920, 0.964, 70'390}, {"nscc", 64, 0.982, 0.999, 912},
    {"rccc_trim", 64, 0.972, 1.0000, 793},   {"rccc", 64, 0.975, 0.9999, 933},
};

// nullptr: there is none.
inline const IncastReference* ReferenceOf(const char* name, uint32_t senders) {
  for (const IncastReference& one : kIncastReferences) {
    if (name != nullptr && one.senders == senders && std::string_view(one.name) == name) {
      return &one;
    }
  }
  return nullptr;
}

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_INCAST_REFERENCE_H_
