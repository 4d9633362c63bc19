// SPDX-License-Identifier: Apache-2.0
// Parameters of plane weights by routes (docs/fare.md).
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
  uint32_t plane = 0;                   // number of the plane
  std::vector<std::string> interfaces;  // kernel interfaces by which its routes leave
  double own_mbps = 0;                  // bandwidth of this end's link; 0: unknown
};

// Damping as in RFC 2439: each flap adds a penalty, which halves in each half-life.
struct DampingParams {
  Duration half_life = std::chrono::seconds(5);  // 0: no damping
  double penalty = 1000;                         // of a flap
  double suppress = 2500;                        // threshold above which increases are suppressed
  double reuse = 1000;                           // threshold below which suppression ends
  double max = 12000;                            // maximum penalty; bounds the suppression time
};

struct FareParams {
  std::vector<PlaneParams> planes;
  uint32_t peers = 0;  // number of peers, which are numbered from 0
  double scale = 1;    // factor of announced bandwidths
  DampingParams damping;
};

}  // namespace suede::fare

#endif  // SUEDE_FARE_PARAMS_H_
