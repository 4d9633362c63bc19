// SPDX-License-Identifier: Apache-2.0
#include "lcore/port_context.h"

namespace suede {

void PortContext::SetPauseClasses(const std::array<TrafficClass, kVcCount>& of_vc,
                                  const TrafficClass& of_ack) {
  if (link.pauses() == nullptr && link.credit() == nullptr) return;
  std::array<uint8_t, kLinkFlows> classes{};
  for (Vc vc = 0; vc < kVcCount; ++vc) classes[vc] = PfcClassOf(params, of_vc[vc]);
  classes[kVcCount] = PfcClassOf(params, of_ack);
  if (link.pauses() != nullptr) link.pauses()->SetClasses(classes);
  if (link.credit() != nullptr) link.credit()->SetClasses(classes);
}

}  // namespace suede
