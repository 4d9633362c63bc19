// SPDX-License-Identifier: Apache-2.0
// The part of the management that changes configuration and registers.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/secrets.h"
#include "endpoint/management.h"

namespace suede {
namespace {

ConfigCheckView ToView(const ConfigPlan& plan, std::vector<std::string> warnings) {
  ConfigCheckView view{.warnings = std::move(warnings), .changes = {}};
  for (const ConfigChange& change : plan.changes) {
    view.changes.push_back({.key = change.path,
                            .from = change.from,
                            .to = change.to,
                            .at_once = change.at_once});
  }
  return view;
}

}  // namespace

void Management::Adopt(const Config& config, const std::vector<ConfigChange>& changes) {
  clients_->Adopt(config);
  server_->SetMaxClients(config.management.max_clients);
  for (const ConfigChange& change : changes) {
    endpoint_->events().Raise(EventKind::kConfigChanged, {{EventField::kKey, change.path},
                                                          {EventField::kValue, change.to}});
  }
  logger_->SetLevel(config.log.level);  // last: the change is logged at the former level
}

std::string Management::EffectiveConfig() { return HideSecrets(DumpConfig(changer_.Effective())); }

absl::StatusOr<ConfigCheckView> Management::CheckConfig(std::string_view text,
                                                        std::string_view place) {
  std::vector<std::string> warnings;
  const absl::StatusOr<ConfigPlan> plan = changer_.PlanText(text, place, &warnings);
  if (!plan.ok()) return plan.status();
  return ToView(*plan, std::move(warnings));
}

EndpointView::ConfigQuestion Management::LoadConfig(std::string_view text, std::string_view place) {
  using Result = std::optional<absl::StatusOr<ConfigCheckView>>;
  std::vector<std::string> warnings;
  const absl::StatusOr<ConfigPlan> plan = changer_.PlanText(text, place, &warnings);
  const absl::Status begun = plan.ok() ? changer_.Begin(plan->config) : plan.status();
  if (!begun.ok()) return [begun]() -> Result { return begun; };
  return [this, view = ToView(*plan, std::move(warnings))]() -> Result {
    changer_.Poll();
    if (changer_.busy()) return std::nullopt;
    return view;
  };
}

std::vector<RegisterRowView> Management::Registers() { return registers_.Rows(); }

absl::StatusOr<std::vector<RegisterValueView>> Management::ReadRegisters(std::string_view first,
                                                                         uint32_t count) {
  return registers_.Read(first, count);
}

EndpointView::RegisterQuestion Management::WriteRegister(std::string_view which, uint64_t value) {
  return registers_.Write(which, value);
}

}  // namespace suede
