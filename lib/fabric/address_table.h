// SPDX-License-Identifier: Apache-2.0
// The entries of a switch's forwarding table: exact match, with configured entries and learnt
// entries, which age. Allocates once. Owned by one lcore.
#ifndef SUEDE_FABRIC_ADDRESS_TABLE_H_
#define SUEDE_FABRIC_ADDRESS_TABLE_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "fabric/params.h"
#include "wire/encap/header.h"

namespace suede::fabric {

class AddressTable {
 public:
  static constexpr uint16_t kNoPort = fabric::kNoPort;

  enum class Learnt : uint8_t {
    kKnown,  // the address was known; its age was reset
    kNew,
    kMoved,   // the address was known behind another port
    kStatic,  // the address is configured, behind this or another port
    kFull,    // no room: the address was not learnt
  };

  struct Entry {
    NetAddress address;
    Time seen{};
    uint32_t epoch = 0;       // of the port, when it was learnt
    uint16_t port = kNoPort;  // kNoPort: the place is empty
    bool is_static = false;
  };

  struct Limits {
    uint32_t entries = 1;      // 1 to 2^20
    uint32_t port_learnt = 1;  // max learnt entries of one port
    Duration max_age{};        // a learnt entry without frames for this long ends
  };
  AddressTable(const Limits& limits, uint32_t ports);

  // The port of the address; kNoPort: unknown.
  uint16_t Find(const NetAddress& address, Time now) const;
  // Returns false if there is no room.
  bool AddStatic(const NetAddress& address, uint16_t port);
  bool Remove(const NetAddress& address);
  // A frame from `address` was received on `port`.
  Learnt Learn(const NetAddress& address, uint16_t port, Time now);
  // Checks a few places and removes entries that are too old or were forgotten. Returns how many.
  uint32_t Age(Time now, uint32_t places);
  // Ends all entries learnt on a port, for instance when its link is down: in constant time. Age
  // frees their room.
  void Forget(uint16_t port);
  // Entries that Forget has ended and Age has not removed.
  uint32_t forgotten() const { return forgotten_; }
  // Whether the entry of a place is valid.
  bool IsLive(const Entry& entry) const {
    return entry.port != kNoPort && (entry.is_static || entry.epoch == epochs_[entry.port]);
  }

  uint32_t size() const { return size_ - forgotten_; }
  uint32_t learnt_on(uint16_t port) const { return learnt_[port]; }
  const std::vector<Entry>& places() const { return places_; }

 private:
  uint32_t HomeOf(const NetAddress& address) const;
  uint32_t SlotOf(const NetAddress& address) const;
  bool IsOld(const Entry& entry, Time now) const {
    return !entry.is_static && now - entry.seen > limits_.max_age;
  }
  void RemoveAt(uint32_t place);
  void Insert(const Entry& entry);

  const Limits limits_;
  std::vector<Entry> places_;  // linear probing; more than twice as many as entries
  uint32_t mask_;
  uint32_t size_ = 0;  // including forgotten entries
  uint32_t forgotten_ = 0;
  uint32_t hand_ = 0;
  std::vector<uint32_t> learnt_;  // of each port, valid
  std::vector<uint32_t> epochs_;  // of each port: entries of earlier epochs are forgotten
};

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_ADDRESS_TABLE_H_
