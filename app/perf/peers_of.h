// SPDX-License-Identifier: Apache-2.0
// Text about the peers of an endpoint, for error messages.
#ifndef SUEDE_APP_PERF_PEERS_OF_H_
#define SUEDE_APP_PERF_PEERS_OF_H_

#include <cstdint>
#include <string>
#include <vector>

namespace suede::perf {

// Formats ids, sorted and without duplicates, as "0, 2-5, 9". Ends with "..." after `max` numbers
// and ranges.
std::string RangesOf(std::vector<uint32_t> ids, size_t max = 16);

// Queries the daemon's management socket. Returns "; its peers are XPU 0, 2-5 (FILE)", or the
// command to list them if the query fails. `endpoint`: value of --endpoint.
std::string PeersOf(const std::string& endpoint);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PEERS_OF_H_
