// SPDX-License-Identifier: Apache-2.0
// The commands that sockets send, and where they go.
#ifndef SUEDE_MESSAGE_SINK_H_
#define SUEDE_MESSAGE_SINK_H_

#include <cstdint>

#include "message/channel.h"

namespace suede::message {

// Commands to one peer whose controls and data have equal lengths.
struct Burst {
  Peer to;
  const uint8_t* controls = nullptr;  // kControlBytes each, contiguous
  const uint8_t* data = nullptr;      // data_bytes each, contiguous
  uint32_t data_bytes = 0;            // 0: none
  uint32_t count = 0;                 // 1 to kCommandsPerCompletion
  bool wants_completion = false;      // only where count is 1
  uint64_t completion_tag = 0;        // echoed by the completion
};

class CommandSink {
 public:
  // Sends the burst. Returns the number of leading commands accepted: fewer than burst.count where
  // credit or queue space runs out. kLost: the plane has no daemon.
  static constexpr int kLost = -1;
  virtual int Send(const Burst& burst) = 0;

 protected:
  ~CommandSink() = default;
};

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_SINK_H_
