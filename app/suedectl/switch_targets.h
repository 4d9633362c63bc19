// SPDX-License-Identifier: Apache-2.0
// Kinds of switches for which suedectl switch-config writes a configuration: one row and one file
// for each. A target renders each need of switch_needs.h, or states why it cannot.
#ifndef SUEDE_SUEDECTL_SWITCH_TARGETS_H_
#define SUEDE_SUEDECTL_SWITCH_TARGETS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mgmt/json.h"
#include "suedectl/switch_needs.h"

namespace suede::ctl {

// Options of single targets.
struct TargetOptions {
  uint64_t buffer_bytes = 0;  // sonic; 0: not known
  std::string link_base;      // frr: address of the links, "10.0.0.0"
  uint32_t link_base_number = 0;
  uint32_t leaf_as = 65101;  // frr
  uint32_t host_as = 65001;  // frr: of the first endpoint; the next ones follow
};

// The rendering of one need.
struct Section {
  std::string lines;               // of a text
  Json tables = Json::object();    // of a JSON object
  std::vector<std::string> unset;  // "REASON; REMEDY" for each part that cannot be set
};

// Returns the section of a need that the switch cannot meet. `reason`: "REASON; REMEDY".
inline Section Absent(std::string_view reason) {
  Section section;
  section.unset.emplace_back(reason);
  return section;
}

struct Target {
  std::string_view name;
  std::string_view sentence;
  std::string_view comment;  // begins a line of comment; empty: the output is JSON
  std::string_view default_name;
  uint32_t default_first;
  uint32_t default_step;
  bool sees_all;  // as of SwitchOptions
  bool routes;
  std::string (*head)(const SwitchNeeds&, const TargetOptions&);  // nullptr: none
  Section (*section)(Need, const SwitchNeeds&, const TargetOptions&);
};

Section SonicSection(Need need, const SwitchNeeds& needs, const TargetOptions& options);
std::string NvueHead(const SwitchNeeds& needs, const TargetOptions& options);
Section NvueSection(Need need, const SwitchNeeds& needs, const TargetOptions& options);
std::string FrrHead(const SwitchNeeds& needs, const TargetOptions& options);
Section FrrSection(Need need, const SwitchNeeds& needs, const TargetOptions& options);
std::string LinuxHead(const SwitchNeeds& needs, const TargetOptions& options);
Section LinuxSection(Need need, const SwitchNeeds& needs, const TargetOptions& options);
std::string SuedeHead(const SwitchNeeds& needs, const TargetOptions& options);
Section SuedeSection(Need need, const SwitchNeeds& needs, const TargetOptions& options);

inline constexpr Target kTargets[] = {
    {"sonic", "config_db.json of SONiC", "", "Ethernet", 0, 4, false, false, nullptr, SonicSection},
    {"nvue", "commands of NVUE (Cumulus Linux)", "#", "swp", 1, 1, false, false, NvueHead,
     NvueSection},
    {"frr", "frr.conf of a leaf for suede-fare", "!", "swp", 1, 1, true, true, FrrHead, FrrSection},
    {"linux", "shell script for a Linux bridge", "#", "swp", 1, 1, true, false, LinuxHead,
     LinuxSection},
    {"suede", "configuration of suede-switch", "#", "swp", 1, 1, true, false, SuedeHead,
     SuedeSection},
};

// Remedy for needs that are set elsewhere on the same switch.
inline constexpr std::string_view kNoLlr =
    "the endpoints' retry is a profile of this project; set llr: off, or use suede-switch";
inline constexpr std::string_view kNoCredit =
    "the endpoints' credit of links is a profile of this project; set cbfc: off and pfc: software, "
    "or use suede-switch";

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_SWITCH_TARGETS_H_
