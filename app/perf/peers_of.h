// SPDX-License-Identifier: Apache-2.0
// The peers of an endpoint, for a message.
#ifndef SUEDE_APP_PERF_PEERS_OF_H_
#define SUEDE_APP_PERF_PEERS_OF_H_

#include <cstdint>
#include <string>
#include <vector>

namespace suede::perf {

// "0, 2-5, 9" for the ids, in order, each once; at most `max` numbers and ranges, then "...".
std::string RangesOf(std::vector<uint32_t> ids, size_t max = 16);

// "; its peers are XPU 0, 2-5 (FILE)", as the daemon's management socket has it. `endpoint` as
// --endpoint takes it. Where the socket cannot be asked, how to ask.
std::string PeersOf(const std::string& endpoint);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PEERS_OF_H_
