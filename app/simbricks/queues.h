// SPDX-License-Identifier: Apache-2.0
// Both ends of a queue of SimBricks in shared memory (docs/simbricks.md, "Queues").
//
// The peer may write any byte of the memory at any time: each header is read once, into the
// caller's own, and data are copied before they are used. One thread.
#ifndef SUEDE_SIMBRICKS_QUEUES_H_
#define SUEDE_SIMBRICKS_QUEUES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simbricks/protocol.h"

namespace suede::simbricks {

// The common part: entries in their order, round and round.
class QueueEnd {
 public:
  void Attach(uint8_t* memory, const QueuePlan& plan) {
    entries_ = memory + plan.offset;
    plan_ = plan;
    at_ = 0;
  }
  // Max bytes of data of a message.
  uint32_t room() const { return static_cast<uint32_t>(plan_.entry_bytes) - kHeaderBytes; }

 protected:
  uint8_t* entry() const { return entries_ + at_ * plan_.entry_bytes; }
  uint8_t* data() const { return entry() + kHeaderBytes; }
  // Byte 63 has the owner, and orders all accesses to the entry.
  uint8_t type() const {
    return __atomic_load_n(entry() + offsetof(Header, type), __ATOMIC_ACQUIRE);
  }
  // Passes the entry to the peer and goes to the next.
  void Pass(uint8_t type) {
    __atomic_store_n(entry() + offsetof(Header, type), type, __ATOMIC_RELEASE);
    if (++at_ == plan_.entries) at_ = 0;
  }

 private:
  uint8_t* entries_ = nullptr;
  QueuePlan plan_;
  uint64_t at_ = 0;
};

class QueueReader : public QueueEnd {
 public:
  // Copies the header of the next message, bit 7 of its type cleared. False: there is none yet.
  bool Peek(Header* header) {
    const uint8_t type = this->type();
    if ((type & kOwnedByConsumer) == 0) return false;
    uint64_t words[sizeof(Header) / sizeof(uint64_t)];
    const auto* const from = reinterpret_cast<const uint64_t*>(entry());
    for (size_t i = 0; i < std::size(words); ++i) {
      words[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    }
    std::memcpy(header, words, sizeof *header);
    type_ = header->type = type & static_cast<uint8_t>(~kOwnedByConsumer);
    return true;
  }
  // Copies the message's data; `bytes` is at most room().
  void CopyData(uint8_t* to, uint32_t bytes) const { std::memcpy(to, data(), bytes); }
  // Returns the message's entry to the peer.
  void Release() { Pass(type_); }

 private:
  uint8_t type_ = 0;
};

class QueueWriter : public QueueEnd {
 public:
  bool HasPlace() const { return (type() & kOwnedByConsumer) == 0; }
  // Sends a message with `bytes` of data, at most room(). There is a place.
  void Send(const Header& header, const uint8_t* from = nullptr, uint32_t bytes = 0) {
    std::memcpy(entry(), &header, offsetof(Header, type));
    if (bytes != 0) std::memcpy(data(), from, bytes);
    Pass(header.type | kOwnedByConsumer);
  }
};

}  // namespace suede::simbricks

#endif  // SUEDE_SIMBRICKS_QUEUES_H_
