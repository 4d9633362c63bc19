// SPDX-License-Identifier: Apache-2.0
// A play whose network does to commands what an endpoint may: it delays them, in unordered mode
// reorders them, and where a target restarts or is unreachable, loses them and reports that as the
// daemon would.
#ifndef SUEDE_TESTS_AXI_PLAIN_PLAY_H_
#define SUEDE_TESTS_AXI_PLAIN_PLAY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "play.h"

namespace suede::axi {

inline constexpr uint16_t kAttacker = 9;  // XPU

class PlainPlay final : public Play {
 public:
  explicit PlainPlay(const PlayParams& params) : Play(params) {}

 private:
  struct Message {
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
    uint32_t tag = 0;
    bool wants_completion = false;
  };
  using ChannelKey = std::tuple<uint16_t, uint16_t, uint8_t>;  // from, to, VC

  int OnBurst(uint16_t from, const Burst& burst) override;
  bool MoveNetwork() override;
  bool IsNetworkIdle() const override;
  uint32_t IdleSteps() const override { return 5000; }
  void FailNetwork() override;

  bool MoveMessage();
  void Attack();
  void LoseRequests(uint16_t to, uint8_t status);
  void LoseTarget(uint16_t number);

  std::map<ChannelKey, std::deque<Message>> channels_;
};

}  // namespace suede::axi

#endif  // SUEDE_TESTS_AXI_PLAIN_PLAY_H_
