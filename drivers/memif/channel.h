// SPDX-License-Identifier: Apache-2.0
// The control channel of a memif connection: messages in, replies and steps out. No I/O.
#ifndef SUEDE_MEMIF_CHANNEL_H_
#define SUEDE_MEMIF_CHANNEL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memif/format.h"

namespace suede::memif {

inline constexpr uint16_t kMaxRegions = 16;
inline constexpr uint16_t kMaxRings = 64;  // in each direction
inline constexpr uint8_t kMaxLog2Ring = 14;
// Limit of the sum of a client's regions.
inline constexpr uint64_t kMaxSharedBytes = uint64_t{4} << 30;

// Reasons to end a connection: identifier, name, and the text that the peer gets.
#define SUEDE_MEMIF_REFUSALS(X)                                               \
  X(kMessageSize, "message_size", "Invalid message size")                     \
  X(kUnexpected, "unexpected", "Unexpected message")                          \
  X(kVersion, "version", "Incompatible memif version")                        \
  X(kUnknownId, "unknown_id", "ID not found")                                 \
  X(kTaken, "taken", "Already connected")                                     \
  X(kMode, "mode", "Only ethernet mode supported")                            \
  X(kSecret, "secret", "Incorrect secret")                                    \
  X(kNoDescriptor, "no_descriptor", "Missing file descriptor")                \
  X(kRegion, "region", "Invalid region")                                      \
  X(kRegionMemory, "region_memory", "Region is no memory that can be sealed") \
  X(kRing, "ring", "Invalid ring")                                            \
  X(kRings, "rings", "Rings missing")                                         \
  X(kTimeout, "timeout", "Handshake timed out")                               \
  X(kNoMemory, "no_memory", "Out of memory")                                  \
  X(kDown, "down", "Interface is down")                                       \
  X(kRingState, "ring_index", "Ring index out of range")

enum class Refusal : uint8_t {
  kNone,
#define SUEDE_MEMIF_REFUSAL(id, name, text) id,
  SUEDE_MEMIF_REFUSALS(SUEDE_MEMIF_REFUSAL)
#undef SUEDE_MEMIF_REFUSAL
      kCount,
};

// Returns the text of a reason for the peer.
const char* TextOf(Refusal refusal);

Message MakeDisconnect(Refusal refusal);
// Returns the peer's reason in a DISCONNECT, printable; empty if the message is another one.
std::string ReasonIn(std::span<const uint8_t> bytes);

// A ring as its client announced it.
struct RingPlan {
  uint16_t region = 0;
  uint32_t offset = 0;
  uint8_t log2_slots = 0;
};

// Shared memory of a connection.
struct ConnectionPlan {
  std::vector<uint64_t> regions;  // bytes of each
  std::vector<RingPlan> c2s;
  std::vector<RingPlan> s2c;
};

// An interface of a server's socket.
struct InterfaceRules {
  uint32_t id = 0;
  std::string secret;  // empty: none wanted
  uint16_t rings = 1;  // in each direction
  bool taken = false;  // connected, or in a handshake
  bool down = false;
};

// Consequence of a message for the owner of the socket.
enum class Action : uint8_t {
  kNone,
  kClaim,       // server: the connection is that of interface `interface`
  kAddRegion,   // server: the message's descriptor is the next region's memory
  kAddEvent,    // server: the message's descriptor is the next s2c ring's eventfd
  kConnect,     // server: map the regions, then send Accept() or Refuse()
  kMakeMemory,  // client: create the memory of Plan(), then send Start()
  kConnected,   // client
  kClose,       // send the reply if there is one, and close
};

struct Step {
  Action action = Action::kNone;
  std::optional<Message> reply{};
  Refusal refusal = Refusal::kNone;  // of kClose; kNone: the peer ends the connection
  size_t interface = 0;              // of kClaim: its index
};

// The server's end of a connection.
class ServerChannel {
 public:
  // The first message, sent at once.
  static Message Greeting();

  Step OnMessage(std::span<const uint8_t> bytes, bool has_descriptor,
                 std::span<const InterfaceRules> interfaces);
  // Answer to Action::kConnect.
  Message Accept(std::string_view interface);

  bool claimed() const { return state_ != State::kGreeted; }
  const ConnectionPlan& plan() const { return plan_; }
  // Name of the peer's program, printable.
  const std::string& peer() const { return peer_; }

 private:
  enum class State : uint8_t { kGreeted, kSetup, kConnecting, kConnected, kClosed };
  Step OnInit(const Init& init, std::span<const InterfaceRules> interfaces);
  Step OnAddRegion(const AddRegion& region, bool has_descriptor);
  Step OnAddRing(const AddRing& ring, bool has_descriptor);
  Step OnConnect();
  Step Refuse(Refusal refusal);

  State state_ = State::kGreeted;
  uint16_t max_rings_ = 0;
  uint64_t shared_bytes_ = 0;
  ConnectionPlan plan_;
  std::string peer_;
};

// The client's end of a connection.
struct ClientRules {
  uint32_t id = 0;
  std::string secret;
  std::string interface;  // for the peer's log
  uint16_t rings = 1;     // in each direction
  uint8_t log2_slots = 10;
  uint32_t buffer_bytes = 2048;
};

class ClientChannel {
 public:
  explicit ClientChannel(const ClientRules& rules) : rules_(rules) {}

  Step OnMessage(std::span<const uint8_t> bytes);
  // Answer to Action::kMakeMemory, with the size of the created memory.
  Message Start(uint64_t region_bytes);
  // Whether the message to send now has the descriptor of the memory with it.
  bool sends_memory() const;
  // Ring, first c2s, then s2c, whose event the message to send now has with it.
  std::optional<size_t> sent_ring() const;

  // Memory of the connection: one region with the rings, then the buffers.
  const ConnectionPlan& plan() const { return plan_; }
  uint64_t buffers_offset() const { return buffers_offset_; }
  const std::string& peer() const { return peer_; }

 private:
  enum class State : uint8_t { kWaiting, kMaking, kSending, kConnecting, kConnected, kClosed };
  Step OnHello(const Hello& hello);
  Step OnAck();
  Message MakeSetup(size_t number);
  size_t setup_count() const { return 2 + plan_.c2s.size() + plan_.s2c.size(); }
  Step Refuse(Refusal refusal);

  const ClientRules rules_;
  State state_ = State::kWaiting;
  ConnectionPlan plan_;
  uint64_t buffers_offset_ = 0;
  size_t sent_ = 0;  // number of the message that waits for its ACK: INIT, ADD_REGION, ADD_RING...
  std::string peer_;
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_CHANNEL_H_
