// SPDX-License-Identifier: Apache-2.0
// The configuration and its changes, as the methods see them.
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
  bool at_once = false;  // otherwise after a restart
};

struct ConfigCheckView {
  std::vector<std::string> warnings;
  std::vector<ConfigChangeView> changes;  // against the running configuration
};

// Control thread only. Nothing here waits.
class ConfigView {
 public:
  virtual ~ConfigView() = default;

  // The text of a file that loads to the configuration in effect.
  virtual std::string EffectiveConfig() = 0;
  // `place` stands in messages where the file's name would.
  virtual absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                                      std::string_view place) = 0;
};

// A daemon whose configuration can be changed while it runs. Control thread only; nothing waits.
class ConfigLoadView {
 public:
  virtual ~ConfigLoadView() = default;

  // `place` as above. A question to the lcores, to be asked until it has an answer. The question
  // may be dropped at any time: a change that has begun is carried out all the same.
  using ConfigQuestion = std::function<std::optional<absl::StatusOr<ConfigCheckView>>()>;
  virtual ConfigQuestion LoadConfig(std::string_view text, std::string_view place) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_CONFIG_VIEW_H_
