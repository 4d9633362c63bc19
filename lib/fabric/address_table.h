// SPDX-License-Identifier: Apache-2.0
// The forwarding table of a switch: exact match, with entries that are configured and entries that
// are learnt, which age. It allocates once. Owned by one lcore.
#ifndef SUEDE_FABRIC_ADDRESS_TABLE_H_
#define SUEDE_FABRIC_ADDRESS_TABLE_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "wire/encap/header.h"

namespace suede::fabric {

class AddressTable {
 public:
  static constexpr uint16_t kNoPort = 0xffff;

  enum class Learnt : uint8_t {
    kKnown,  // it was there, and is younger now
    kNew,
    kMoved,   // it was behind another port
    kStatic,  // it is configured, behind this or another port
    kFull,    // no room: not learnt
  };

  struct Entry {
    NetAddress address;
    Time seen{};
    uint16_t port = kNoPort;  // kNoPort: the place is empty
    bool is_static = false;
  };

  // Room for `most` entries, 1 to 2^20. A learnt entry ends once nothing came from it for
  // `max_age`; of those that one port may hold there are `most_of_port` at most.
  AddressTable(uint32_t most, uint32_t most_of_port, uint32_t ports, Duration max_age);

  // The port behind which the address is; kNoPort: unknown.
  uint16_t Find(const NetAddress& address, Time now) const;
  // False where there is no room.
  bool AddStatic(const NetAddress& address, uint16_t port);
  bool Remove(const NetAddress& address);
  // A frame from `address` has come in on `port`.
  Learnt Learn(const NetAddress& address, uint16_t port, Time now);
  // Looks at a few places and removes entries that are too old. Returns how many.
  uint32_t Age(Time now, uint32_t places);
  // Removes what was learnt on a port, whose link is down for instance.
  void Forget(uint16_t port);
  // Likewise on some ports (a bit each), by and by: Age does so. What is learnt meanwhile may go,
  // too.
  void BeginFlush(uint64_t ports) {
    flushed_ = ports;
    flush_left_ = static_cast<uint32_t>(places_.size());
  }
  bool flushing() const { return flush_left_ != 0; }

  uint32_t size() const { return size_; }
  uint32_t learnt_on(uint16_t port) const { return learnt_[port]; }
  const std::vector<Entry>& places() const { return places_; }

 private:
  uint32_t HomeOf(const NetAddress& address) const;
  uint32_t PlaceOf(const NetAddress& address) const;
  bool IsFlushed(const Entry& entry) const {
    return flush_left_ != 0 && !entry.is_static && (flushed_ >> entry.port & 1) != 0;
  }
  bool IsOld(const Entry& entry, Time now) const {
    return !entry.is_static && now - entry.seen > max_age_;
  }
  void RemoveAt(uint32_t place);
  void Insert(const Entry& entry);

  const uint32_t most_;
  const uint32_t most_of_port_;
  const Duration max_age_;
  std::vector<Entry> places_;  // linear probing; more than twice as many as entries
  uint32_t mask_;
  uint32_t size_ = 0;
  uint32_t hand_ = 0;
  uint64_t flushed_ = 0;          // ports
  uint32_t flush_left_ = 0;       // places that a flush has to look at yet
  std::vector<uint32_t> learnt_;  // of each port
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_ADDRESS_TABLE_H_
