// SPDX-License-Identifier: Apache-2.0
// The measured rates of planes to one peer (docs/planes.md, "Measured bandwidth"): their facts, and
// their parts in the weights of planes.
//
// Takes facts and the time, returns verdicts; sends nothing, reads no clock. Owned by one lcore.
#ifndef SUEDE_PATH_PLANE_RATES_H_
#define SUEDE_PATH_PLANE_RATES_H_

#include <cstdint>

#include "base/coordinates.h"
#include "base/time.h"
#include "path/path_parts.h"
#include "path/path_rate.h"

namespace suede {

class PlaneRates {
 public:
  explicit PlaneRates(const PathParts& peer) : peer_(peer) {}

  // PDUs have left the plane without an acknowledgement.
  void Spoil(PlaneIndex plane) {
    if (peer_.rates != nullptr) peer_.rates[plane].Spoil();
  }
  struct Facts {
    bool disturbed = false;  // the plane does not send, or is down
    bool prompt = false;     // the peer acknowledges without waiting
  };
  struct Verdict {
    PathRate::Verdict of_window;
    bool part_changed = false;  // the homes of flows are to be chosen again
  };
  // Closes the plane's window if it is due.
  Verdict Check(PlaneIndex plane, const Facts& facts, Time now);
  // Resets the plane's measured rate. Returns whether the plane's part has changed.
  bool Forget(PlaneIndex plane);

 private:
  uint64_t ExpectedBps(PlaneIndex plane) const;
  PathRate::Facts FactsOf(PlaneIndex plane, const Facts& facts) const;
  bool TakePart(PlaneIndex plane);

  const PathParts& peer_;
};

}  // namespace suede

#endif  // SUEDE_PATH_PLANE_RATES_H_
