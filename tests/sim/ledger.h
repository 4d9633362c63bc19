// SPDX-License-Identifier: Apache-2.0
// The books of a world: sent commands, arrived commands, statuses that their senders got. Every
// entry is held against those before it.
#ifndef SUEDE_TESTS_SIM_LEDGER_H_
#define SUEDE_TESTS_SIM_LEDGER_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "content.h"

namespace suede {

class Ledger {
 public:
  struct Rules {
    bool in_order = true;  // streams arrive as they were sent, several of a host as it took them
    bool gaps = false;     // and commands given up, or whose sender is dead, may be missing
  };
  explicit Ledger(const Rules& rules) : rules_(rules) {}

  // The number that the stream's next command has.
  uint32_t NextOf(const StreamName& name) { return StreamAt(name).sent; }
  void OnSent(const StreamName& name);
  // The daemon has taken it, in that turn of the world.
  void OnTaken(const StreamName& name, uint32_t sequence, uint32_t turn) {
    StreamAt(name).taken[sequence] = turn;
  }
  // `excused`: it may be that it never arrives.
  void OnAcknowledged(const StreamName& name, uint32_t sequence, bool excused = false);

  // These return the error, and nothing where all is well.
  std::string OnDelivered(const StreamName& name, uint32_t sequence);
  // The status that the sender of a given-up command got.
  enum class End : uint8_t {
    kInDoubt,  // it may have arrived, and may yet
    kOver,     // it may have arrived, and will not any more
    kNever,    // it has not arrived, and will not
  };
  std::string OnGivenUp(const StreamName& name, uint32_t sequence, End end);
  // Checks all entries. Returns an error; empty: none.
  std::string Audit() const;

  // Commands that were sent and did not arrive, but for those given up.
  uint64_t missing() const { return missing_; }
  uint64_t delivered() const { return delivered_; }
  // Commands of all VCs but one that neither arrived nor were given up.
  uint64_t MissingBeside(uint32_t vc) const;

 private:
  static constexpr uint8_t kArrived = 1;
  static constexpr uint8_t kAcknowledged = 2;
  static constexpr uint8_t kGivenUp = 4;
  static constexpr uint8_t kDoneWith = 8;
  static constexpr uint8_t kExcused = 16;
  struct Stream {
    StreamName name;
    uint32_t sent = 0;
    uint32_t next = 0;          // after the last one that arrived
    std::vector<uint8_t> fate;  // by number
    std::vector<uint32_t> taken;  // by number: in which turn
  };
  Stream& StreamAt(const StreamName& name);
  static std::string Wrong(const StreamName& name, uint32_t sequence, const char* what);

  Rules rules_;
  uint64_t missing_ = 0;
  uint64_t delivered_ = 0;
  std::unordered_map<uint64_t, Stream> streams_;
  // When the last command that arrived was taken, of the streams of all queues of a life to one
  // {destination, VC}.
  std::unordered_map<uint64_t, uint32_t> taken_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_LEDGER_H_
