// SPDX-License-Identifier: Apache-2.0
// Whether a parameter names a peer that there is.
#ifndef SUEDE_MGMT_KNOWN_PEERS_H_
#define SUEDE_MGMT_KNOWN_PEERS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "mgmt/endpoint_view.h"

namespace suede {

// OK without a peer; otherwise NOT_FOUND with those that there are, some of them if they are many.
absl::Status CheckPeer(EndpointView& endpoint, std::optional<uint32_t> peer);

}  // namespace suede

#endif  // SUEDE_MGMT_KNOWN_PEERS_H_
