// SPDX-License-Identifier: Apache-2.0
// Parses FRR bgpd's paths to prefixes: `show bgp ipv4 unicast PREFIX json`. No I/O.
#ifndef SUEDE_APP_FARE_BGP_PATHS_H_
#define SUEDE_APP_FARE_BGP_PATHS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fare_config.h"

namespace suede::fare {

// Bandwidths of the paths that bgpd uses, in Mb/s, by next hop: its address, or "%" and the
// interface of an unnumbered neighbour. nullopt: the path has no bandwidth.
using PathBandwidths = std::map<std::string, std::optional<double>, std::less<>>;

// Returns the bandwidth in Mb/s from the text of extended communities, e.g. "RT:1:2
// LB:65101:1000000000 (8.000 Gbps)".
std::optional<double> BandwidthIn(std::string_view communities);

// Returns the paths of each prefix in bgpd's output, a sequence of JSON objects. Ignores anything
// else.
std::map<FarePrefix, PathBandwidths> ReadBgpPaths(std::string_view text);

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_BGP_PATHS_H_
