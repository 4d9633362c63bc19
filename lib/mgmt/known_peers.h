// SPDX-License-Identifier: Apache-2.0
// The check of a parameter that names a peer.
#ifndef SUEDE_MGMT_KNOWN_PEERS_H_
#define SUEDE_MGMT_KNOWN_PEERS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// Returns OK if the peer is known or not given; otherwise NOT_FOUND, with a message that names
// known peers.
absl::Status CheckPeer(EndpointView& endpoint, std::optional<uint32_t> peer);

}  // namespace suede

#endif  // SUEDE_MGMT_KNOWN_PEERS_H_
