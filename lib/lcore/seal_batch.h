// SPDX-License-Identifier: Apache-2.0
// The frames of a port that are laid out to be sealed: the library of ciphers does a burst of them,
// before the first one leaves. Owned by the lcore.
#ifndef SUEDE_LCORE_SEAL_BATCH_H_
#define SUEDE_LCORE_SEAL_BATCH_H_

#include <array>
#include <cstdint>

#include "seal/crypto.h"

namespace suede {

class SealBatch {
 public:
  static constexpr uint32_t kMost = 64;
  // Of frames in it that are large: what was copied into them is in the nearest cache yet.
  static constexpr uint32_t kMostBytes = 16 << 10;

  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == kMost || bytes_ >= kMostBytes; }
  // Not full. The place of a job, in place until it is said otherwise: Commit follows where it is
  // to be done.
  SealJob& Next() {
    jobs_[count_].plain = nullptr;
    return jobs_[count_];
  }
  // `udp6`: behind whose UDP header the PDU is, where its checksum is over what is sealed; else
  // null.
  void Commit(uint8_t* udp6) {
    bytes_ += jobs_[count_].text_bytes;
    checksums_[count_++] = udp6;
  }
  void Flush(Crypto& crypto);

 private:
  std::array<SealJob, kMost> jobs_;
  std::array<uint8_t*, kMost> checksums_{};
  uint32_t count_ = 0;
  uint32_t bytes_ = 0;
};

}  // namespace suede

#endif  // SUEDE_LCORE_SEAL_BATCH_H_
