// SPDX-License-Identifier: Apache-2.0
// suedectl top: activity of an endpoint, as rates.
#ifndef SUEDE_SUEDECTL_TOP_H_
#define SUEDE_SUEDECTL_TOP_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "suedectl/daemon_command.h"
#include "suedectl/print.h"

namespace suede::ctl {

// Results of the daemon's methods at one time.
struct TopSample {
  double at_s = 0;  // seconds of a monotonic clock
  Json version, ports, planes, connections, clients;
  Json total, of_ports, of_instances, of_lcores;  // counters.get
};

// Returns the rates between two samples: an object with lists of ports, instances, planes, lcores,
// peers (the `max` busiest) and drops. A value that a sample lacks is null or absent.
Json MakeTop(const TopSample& before, const TopSample& now, uint32_t max);
// Formats the rates as text.
std::string TopText(const Json& top, size_t columns = kTextColumns);

absl::Status RunTop(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_TOP_H_
