// SPDX-License-Identifier: Apache-2.0
// Sealing, once in a turn (docs/sealing.md): the time for it, secrets that have changed, and the
// burst of what was laid out. Owned by the lcore.
#ifndef SUEDE_PIPELINE_SEAL_WORK_H_
#define SUEDE_PIPELINE_SEAL_WORK_H_

#include <cstdint>

#include "lcore/lcore.h"
#include "lcore/secrets_update.h"
#include "pipeline/effector.h"

namespace suede {

class SealWork {
 public:
  // Both outlive this.
  SealWork(Lcore& lcore, Effector& effector) : lcore_(lcore), effector_(effector) {}

  // Before the turn's first frame.
  void Begin(Time now);
  // Behind the turn's last frame that is staged.
  void Flush();

  void Take(SecretsUpdate& update);
  // Of secrets that are agreed with one peer.
  void Take(Instance& instance, uint32_t peer, SecretsUpdate& update);
  void Rotate();

 private:
  static constexpr Duration kAskEvery = std::chrono::milliseconds(100);

  void AskPeers(Time now);
  void End(SecretsUpdate& update);

  Lcore& lcore_;
  Effector& effector_;
  Time ask_at_{};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_SEAL_WORK_H_
