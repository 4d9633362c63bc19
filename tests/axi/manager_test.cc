// SPDX-License-Identifier: Apache-2.0
// Rules of docs/axi.md that concern the manager port.
#include "axi/manager.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "manager_world.h"

namespace suede::axi {
namespace {

Address Incr(uint64_t address, uint32_t beats, uint32_t id = 0, uint8_t size = 5) {
  Address burst = {};
  burst.address = address;
  burst.len = static_cast<uint8_t>(beats - 1);
  burst.size = size;
  burst.burst = SUEDE_AXI_INCR;
  burst.id = id;
  return burst;
}

class Managers : public ManagerWorld {
 protected:
  void SetUp() override { Make({}); }
  // Gives the first commands of a write of `beats` of 32 octets.
  void WritePart(uint32_t number, uint32_t first, uint32_t last, uint32_t beats = 32,
                 uint32_t source = kSource) {
    const Address burst = Incr(0, beats);
    sink.Expect(ServedLane(From(source)), number, burst);
    const std::vector<WriteBeat> data(beats, WriteBeat{.strobes = {~0ull, ~0ull}});
    const std::vector<WireCommand> commands = EncodeWrite(number, burst, data, 32, 0);
    for (uint32_t part = first; part <= last; ++part) Give(From(source), commands.at(part));
  }
  uint64_t Malformed() { return manager->counters().malformed; }
};

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

// ---- Assembly.

TEST_F(Managers, TheNextRequestDropsAPartWithStrictOrdering) {
  WritePart(1, 0, 2);
  WritePart(2, 0, 1);
  EXPECT_EQ(manager->counters().truncated, 1u);
  WritePart(2, 2, 3);
  EXPECT_EQ(manager->counters().served_writes, 1u);
  WritePart(3, 0, 0);
  Read(From(), 4, Incr(0, 1));
  EXPECT_EQ(manager->counters().truncated, 2u);
  WritePart(5, 0, 0);
  WriteZeros(From(), 6, Incr(0, 1));
  EXPECT_EQ(manager->counters().truncated, 3u);
  EXPECT_EQ(manager->counters().served_writes, 2u);
  EXPECT_EQ(manager->counters().served_reads, 1u);
  EXPECT_TRUE(sink.answers.empty());
}

TEST_F(Managers, PartsOfDifferentSourcesDoNotMeet) {
  WritePart(1, 0, 2, 32, 5);
  WritePart(1, 0, 1, 32, 6);
  WritePart(1, 3, 3, 32, 5);
  WritePart(1, 2, 3, 32, 6);
  EXPECT_EQ(manager->counters().served_writes, 2u);
  EXPECT_EQ(manager->counters().truncated, 0u);
}

TEST_F(Managers, AContinuationThatDoesNotFollowIsMalformed) {
  WritePart(1, 0, 0);
  WritePart(1, 2, 2);
  EXPECT_EQ(Malformed(), 1u);
  ExpectAnswer(1, Status::kMalformed, SUEDE_AXI_SLVERR);
  WritePart(1, 3, 3);
  EXPECT_EQ(Malformed(), 2u);
  EXPECT_TRUE(sink.answers.empty()) << "answered already";
}

TEST_F(Managers, AMalformedRequestDropsAPartWithStrictOrdering) {
  WritePart(1, 0, 1);
  uint8_t control[kRequestControlBytes];
  EncodeRequest(Kind::kWrite, 2, Incr(0, 1), 0, control);  // without data
  Give(From(), {.control = {control, control + sizeof control}, .data = {}});
  ExpectAnswer(2, Status::kMalformed, SUEDE_AXI_SLVERR);
  EXPECT_EQ(manager->counters().truncated, 1u);
  WritePart(1, 2, 2);
  EXPECT_EQ(Malformed(), 2u);
}

TEST_F(Managers, UnorderedPartsArriveInAnyOrder) {
  Make({.is_unordered = true});
  Random random(5);
  for (uint32_t run = 0; run < 300; ++run) {
    // Eight writes at a time, their commands mixed.
    std::vector<WireCommand> all;
    std::vector<std::vector<WriteBeat>> contents(8);
    for (uint32_t i = 0; i < 8; ++i) {
      Address burst = Incr(0, 1 + Below(random, 128));
      burst.user[0] = i;
      contents[i] = RandomBeats(random, burst, 32, Below(random, 2) == 0, 0);
      for (WireCommand& each : EncodeWrite(run * 8 + i, burst, contents[i], 32, 0)) {
        all.push_back(std::move(each));
      }
    }
    std::shuffle(all.begin(), all.end(), random);
    for (const WireCommand& each : all) Give(From(), each);
    aws.clear();
    ws.clear();
    TakeAll();
    ASSERT_EQ(aws.size(), 8u);
    size_t beat = 0;
    for (const Address& issued : aws) {
      for (const WriteBeat& each : contents[issued.user[0]]) {
        const uint32_t strobes = static_cast<uint32_t>(ws[beat].strobes[0]);
        EXPECT_EQ(strobes, static_cast<uint32_t>(each.strobes[0]));
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if ((strobes >> lane & 1) != 0) {
            EXPECT_EQ(ws[beat].data[lane], each.data[lane]);
          }
        }
        ++beat;
      }
      RespondB(issued.id);
    }
    EXPECT_EQ(beat, ws.size());
    Pump();
    EXPECT_EQ(sink.answers.size(), 8u);
    sink.answers.clear();
  }
  EXPECT_EQ(manager->counters().truncated, 0u);
  EXPECT_EQ(Malformed(), 0u);
}

TEST_F(Managers, TheNinthUnorderedPartReplacesTheOldest) {
  Make({.is_unordered = true});
  for (uint32_t number = 1; number <= 8; ++number) WritePart(number, 1, 1);
  WriteZeros(From(), 20, Incr(0, 1));  // needs no place
  EXPECT_EQ(manager->counters().truncated, 0u);
  WritePart(9, 0, 0);
  EXPECT_EQ(manager->counters().truncated, 1u);
  WritePart(2, 0, 0);
  WritePart(2, 2, 3);
  EXPECT_EQ(manager->counters().served_writes, 2u);
  WritePart(1, 0, 0);  // begins anew
  WritePart(1, 2, 3);
  EXPECT_EQ(manager->counters().served_writes, 2u);
}

TEST_F(Managers, APartThatComesTwiceIsMalformed) {
  Make({.is_unordered = true});
  WritePart(1, 1, 1);
  WritePart(1, 1, 1);
  ExpectAnswer(1, Status::kMalformed, SUEDE_AXI_SLVERR);
  WritePart(2, 0, 0);
  WritePart(2, 0, 0);
  ExpectAnswer(2, Status::kMalformed, SUEDE_AXI_SLVERR);
  EXPECT_EQ(Malformed(), 2u);
}

// ---- Commands that break a rule.

TEST_F(Managers, AMalformedRequestIsAnswered) {
  Address burst = Incr(0, 1);
  burst.burst = 3;
  uint8_t control[kRequestControlBytes];
  EncodeRequest(Kind::kRead, 5, burst, 0, control);
  Give(From(), {.control = {control, control + sizeof control}, .data = {}});
  const GotAnswer got = TakeAnswer();
  EXPECT_EQ(got.answer.status, Status::kMalformed);
  EXPECT_TRUE(got.answer.is_read);
  EncodeRequest(Kind::kWrite, 6, Incr(4095, 1, 0, 0), 1, control);
  Give(From(), {.control = {control, control + sizeof control}, .data = {1, 2}});
  ExpectAnswer(6, Status::kMalformed, SUEDE_AXI_SLVERR);
  EncodeRequest(Kind::kWrite, 7, Incr(0, 1), 0, control);
  Give(From(), {.control = {control, control + sizeof control}, .data = {}});
  ExpectAnswer(7, Status::kMalformed, SUEDE_AXI_SLVERR);
  EXPECT_EQ(Malformed(), 3u);
  sink.credit[kSource] = 0;
  Give(From(), {.control = {control, control + sizeof control}, .data = {}});
  EXPECT_EQ(Malformed(), 4u);
  EXPECT_EQ(manager->counters().dropped, 0u);
}

TEST_F(Managers, OtherCommandsAreForeign) {
  uint8_t control[kMaxControlBytes];
  EncodeAnswer(1, {}, 0, control);
  Give(From(), {.control = {control, control + kAnswerControlBytes}, .data = {}});
  EncodeMore(Kind::kAnswerMore, 1, 1, 4, control);
  Give(From(), {.control = {control, control + kMoreControlBytes}, .data = {1, 2, 3, 4}});
  Give(From(), {.control = std::vector<uint8_t>(18), .data = {}});
  Give(From(), {.control = {0xc1, 0}, .data = {}});
  EXPECT_EQ(manager->counters().foreign, 4u);
  EXPECT_EQ(Malformed(), 0u);
  EXPECT_EQ(sink.commands, 0u);
}

// ---- Transfers that no transaction waits for.

TEST_F(Managers, UnknownIdsAreUnexpected) {
  WriteResponse b = {};
  ReadBeat r = {};
  for (const uint32_t id : {0u, 63u, 64u, UINT32_MAX}) {
    b.id = r.id = id;
    EXPECT_FALSE(manager->SendB(b));
    EXPECT_FALSE(manager->SendR(r));
  }
  WriteZeros(From(), 1, Incr(0, 64));
  Pump();  // not all beats have a place
  Address address;
  ASSERT_TRUE(manager->TakeAw(&address));
  b.id = address.id;
  EXPECT_FALSE(manager->SendB(b)) << "the SoC has not seen all beats";
  EXPECT_EQ(manager->counters().unexpected, 9u);
  TakeAll();
  RespondB(address.id);
  EXPECT_FALSE(manager->SendB(b));
  EXPECT_EQ(manager->counters().unexpected, 10u);
}

TEST_F(Managers, AnEarlyLastBeatEndsTheBurst) {
  Read(From(), 1, Incr(0, 4));
  TakeAll();
  ReadBeat beat = {};
  beat.id = ars[0].id;
  beat.data[0] = 9;
  EXPECT_TRUE(manager->SendR(beat));
  beat.last = 1;
  EXPECT_TRUE(manager->SendR(beat));
  EXPECT_EQ(manager->counters().unexpected, 1u);
  Pump();
  const GotAnswer got = TakeAnswer();
  EXPECT_EQ(got.responses, (std::vector<uint8_t>{0, 0, SUEDE_AXI_SLVERR, SUEDE_AXI_SLVERR}));
  EXPECT_EQ(got.octets[32], 9);
  EXPECT_EQ(got.octets[64], 0);
  EXPECT_EQ(got.octets[127], 0);
  EXPECT_FALSE(manager->SendR(beat));
}

TEST_F(Managers, AnEarlyLastBeatEndsOneIssuedBurstOfSeveral) {
  Make({.bus_bytes = 4});
  Read(From(), 1, Incr(0, 32, 0, 7));
  TakeAll();
  ASSERT_EQ(ars.size(), 4u);
  ReadBeat beat = {};
  beat.id = ars[0].id;
  beat.last = 1;
  EXPECT_TRUE(manager->SendR(beat));
  for (int i = 1; i < 4; ++i) RespondR(ars[i]);
  Pump();
  const GotAnswer got = TakeAnswer();
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(got.responses[i], i < 8 ? SUEDE_AXI_SLVERR : 0);
}

TEST_F(Managers, BeatsBeyondABurstAreUnexpected) {
  Read(From(), 1, Incr(0, 1));
  Read(From(), 2, Incr(0, 1));
  TakeAll();
  ReadBeat beat = {};
  beat.id = ars[0].id;
  EXPECT_TRUE(manager->SendR(beat));
  EXPECT_FALSE(manager->SendR(beat));
  beat.last = 1;
  EXPECT_FALSE(manager->SendR(beat));
  EXPECT_EQ(manager->counters().unexpected, 2u);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  EXPECT_TRUE(sink.answers.empty());
  EXPECT_TRUE(manager->SendR(beat)) << "the next burst";
  Pump();
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
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
