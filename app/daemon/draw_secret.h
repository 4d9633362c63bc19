// SPDX-License-Identifier: Apache-2.0
// Returns the random key for one boot (docs/control-pdus.md, docs/link.md).
#ifndef SUEDE_APP_DAEMON_DRAW_SECRET_H_
#define SUEDE_APP_DAEMON_DRAW_SECRET_H_

#include <cstdint>
#include <random>

#include "base/secret_numbers.h"

namespace suede {

inline SecretKey DrawSecret() {
  std::random_device random;
  SecretKey key;
  for (uint64_t& word : key) word = uint64_t{random()} << 32 | random();
  return key;
}

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_DRAW_SECRET_H_
