// SPDX-License-Identifier: Apache-2.0
// Results of agreements on secrets (docs/sealing.md, "Secrets by TLS"), for metrics. Control
// thread.
#ifndef SUEDE_APP_ENDPOINT_SEAL_AGREEMENT_COUNTS_H_
#define SUEDE_APP_ENDPOINT_SEAL_AGREEMENT_COUNTS_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace suede {

// Why an attempt of a pair to agree failed.
enum class SealFailure : uint8_t {
  kConnection,  // not accepted, closed early, or idle for too long
  kTls,         // a certificate is rejected by either end, or TLS itself fails
  kXpu,         // the other end's certificate does not name its XPU
  kRefused,     // the peer's reply rejects
  kProtocol,    // a message is malformed
  kMemory,      // no locked memory for the secret
};
inline constexpr std::array<std::string_view, 6> kSealFailureNames{
    "connection", "tls", "xpu", "refused", "protocol", "memory"};

struct SealAgreementCounts {
  uint64_t agreed = 0;
  std::array<uint64_t, kSealFailureNames.size()> failed{};
  uint64_t refused = 0;        // incoming connections that were ended
  uint64_t last_agreed_s = 0;  // since 1970; 0: never
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_AGREEMENT_COUNTS_H_
