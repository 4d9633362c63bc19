// SPDX-License-Identifier: Apache-2.0
// SimBricks' protocol, version 1: intros, message headers, reasons to end a connection
// (docs/simbricks.md). No I/O. Integers have the byte order of the host.
#ifndef SUEDE_SIMBRICKS_PROTOCOL_H_
#define SUEDE_SIMBRICKS_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace suede::simbricks {

// Reasons: identifier, name, sentence.
#define SUEDE_SIMBRICKS_FAULTS(X)                                                                 \
  X(kIntro, "intro", "the intro is too short, or more bytes follow it")                           \
  X(kVersion, "version", "the intro has another version than 1")                                  \
  X(kUpper, "upper", "the peer has another upper protocol")                                       \
  X(kSync, "sync", "the peer demands synchronisation; start it without")                          \
  X(kDescriptor, "descriptor", "the intro has no descriptor, several, or none of a regular file") \
  X(kQueues, "queues", "a queue has no legal size or place, or leaves the memory")                \
  X(kTimeout, "timeout", "no intro came within 5 s")                                              \
  X(kMemory, "memory", "pages of the shared memory are gone")                                     \
  X(kType, "type", "a message has a type that does not exist in its direction")                   \
  X(kLength, "length", "a length is 0, exceeds its entry, or leads beyond the last address")      \
  X(kRequest, "request", "a completion is of no open request, or of one of the other kind")

enum class Fault : uint8_t {
  kNone,
#define SUEDE_SIMBRICKS_FAULT(id, name, sentence) id,
  SUEDE_SIMBRICKS_FAULTS(SUEDE_SIMBRICKS_FAULT)
#undef SUEDE_SIMBRICKS_FAULT
      kCount,
};
inline constexpr size_t kFaults = static_cast<size_t>(Fault::kCount);
const char* NameOf(Fault fault);
const char* SentenceOf(Fault fault);

// Upper protocols.
enum class Upper : uint64_t { kNetwork = 1, kMemory = 3 };

// ---- Intros

// A queue in the shared memory.
struct QueuePlan {
  uint64_t offset = 0;
  uint64_t entry_bytes = 0;
  uint64_t entries = 0;
  uint64_t end() const { return offset + entry_bytes * entries; }
};

inline constexpr size_t kListenerIntroBytes = 80;
inline constexpr size_t kConnecterIntroBytes = 32;
inline constexpr size_t kUpperIntroBytes = 4;
inline constexpr size_t kMaxIntroBytes = 2048;  // with the upper intro
inline constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 30;

// The queues of a connection.
struct ConnectionPlan {
  QueuePlan to_connecter;
  QueuePlan to_listener;
};

// Return the intro, with the upper one. No synchronisation is offered.
std::string MakeListenerIntro(Upper upper, const ConnectionPlan& plan);
std::string MakeConnecterIntro(Upper upper);
// Return kNone, or the reason to refuse the intro. The queues of *plan end within kMaxMemoryBytes.
Fault ReadListenerIntro(std::span<const char> bytes, Upper upper, ConnectionPlan* plan);
Fault ReadConnecterIntro(std::span<const char> bytes, Upper upper);

// ---- Messages

enum Type : uint8_t {
  kSync = 0x00,
  kTerminate = 0x01,
  kReadDone = 0x40,
  kWriteDone = 0x41,
  kPacket = 0x40,  // of the network
  kRead = 0x60,
  kWrite = 0x61,
  kWritePosted = 0x62,
};
inline constexpr uint8_t kOwnedByConsumer = 0x80;
inline constexpr uint32_t kHeaderBytes = 64;

// A message without its data. A field that the type has not is 0.
struct Header {
  uint64_t request = 0;  // req_id; of a PACKET bits 15:0 are the length
  uint64_t space = 0;    // as_id
  uint64_t address = 0;
  uint16_t bytes = 0;  // of data, of READ, WRITE and WRITE_POSTED
  uint8_t reserved[22] = {};
  uint64_t time = 0;
  uint8_t reserved_too[7] = {};
  uint8_t type = 0;  // bit 7: owned by the consumer

  uint16_t packet_bytes() const { return static_cast<uint16_t>(request); }
};
static_assert(sizeof(Header) == kHeaderBytes && offsetof(Header, bytes) == 24 &&
              offsetof(Header, time) == 48 && offsetof(Header, type) == 63);

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_PROTOCOL_H_
