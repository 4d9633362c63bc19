// SPDX-License-Identifier: Apache-2.0
// Secrets passed from the control thread to an lcore.
#ifndef SUEDE_LCORE_SECRETS_UPDATE_H_
#define SUEDE_LCORE_SECRETS_UPDATE_H_

#include <atomic>

#include "seal/keys.h"

namespace suede {

// Written by the control thread, then by the lcore until `done`, which overwrites the secrets.
struct SecretsUpdate : InLockedMemory {
  SealSecrets secrets;
  std::atomic<bool> done{false};
};

}  // namespace suede

#endif  // SUEDE_LCORE_SECRETS_UPDATE_H_
