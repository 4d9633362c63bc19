// SPDX-License-Identifier: Apache-2.0
// Port pairs joined by a network in the simulation, whose only time is the number of calls, so that
// a seed repeats exactly.
#ifndef SUEDE_RTL_LOOP_AXI_H_
#define SUEDE_RTL_LOOP_AXI_H_

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "axi/manager.h"
#include "axi/subordinate.h"
#include "axi_port.h"

namespace suede::rtl {

class LoopAxiPort;

class LoopAxiNetwork {
 public:
  struct Message {
    std::vector<uint8_t> control;
    std::vector<uint8_t> data;
    uint64_t arrival = 0;
    uint32_t tag = 0;
    bool wants_completion = false;
  };
  using Key = std::tuple<uint16_t, uint16_t, uint8_t>;  // from, to, VC

  // The network of the process.
  static LoopAxiNetwork& Get();

  void Start(uint64_t seed, uint32_t faults);
  // Returns 0 to bound - 1.
  uint32_t Random(uint32_t bound);
  uint64_t now() const { return now_; }
  // Passes time; makes the faults that come.
  void Tick();
  void Join(uint16_t xpuid, LoopAxiPort* port) { ports_[xpuid] = port; }
  // Returns the port of an XPU; null: there is none.
  LoopAxiPort* Find(uint16_t xpuid);
  std::map<Key, std::deque<Message>>& wires() { return wires_; }

 private:
  void LoseRequests(uint16_t to, uint8_t status);

  uint64_t random_ = 1;
  uint64_t now_ = 0;
  uint64_t next_fault_ = 0;
  uint32_t faults_ = 0;
  std::map<uint16_t, LoopAxiPort*> ports_;
  std::map<Key, std::deque<Message>> wires_;
};

class LoopAxiPort final : public AxiPort, private BurstSink {
 public:
  explicit LoopAxiPort(const AxiParams& params);

  bool Poll() override;
  bool is_up() const override { return true; }

  uint32_t Credit(uint32_t channel) const override;
  void SendAw(const suede_axi_address& address) override { subordinate_.SendAw(address); }
  void SendW(const suede_axi_write_beat& beat) override { subordinate_.SendW(beat); }
  void SendAr(const suede_axi_address& address) override { subordinate_.SendAr(address); }
  bool TakeB(suede_axi_write_response* response) override { return subordinate_.TakeB(response); }
  bool TakeR(suede_axi_read_beat* beat) override { return subordinate_.TakeR(beat); }
  void ResetSubordinate() override { subordinate_.Reset(); }

  bool TakeAw(suede_axi_address* address) override { return manager_.TakeAw(address); }
  bool TakeW(suede_axi_write_beat* beat) override { return manager_.TakeW(beat); }
  bool TakeAr(suede_axi_address* address) override { return manager_.TakeAr(address); }
  bool SendB(const suede_axi_write_response& b) override { return manager_.SendB(b); }
  bool SendR(const suede_axi_read_beat& beat) override { return manager_.SendR(beat); }
  void ResetManager(bool in_reset) override { manager_.Reset(in_reset); }

  // The network's.
  void OnCompletion(uint16_t to, uint32_t tag, uint8_t status);
  void BeginOutage(uint32_t ticks);

 private:
  int Send(const Burst& burst) override;
  void Receive();

  LoopAxiNetwork* const network_;
  const uint16_t own_;
  uint64_t outage_end_ = 0;
  axi::Subordinate subordinate_;
  axi::Manager manager_;
};

}  // namespace suede::rtl

#endif  // SUEDE_RTL_LOOP_AXI_H_
