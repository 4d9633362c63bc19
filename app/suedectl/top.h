// SPDX-License-Identifier: Apache-2.0
// suedectl top: the work of an endpoint, as rates.
#ifndef SUEDE_SUEDECTL_TOP_H_
#define SUEDE_SUEDECTL_TOP_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "suedectl/daemon_command.h"
#include "suedectl/print.h"

namespace suede::ctl {

// The methods' answers at one time.
struct TopSample {
  double at_s = 0;  // of any clock that goes on
  Json version, ports, planes, connections, clients;
  Json total, of_ports, of_instances, of_lcores;  // counters.get
};

// Rates between two samples: one object, with lists of ports, instances, planes, lcores, peers,
// drops. Peers are the `max` busiest ones. A value that a daemon left out of a sample is null or
// not there.
Json MakeTop(const TopSample& before, const TopSample& now, uint32_t max);
// The rates as a text for people.
std::string TopText(const Json& top, size_t columns = kTextColumns);

absl::Status RunTop(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                    FILE* err);

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_TOP_H_
