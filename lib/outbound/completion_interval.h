// SPDX-License-Identifier: Apache-2.0
// Completions of a sender's commands: every 16th command to a destination requests one.
#ifndef SUEDE_OUTBOUND_COMPLETION_INTERVAL_H_
#define SUEDE_OUTBOUND_COMPLETION_INTERVAL_H_

#include <algorithm>
#include <cstdint>

#include "outbound/burst.h"
#include "suede/layout.h"

namespace suede {

inline constexpr uint32_t kCommandsPerCompletion = 16;

class CompletionInterval {
 public:
  // Commands that may precede the next one with a completion.
  uint32_t silent() const { return kCommandsPerCompletion - 1 - since_; }
  // Sends the burst. Returns the number of leading commands accepted; 0 if the plane has no daemon.
  uint32_t Send(const Burst& burst, BurstSink& sink) {
    const int sent = sink.Send(burst);
    const uint32_t taken = std::min(burst.count, static_cast<uint32_t>(std::max(sent, 0)));
    since_ = burst.wants_completion && taken != 0 ? 0 : since_ + taken;
    return taken;
  }

 private:
  uint32_t since_ = 0;  // commands since the last with a completion
};

// Whether the status of a completion rules out that the command was or will be delivered.
inline bool IsUndelivered(uint8_t status) {
  return status != SUEDE_STATUS_PEER_RESET && status != SUEDE_STATUS_IN_DOUBT;
}

// Whether the daemon refuses every command to that destination, so none was delivered.
inline bool IsRefusedAlways(uint8_t status) {
  return status == SUEDE_STATUS_UNKNOWN_XPU || status == SUEDE_STATUS_MALFORMED;
}

}  // namespace suede

#endif  // SUEDE_OUTBOUND_COMPLETION_INTERVAL_H_
