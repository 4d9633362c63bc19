// SPDX-License-Identifier: Apache-2.0
// Values of the events of frames that a switch or a device has dropped.
#ifndef SUEDE_APP_DAEMON_DROP_EVENT_H_
#define SUEDE_APP_DAEMON_DROP_EVENT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/frame_note.h"
#include "mgmt/event_log.h"

namespace suede {

struct DropEvent {
  std::string port;
  std::string destination;  // of the latest frame
  uint64_t count = 0;       // since the last event
  fabric::DropNote note;
};

// `kind`: kHopLimitDrops or kAgeDrops.
inline std::vector<EventValue> DropEventValues(EventKind kind, DropEvent drop) {
  constexpr std::array<std::string_view, 4> kCauses = {"down", "pause", "credit", "rate"};
  std::vector<EventValue> values{{EventField::kPort, std::move(drop.port)},
                                 {EventField::kClass, drop.note.traffic_class},
                                 {EventField::kDestination, std::move(drop.destination)},
                                 {EventField::kCount, drop.count}};
  if (kind == EventKind::kAgeDrops) {
    values.emplace_back(EventField::kReason, kCauses[static_cast<size_t>(drop.note.cause)]);
  }
  return values;
}

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_DROP_EVENT_H_
