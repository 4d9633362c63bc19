// SPDX-License-Identifier: Apache-2.0
// Keys of instances that seal (docs/sealing.md), as the methods see them. Nothing here is secret.
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
  uint32_t peer = 0;         // its XPU
  std::string_view sealing;  // the instance's setting
  bool sealed = false;
  uint32_t secret_id = 0;
  uint32_t tx_epoch = 0;
  uint32_t rx_epoch = 0;
};

// Control thread only. Nothing here waits.
class KeyView {
 public:
  virtual ~KeyView() = default;

  // Peers of instances that seal.
  virtual std::vector<SealedPeerView> SealedPeers() = 0;
  // Has every peer begin another epoch, as soon as it has confirmed the present one. Returns how
  // many there are that seal.
  virtual absl::StatusOr<uint32_t> RotateKeys() = 0;
  // Reads the file of secrets again; one that cannot be used changes nothing. Returns how many
  // secrets it has, valid or not.
  virtual absl::StatusOr<uint32_t> ReloadSecrets() = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_KEY_VIEW_H_
