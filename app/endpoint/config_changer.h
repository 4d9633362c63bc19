// SPDX-License-Identifier: Apache-2.0
// Changes the configuration of a running endpoint: checks it, applies it to the lcores, and
// notifies listeners. One change at a time.
#ifndef SUEDE_APP_ENDPOINT_CONFIG_CHANGER_H_
#define SUEDE_APP_ENDPOINT_CONFIG_CHANGER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "config/config_change.h"
#include "daemon/config_origin.h"
#include "endpoint/endpoint.h"
#include "lcore/settings.h"

namespace suede {

// Control thread only. Must outlive the lcores' work.
class ConfigChanger {
 public:
  ConfigChanger(Endpoint* endpoint, ConfigOrigin origin);
  // Returns the file that the endpoint was started with.
  const std::string& file() const { return origin_.file; }

  // Calls `listener` with each configuration that has taken effect, and its changes.
  using Listener = std::function<void(const Config&, const std::vector<ConfigChange>&)>;
  void OnChange(Listener listener) { listeners_.push_back(std::move(listener)); }

  // Returns the effective configuration, without EAL arguments of the command line.
  Config Effective() const { return WithoutArguments(endpoint_->config()); }

  // Returns the plan for applying a configuration's text. `place`: names its file in messages.
  absl::StatusOr<ConfigPlan> PlanText(std::string_view text, std::string_view place,
                                      std::vector<std::string>* warnings) const;
  // Returns the plan for changing single values.
  absl::StatusOr<ConfigPlan> PlanValues(const std::vector<ConfigOverride>& values) const;

  // Begins to apply a plan's configuration. UNAVAILABLE: another change is in progress.
  absl::Status Begin(const Config& config);
  // Whether a change is in progress. Poll continues it: call it every millisecond.
  bool busy() const { return busy_; }
  void Poll();

  // Takes effect at once, even during a change.
  void SetLogLevel(LogConfig::Level level);

 private:
  Config WithoutArguments(Config config) const;
  void Commit(Config config);

  Endpoint* const endpoint_;
  const ConfigOrigin origin_;
  const MachineFacts machine_ = MachineFacts::Here();
  const Config started_;
  std::vector<Listener> listeners_;
  // The change for one lcore. Its request may wait for room in the mailbox.
  struct Share {
    SettingsChange change;
    bool sent = true;
  };
  std::vector<std::unique_ptr<Share>> shares_;
  bool busy_ = false;
  Config wanted_;  // while busy
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_CONFIG_CHANGER_H_
