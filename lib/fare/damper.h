// SPDX-License-Identifier: Apache-2.0
// Flap damping of one {peer, plane} (docs/fare.md, "Damping"). Bad news passes at once; good news
// of a plane that has flapped too often waits until its penalty has decayed.
//
// Shares and the time in, the share to use out. Reads no clock.
#ifndef SUEDE_FARE_DAMPER_H_
#define SUEDE_FARE_DAMPER_H_

#include "base/time.h"
#include "fare/params.h"

namespace suede::fare {

class Damper {
 public:
  // The share that the routes give. The first one is no flap, each change is one.
  void OnShare(double share, Time now, const DampingParams& params);
  // The share in another scale, while there is a route: no flap. The part of it that is held back
  // stays held back.
  void Rescale(double share);
  // The penalty may have decayed.
  void OnTime(Time now, const DampingParams& params);

  // The share to use.
  double share() const { return used_; }
  // The share that the routes give; 0: there is no route.
  double offered() const { return offered_; }
  bool begun() const { return begun_; }
  bool holds() const { return used_ != offered_; }
  // When OnTime has something to do: kNever where nothing is held back.
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
