// SPDX-License-Identifier: Apache-2.0
// Encoding of socket commands (docs/sockets.md, "Commands").
#ifndef SUEDE_MESSAGE_COMMAND_H_
#define SUEDE_MESSAGE_COMMAND_H_

#include <cstdint>

#include "base/sue.h"
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
inline constexpr uint32_t kControlBytes = kMaxControlBytes;  // length of every command's control
inline constexpr uint32_t kDataBytes = 256;                  // maximum

// Flags of DATA.
inline constexpr uint8_t kFirst = 1;        // of a datagram
inline constexpr uint8_t kLast = 2;         // of a datagram
inline constexpr uint8_t kWantsCredit = 4;  // requests a CREDIT

// Properties in CONNECT and ANNOUNCE, which must be equal at both ends.
struct Traits {
  bool is_datagram = false;
  bool is_private = false;
  uint8_t vc = 0;  // of the data
  bool operator==(const Traits&) const = default;
};

struct Command {
  Kind kind = Kind::kData;
  uint8_t flags = 0;              // DATA
  Traits traits;                  // CONNECT, ANNOUNCE
  Status status = Status::kOk;    // REFUSE, END
  uint16_t id = 0;                // of the socket
  uint32_t tag = 0;               // of the destination's channel; REFUSE: of the refused channel
  uint32_t epoch = 0;             // CONNECT, ANNOUNCE, REFUSE, DATA, END
  uint32_t own_tag = 0;           // CONNECT, ANNOUNCE, ACCEPT, CLOSED: of the sender's channel
  uint32_t limit = 0;             // ACCEPT, CREDIT
  uint32_t received = 0;          // CREDIT
  uint32_t number = 0;            // DATA, END
  const uint8_t* data = nullptr;  // DATA
  uint32_t data_bytes = 0;
};

// Writes the 18 octets of control.
void EncodeCommand(const Command& command, uint8_t* control);

enum class Parsed : uint8_t {
  kCommand,
  kMalformed,  // socket command with an invalid field; id, tag and epoch are read as in DATA
  kForeign,    // another class or control length
};

// Parses a received command. command->data points into `data`. Reads each octet of `control` once.
Parsed ParseCommand(const uint8_t* control, uint32_t control_bytes, const uint8_t* data,
                    uint32_t data_bytes, Command* command);

}  // namespace suede::message

#endif  // SUEDE_MESSAGE_COMMAND_H_
