// SPDX-License-Identifier: Apache-2.0
#include "lcore/seal_batch.h"

#include "wire/udp.h"

namespace suede {

void SealBatch::Flush(Crypto& crypto) {
  crypto.Seal({jobs_.data(), count_});
  for (uint32_t i = 0; i < count_; ++i) {
    if (checksums_[i] != nullptr) FinishUdpChecksum(checksums_[i]);
  }
  count_ = 0;
  bytes_ = 0;
}

}  // namespace suede
