// SPDX-License-Identifier: Apache-2.0
// The frames of a port that are prepared for sealing: the cipher library seals a burst of them
// before the first leaves. Owned by the lcore.
#ifndef SUEDE_LCORE_SEAL_BATCH_H_
#define SUEDE_LCORE_SEAL_BATCH_H_

#include <array>
#include <cstdint>

#include "seal/crypto.h"

namespace suede {

class SealBatch {
 public:
  static constexpr uint32_t kMax = 64;
  // Max bytes to seal: the bytes copied into large frames are still in the L1 cache.
  static constexpr uint32_t kMaxBytes = 16 << 10;

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == kMax || bytes_ >= kMaxBytes; }
  // The place of the next job, which seals in place unless the caller sets `plain`. Commit adds the
  // job. The batch must not be full.
  SealJob& Next() {
    jobs_[count_].plain = nullptr;
    return jobs_[count_];
  }
  // Adds the job of Next. `udp6`: the UDP header in front of the PDU, if its checksum covers the
  // sealed bytes; else null.
  void Commit(uint8_t* udp6) {
    bytes_ += jobs_[count_].text_bytes;
    checksums_[count_++] = udp6;
  }
  void Flush(Crypto& crypto);

 private:
  std::array<SealJob, kMax> jobs_;
  std::array<uint8_t*, kMax> checksums_{};
  uint32_t count_ = 0;
  uint32_t bytes_ = 0;
};

}  // namespace suede

#endif  // SUEDE_LCORE_SEAL_BATCH_H_
