// SPDX-License-Identifier: Apache-2.0
// Messages and shared memory of memif, version 2 (docs/memif.md). Integers have the byte order of
// the host.
//
// "c2s" and "s2c" are the directions from client to server and from server to client.
#ifndef SUEDE_MEMIF_FORMAT_H_
#define SUEDE_MEMIF_FORMAT_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace suede::memif {

inline constexpr uint16_t kVersion = 2 << 8;  // major in the upper byte
inline constexpr uint32_t kRingCookie = 0x03E31F20;
inline constexpr size_t kMessageBytes = 128;
inline constexpr size_t kNameBytes = 32;
inline constexpr size_t kSecretBytes = 24;
inline constexpr size_t kReasonBytes = 96;
inline constexpr uint8_t kEthernetMode = 0;
inline constexpr uint32_t kLineBytes = 64;  // of the CPU's cache

// ---- Messages on the control channel ----

enum class MessageType : uint16_t {
  kNone,
  kAck,        // both directions: confirms INIT, ADD_REGION, ADD_RING
  kHello,      // from the server, first
  kInit,       // from the client, like the following
  kAddRegion,  // with the descriptor of the memory
  kAddRing,    // with an eventfd
  kConnect,
  kConnected,   // from the server, last
  kDisconnect,  // both
};

struct [[gnu::packed]] Hello {
  char name[kNameBytes];
  uint16_t min_version;
  uint16_t max_version;
  uint16_t max_region;  // highest index, like the next two
  uint16_t max_s2c_ring;
  uint16_t max_c2s_ring;
  uint8_t max_log2_ring;
};

struct [[gnu::packed]] Init {
  uint16_t version;
  uint32_t id;
  uint8_t mode;
  char secret[kSecretBytes];
  char name[kNameBytes];
};

struct [[gnu::packed]] AddRegion {
  uint16_t index;
  uint64_t bytes;
};

struct [[gnu::packed]] AddRing {
  static constexpr uint16_t kC2s = 1;  // in `flags`
  uint16_t flags;
  uint16_t index;  // among the rings of its direction
  uint16_t region;
  uint32_t offset;  // in the region
  uint8_t log2_slots;
  uint16_t private_header_bytes;
};

struct [[gnu::packed]] Connect {  // CONNECT and CONNECTED
  char interface[kNameBytes];
};

struct [[gnu::packed]] Disconnect {
  uint32_t code;
  char reason[kReasonBytes];
};

struct [[gnu::packed, gnu::aligned(8)]] Message {
  MessageType type;
  union [[gnu::packed]] {
    uint8_t body[kMessageBytes - sizeof(MessageType)];
    Hello hello;
    Init init;
    AddRegion add_region;
    AddRing add_ring;
    Connect connect;
    Disconnect disconnect;
  };
};
static_assert(sizeof(Message) == kMessageBytes);
static_assert(offsetof(Message, hello) == 2 && sizeof(Hello) == 43);
static_assert(sizeof(Init) == 63 && sizeof(AddRegion) == 10 && sizeof(AddRing) == 13);
static_assert(sizeof(Connect) == 32 && sizeof(Disconnect) == 100);

inline std::string_view BytesOf(const Message& message) {
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

// Copies a text, truncated so that a zero byte ends it.
template <size_t kBytes>
void PutText(char (&field)[kBytes], std::string_view text) {
  std::memset(field, 0, kBytes);
  text.substr(0, kBytes - 1).copy(field, kBytes);
}

// Returns the text of a field, of which the sender may have ended none.
template <size_t kBytes>
std::string_view GetText(const char (&field)[kBytes]) {
  return {field, strnlen(field, kBytes)};
}

// ---- Shared memory ----

struct Descriptor {
  static constexpr uint16_t kNext = 1;  // in `flags`: the frame continues in the next descriptor
  uint16_t flags;
  uint16_t region;
  uint32_t length;  // bytes of the frame's part; of an empty buffer, its room
  uint32_t offset;  // of the buffer in the region
  uint32_t metadata;
};
static_assert(sizeof(Descriptor) == 16);

// Head of a ring; the descriptors follow. Indices are free-running.
//
// The producer of c2s advances `head` behind filled descriptors and the consumer `tail` behind
// consumed ones. The consumer of s2c, the client, advances `head` behind descriptors of empty
// buffers, and the server `tail` behind filled ones.
struct RingHeader {
  static constexpr uint16_t kMaskInterrupt = 1;  // in `flags`: the consumer polls
  uint32_t cookie;
  std::atomic<uint16_t> flags;
  std::atomic<uint16_t> head;
  uint8_t unused1[56];
  std::atomic<uint16_t> tail;
  uint8_t unused2[62];

  Descriptor* descriptors() { return reinterpret_cast<Descriptor*>(this + 1); }
};
static_assert(sizeof(RingHeader) == 128 && offsetof(RingHeader, head) == 6);
static_assert(offsetof(RingHeader, tail) == 64);

constexpr uint64_t RingBytes(uint8_t log2_slots) {
  return sizeof(RingHeader) + (sizeof(Descriptor) << log2_slots);
}

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_FORMAT_H_
