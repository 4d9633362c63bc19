// SPDX-License-Identifier: Apache-2.0
// The goodput of several planes: that their bandwidths add up, and that each gets its share.
#ifndef SUEDE_TESTS_SIM_PLANE_SHARES_H_
#define SUEDE_TESTS_SIM_PLANE_SHARES_H_

namespace suede {

// Measures, prints a line each, and returns the exit code: 0 where all is as it should be. Time is
// virtual, so the figures are the same each time.
int RunPlaneShares();

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PLANE_SHARES_H_
