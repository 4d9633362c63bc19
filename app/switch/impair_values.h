// SPDX-License-Identifier: Apache-2.0
// Converts impairments between the units of the management socket and of the fabric.
#ifndef SUEDE_APP_SWITCH_IMPAIR_VALUES_H_
#define SUEDE_APP_SWITCH_IMPAIR_VALUES_H_

#include "absl/status/status.h"
#include "fabric/impairment.h"
#include "mgmt/impair_view.h"

namespace suede {

// The caller sets port and direction. `by_mac`: the switch forwards by MAC addresses.
ImpairView ToView(const fabric::ImpairmentParams& params, bool by_mac);
// Sets the given keys; none on an error.
absl::Status Apply(const ImpairChange& change, fabric::ImpairmentParams* params);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_IMPAIR_VALUES_H_
