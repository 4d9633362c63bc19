// SPDX-License-Identifier: Apache-2.0
// Flap damping of one {peer, plane} (docs/fare.md, "Damping"). A decrease of a share applies at
// once; an increase on a plane that has flapped too often applies when its penalty has decayed.
//
// Input: shares and the time; output: the share to use. Reads no clock.
#ifndef SUEDE_FARE_DAMPER_H_
#define SUEDE_FARE_DAMPER_H_

#include "base/time.h"
#include "fare/params.h"

namespace suede::fare {

class Damper {
 public:
  // Applies the share that the routes give. Each change but the first share counts as a flap.
  void OnShare(double share, Time now, const DampingParams& params);
  // Applies the share in another scale, while there is a route; no flap. A suppressed fraction
  // stays suppressed.
  void Rescale(double share);
  // Applies a suppressed increase if the penalty has decayed.
  void OnTime(Time now, const DampingParams& params);

  // Returns the share to use.
  double share() const { return used_; }
  // Returns the share that the routes give; 0: no route.
  double offered() const { return offered_; }
  bool begun() const { return begun_; }
  bool holds() const { return used_ != offered_; }
  // Returns the time of the next OnTime; kNever: no increase is suppressed.
  Time deadline() const { return deadline_; }
  double PenaltyAt(Time now, const DampingParams& params) const;

 private:
  void Hold(Time now, const DampingParams& params);

  double offered_ = 0;
  double used_ = 0;
  double penalty_ = 0;  // at `at_`
  Time at_{};
  Time deadline_ = kNever;
  bool begun_ = false;
  bool suppressed_ = false;
};

}  // namespace suede::fare

#endif  // SUEDE_FARE_DAMPER_H_
