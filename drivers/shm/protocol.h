// SPDX-License-Identifier: Apache-2.0
// Messages between client and daemon: docs/client-protocol.md as structs. Both sides compile this
// file, so it depends on neither Abseil nor the server.
#ifndef SUEDE_SHM_PROTOCOL_H_
#define SUEDE_SHM_PROTOCOL_H_

#include <cstddef>
#include <cstdint>

#include "suede/layout.h"

namespace suede::protocol {

inline constexpr uint32_t kMagic = 0x53554550;  // "SUEP"
inline constexpr uint16_t kVersion = 2;
inline constexpr uint32_t kMaxHelloInstances = 256;
inline constexpr char kSocketName[] = "xpu.sock";

enum class Type : uint16_t {
  kHello = 1,
  kOpen = 2,
  kClaim = 3,
  kUnclaim = 4,
  kReset = 5,
  kWait = 6,
  kReply = 7,
  kRegister = 8,
  // Management packets.
  kPacketsOpen = 9,
  kPackets = 10,
  kPacketSend = 11,
  kPacket = 12,
  kGoodbye = 13,
  // Memory requests that the lcore executes.
  kServe = 14,
  kWindowAdd = 15,
  kWindowRemove = 16,
  kSealed = 17,
};

enum class Status : uint32_t {
  kOk = 0,
  kInvalid = 1,
  kNotFound = 2,
  kBusy = 3,
  kNoResources = 4,
  kBadVersion = 5,
  kFailed = 6,
  kNotPermitted = 7,
  kNotNow = 8,
};

struct Head {
  uint32_t magic = kMagic;
  uint16_t version = kVersion;
  Type type{};
  uint32_t size = 0;
  uint32_t sequence = 0;
};

struct Instance {
  uint16_t xpuid = 0;
  uint8_t instance = 0;
  uint8_t reserved = 0;
};

struct Hello {
  Head head{.type = Type::kHello, .size = sizeof(Hello)};
  uint32_t layout_version = SUEDE_LAYOUT_VERSION;
  uint32_t max_queues = 0;
  uint32_t tx_lines = 0;
  uint32_t rx_lines = 0;
  uint32_t completion_count = 0;
  uint32_t credit_lines = 0;
  uint32_t aggregate_lines = 0;
  uint32_t pack_limit = 0;
  char daemon_version[32] = {};
  uint32_t instance_count = 0;
  Instance instances[kMaxHelloInstances] = {};
};

struct Open {
  Head head{.type = Type::kOpen, .size = sizeof(Open)};
  uint32_t queue_count = 0;
  uint32_t reserved = 0;
  Instance instances[SUEDE_MAX_QUEUES] = {};
};

// Sent once the client has mapped and sealed its segment.
struct Sealed {
  Head head{.type = Type::kSealed, .size = sizeof(Sealed)};
};

struct Claim {  // also Unclaim and Serve
  Head head{.type = Type::kClaim, .size = sizeof(Claim)};
  Instance instance;
  uint32_t vc_mask = 0;
};

struct Reset {
  Head head{.type = Type::kReset, .size = sizeof(Reset)};
  uint32_t queue = 0;
  uint32_t reserved = 0;
};

// Flag in Wait::rx_vcs: waits until the register event.summary is 1.
inline constexpr uint32_t kWaitForEvents = 1u << 31;

struct Wait {
  Head head{.type = Type::kWait, .size = sizeof(Wait)};
  uint32_t credit_queues = 0;
  uint32_t completion_queues = 0;
  uint32_t rx_vcs = 0;
  uint8_t rx_state[SUEDE_VCS] = {};  // 0: not waited for
  uint32_t returned[SUEDE_MAX_QUEUES] = {};
  uint32_t tail[SUEDE_MAX_QUEUES] = {};
  uint32_t state[SUEDE_MAX_QUEUES] = {};
  uint32_t completion[SUEDE_MAX_QUEUES] = {};
  uint32_t rx[SUEDE_VCS] = {};
};

struct Register {
  Head head{.type = Type::kRegister, .size = sizeof(Register)};
  uint32_t address = 0;
  uint16_t width_bits = 0;
  uint16_t is_write = 0;
  uint64_t value = 0;  // to write
};

inline constexpr uint32_t kAnyPartition = ~0u;

struct WindowAdd {
  Head head{.type = Type::kWindowAdd, .size = sizeof(WindowAdd)};
  uint16_t id = 0;
  uint8_t rights = 0;
  uint8_t program = 0;
  uint32_t key = 0;
  uint32_t partition = kAnyPartition;
  uint32_t reserved = 0;
  uint64_t bytes = 0;
  uint64_t fd_offset = 0;
};

struct WindowRemove {
  Head head{.type = Type::kWindowRemove, .size = sizeof(WindowRemove)};
  uint16_t id = 0;
  uint8_t reserved[6] = {};
};

struct Goodbye {
  Head head{.type = Type::kGoodbye, .size = sizeof(Goodbye)};
};

struct Reply {
  Head head{.type = Type::kReply, .size = sizeof(Reply)};
  Type request{};
  uint16_t reserved = 0;
  Status status = Status::kOk;
  uint64_t value = 0;  // for OPEN the segment's bytes, for REGISTER the register's value
  char text[192] = {};
};

inline constexpr size_t kPortNameBytes = 32;
inline constexpr uint32_t kMaxPacketBytes = 9618;  // max MTU, Ethernet header and tag

struct PacketsOpen {
  Head head{.type = Type::kPacketsOpen, .size = sizeof(PacketsOpen)};
  char port[kPortNameBytes] = {};  // empty: by index
  uint32_t port_index = 0;
  uint32_t receive = 0;
};

struct Packets {
  Head head{.type = Type::kPackets, .size = sizeof(Packets)};
  char port[kPortNameBytes] = {};
  uint32_t port_index = 0;
  uint32_t max_bytes = 0;
  uint32_t mtu_bytes = 0;
  uint8_t mac[6] = {};
  uint8_t reserved[2] = {};
};

// `size` determines the number of frame bytes.
struct PacketSend {
  Head head;
  uint8_t bytes[kMaxPacketBytes];
};

// Precedes a received frame.
struct PacketHead {
  Head head{.type = Type::kPacket};
  uint64_t lost = 0;
};

// The longest message of a client.
union AnyRequest {
  AnyRequest() : head() {}
  Head head;
  Open open;
  Sealed sealed;
  Claim claim;
  Reset reset;
  Wait wait;
  PacketsOpen packets_open;
  PacketSend packet_send;
  Register reg;
  WindowAdd window_add;
  WindowRemove window_remove;
};
inline constexpr size_t kMaxOtherRequest = sizeof(Wait);

static_assert(sizeof(Head) == 16 && sizeof(Hello) == 16 + 32 + 32 + 4 + 1024);
static_assert(sizeof(Open) == 16 + 8 + 64 && sizeof(Claim) == 24 && sizeof(Reset) == 24);
static_assert(sizeof(PacketsOpen) == 16 + 40 && sizeof(Packets) == 16 + 52);
static_assert(offsetof(PacketSend, bytes) == 16 && sizeof(PacketHead) == 24);
static_assert(sizeof(Wait) == 16 + 16 + 256 + 16 && sizeof(Reply) == 16 + 8 + 8 + 192);
static_assert(sizeof(Register) == 16 + 8 + 8);
static_assert(sizeof(WindowAdd) == 16 + 32 && sizeof(WindowRemove) == 16 + 8);

}  // namespace suede::protocol

#endif  // SUEDE_SHM_PROTOCOL_H_
