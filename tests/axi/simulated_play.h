// SPDX-License-Identifier: Apache-2.0
// A play over real endpoints in virtual time, whose cables lose frames and whose planes die and
// come back. Nothing is lost by that, so a transaction fails only where a port was reset.
#ifndef SUEDE_TESTS_AXI_SIMULATED_PLAY_H_
#define SUEDE_TESTS_AXI_SIMULATED_PLAY_H_

#include <cstdint>

#include "../sim/lossy_endpoints.h"
#include "play.h"

namespace suede::axi {

class SimulatedPlay final : public Play {
 public:
  explicit SimulatedPlay(const PlayParams& params);
  const LossyEndpoints& endpoints() const { return endpoints_; }

 private:
  int OnBurst(uint16_t from, const Burst& burst) override;
  bool MoveNetwork() override;
  bool IsNetworkIdle() const override { return endpoints_.IsQuiet(); }
  // The times between HELLOs and between repetitions grow to some ms.
  uint32_t IdleSteps() const override { return 200'000; }
  void FailNetwork() override { endpoints_.SwitchTrouble(); }

  bool TakeCommands(uint16_t number, uint8_t vc);
  bool TakeCompletions(uint16_t number);

  LossyEndpoints endpoints_;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_SIMULATED_PLAY_H_
