// SPDX-License-Identifier: Apache-2.0
// Sends probes of the path for an operator (docs/path.md). PathReporter takes their reports. Owned
// by the lcore.
#ifndef SUEDE_SEND_PATH_PROBER_H_
#define SUEDE_SEND_PATH_PROBER_H_

#include <cstdint>

#include "lcore/lcore.h"
#include "lcore/mailbox.h"
#include "wire/encap/header.h"

namespace suede {

class PathProber {
 public:
  // `lcore` outlives this object.
  explicit PathProber(Lcore& lcore) : lcore_(lcore) {}

  // Begins a run of probes, or ends it at once with the reason why it cannot begin.
  void Begin(const request::ProbePath& request);
  // Whether a run goes on.
  bool is_active() const { return active_ != 0; }
  // Called once in a poll iteration while one does: sends the probes that are due, and ends runs.
  void Poll(Time now);

 private:
  static PathState ObstacleOf(const Instance& instance, const PathRun::Spec& spec);
  static HeaderTemplate HeaderOf(const Instance& instance, const PathRun::Spec& spec);
  static bool Send(Instance& instance, Time now);
  static void Pause(Instance& instance, bool begins);
  static void NoteCredit(Instance& instance);
  static void Abandon(PathProbes& path, Time now);
  static bool IsOver(const PathProbes& path, Time now);

  Lcore& lcore_;
  uint32_t active_ = 0;  // runs that go on
};

}  // namespace suede

#endif  // SUEDE_SEND_PATH_PROBER_H_
