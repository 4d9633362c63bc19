// SPDX-License-Identifier: Apache-2.0
// Rules of docs/axi.md that concern the manager port: requests of several commands, and
// commands and transfers that break a rule.
#include <algorithm>

#include "manager_world.h"

namespace suede::axi {
namespace {

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

}  // namespace
}  // namespace suede::axi
