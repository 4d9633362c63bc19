// SPDX-License-Identifier: Apache-2.0
// The work of sealing in each poll iteration (docs/sealing.md): its time, changed secrets, and the
// burst of prepared frames. Work that concerns every peer is done for some peers in each iteration.
// Owned by the lcore.
#ifndef SUEDE_PIPELINE_SEAL_WORK_H_
#define SUEDE_PIPELINE_SEAL_WORK_H_

#include <cstdint>
#include <optional>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "lcore/secrets_update.h"
#include "pipeline/effector.h"

namespace suede {

class SealWork {
 public:
  // Both arguments outlive this object.
  SealWork(Lcore& lcore, Effector& effector) : lcore_(lcore), effector_(effector) {}

  // Called before the poll iteration's first frame. Returns whether there is more to do at once.
  bool Begin(Time now);
  // Called after the poll iteration's last frame is staged.
  void Flush();

  void Take(SecretsUpdate& update, std::optional<uint32_t> only);
  // Takes secrets agreed with one peer.
  void Take(Instance& instance, PeerIndex peer, SecretsUpdate& update);
  void Rotate();

 private:
  static constexpr Duration kQueryInterval = std::chrono::milliseconds(100);
  // Max peers in a poll iteration that get other secrets, that are checked for a query, and that
  // are queried.
  static constexpr uint32_t kMaxUpdates = 16;
  static constexpr uint32_t kMaxChecks = 64;
  static constexpr uint32_t kMaxQueries = 16;

  // The peers of all instances that seal, one after the other.
  struct Walk {
    void Start() { *this = {.under_way = true}; }
    // Calls `visit(instance, peer)` for at most `max` of the next peers, until it returns false.
    template <typename Visit>
    void Go(Lcore& lcore, uint32_t max, Visit&& visit);

    bool under_way = false;
    uint32_t instance = 0;  // of the next peer
    PeerIndex peer = 0;
  };

  bool Query(Instance& instance, PeerIndex peer);
  void EndUpdate();

  Lcore& lcore_;
  Effector& effector_;
  SecretsUpdate* update_ = nullptr;  // the present update
  Walk updates_;
  Walk queries_;
  Time query_at_{};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_SEAL_WORK_H_
