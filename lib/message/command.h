// SPDX-License-Identifier: Apache-2.0
// Commands of sockets (docs/sockets.md, "Commands").
#ifndef SUEDE_MESSAGE_COMMAND_H_
#define SUEDE_MESSAGE_COMMAND_H_

#include <cstdint>

#include "message/status.h"

namespace suede::message {

enum class Kind : uint8_t {
  kConnect = 1,
  kAnnounce = 2,
  kAccept = 3,
  kCredit = 4,
  kRefuse = 5,
  kClosed = 6,
  kData = 8,
  kEnd = 9,
};

inline constexpr uint8_t kSocketClass = 6;
inline constexpr uint32_t kControlBytes = 18;  // of every command
inline constexpr uint32_t kDataBytes = 256;    // at most

// Flags of DATA.
inline constexpr uint8_t kFirst = 1;        // of a datagram
inline constexpr uint8_t kLast = 2;         // of a datagram
inline constexpr uint8_t kWantsCredit = 4;  // CREDIT is to answer it

// The traits on which both ends have to agree, in CONNECT and ANNOUNCE.
struct Traits {
  bool is_datagram = false;
  bool is_private = false;
  uint8_t vc = 0;  // of the data
  bool operator==(const Traits&) const = default;
};

struct Command {
  Kind kind = Kind::kData;
  uint8_t flags = 0;            // DATA
  Traits traits;                // CONNECT, ANNOUNCE
  Status status = Status::kOk;  // REFUSE, END
  uint16_t id = 0;              // of the socket
  uint32_t tag = 0;             // of the channel at the XPU that gets it, or that is refused
  uint32_t epoch = 0;           // CONNECT, ANNOUNCE, REFUSE, DATA, END
  uint32_t own_tag = 0;   // CONNECT, ANNOUNCE, ACCEPT: of the channel of the XPU that sends it
  uint32_t limit = 0;     // ACCEPT, CREDIT
  uint32_t received = 0;  // CREDIT
  uint32_t number = 0;    // DATA, END
  const uint8_t* data = nullptr;  // DATA
  uint32_t data_bytes = 0;
};

// Writes the 18 octets of control.
void EncodeCommand(const Command& command, uint8_t* control);

enum class Parsed : uint8_t {
  kCommand,
  kMalformed,  // of sockets, and not as docs/sockets.md says; id, tag and epoch are those of DATA
  kForeign,    // of another class, or with a control of another length
};

// Reads a received command. command->data points into `data`. Each octet is read once.
Parsed ParseCommand(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                    uint32_t data_bytes, Command* command);

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_COMMAND_H_
