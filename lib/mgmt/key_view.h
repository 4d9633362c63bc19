// SPDX-License-Identifier: Apache-2.0
// Interface through which methods access the keys of sealing instances (docs/sealing.md). No value
// is secret.
#ifndef SUEDE_MGMT_KEY_VIEW_H_
#define SUEDE_MGMT_KEY_VIEW_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace suede {

struct SealedPeerView {
  uint32_t xpu = 0;  // own
  uint32_t instance = 0;
  uint32_t peer = 0;         // XPU of the peer
  std::string_view sealing;  // setting of the instance
  bool sealed = false;
  uint32_t secret_id = 0;
  uint32_t tx_epoch = 0;
  uint32_t rx_epoch = 0;
};

// Control thread only. Does not block.
class KeyView {
 public:
  virtual ~KeyView() = default;

  // Returns the peers of sealing instances.
  virtual std::vector<SealedPeerView> SealedPeers() = 0;
  // Begins another epoch with every peer, as soon as it has confirmed the present one. Returns the
  // number of peers that seal.
  virtual absl::StatusOr<uint32_t> RotateKeys() = 0;
  // Reads the file of secrets again; an unusable file changes nothing. Returns the number of
  // secrets in it, valid or not.
  virtual absl::StatusOr<uint32_t> ReloadSecrets() = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_KEY_VIEW_H_
