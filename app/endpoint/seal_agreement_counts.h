// SPDX-License-Identifier: Apache-2.0
// What has become of agreements on secrets (docs/sealing.md, "Secrets by TLS"), for metrics.
// Control thread.
#ifndef SUEDE_APP_ENDPOINT_SEAL_AGREEMENT_COUNTS_H_
#define SUEDE_APP_ENDPOINT_SEAL_AGREEMENT_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace suede {

// Why a pair could not agree at one of its tries.
enum class SealFailure : uint8_t {
  kConnection,  // nobody accepts it, or it ends too early, or says nothing for too long
  kTls,         // a certificate is refused by either end, or TLS itself fails
  kXpu,         // the other end's certificate does not name its XPU
  kRefused,     // the other end's answer says so
  kProtocol,    // a message is malformed
  kMemory,      // there is no locked memory for the secret
};
inline constexpr std::array<std::string_view, 6> kSealFailureNames{
    "connection", "tls", "xpu", "refused", "protocol", "memory"};

struct SealAgreementCounts {
  uint64_t agreed = 0;
  std::array<uint64_t, kSealFailureNames.size()> failed{};
  uint64_t refused = 0;        // connections of others that were ended
  uint64_t last_agreed_s = 0;  // since 1970; 0: never
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_AGREEMENT_COUNTS_H_
