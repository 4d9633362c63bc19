// SPDX-License-Identifier: Apache-2.0
// Begins and ends traces of instances on request, and completes their rows (docs/trace.md). Owned
// by the lcore.
#ifndef SUEDE_PIPELINE_TRACER_H_
#define SUEDE_PIPELINE_TRACER_H_

#include "base/time.h"
#include "lcore/lcore.h"
#include "lcore/trace.h"

namespace suede {

class Tracer {
 public:
  // `lcore` outlives this object.
  explicit Tracer(Lcore& lcore) : lcore_(lcore) {}

  // Serves a request, the next connections of it. The requester may read the snapshot once its
  // `done` is set, as the last step.
  void Serve(TraceSnapshot& asked, Time now);

  // Whether Poll is to be called: in each poll iteration, once the ports have taken their frames.
  bool is_active() const { return is_active_; }
  void Poll(Time now);

 private:
  static void Visit(Instance& instance, TraceSnapshot& asked);
  TraceState Follow(const Instance& instance, TraceRow& row, const Pdu* pdu, const RingMark& mark,
                    Time now);
  static TraceState FollowSent(const Instance& instance, TraceRow& row, const Pdu* pdu, Time now);

  Lcore& lcore_;
  bool is_active_ = false;  // the trace of an instance is open
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_TRACER_H_
