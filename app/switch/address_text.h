// SPDX-License-Identifier: Apache-2.0
// Addresses of the forwarding table as texts.
#ifndef SUEDE_APP_SWITCH_ADDRESS_TEXT_H_
#define SUEDE_APP_SWITCH_ADDRESS_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "fabric/switch.h"

namespace suede {

std::string MacText(uint64_t mac);
// "02:00:00:00:00:01", or a number, decimal or with 0x.
std::optional<uint64_t> MacOrNumber(std::string_view text);

// The key of an address, as the switch forwards. A VID other than 0 goes with MAC addresses alone.
absl::StatusOr<NetAddress> KeyOf(std::string_view text, uint32_t vid,
                                 fabric::Forwarding forwarding);
std::string KeyText(const NetAddress& key, fabric::Switch::KeyKind kind);

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_ADDRESS_TEXT_H_
