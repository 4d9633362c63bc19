// SPDX-License-Identifier: Apache-2.0
// Impairments between the units of the management socket and those of the fabric.
#ifndef SUEDE_APP_SWITCH_IMPAIR_VALUES_H_
#define SUEDE_APP_SWITCH_IMPAIR_VALUES_H_

#include "absl/status/status.h"
#include "fabric/impairment.h"
#include "mgmt/impair_view.h"

namespace suede {

// `port` and direction are the caller's to fill in. `by_mac`: the switch forwards by MAC addresses.
ImpairView ToView(const fabric::ImpairmentParams& params, bool by_mac);
// Sets the keys that are given, or none of them.
absl::Status Apply(const ImpairChange& change, fabric::ImpairmentParams* params);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_IMPAIR_VALUES_H_
