// The books of a world: what was sent, what arrived, what was answered to whoever sent it. Every
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
    bool in_order = true;  // a stream arrives as it was sent
    bool gaps = false;     // and what was given up, or whose sender is dead, may be missing of it
  };
  explicit Ledger(const Rules& rules) : rules_(rules) {}

  // The number that the stream's next command has.
  uint32_t NextOf(const StreamName& name) { return StreamAt(name).sent; }
  void OnSent(const StreamName& name);
  void OnAcknowledged(const StreamName& name, uint32_t sequence);

  // These return what is wrong, and nothing where all is well.
  std::string OnDelivered(const StreamName& name, uint32_t sequence);
  // As unreachable, or because the peer was reset. `done_with`: from now on it must not arrive.
  std::string OnGivenUp(const StreamName& name, uint32_t sequence, bool done_with);
  // Of all that is in them.
  std::string Audit() const;

  // Commands that were sent and did not arrive, but for those given up.
  uint64_t missing() const { return missing_; }
  uint64_t delivered() const { return delivered_; }

 private:
  static constexpr uint8_t kArrived = 1;
  static constexpr uint8_t kAcknowledged = 2;
  static constexpr uint8_t kGivenUp = 4;
  static constexpr uint8_t kDoneWith = 8;
  struct Stream {
    StreamName name;
    uint32_t sent = 0;
    uint32_t next = 0;          // after the last one that arrived
    std::vector<uint8_t> fate;  // by number
  };
  Stream& StreamAt(const StreamName& name);
  static std::string Wrong(const StreamName& name, uint32_t sequence, const char* what);

  Rules rules_;
  uint64_t missing_ = 0;
  uint64_t delivered_ = 0;
  std::unordered_map<uint64_t, Stream> streams_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_LEDGER_H_
