// SPDX-License-Identifier: Apache-2.0
// The parameters of instances that may change while a pipeline runs, of all instances together.
#ifndef SUEDE_LCORE_SETTINGS_H_
#define SUEDE_LCORE_SETTINGS_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "base/sue.h"
#include "path/params.h"
#include "transport/params.h"
#include "wire/encap.h"

namespace suede {

struct Settings {
  uint16_t partition = 0;
  std::array<TrafficClass, kVcCount> classes{};
  TrafficClass ack_class;
  uint32_t pack_limit_bytes = kDefaultPackBytes;  // no more than the ports' frames hold
  uint32_t inflight_pdus = 4096;                  // frames held unacknowledged, over all peers
  uint32_t unclaimed_pdus = 64;                   // PDUs that wait per VC without a client
  TransportParams transport;  // changes of its psn_scope and recovery are ignored: connections keep
  PathParams paths;           // theirs; and so is a change of its ordering
};

// Memory of the requester, which belongs to the lcore from the request until `done`.
struct SettingsChange {
  Settings settings;
  std::atomic<bool> done{true};  // stored by the lcore, with release, once nothing uses the former
                                 // settings any more
};

}  // namespace suede

#endif  // SUEDE_LCORE_SETTINGS_H_
