// SPDX-License-Identifier: Apache-2.0
// Writes the load of an instance to a snapshot, a piece at a time, on request (docs/record.md).
// Owned by the lcore.
#ifndef SUEDE_PIPELINE_SAMPLER_H_
#define SUEDE_PIPELINE_SAMPLER_H_

#include "base/time.h"
#include "lcore/lcore.h"
#include "lcore/record_snapshot.h"
#include "receive/congestion_grants.h"

namespace suede {

class Sampler {
 public:
  // Both outlive this object.
  Sampler(Lcore& lcore, const CongestionGrants& grants) : lcore_(lcore), grants_(grants) {}

  // Adds the next connections to the snapshot and, with the last of them, the rest. The requester
  // may read the snapshot once its `done` is set, as the last step.
  void Write(RecordSnapshot& out, Time now);

 private:
  void Visit(Instance& instance, RecordSnapshot& out) const;
  void Finish(const Instance& instance, RecordSnapshot& out) const;
  static void AddPeer(const Instance& instance, PeerIndex peer, RecordSnapshot& out);

  Lcore& lcore_;
  const CongestionGrants& grants_;
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_SAMPLER_H_
