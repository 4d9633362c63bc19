// SPDX-License-Identifier: Apache-2.0
// Changes the configuration of a running endpoint: checks, has the lcores take their part, and
// lets everybody else know. One change at a time.
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

// Control thread only. Outlives the lcores' work: they are stopped before it goes.
class ConfigChanger {
 public:
  ConfigChanger(Endpoint* endpoint, ConfigOrigin origin);
  // The file that the endpoint was started with.
  const std::string& file() const { return origin_.file; }

  // Calls `listener` with each configuration that has taken effect, and its changes.
  using Listener = std::function<void(const Config&, const std::vector<ConfigChange>&)>;
  void OnChange(Listener listener) { listeners_.push_back(std::move(listener)); }

  // The configuration in effect, without the command line's arguments of the EAL.
  Config Effective() const { return WithoutArguments(endpoint_->config()); }

  // The plan of a configuration that is loaded now. `place` stands for its file in messages.
  absl::StatusOr<ConfigPlan> PlanText(std::string_view text, std::string_view place,
                                      std::vector<std::string>* warnings) const;
  // And the plan of single values.
  absl::StatusOr<ConfigPlan> PlanValues(const std::vector<ConfigOverride>& values) const;

  // Begins to bring a plan's configuration into effect. UNAVAILABLE: another is under way.
  absl::Status Begin(const Config& config);
  // Whether a change is under way. Poll then goes on with it: call it every millisecond.
  bool busy() const { return busy_; }
  void Poll();

  // At once, even while a change is under way.
  void SetLogLevel(LogConfig::Level level);

 private:
  Config WithoutArguments(Config config) const;
  void Commit(Config config);

  Endpoint* const endpoint_;
  const ConfigOrigin origin_;
  const MachineFacts machine_ = MachineFacts::Here();
  const Config started_;
  std::vector<Listener> listeners_;
  // The part of one lcore. Its request may have to wait for room in the mailbox.
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
