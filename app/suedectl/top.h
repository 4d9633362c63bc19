// SPDX-License-Identifier: Apache-2.0
// suedectl top: activity of an endpoint, as rates.
#ifndef SUEDE_SUEDECTL_TOP_H_
#define SUEDE_SUEDECTL_TOP_H_

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "suedectl/daemon_command.h"
#include "suedectl/print.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {

// Results of the daemon's methods at one time.
struct TopSample {
  double at_s = 0;  // seconds of a monotonic clock
  Json version, ports, planes, connections, clients, peers;
  Json total, of_ports, of_instances, of_lcores;  // counters.get
};

// Order of peers: the largest first, except numbers of XPUs.
enum class TopSort : uint8_t { kLoad, kRetransmissions, kUnacked, kRtt, kPeer };
// Names of TopSort.
inline constexpr std::string_view kTopSortChoices = "load|retransmissions|unacked|rtt|peer";
inline constexpr std::array<std::string_view, 5> kTopSorts = {"load", "retransmissions", "unacked",
                                                              "rtt", "peer"};

// Selection of rows.
struct TopView {
  uint32_t peers = 20;  // max connections
  TopSort sort = TopSort::kLoad;
  std::string filter;  // rows that have it in their text "NAME=VALUE NAME=VALUE"; empty: all
  int plane = -1;      // of planes and peers; -1: all
};
// Reads --peers, --sort, --filter and --plane.
TopView ViewOf(const ForeignJson& params);

// Returns the rates between two samples: an object with lists of ports, instances, planes, lcores,
// peers and drops, with the rows that the view selects. A value that a sample lacks is null or
// absent.
Json MakeTop(const TopSample& before, const TopSample& now, const TopView& view);
// Formats the rates as text.
std::string TopText(const Json& top, size_t columns = kTextColumns, const XpuNames& names = {});

absl::Status RunTop(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_TOP_H_
