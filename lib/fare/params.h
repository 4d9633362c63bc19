// SPDX-License-Identifier: Apache-2.0
// The configuration of the weights of planes by routes (docs/fare.md).
#ifndef SUEDE_FARE_PARAMS_H_
#define SUEDE_FARE_PARAMS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace suede::fare {

// A plane of the instance.
struct PlaneParams {
  uint32_t plane = 0;                   // its number
  std::vector<std::string> interfaces;  // of the kernel, through which its routes leave
  double own_mbps = 0;                  // bandwidth of this end's link; 0: not known
};

// In the manner of RFC 2439: a penalty for each flap, which decays by half in each half-life.
struct DampingParams {
  Duration half_life = std::chrono::seconds(5);  // 0: nothing is damped
  double penalty = 1000;                         // of a flap
  double suppress = 2500;                        // above it good news is held back
  double reuse = 1000;                           // until it is below this
  double max = 12000;                            // bound of the penalty, and so of the time
};

struct FareParams {
  std::vector<PlaneParams> planes;
  uint32_t peers = 0;  // they are numbered from 0
  double scale = 1;    // announced bandwidths are multiplied by it
  DampingParams damping;
};

}  // namespace suede::fare

#endif  // SUEDE_FARE_PARAMS_H_
