// SPDX-License-Identifier: Apache-2.0
// Keys of suede-fare's configuration.
#include "config/config_key.h"
#include "config/config_key_rows.h"
#include "fare_config.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::Key;
using config_key::kRequired;
using config_key::Name;

constexpr ValueLimits kPath{.min = 1, .max = 107, .rule = TextRule::kAbsolutePath};
constexpr ValueLimits kPenalty = Between(1, 1000000);
constexpr std::string_view kSources[] = {"kernel", "bgp"};

constexpr ConfigField<FareRoot> kFareRoot[] = {
    Key<&FareRoot::version>("version", "", Between(1, 1), "Version of the file's format.",
                            kRequired),
    Key<&FareRoot::endpoint>("endpoint", "", Name(64),
                             "Name of the endpoint whose weights are set."),
    Key<&FareRoot::socket>("socket", "", kPath, "Its management socket.",
                           {.shown_default = "the endpoint's, by its name"}),
    Key<&FareRoot::xpu>("xpu", "", Between(0, 1023), "XPU of the endpoint.", kRequired),
    Key<&FareRoot::instance>("instance", "", Between(0, 63), "Instance of the XPU."),
    Key<&FareRoot::source>("source", "", {},
                           "Where weights come from: kernel, the shares of the kernel's routes; "
                           "bgp, the bandwidths that FRR's bgpd learnt, for the next hops of the "
                           "kernel's routes."),
    Key<&FareRoot::table>("table", "", Between(1, UINT32_MAX),
                          "Routing table of the kernel; 254 is main, a VRF has its own."),
    Key<&FareRoot::scale>("scale", "", Between(0, 1000000),
                          "Announced bandwidths are multiplied by it."),
    Key<&FareRoot::retry_ms>("retry_ms", "ms", Between(10, 60000),
                             "Time between attempts to reach the endpoint, or to set a weight "
                             "that it refused."),
};

constexpr ConfigField<FarePlaneConfig> kFarePlane[] = {
    Key<&FarePlaneConfig::plane>("plane", "", Between(0, 3), "Number of the plane.", kRequired),
    Key<&FarePlaneConfig::interfaces>("interfaces", "", {.min = 1, .max = 15},
                                      "Network interfaces through which the routes of the plane "
                                      "leave.",
                                      kRequired),
    Key<&FarePlaneConfig::bandwidth_gbps>("bandwidth_gbps", "Gbit/s", Between(0, 65535),
                                          "Bandwidth of this end's link, which bounds what is "
                                          "announced; 0: not known. With source: bgp."),
};

constexpr ConfigField<FarePeerConfig> kFarePeer[] = {
    Key<&FarePeerConfig::xpu>("xpu", "", Between(0, 1023), "XPU of the peer.", kRequired),
    Key<&FarePeerConfig::prefix>("prefix", "", {.min = 1, .max = 64},
                                 "Its loopback as it is announced: ADDRESS/LENGTH, or an ADDRESS.",
                                 kRequired),
};

constexpr ConfigField<FareBgpConfig> kFareBgp[] = {
    Key<&FareBgpConfig::vtysh>("vtysh", "", kPath, "The program that asks bgpd."),
    Key<&FareBgpConfig::name>("name", "", Name(64), "Name of FRR's instance, as of vtysh -N.",
                              {.shown_default = "none"}),
    Key<&FareBgpConfig::timeout_ms>("timeout_ms", "ms", Between(100, 60000), "Time for an answer."),
};

constexpr ConfigField<FareDampingConfig> kFareDamping[] = {
    Key<&FareDampingConfig::half_life_ms>("half_life_ms", "ms", Between(0, 3600000),
                                          "Time in which a penalty decays by half; 0: nothing is "
                                          "damped."),
    Key<&FareDampingConfig::penalty>("penalty", "", kPenalty,
                                     "Penalty of a {peer, plane} for each flap: a withdrawal, "
                                     "a return, a change of its own bandwidth."),
    Key<&FareDampingConfig::suppress>("suppress", "", kPenalty,
                                      "Penalty above which good news is held back."),
    Key<&FareDampingConfig::reuse>("reuse", "", kPenalty,
                                   "Penalty at which it is let through again."),
    Key<&FareDampingConfig::max>("most", "", kPenalty,
                                 "Bound of a penalty, and so of the time for which good news is "
                                 "held back."),
};

}  // namespace

std::span<const std::string_view> NamesOf(FareRoot::Source) { return kSources; }

SUEDE_CONFIG_SECTION(FareRoot, kFareRoot)
SUEDE_CONFIG_SECTION(FarePlaneConfig, kFarePlane)
SUEDE_CONFIG_SECTION(FarePeerConfig, kFarePeer)
SUEDE_CONFIG_SECTION(FareBgpConfig, kFareBgp)
SUEDE_CONFIG_SECTION(FareDampingConfig, kFareDamping)

const std::vector<ConfigKey>& FareConfigKeys() {
  static const std::vector<ConfigKey> kRows = [] {
    ConfigKeyRows keys;
    keys.AddFields("", FareRoot{});
    keys.AddList("planes", "List of the instance's planes, 2 to 4.", FarePlaneConfig{}, true);
    keys.AddList("peers", "List of peers whose routes are followed.", FarePeerConfig{}, true);
    keys.Add("bgp", "The way to bgpd, with source: bgp.", FareBgpConfig{});
    keys.Add("damping", "Damping of routes that flap.", FareDampingConfig{});
    keys.Add("log", "The log, on standard error.", LogConfig{});
    return keys.Take();
  }();
  return kRows;
}

}  // namespace suede
