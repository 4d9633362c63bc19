// SPDX-License-Identifier: Apache-2.0
// The needs of endpoints of the switch between them, from their configurations: one declaration,
// which each kind of switch renders in its own language (switch_targets.h).
#ifndef SUEDE_SUEDECTL_SWITCH_NEEDS_H_
#define SUEDE_SUEDECTL_SWITCH_NEEDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "fabric/params.h"

namespace suede::ctl {

// One need of the endpoints. Each target sets it or states why it cannot.
enum class Need : uint8_t {
  kMtu,
  kVlan,
  kUnknown,
  kHairpin,
  kAddresses,
  kClasses,
  kLossless,
  kWatchdog,
  kEcn,
  kTrimming,
  kHash,
  kRetry,
  kCredit,
  kRoutes,
};
inline constexpr std::string_view kNeedTitles[] = {"MTU",
                                                   "VLAN",
                                                   "unknown addresses",
                                                   "hairpin",
                                                   "static addresses",
                                                   "classes",
                                                   "lossless classes",
                                                   "PFC watchdog",
                                                   "ECN",
                                                   "trimming",
                                                   "hash fields",
                                                   "link-level retry",
                                                   "credit of links",
                                                   "routes"};
inline constexpr size_t kNeedCount = std::size(kNeedTitles);
constexpr std::string_view TitleOf(Need need) { return kNeedTitles[static_cast<size_t>(need)]; }

struct EndpointFile {
  std::string path;
  Config config;
};

struct SwitchOptions {
  std::vector<std::pair<std::string, std::string>> places;  // of --port: ENDPOINT[.PORT], NAME
  // Name of the first ports without a place: "swp", counted from `first` in steps.
  std::string_view default_name = "swp";
  uint32_t default_first = 1;
  uint32_t default_step = 1;
  uint32_t cable_m = 100;
  uint16_t vlan = 100;       // of endpoints without a tag
  uint32_t rate_gbps = 100;  // of ports whose endpoint states none
  bool routes = false;       // the switch routes: MAC addresses of peers are its own
  bool sees_all = true;      // the switch finds a DSCP in any header, not only in IP's
};

// Field by which the switch gives the frames of a port their class.
enum class ClassField : uint8_t { kNone, kPcp, kDscp };

struct Station {
  MacAddress mac{};
  uint32_t forwarding_address = 0;  // of headers without MAC addresses
  uint32_t xpu = 0;                 // the first one with this address
};

// A port of the switch, and the endpoint's port at the other end of its cable.
struct SwitchPort {
  std::string name;
  std::string end;     // "left.p0"
  uint32_t file = 0;   // index of the endpoint
  uint32_t index = 0;  // into its Config::ports
  const PortConfig* config = nullptr;
  uint64_t rate_bps = 0;
  uint16_t vlan = 0;
  bool tagged = false;
  std::vector<Station> stations;
  bool knows_stations = true;
  bool hairpins = false;  // XPUs behind the port are peers of each other
  ClassField field = ClassField::kNone;
  uint32_t headroom_bytes = 0;  // of each lossless class; 0: the port has no PFC
  uint64_t ecn_min_bytes = 0;
  uint64_t ecn_max_bytes = 0;
  uint32_t link_mbps = 0;  // for routes, in parts of `route_scale`
};

struct ClassNeeds {
  std::vector<std::string> users;  // "VC 0", "acknowledgements"; none: not in use
  bool lossless = false;
  bool strict = false;
  bool marked = false;   // by ECN
  bool trimmed = false;  // frames are trimmed instead of dropped
};

struct TrimNeeds {
  std::set<uint8_t> dscps;  // of frames that are trimmed
  uint8_t dscp = 0;         // of trimmed frames
  uint8_t class_of = 0;
  uint32_t bytes = 0;
};

struct SwitchNeeds {
  std::vector<SwitchPort> ports;
  std::array<ClassNeeds, fabric::kClasses> classes;
  // By Need: the need in words; empty: there is none.
  std::array<std::string, kNeedCount> text;
  std::vector<std::string> assumptions;
  uint32_t mtu_bytes = 0;
  std::set<uint16_t> vlans;
  bool learns = false;      // an address is not known
  bool floods = false;      // frames to unknown addresses have to arrive
  bool broadcasts = false;  // the kernel's packets of an endpoint pass, too
  uint32_t cable_m = 0;
  uint32_t storm_ms = 0;  // 0: no watchdog
  std::optional<TrimNeeds> trim;
  LlrConfig retry;
  CbfcConfig credit;
  uint32_t route_scale = 1;

  std::string& operator[](Need need) { return text[static_cast<size_t>(need)]; }
  const std::string& operator[](Need need) const { return text[static_cast<size_t>(need)]; }
  bool Has(Need need) const { return !(*this)[need].empty(); }
  std::vector<uint32_t> ClassesWith(bool ClassNeeds::*member) const;
  std::vector<uint32_t> UsedClasses() const;
};

// Returns the class of frames with `c` at the neighbour of the port: the PCP, the upper three bits
// of the DSCP, or 0.
uint32_t ClassAt(ClassField field, const TrafficClass& c);
// `sees_all`: as of SwitchOptions.
ClassField ClassFieldOf(const PortConfig& port, bool sees_all);
// Whether the port's header has no MAC addresses, so a bridge cannot forward by them.
bool LacksMacs(const PortConfig& port);

// Returns the names of ports with another header than IP's, with the headers; "": there is none.
std::string NamesWithoutIp(const SwitchNeeds& needs);

// Returns the speed of the port in Gbit/s, as far as its configuration states it.
std::optional<uint32_t> RateOf(const PortConfig& port);

// Names the switch's ports. All `files` must outlive the result.
absl::StatusOr<std::vector<SwitchPort>> PlacePorts(std::span<const EndpointFile> files,
                                                   const SwitchOptions& options,
                                                   std::vector<std::string>& assumptions);

// Checks that the endpoints at the two ends of each path through the switch agree, and that no two
// ports have one address. Adds peers that are behind no port to `assumptions`, and MAC addresses
// that only a peer's configuration knows to the ports.
absl::Status CheckEnds(std::span<const EndpointFile> files, const SwitchOptions& options,
                       std::vector<SwitchPort>& ports, std::vector<std::string>& assumptions);

// Returns all needs. Errors name file and key. All `files` must outlive the result.
absl::StatusOr<SwitchNeeds> NeedsOf(std::span<const EndpointFile> files,
                                    const SwitchOptions& options);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_SWITCH_NEEDS_H_
