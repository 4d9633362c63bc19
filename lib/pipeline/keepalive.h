// SPDX-License-Identifier: Apache-2.0
// Keeps the addresses of instances with one plane in the tables of switches (docs/planes.md, "One
// plane"): an instance that receives nothing has nothing to say, and a switch that has learnt its
// address elsewhere sends it nothing. Owned by the lcore.
#ifndef SUEDE_PIPELINE_KEEPALIVE_H_
#define SUEDE_PIPELINE_KEEPALIVE_H_

#include <cstdint>
#include <vector>

#include "lcore/lcore.h"

namespace suede {

class Keepalive {
 public:
  explicit Keepalive(Lcore& lcore) : lcore_(lcore) {}

  // For one more instance, before the first turn. Those with several planes exchange PLANEs.
  void AddInstance(const Instance& instance) {
    if (!instance.own.has_sessions) turns_.push_back({.instance = instance.number});
  }
  // Once in a turn: one instance at a time, so that many do not speak at once.
  void Poll(Time now) {
    if (now >= due_) [[unlikely]]
      Serve(now);
  }

 private:
  struct Turn {
    uint32_t instance;
    uint32_t next_peer = 0;
  };
  void Serve(Time now);

  Lcore& lcore_;
  std::vector<Turn> turns_;
  uint32_t next_ = 0;  // of turns_
  Time due_{};
};

}  // namespace suede

#endif  // SUEDE_PIPELINE_KEEPALIVE_H_
