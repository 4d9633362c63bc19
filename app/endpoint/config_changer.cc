// SPDX-License-Identifier: Apache-2.0
#include "endpoint/config_changer.h"

#include <algorithm>
#include <utility>

#include "endpoint/pipeline_params.h"

namespace suede {
namespace {

// Whether the difference affects lcores.
bool IsOfLcores(const Config& a, const Config& b) {
  return a.partition != b.partition || a.classes != b.classes || a.packing != b.packing ||
         a.transport != b.transport || a.planes != b.planes ||
         a.clients.unclaimed_pdus != b.clients.unclaimed_pdus;
}

}  // namespace

ConfigChanger::ConfigChanger(Endpoint* endpoint, ConfigOrigin origin)
    : endpoint_(endpoint), origin_(std::move(origin)), started_(Effective()) {
  for (uint32_t l = 0; l < endpoint->pipeline_count(); ++l) {
    shares_.push_back(std::make_unique<Share>());
  }
}

Config ConfigChanger::WithoutArguments(Config config) const {
  std::vector<std::string>& args = config.eal.args;
  args.resize(args.size() - std::min(args.size(), origin_.eal_arguments));
  return config;
}

absl::StatusOr<ConfigPlan> ConfigChanger::PlanText(std::string_view text, std::string_view place,
                                                   std::vector<std::string>* warnings) const {
  absl::StatusOr<Config> wanted = ParseConfig(text, place, machine_, origin_.overrides, warnings);
  if (!wanted.ok()) return wanted.status();
  return PlanChange(started_, Effective(), *wanted, machine_);
}

absl::StatusOr<ConfigPlan> ConfigChanger::PlanValues(
    const std::vector<ConfigOverride>& values) const {
  const Config running = Effective();
  absl::StatusOr<Config> wanted = ChangeConfig(running, values, machine_);
  if (!wanted.ok()) return wanted.status();
  return PlanChange(started_, running, *wanted, machine_);
}

absl::Status ConfigChanger::Begin(const Config& config) {
  if (busy_) {
    return absl::UnavailableError("another change of the configuration is under way; try again");
  }
  if (!IsOfLcores(config, endpoint_->config())) {
    Commit(config);
    return absl::OkStatus();
  }
  busy_ = true;
  wanted_ = config;
  for (const std::unique_ptr<Share>& share : shares_) {
    share->change.settings = SettingsOf(config);
    share->change.done.store(false, std::memory_order_relaxed);
    share->sent = false;
  }
  Poll();
  return absl::OkStatus();
}

void ConfigChanger::Poll() {
  if (!busy_) return;
  bool done = true;
  for (uint32_t l = 0; l < shares_.size(); ++l) {
    Share& share = *shares_[l];
    if (!share.sent) {
      share.sent = endpoint_->pipeline(l).mailbox().requests.Push(
          request::ChangeSettings{.settings = &share.change});
    }
    done &= share.sent && share.change.done.load(std::memory_order_acquire);
  }
  if (!done) return;
  busy_ = false;
  Commit(std::move(wanted_));
}

void ConfigChanger::Commit(Config config) {
  // EAL is started only once, so its arguments stay unchanged.
  config.eal.args = endpoint_->config().eal.args;
  const std::vector<ConfigChange> changes = DiffConfigs(endpoint_->config(), config);
  if (changes.empty()) return;
  endpoint_->Adopt(std::move(config));
  for (const Listener& listener : listeners_) listener(endpoint_->config(), changes);
}

void ConfigChanger::SetLogLevel(LogConfig::Level level) {
  Config config = endpoint_->config();
  config.log.level = level;
  wanted_.log.level = level;
  Commit(std::move(config));
}

}  // namespace suede
