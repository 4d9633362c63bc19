// SPDX-License-Identifier: Apache-2.0
// Types of values that only a switch's configuration has.
#ifndef SUEDE_CONFIG_SWITCH_VALUES_H_
#define SUEDE_CONFIG_SWITCH_VALUES_H_

#include "config/config_values.h"
#include "config/switch_config.h"

namespace suede {

std::span<const std::string_view> NamesOf(SwitchRoot::Forwarding);
std::span<const std::string_view> NamesOf(SwitchRoot::Unknown);

Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, Decimal& out);
// Reads a list; the limits apply to each number.
Problem ReadValue(const ConfigNode& node, const ValueLimits& limits, std::vector<uint32_t>& out);
Written WriteValue(const Decimal& value, const ValueLimits& limits);
Written WriteValue(const std::vector<uint32_t>& value, const ValueLimits& limits);

}  // namespace suede

#endif  // SUEDE_CONFIG_SWITCH_VALUES_H_
