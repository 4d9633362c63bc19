// SPDX-License-Identifier: Apache-2.0
// Rules of docs/axi.md that concern the manager port: order, limits, reset and loss.
#include "manager_world.h"

namespace suede::axi {
namespace {

TEST_F(Managers, AWriteIsIssuedAndItsResponseReturns) {
  Address burst = Incr(0x1000, 2, 0x12345678);
  burst.user[0] = 5;
  burst.qos = 3;
  WriteZeros(From(), 9, burst);
  TakeAll();
  ASSERT_EQ(aws.size(), 1u);
  EXPECT_EQ(aws[0].user[0], 5u);
  EXPECT_EQ(aws[0].qos, 3);
  ASSERT_EQ(ws.size(), 2u);
  WriteResponse b = {};
  b.id = aws[0].id;
  b.response = SUEDE_AXI_SLVERR;
  b.user[0] = 6;
  b.user[1] = 7;
  EXPECT_TRUE(manager->SendB(b));
  EXPECT_TRUE(manager->HasAnswers());
  Pump();
  EXPECT_FALSE(manager->HasAnswers());
  const GotAnswer got = TakeAnswer();
  EXPECT_EQ(got.lane, kSource);
  EXPECT_EQ(got.answer.response, SUEDE_AXI_SLVERR);
  EXPECT_EQ(got.user[0], 6u);
  EXPECT_EQ(got.user[1], 7u);
  EXPECT_EQ(manager->counters().served_writes, 1u);
}

TEST_F(Managers, PumpReportsWhetherSomethingMoved) {
  Make({.address_places = 1, .beat_places = 1});
  EXPECT_FALSE(manager->Pump(sink, now));
  WriteZeros(From(), 1, Incr(0, 2));
  EXPECT_TRUE(manager->Pump(sink, now)) << "AW and a beat";
  EXPECT_FALSE(manager->Pump(sink, now));
  WriteBeat beat;
  ASSERT_TRUE(manager->TakeW(&beat));
  EXPECT_TRUE(manager->Pump(sink, now)) << "a beat";
  Read(From(), 2, Incr(0, 1));
  EXPECT_TRUE(manager->Pump(sink, now)) << "AR";
  Address ar;
  ASSERT_TRUE(manager->TakeAr(&ar));
  sink.credit[kSource] = 0;
  RespondR(ar);
  EXPECT_FALSE(manager->Pump(sink, now)) << "no credit";
  sink.credit.clear();
  EXPECT_TRUE(manager->Pump(sink, now)) << "the answer";
  Address exclusive = Incr(0, 1);
  exclusive.lock = 1;
  Make({});
  sink.credit[kSource] = 0;
  WriteZeros(From(), 3, exclusive);
  EXPECT_TRUE(manager->Pump(sink, now)) << "its end";
  sink.credit.clear();
}

TEST_F(Managers, AnAnswerTakesTheInterfaceOfItsRequest) {
  Make({.interfaces = 3});
  Read(From(5, 2), 1, Incr(0, 1));
  TakeAll();
  RespondR(ars[0]);
  Pump();
  EXPECT_EQ(TakeAnswer().lane, ServedLane(From(5, 2)));
}

TEST_F(Managers, ExokayOfTheSocMeansNoMoreThanOkay) {
  Read(From(), 1, Incr(0, 1));
  WriteZeros(From(), 2, Incr(0, 1));
  TakeAll();
  RespondR(ars[0], SUEDE_AXI_EXOKAY);
  RespondB(aws[0].id, SUEDE_AXI_EXOKAY);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
}

// ---- Order.

TEST_F(Managers, TransactionsOfOneIdHaveOneAxId) {
  Make({.interfaces = 2});
  Read(From(5), 1, Incr(0, 1, 3));
  Read(From(5), 2, Incr(0, 1, 3));
  Read(From(5), 3, Incr(0, 1, 4));
  Read(From(6), 4, Incr(0, 1, 3));
  Read(From(5, 1), 5, Incr(0, 1, 3));
  TakeAll();
  ASSERT_EQ(ars.size(), 5u);
  EXPECT_EQ(ars[0].id, ars[1].id);
  for (int other = 2; other < 5; ++other) {
    for (int each = 0; each < other; ++each) EXPECT_NE(ars[other].id, ars[each].id);
  }
}

TEST_F(Managers, ResponsesOfOneIdBelongToTheOldest) {
  for (uint32_t number = 1; number <= 3; ++number) WriteZeros(From(), number, Incr(0, 1, 8));
  TakeAll();
  for (uint32_t i = 0; i < 3; ++i) RespondB(aws[0].id, i == 1 ? SUEDE_AXI_SLVERR : SUEDE_AXI_OKAY);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_SLVERR);
  ExpectAnswer(3, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Managers, BeatsOfDifferentIdsMayInterleave) {
  Read(From(), 1, Incr(0, 2, 1));
  Read(From(), 2, Incr(0, 2, 2));
  TakeAll();
  ReadBeat beat = {};
  for (uint32_t i = 0; i < 4; ++i) {
    beat.id = ars[i % 2].id;
    beat.last = i < 2 ? 0 : 1;
    beat.data[0] = static_cast<uint8_t>(i);
    EXPECT_TRUE(manager->SendR(beat));
  }
  Pump();
  const GotAnswer first = TakeAnswer();
  EXPECT_EQ(first.octets[0], 0);
  EXPECT_EQ(first.octets[32], 2);
  const GotAnswer second = TakeAnswer();
  EXPECT_EQ(second.octets[0], 1);
  EXPECT_EQ(second.octets[32], 3);
}

TEST_F(Managers, ATransactionWaitsWhereAllAxIdsAreInUse) {
  Make({.ids = 2});
  Read(From(), 1, Incr(0, 1, 10));
  Read(From(), 2, Incr(0, 1, 11));
  Read(From(), 3, Incr(0, 1, 12));
  Read(From(), 4, Incr(0, 1, 10));  // has an AxID, but stands behind one that waits
  TakeAll();
  ASSERT_EQ(ars.size(), 2u);
  WriteZeros(From(), 5, Incr(0, 1, 12));
  TakeAll();
  EXPECT_EQ(aws.size(), 1u) << "directions have AxIDs of their own";
  RespondR(ars[1]);
  TakeAll();
  ASSERT_EQ(ars.size(), 4u);
  EXPECT_EQ(ars[2].id, ars[1].id);
  EXPECT_EQ(ars[3].id, ars[0].id);
}

TEST_F(Managers, ReadsDoNotWaitForWrites) {
  Make({.address_places = 1});
  for (uint32_t number = 1; number < 4; ++number) WriteZeros(From(), number, Incr(0, 1));
  Read(From(), 4, Incr(0, 1));
  Pump();
  Address address;
  EXPECT_TRUE(manager->TakeAr(&address));
}

TEST_F(Managers, ALongBurstPassesChannelsOfOnePlace) {
  Make({.address_places = 1, .beat_places = 1});
  WriteZeros(From(), 1, Incr(0, 256, 0, 4));
  WriteZeros(From(), 2, Incr(0, 2, 0, 7));
  TakeAll();
  EXPECT_EQ(aws.size(), 2u);
  EXPECT_EQ(ws.size(), 256u + 8u);
}

// ---- Limits.

TEST_F(Managers, ASourceBeyondItsShareIsBusy) {
  Make({.transactions = 32, .transactions_per_source = 4});
  for (uint32_t number = 1; number <= 5; ++number) Read(From(), number, Incr(0, 1));
  ExpectAnswer(5, Status::kBusy, SUEDE_AXI_SLVERR);
  Read(From(8), 1, Incr(0, 1));
  sink.credit[kSource] = 0;
  WriteZeros(From(), 6, Incr(0, 1));
  const ManagerCounters counters = manager->counters();
  EXPECT_EQ(counters.busy, 1u);
  EXPECT_EQ(counters.dropped, 1u);
  EXPECT_EQ(counters.served_reads, 5u);
  EXPECT_EQ(counters.served_writes, 0u);
  sink.credit.clear();
  TakeAll();
  RespondR(ars[0]);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  Read(From(), 7, Incr(0, 1));
  EXPECT_TRUE(sink.answers.empty());
}

TEST_F(Managers, AFullTableTakesNoCommands) {
  Make({.transactions = 16});
  for (uint32_t number = 0; number < 16; ++number) Read(From(number), 1, Incr(0, 1));
  EXPECT_FALSE(manager->CanTake());
  TakeAll();
  RespondR(ars[3]);
  EXPECT_FALSE(manager->CanTake()) << "until the answer is sent";
  Pump();
  EXPECT_TRUE(manager->CanTake());
}

TEST_F(Managers, ASourceWithoutCreditDelaysNoOther) {
  sink.credit[5] = 0;
  for (uint32_t source = 5; source <= 7; ++source) Read(From(source), 1, Incr(0, 64));
  TakeAll();
  for (const Address& issued : ars) RespondR(issued);
  Pump();
  EXPECT_EQ(sink.answers.size(), 2u);
  sink.credit[5] = 3;
  Pump();
  Pump();
  EXPECT_EQ(sink.answers.size(), 2u);
  sink.credit[5] = 100;
  Pump();
  EXPECT_EQ(sink.answers.size(), 3u);
  EXPECT_EQ(sink.commands, 3 * 8u) << "no command was sent twice";
}

TEST_F(Managers, ManySourcesGetTheirTurn) {
  Make({.transactions = 300});
  for (uint32_t source = 0; source < 300; ++source) {
    sink.credit[source] = source < 200 ? 0 : 1;
    Read(From(source), 1, Incr(0, 1, source % 4));
  }
  for (int round = 0; round < 10; ++round) {
    TakeAll();
    for (const Address& issued : ars) RespondR(issued);
    ars.clear();
  }
  EXPECT_EQ(sink.answers.size(), 100u);
}

TEST_F(Managers, NoRefusalStandsBetweenTheCommandsOfAnAnswer) {
  Make({.transactions_per_source = 1});
  Read(From(), 1, Incr(0, 64));
  TakeAll();
  RespondR(ars[0]);
  sink.credit[kSource] = 2;
  Pump();
  sink.credit[kSource] = 1;
  Read(From(), 2, Incr(0, 1));
  EXPECT_EQ(manager->counters().dropped, 1u);
  sink.credit.clear();
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  EXPECT_TRUE(sink.answers.empty());
}

TEST_F(Managers, AnAnswerWithoutCreditExpires) {
  sink.credit[kSource] = 0;
  Read(From(), 1, Incr(0, 1));
  TakeAll();
  RespondR(ars[0]);
  now += params.deadline;
  Pump();
  EXPECT_EQ(manager->counters().expired, 0u);
  now += Duration(1);
  Pump();
  EXPECT_EQ(manager->counters().expired, 1u);
  EXPECT_FALSE(manager->HasAnswers());
  sink.credit.clear();
  Pump();
  EXPECT_TRUE(sink.answers.empty());
}

TEST_F(Managers, TheSocsTimeIsNotThatOfTheAnswer) {
  sink.credit[kSource] = 0;
  Read(From(), 1, Incr(0, 1));
  TakeAll();
  now += 2 * params.deadline;
  Pump();
  RespondR(ars[0]);
  Pump();
  EXPECT_EQ(manager->counters().expired, 0u);
}

TEST_F(Managers, AnAnswerWithCreditIsSentHoweverLate) {
  Read(From(), 1, Incr(0, 1));
  TakeAll();
  RespondR(ars[0]);
  now += 2 * params.deadline;
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Managers, TheAnswersOfASourceExpireTogether) {
  sink.credit[kSource] = 1;
  Read(From(), 1, Incr(0, 64));
  for (uint32_t number = 2; number <= 20; ++number) Read(From(), number, Incr(0, 1, number));
  TakeAll();
  for (const Address& issued : ars) RespondR(issued);
  Pump();
  now += params.deadline + Duration(1);
  Pump();
  EXPECT_EQ(manager->counters().expired, 20u);
}

TEST_F(Managers, IdleSourcesHaveNoMemory) {
  Make({.interfaces = 16, .is_unordered = true});
  EXPECT_EQ(manager->touched(), 0u);
  for (uint32_t source = 0; source < 1000; ++source) {
    ars.clear();
    Read(From(source, source % 16), 1, Incr(0, 1));
    TakeAll();
    RespondR(ars[0]);
    Pump();
  }
  EXPECT_EQ(manager->touched(), 1u);
}

// ---- Reset and loss.

TEST_F(Managers, AResetAnswersAllThatThePortHolds) {
  Make({.ids = 4, .address_places = 2, .beat_places = 4});
  WriteZeros(From(), 1, Incr(0, 64, 1));  // some beats in the channel
  WriteZeros(From(), 2, Incr(0, 1, 2));   // AW in the channel
  WriteZeros(From(), 3, Incr(0, 1, 3));   // not issued
  Read(From(), 4, Incr(0, 2, 1));         // some beats arrive
  Read(From(), 5, Incr(0, 1, 2));
  Read(From(), 6, Incr(0, 1, 3));
  Pump();
  Address ar;
  ASSERT_TRUE(manager->TakeAr(&ar));
  ReadBeat beat = {};
  beat.id = ar.id;
  EXPECT_TRUE(manager->SendR(beat));
  manager->CheckInvariants();

  manager->Reset(true);
  manager->CheckInvariants();
  EXPECT_FALSE(manager->CanTake());
  Address address;
  WriteBeat w;
  EXPECT_FALSE(manager->TakeAw(&address));
  EXPECT_FALSE(manager->TakeW(&w));
  EXPECT_FALSE(manager->TakeAr(&address));
  beat.last = 1;
  EXPECT_FALSE(manager->SendR(beat));
  Pump();
  std::vector<bool> seen(7);
  for (int i = 0; i < 6; ++i) {
    const GotAnswer got = TakeAnswer();
    EXPECT_EQ(got.answer.status, Status::kReset);
    EXPECT_EQ(got.answer.is_read, got.number > 3);
    EXPECT_FALSE(seen[got.number]);
    seen[got.number] = true;
  }
  EXPECT_EQ(manager->counters().reset, 6u);

  manager->Reset(false);
  EXPECT_TRUE(manager->CanTake());
  WriteZeros(From(), 7, Incr(0, 64, 1));
  TakeAll();
  EXPECT_EQ(aws.size(), 1u);
  EXPECT_EQ(ws.size(), 64u);
  RespondB(aws[0].id);
  Pump();
  ExpectAnswer(7, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Managers, AResetKeepsAnswersAndParts) {
  sink.credit[kSource] = 0;
  Read(From(), 1, Incr(0, 1));
  TakeAll();
  RespondR(ars[0]);
  WritePart(2, 0, 2);
  manager->Reset(true);
  sink.credit.clear();
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  manager->Reset(false);
  WritePart(2, 3, 3);
  EXPECT_EQ(manager->counters().served_writes, 1u);
  EXPECT_EQ(manager->counters().reset, 0u);
}

TEST_F(Managers, AResetEndsABurstOfWhichSomeIsIssued) {
  Make({.bus_bytes = 4, .address_places = 1, .beat_places = 1});
  WriteZeros(From(), 1, Incr(0, 32, 0, 7));
  Read(From(), 2, Incr(0, 32, 0, 7));
  Pump();
  manager->Reset(true);
  Pump();
  EXPECT_EQ(sink.answers.size(), 2u);
  EXPECT_EQ(manager->counters().reset, 2u);
  manager->Reset(false);
  TakeAll();
  EXPECT_TRUE(aws.empty() && ws.empty() && ars.empty());
}

TEST_F(Managers, AResetForgetsSurplusBeats) {
  Read(From(), 1, Incr(0, 1));
  TakeAll();
  ReadBeat beat = {};
  beat.id = ars[0].id;
  EXPECT_TRUE(manager->SendR(beat));  // without RLAST
  manager->Reset(true);
  manager->Reset(false);
  Read(From(), 2, Incr(0, 1));
  TakeAll();
  RespondR(ars[1]);
  Pump();
  EXPECT_EQ(sink.answers.size(), 2u);
}

TEST_F(Managers, ALostInterfaceGetsNoAnswers) {
  Make({.interfaces = 2, .transactions_per_source = 2});
  sink.credit[ServedLane(From(5, 1))] = 0;
  Read(From(5, 1), 1, Incr(0, 1));
  Read(From(5, 0), 2, Incr(0, 1));
  TakeAll();
  RespondR(ars[0]);                 // its answer waits
  Read(From(5, 1), 3, Incr(0, 1));  // with the SoC
  TakeAll();
  const auto part = EncodeWrite(4, Incr(0, 32), std::vector<WriteBeat>(32), 32, 0);
  Give(From(5, 1), part[0]);
  manager->OnInterfaceLost(1);
  manager->CheckInvariants();
  EXPECT_EQ(manager->counters().truncated, 1u);
  sink.credit.clear();
  RespondR(ars[2]);
  RespondR(ars[1]);
  Pump();
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
  EXPECT_TRUE(sink.answers.empty());
  // The daemon is there again.
  Read(From(5, 1), 5, Incr(0, 1));
  TakeAll();
  RespondR(ars[3]);
  Pump();
  ExpectAnswer(5, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Managers, ASinkWithoutDaemonTakesNoAnswers) {
  sink.is_lost[0] = true;
  Read(From(), 1, Incr(0, 1));
  TakeAll();
  RespondR(ars[0]);
  Pump();
  EXPECT_FALSE(manager->HasAnswers());
}

}  // namespace
}  // namespace suede::axi
