// SPDX-License-Identifier: Apache-2.0
// The preflight of a configuration on this machine.
#ifndef SUEDE_APP_ENDPOINT_PREFLIGHT_H_
#define SUEDE_APP_ENDPOINT_PREFLIGHT_H_

#include <vector>

#include "config/config.h"
#include "preflight/preflight.h"

namespace suede {

// EAL must not run: a running endpoint holds the resources to be checked.
std::vector<Finding> PreflightOf(const Config& config);

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_PREFLIGHT_H_
