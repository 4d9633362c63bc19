// SPDX-License-Identifier: Apache-2.0
#include "config/config_rates.h"

#include <algorithm>

#include "base/device_string.h"
#include "base/text.h"
#include "config/config_checks.h"

namespace suede {
namespace {

std::string NameOfUse(CongestionControl congestion) {
  return congestion == CongestionControl::kRccc ? "rccc" : "nscc";
}

bool IsOn(const InstanceConfig& instance, uint32_t port) {
  return std::any_of(instance.ports.begin(), instance.ports.end(),
                     [port](const InstancePort& at) { return at.port == port; });
}

// Whether a plane of the instance has a rate, to which the others are weighted.
bool AnyRate(const Config& config, const InstanceConfig& instance, const KnowsSpeed& knows) {
  return std::any_of(instance.ports.begin(), instance.ports.end(), [&](const InstancePort& at) {
    return config.ports[at.port].bandwidth_gbps.has_value() || knows(at.port);
  });
}

std::optional<RateUse> UseByInstance(const Config& config, const InstanceConfig& instance,
                                     const KnowsSpeed& knows) {
  const std::string owner = StrCat(" of XPU ", instance.xpu, " (instance ", instance.instance, ")");
  if (instance.congestion != CongestionControl::kFixed) {
    return RateUse{StrCat("congestion: ", NameOfUse(instance.congestion), owner),
                   "windows and credit are rate times round trip"};
  }
  if (instance.ports.size() == 1) return std::nullopt;
  if (config.planes.weights == PlaneWeights::kMeasured) {
    return RateUse{StrCat("planes.weights: measured", owner), "measured rates are shares of it"};
  }
  if (!AnyRate(config, instance, knows)) return std::nullopt;  // planes alike
  return RateUse{StrCat("the ", instance.ports.size(), " planes", owner),
                 "they carry PDUs in the ratio of their rates"};
}

}  // namespace

std::optional<RateUse> MissingRate(const Config& config, uint32_t port, const KnowsSpeed& knows) {
  if (config.ports[port].bandwidth_gbps || knows(port)) return std::nullopt;
  if (config.ports[port].pfc == PortConfig::Pfc::kSoftware) {
    return RateUse{"pfc: software", "quanta of pauses are times of 512 bits at it"};
  }
  for (const InstanceConfig& instance : config.instances) {
    if (!IsOn(instance, port)) continue;
    if (auto use = UseByInstance(config, instance, knows)) return use;
  }
  return std::nullopt;
}

std::string MissingRateText(const Config& config, uint32_t port, const RateUse& use) {
  return StrCat("the rate of ", DeviceHead(config.ports[port].device),
                " is not known, but needed for ", use.setting, ", as ", use.why,
                "; set bandwidth_gbps of the port, as in bandwidth_gbps: 100");
}

absl::Status CheckRates(const ConfigDraft& draft) {
  const Config& config = draft.config;
  const auto knows = [&config](uint32_t port) {
    return ReportsSpeed(config.ports[port].device) && !IsCentre(config.ports[port]);
  };
  for (uint32_t p = 0; p < config.ports.size(); ++p) {
    const std::optional<RateUse> use = MissingRate(config, p, knows);
    if (!use) continue;
    return draft.Error(Entry("ports", p) + ".bandwidth_gbps", MissingRateText(config, p, *use));
  }
  return absl::OkStatus();
}

}  // namespace suede
