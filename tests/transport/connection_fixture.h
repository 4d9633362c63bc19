// SPDX-License-Identifier: Apache-2.0
// A connection with PDUs to send on it, for tests.
#ifndef SUEDE_TESTS_TRANSPORT_CONNECTION_FIXTURE_H_
#define SUEDE_TESTS_TRANSPORT_CONNECTION_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <vector>

#include "transport/connection.h"

namespace suede {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class ConnectionTest : public ::testing::Test {
 protected:
  // Sends `count` PDUs of `bytes` bytes each.
  void Send(int count, uint16_t bytes = 100) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(c.tx().CanSend(bytes, params));
      pdus.emplace_back();
      pdus.back().bytes = bytes;
      c.tx().OnSend(&pdus.back(), now, params);
    }
  }
  RpsnVerdict Ack(uint16_t rpsn) { return Check(c.tx().OnAck(Psn(rpsn), now, params, acked)); }
  RpsnVerdict Nack(uint16_t rpsn) { return Check(c.tx().OnNack(Psn(rpsn), now, params, acked)); }
  RpsnVerdict NotReady(uint16_t psn, Duration wait = Duration(0)) {
    return Check(c.tx().OnNotReady(Psn(psn), wait, now, params, acked));
  }
  // The PSNs that were acknowledged since the last call.
  std::vector<uint16_t> Acked() { return Take(acked); }
  // The PSNs that go out again now.
  std::vector<uint16_t> Retransmit() {
    std::vector<uint16_t> psns;
    while (c.in_flight().HasRetransmission()) {
      psns.push_back(c.tx().TakeRetransmission(now, params)->psn.value());
      c.tx().CountRetransmission();
      c.tx().CheckInvariants(params);
    }
    return psns;
  }
  // Goes to the deadline and fires the timer.
  TimerVerdict Expire() {
    if (c.deadline() == kNever) return TimerVerdict::kNothing;
    now = std::max(now, c.deadline());
    return c.OnTimer(now, params);
  }
  // Times out until the far side counts as unreachable, and gives up.
  std::vector<uint16_t> GiveUp() {
    for (uint32_t i = 0; i < params.max_tries; ++i) {
      EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
      Retransmit();
    }
    EXPECT_EQ(Expire(), TimerVerdict::kUnreachable);
    PduList given_up;
    c.tx().GiveUp(now, params, given_up);
    c.tx().CheckInvariants(params);
    return Take(given_up);
  }
  // Probes, and hears a NACK in answer.
  RpsnVerdict Answer(uint16_t rpsn, bool held = false) {
    EXPECT_EQ(Expire(), TimerVerdict::kProbe);
    c.tx().probes().OnSent(held);
    return Nack(rpsn);
  }
  // Accepts `count` PDUs and pays the acknowledgement.
  void Accept(int count) {
    for (int i = 0; i < count; ++i) c.rx().Accept();
    c.rx().TakeRpsn();
  }
  // Misses a PDU and gets it after a NACK.
  void Lose() {
    c.rx().OnGap(now, params);
    c.rx().TakeRpsn();
    Accept(1);
  }
  // Brings both directions to this PSN, with nothing in flight.
  void StartAt(uint16_t psn) {
    while (c.in_flight().next_psn().value() != psn) {
      Send(1);
      Ack(static_cast<uint16_t>(c.in_flight().next_psn().value() - 1));
      c.rx().Accept();
    }
    c.rx().TakeRpsn();
    Acked();
  }

  static std::vector<uint16_t> Take(PduList& list) {
    std::vector<uint16_t> psns;
    while (!list.empty()) psns.push_back(list.PopFront()->psn.value());
    return psns;
  }
  RpsnVerdict Check(RpsnVerdict verdict) {
    c.tx().CheckInvariants(params);
    return verdict;
  }

  using Psns = std::vector<uint16_t>;
  TransportParams params;
  Connection c;
  Time now = TimeFromNs(1'000'000);
  std::deque<Pdu> pdus;
  PduList acked;
};

}  // namespace suede

#endif  // SUEDE_TESTS_TRANSPORT_CONNECTION_FIXTURE_H_
