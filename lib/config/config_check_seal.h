// SPDX-License-Identifier: Apache-2.0
// The rules of sealing: where the secrets come from (docs/sealing.md).
#ifndef SUEDE_CONFIG_CONFIG_CHECK_SEAL_H_
#define SUEDE_CONFIG_CONFIG_CHECK_SEAL_H_

#include "absl/status/status.h"
#include "config/config_draft.h"

namespace suede {

// Instances that seal have secrets: of a file, or by TLS. The keys of sealing.tls are all there, or
// all missing.
absl::Status CheckSealing(const ConfigDraft& draft);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_CHECK_SEAL_H_
