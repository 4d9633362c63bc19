// SPDX-License-Identifier: Apache-2.0
// Selective repair (docs/repair.md): what the receiving half remembers and reports, and what the
// sending half repeats.
#include "connection_fixture.h"

namespace suede {
namespace {

class RepairTest : public ConnectionTest {
 protected:
  RepairTest() {
    c.rx().SetSelective(&early);
    c.rx().SetPeerWindow(params.window_pdus);
  }
  // A report from `expected` on, by distances from it.
  static PsnMarks Marks(std::initializer_list<uint32_t> received,
                        std::initializer_list<uint32_t> wanted) {
    PsnMarks marks{.count = 2};
    for (const uint32_t i : received) marks.words[i / 64].received |= uint64_t{1} << i % 64;
    for (const uint32_t i : wanted) marks.words[i / 64].wanted |= uint64_t{1} << i % 64;
    return marks;
  }
  RpsnVerdict Repair(uint16_t expected, const PsnMarks& marks) {
    again = {};
    return Check(c.tx().OnRepair(Psn(expected), marks, now, params, acked, again));
  }
  // PDU `psn` arrives in unordered mode.
  void Arrive(uint16_t psn) {
    if (Psn(psn) == c.rx().expected()) {
      c.rx().Accept();
      if (c.rx().has_early()) c.rx().PassEarly();
      if (c.rx().has_gap()) c.rx().CheckGap(now, params);
      return;
    }
    ASSERT_TRUE(c.rx().MayAcceptEarly(Psn(psn)));
    c.rx().AcceptEarly(Psn(psn));
    c.rx().OnMissing(Psn(psn), now, params);
  }

  EarlyPdus early;
  InFlight::Wanted again;
};

TEST_F(RepairTest, AReportWantsWhatIsMissingAfterTheAllowance) {
  Accept(1);
  for (const uint16_t psn : Psns{2, 3, 5}) Arrive(psn);
  EXPECT_EQ(c.rx().expected(), Psn(1));
  EXPECT_FALSE(c.rx().MayAcceptEarly(Psn(3)));
  EXPECT_EQ(c.deadline(), now + params.reorder_allowance);
  now += params.reorder_allowance;
  Arrive(6);
  // PDU 4 was not missing yet when the wait began.
  const PsnMarks marks = c.rx().TakeReport();
  EXPECT_EQ(marks.words[0].received, 0b110110u);
  EXPECT_EQ(marks.words[0].wanted, 0b1u);
  Arrive(1);
  EXPECT_EQ(c.rx().expected(), Psn(4));
  Arrive(4);
  EXPECT_EQ(c.rx().expected(), Psn(7));
  EXPECT_FALSE(c.rx().has_early());
  EXPECT_EQ(c.deadline(), kNever);
  EXPECT_EQ(c.rx().rx_pdus(), 7u);
}

TEST_F(RepairTest, ReportsEndWithoutAnAnswer) {
  Arrive(1);
  int reports = 0;
  for (int i = 0; i < 100 && c.deadline() != kNever; ++i) {
    Expire();
    reports += c.rx().TakeReport().words[0].wanted != 0 ? 1 : 0;
  }
  EXPECT_EQ(reports, 16);
}

TEST_F(RepairTest, ATrimmedPduIsWantedAtOnce) {
  Accept(1);
  EXPECT_TRUE(c.rx().OnTrimmed(Psn(3), microseconds(10), now, params));
  EXPECT_TRUE(c.rx().MustAckNow(params));
  EXPECT_EQ(c.rx().TakeReport().words[0].wanted, 0b100u);
}

TEST_F(RepairTest, APsnBeyondTheWindowIsNotAccepted) {
  EXPECT_TRUE(c.rx().MayAcceptEarly(Psn(511)));
  EXPECT_FALSE(c.rx().MayAcceptEarly(Psn(512)));
  Arrive(1);
  EXPECT_TRUE(c.rx().MayAcceptEarly(Psn(512)));
}

TEST_F(RepairTest, OpenAndResetForget) {
  Arrive(1);
  c.rx().Close();
  EXPECT_TRUE(c.rx().has_early()) << "a fence reports it";
  c.rx().Open(Psn(100));
  EXPECT_FALSE(c.rx().has_early());
  EXPECT_EQ(early.count(), 0u);
  Arrive(101);
  c.rx().Reset();
  EXPECT_FALSE(c.rx().is_selective());
  EXPECT_EQ(early.count(), 0u);
}

TEST_F(RepairTest, KeptPdusAreDiscardedByAFence) {
  Pdu pdu;
  pdu.psn = Psn(1);
  early.Keep(&pdu);
  c.rx().NoteKept(Psn(1));
  c.rx().Close();
  EXPECT_FALSE(c.rx().has_early());
  EXPECT_EQ(early.discarded().head(), &pdu);
}

TEST_F(RepairTest, KeptPdusAreInOrder) {
  std::deque<Pdu> kept(4);
  const uint16_t psns[] = {65534, 3, 0, 65535};
  for (size_t i = 0; i < 4; ++i) {
    kept[i].psn = Psn(psns[i]);
    early.Keep(&kept[i]);
  }
  for (const uint16_t psn : Psns{65534, 65535, 0, 3}) {
    EXPECT_EQ(early.TakeFirstKept()->psn, Psn(psn));
  }
  EXPECT_FALSE(early.HoldsFrames());
}

TEST_F(RepairTest, OnlyWantedPdusAreSentAgain) {
  Send(6);
  now += milliseconds(10);
  EXPECT_EQ(Repair(1, Marks({1, 2}, {0, 3})), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{0}));
  EXPECT_EQ(again.pdus, 2u);
  EXPECT_EQ(c.in_flight().bytes(), 300u) << "of PDUs 1, 4 and 5";
  EXPECT_EQ(Retransmit(), (Psns{1, 4}));
  // A report that was made before these have arrived.
  now += microseconds(1);
  EXPECT_EQ(Repair(1, Marks({1, 2}, {0, 3})), RpsnVerdict::kNothingNew);
  EXPECT_EQ(again.pdus, 0u);
  EXPECT_EQ(Ack(5), RpsnVerdict::kProgress);
  EXPECT_EQ(Acked(), (Psns{1, 2, 3, 4, 5}));
  EXPECT_EQ(c.in_flight().bytes(), 0u);
}

TEST_F(RepairTest, PdusThatHaveArrivedAreNotInTheWindow) {
  params.window_pdus = 4;
  Send(4);
  EXPECT_FALSE(c.tx().CanSend(100, params));
  now += milliseconds(10);
  Repair(0, Marks({1, 2, 3}, {}));
  EXPECT_EQ(c.tx().WindowLeft(params), 3u);
  Send(3);
  EXPECT_FALSE(c.tx().CanSend(100, params));
  Ack(6);
  EXPECT_EQ(c.tx().WindowLeft(params), 4u);
}

TEST_F(RepairTest, ATimeoutRepeatsAllThatHasNotArrived) {
  Send(4);
  Repair(0, Marks({1}, {}));
  EXPECT_EQ(Expire(), TimerVerdict::kRetransmit);
  EXPECT_EQ(Retransmit(), (Psns{0, 2, 3}));
}

TEST_F(RepairTest, WhatWasNeverSentChangesNothing) {
  Send(2);
  EXPECT_EQ(Repair(3, Marks({}, {})), RpsnVerdict::kOutOfWindow);
  EXPECT_EQ(Repair(0, Marks({0, 5, 70}, {6})), RpsnVerdict::kNothingNew);
  EXPECT_EQ(c.in_flight().bytes(), 200u);
  EXPECT_EQ(again.pdus, 0u);
}

}  // namespace
}  // namespace suede
