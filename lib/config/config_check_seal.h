// SPDX-License-Identifier: Apache-2.0
// Checks of sealing: the source of the secrets (docs/sealing.md).
#ifndef SUEDE_CONFIG_CONFIG_CHECK_SEAL_H_
#define SUEDE_CONFIG_CONFIG_CHECK_SEAL_H_

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// Checks that sealing instances have secrets, from a file or by TLS, and that the keys of
// sealing.tls are either all set or all missing.
absl::Status CheckSealing(const ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_SEAL_H_
