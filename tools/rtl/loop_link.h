// SPDX-License-Identifier: Apache-2.0
// The network in the simulation: links whose only time is the number of calls, so that a seed
// repeats exactly.
#ifndef SUEDE_RTL_LOOP_LINK_H_
#define SUEDE_RTL_LOOP_LINK_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "link.h"

namespace suede::rtl {

struct LoopParams {
  // Breaks of a link, one in 2,000 cycles or so.
  uint32_t faults = 0;
  // Misbehaviour that checks have to notice.
  enum class Violation : uint32_t {
    kNone,
    kLoses,
    kDuplicates,
    kReorders,
    kAlters
  } violation = Violation::kNone;
};

class LoopNetwork {
 public:
  struct Flight {
    Command command;
    uint16_t source = 0;
    uint64_t arrival = 0;
  };
  // Commands of all sources to a {destination, VC}, in their order.
  using Wire = std::deque<Flight>;

  // The network of the process.
  static LoopNetwork& Get();

  void Start(uint64_t seed, const LoopParams& params);
  // Returns 0 to bound - 1.
  uint32_t Random(uint32_t bound);
  void Tick() { ++now_; }
  uint64_t now() const { return now_; }
  const LoopParams& params() const { return params_; }
  Wire& wire(uint16_t destination, uint8_t vc) { return wires_[destination * kVcs + vc]; }
  std::map<uint32_t, Wire>& wires() { return wires_; }
  std::deque<uint64_t>& lost(uint16_t source) { return lost_[source]; }
  // Removes a flight and reports its command as lost.
  Wire::iterator Lose(Wire& wire, Wire::iterator flight);

 private:
  uint64_t random_ = 1;
  uint64_t now_ = 0;
  LoopParams params_;
  std::map<uint32_t, Wire> wires_;
  std::map<uint16_t, std::deque<uint64_t>> lost_;
};

// The time until which a link is not ready, and the faults that come.
class LoopOutage {
 public:
  explicit LoopOutage(LoopNetwork* network) : network_(network) {}
  // True when a fault begins.
  bool Poll();
  bool IsOver() const { return network_->now() >= until_; }
  void Begin(uint32_t max_ticks) { until_ = network_->now() + network_->Random(max_ticks); }

 private:
  LoopNetwork* network_;
  bool is_first_ = true;
  uint64_t until_ = 0;
  uint64_t next_fault_ = 0;
  uint32_t faults_ = 0;
};

class LoopTxLink : public TxLink {
 public:
  explicit LoopTxLink(uint16_t own);
  bool IsReady() override;
  bool Send(const Command& command) override;
  void Flush() override {}
  void Reset() override;
  int64_t TakeLost() override;
  uint64_t pending() const override { return 0; }

 private:
  // Loses the last ones of its commands on each wire.
  void LoseTails();

  LoopNetwork* const network_;
  const uint16_t own_;
  LoopOutage outage_;
};

class LoopRxLink : public RxLink {
 public:
  explicit LoopRxLink(uint16_t own);
  bool IsReady() override;
  bool Receive(uint8_t vc, Command* command) override;
  void Reset() override;

 private:
  LoopNetwork* const network_;
  const uint16_t own_;
  LoopOutage outage_;
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_LOOP_LINK_H_
