// SPDX-License-Identifier: Apache-2.0
// Checks of an implementation of Crypto, which the tests of each call.
#ifndef SUEDE_TESTS_SEAL_CRYPTO_CHECKS_H_
#define SUEDE_TESTS_SEAL_CRYPTO_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "hex.h"
#include "seal/crypto.h"

namespace suede {

// A job over `text`, which has room for the tag behind it.
SealJob JobOf(void* key, std::span<const uint8_t> nonce, std::span<const uint8_t> aad, Bytes& text);

// The test cases of the submission of GCM to NIST with nonces of 12 bytes.
void CheckGcmVectors(Crypto& crypto);
// The test cases of RFC 5869 with SHA-256.
void CheckHkdfVectors(Crypto& crypto);
// Bursts of 1 to 64 texts of mixed keys and sizes are opened as they were sealed; a corrupted text
// is refused, alone, wherever it is.
void CheckBursts(Crypto& crypto);
// Each flipped bit of nonce, additional data, text and tag is noticed.
void CheckFlippedBits(Crypto& crypto);
// A text that is sealed from elsewhere stays as it is, and its sealed form is as in place.
void CheckSealingFromElsewhere(Crypto& crypto);
// Each library opens what the other one sealed.
void CheckAgreement(Crypto& ours, Crypto& theirs);
// A key may be used while others are made and ended.
void CheckKeys(Crypto& crypto, size_t keys);

}  // namespace suede

#endif  // SUEDE_TESTS_SEAL_CRYPTO_CHECKS_H_
