// SPDX-License-Identifier: Apache-2.0
// A group of four sessions, whose PDUs a test sends and measures.
#ifndef SUEDE_TESTS_PATH_SESSION_GROUPS_H_
#define SUEDE_TESTS_PATH_SESSION_GROUPS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

#include "path/session_group.h"

namespace suede {

class SessionGroups : public ::testing::Test {
 protected:
  using microseconds = std::chrono::microseconds;
  using State = SessionSlot::State;

  static constexpr uint32_t kCount = 4;
  static constexpr uint32_t kNumbers = 16384;
  static constexpr Duration kAskEvery = microseconds(300);
  static constexpr Duration kSlow = microseconds(15);  // beyond that the path of a number is slow
  static constexpr SlotMask kTwo = 6;                  // the slots that are asked for first

  SessionGroups() {
    group.SetSlots(slots.data());
    group.Begin(kCount, kNumbers, now);
    facts.fill({.srtt = microseconds(10), .min_rtt = microseconds(10)});
  }
  // PDUs are in flight on those that are open.
  void Use() {
    for (SessionIndex slot = 0; slot < kCount; ++slot) {
      facts[slot].unacked_pdus = (group.open() >> slot & 1) != 0 ? 1 : 0;
      ++facts[slot].tx_pdus;
    }
  }
  SlotMask Evaluate() {
    Use();
    group.OnTraffic(now, params);
    now = std::max(now, group.deadline());
    const SlotMask requests = group.OnTimer(facts, params, waits, random, now);
    group.CheckInvariants();
    return requests;
  }
  SlotMask EvaluateUntilMove(int times) {
    SlotMask requests = 0;
    for (int i = 0; i < times && requests == 0; ++i) requests = Evaluate();
    return requests;
  }
  SessionGroup::Answer AnswerTo(SessionNumber request) {
    request.answer = true;
    const SessionGroup::Answer answer = group.OnAnswer(request, params, random, now);
    group.CheckInvariants();
    return answer;
  }
  bool Answer(SessionIndex slot) {
    return AnswerTo(group.RequestOf(slot)) == SessionGroup::Answer::kTaken;
  }
  // Opens `count` sessions, as if all were congested.
  void Open(uint32_t count) {
    params.open_percent = 101;
    while (static_cast<uint32_t>(std::popcount(group.open())) < count) {
      for (auto& fact : facts) fact.srtt = microseconds(20);
      const SlotMask requests = Evaluate();
      if (requests != 0) {
        EXPECT_TRUE(Answer(Lowest<SessionIndex>(requests)));
      }
    }
    params = kParams;
    for (auto& fact : facts) fact.srtt = microseconds(10);
    for (int i = 0; i < 12; ++i) Evaluate();
  }

  // Evaluations are often enough for ages of milliseconds, and twelve of them are too few to close
  // one.
  static constexpr SessionParams kParams{.interval = microseconds(100), .idle_intervals = 100};
  SessionParams params = kParams;
  SessionGroup::Waits waits{.ask_again = kAskEvery, .ack = {}};
  std::array<SessionSlot, kCount> slots;
  SessionGroup group;
  std::array<SessionFacts, kCount> facts{};
  SecretNumbers random{SecretKey{1, 2}};
  Time now = TimeFromNs(1'000'000'000);
};

}  // namespace suede

#endif  // SUEDE_TESTS_PATH_SESSION_GROUPS_H_
