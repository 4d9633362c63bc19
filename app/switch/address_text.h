// SPDX-License-Identifier: Apache-2.0
// Conversion between addresses of the forwarding table and texts.
#ifndef SUEDE_APP_SWITCH_ADDRESS_TEXT_H_
#define SUEDE_APP_SWITCH_ADDRESS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "fabric/forwarding_table.h"

namespace suede {

std::string MacText(uint64_t mac);
// Parses "02:00:00:00:00:01", or a number, decimal or with 0x.
std::optional<uint64_t> MacOrNumber(std::string_view text);

// Returns the key of an address for the switch's forwarding mode. Only MAC addresses may have a VID
// other than 0.
absl::StatusOr<NetAddress> KeyOf(std::string_view text, uint32_t vid,
                                 fabric::Forwarding forwarding);
std::string KeyText(const NetAddress& key, fabric::ForwardingTable::KeyKind kind);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_ADDRESS_TEXT_H_
