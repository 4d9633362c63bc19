// SPDX-License-Identifier: Apache-2.0
// Interfaces through which methods access and change the configuration.
#ifndef SUEDE_MGMT_CONFIG_VIEW_H_
#define SUEDE_MGMT_CONFIG_VIEW_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace suede {

struct ConfigChangeView {
  std::string key;
  std::string from;
  std::string to;
  bool at_once = false;  // else after a restart
};

struct ConfigCheckView {
  std::vector<std::string> warnings;
  std::vector<ConfigChangeView> changes;  // relative to the running configuration
};

// Control thread only. Does not block.
class ConfigView {
 public:
  virtual ~ConfigView() = default;

  // Returns the text of a file that loads to the effective configuration.
  virtual std::string EffectiveConfig() = 0;
  // Checks a configuration. `place`: the origin of `text`, named in messages.
  virtual absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                                      std::string_view place) = 0;
};

// A daemon whose configuration can be changed at run time. Control thread only; does not block.
class ConfigLoadView {
 public:
  virtual ~ConfigLoadView() = default;

  // Applies a configuration; `place` as above. Returns a query to the lcores, to be polled until it
  // has a result. The query may be dropped at any time: a change that has begun is completed all
  // the same.
  using ConfigQuestion = std::function<std::optional<absl::StatusOr<ConfigCheckView>>()>;
  virtual ConfigQuestion LoadConfig(std::string_view text, std::string_view place) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_CONFIG_VIEW_H_
