// SPDX-License-Identifier: Apache-2.0
#include "axi/monitor.h"

#include <gtest/gtest.h>

#include <list>

#include "manager_world.h"

namespace suede::axi {
namespace {

Address Access(uint64_t address, uint32_t id = 0, uint8_t len = 0, uint8_t size = 3) {
  Address burst = {};
  burst.address = address;
  burst.id = id;
  burst.len = len;
  burst.size = size;
  burst.burst = SUEDE_AXI_INCR;
  burst.lock = 1;
  return burst;
}

Address PlainAccess(uint64_t address) {
  Address burst = Access(address);
  burst.lock = 0;
  return burst;
}

TEST(Monitor, AWriteIsPermittedAfterAReadOfTheSameShape) {
  Monitor monitor(4);
  EXPECT_FALSE(monitor.Permits(1, Access(64)));
  monitor.Reserve(1, Access(64));
  EXPECT_TRUE(monitor.Permits(1, Access(64)));
  EXPECT_FALSE(monitor.Permits(2, Access(64)));
  EXPECT_FALSE(monitor.Permits(1, Access(64, 1)));
  EXPECT_FALSE(monitor.Permits(1, Access(72)));
  EXPECT_FALSE(monitor.Permits(1, Access(64, 0, 1)));
  EXPECT_FALSE(monitor.Permits(1, Access(64, 0, 0, 2)));
}

TEST(Monitor, ANewReservationReplacesTheOldOneOfTheSameId) {
  Monitor monitor(4);
  monitor.Reserve(1, Access(64));
  monitor.Reserve(1, Access(128));
  EXPECT_EQ(monitor.reservations(), 1u);
  EXPECT_FALSE(monitor.Permits(1, Access(64)));
  EXPECT_TRUE(monitor.Permits(1, Access(128)));
}

TEST(Monitor, TheOldestOf64IsReplaced) {
  Monitor monitor(4);
  for (uint32_t id = 0; id < 64; ++id) monitor.Reserve(1, Access(8 * id, id));
  monitor.Reserve(1, Access(0, 0));  // the youngest now
  monitor.Reserve(2, Access(1024));
  EXPECT_EQ(monitor.reservations(), 64u);
  EXPECT_TRUE(monitor.Permits(1, Access(0, 0)));
  EXPECT_FALSE(monitor.Permits(1, Access(8, 1)));
  EXPECT_TRUE(monitor.Permits(1, Access(16, 2)));
  EXPECT_TRUE(monitor.Permits(2, Access(1024)));
}

TEST(Monitor, AWriteEndsReservationsWhenItIsIssuedAndWhenItIsAnswered) {
  Monitor monitor(4);
  monitor.Reserve(1, Access(64));
  monitor.Reserve(1, Access(96, 1));
  const uint32_t place = monitor.OnWriteIssued(Access(71, 0, 0, 0));
  EXPECT_FALSE(monitor.Permits(1, Access(64)));
  EXPECT_TRUE(monitor.Permits(1, Access(96, 1)));
  monitor.Reserve(1, Access(64));
  EXPECT_FALSE(monitor.Permits(1, Access(64))) << "a write is under way";
  EXPECT_EQ(monitor.reservations(), 2u);
  monitor.OnWriteEnded(place);
  EXPECT_EQ(monitor.reservations(), 1u);
  EXPECT_FALSE(monitor.Permits(1, Access(64)));
}

TEST(Monitor, AnExclusiveWriteUnderWayHoldsBackThoseThatOverlapIt) {
  Monitor monitor(4);
  const uint32_t plain = monitor.OnWriteIssued(PlainAccess(64));
  EXPECT_FALSE(monitor.HoldsBack(PlainAccess(64)));
  const uint32_t exclusive = monitor.OnWriteIssued(Access(128));
  EXPECT_TRUE(monitor.HoldsBack(PlainAccess(128)));
  EXPECT_FALSE(monitor.HoldsBack(PlainAccess(136)));
  monitor.OnWriteEnded(plain);
  EXPECT_TRUE(monitor.HoldsBack(PlainAccess(128)));
  monitor.OnWriteEnded(exclusive);
  EXPECT_FALSE(monitor.HoldsBack(PlainAccess(128)));
  monitor.OnWriteIssued(Access(128));
  monitor.Clear();
  EXPECT_FALSE(monitor.HoldsBack(PlainAccess(128)));
}

TEST(Monitor, AWriteOfTheNextOctetEndsNothing) {
  Monitor monitor(4);
  monitor.Reserve(1, Access(64));
  monitor.OnWriteIssued(Access(63, 0, 0, 0));
  monitor.OnWriteIssued(Access(72, 0, 0, 0));
  EXPECT_TRUE(monitor.Permits(1, Access(64)));
}

// The rules of docs/axi.md in lists without bounds but the one of reservations.
TEST(Monitor, AgreesWithThePlainRules) {
  struct Held {
    uint32_t lane;
    Address burst;
  };
  Random random(3);
  for (int run = 0; run < 200; ++run) {
    Monitor monitor(16);
    std::list<Held> held;
    std::vector<std::pair<uint32_t, Address>> writes;
    const auto end = [&](const Address& write) {
      held.remove_if(
          [&](const Held& each) { return RangeOf(each.burst).Overlaps(RangeOf(write)); });
    };
    for (int step = 0; step < 400; ++step) {
      const uint32_t lane = Below(random, 8);
      const auto size = static_cast<uint8_t>(Below(random, 4));
      const Address burst =
          Access(uint64_t{Below(random, 256)} << size, Below(random, 12), 0, size);
      switch (Below(random, 4)) {
        case 0:
        case 1:
          held.remove_if(
              [&](const Held& each) { return each.lane == lane && each.burst.id == burst.id; });
          if (held.size() == 64) held.pop_front();
          held.push_back({.lane = lane, .burst = burst});
          monitor.Reserve(lane, burst);
          break;
        case 2:
          if (writes.size() == 16 || Below(random, 4) != 0) break;
          end(burst);
          writes.emplace_back(monitor.OnWriteIssued(burst), burst);
          break;
        default:
          if (writes.empty()) break;
          const size_t which = Below(random, static_cast<uint32_t>(writes.size()));
          end(writes[which].second);
          monitor.OnWriteEnded(writes[which].first);
          writes.erase(writes.begin() + static_cast<std::ptrdiff_t>(which));
      }
      ASSERT_EQ(monitor.reservations(), held.size());
      ASSERT_EQ(monitor.writes(), writes.size());
      for (const Held& each : held) {
        bool is_free = true;
        for (const auto& write : writes) {
          if (RangeOf(write.second).Overlaps(RangeOf(each.burst))) is_free = false;
        }
        ASSERT_EQ(monitor.Permits(each.lane, each.burst), is_free);
      }
    }
  }
}

// ---- In the port.

class Exclusive : public ManagerWorld {
 protected:
  void SetUp() override { Make({}); }
  // Issues an exclusive read, and returns its issued burst.
  Address StartRead(uint32_t number, const Address& burst, uint32_t source = kSource) {
    Read(From(source), number, burst);
    TakeAll();
    EXPECT_FALSE(ars.empty());
    EXPECT_EQ(ars.back().lock, 0);
    return ars.back();
  }
  void DoRead(uint32_t number, const Address& burst) {
    RespondR(StartRead(number, burst));
    Pump();
    ExpectAnswer(number, Status::kOk, SUEDE_AXI_EXOKAY);
  }
  // Starts a write, and returns whether it was issued.
  bool StartWrite(uint32_t number, const Address& burst, uint32_t source = kSource) {
    const size_t before = aws.size();
    WriteZeros(From(source), number, burst);
    TakeAll();
    if (aws.size() == before) return false;
    EXPECT_EQ(aws.back().lock, 0);
    return true;
  }
  void EndWrite(uint32_t number, uint8_t response, uint8_t expected) {
    RespondB(aws.back().id, response);
    Pump();
    ExpectAnswer(number, Status::kOk, expected);
  }
  static Address Plain(Address burst) {
    burst.lock = 0;
    return burst;
  }
};

TEST_F(Exclusive, AWriteAfterItsReadSucceedsOnce) {
  DoRead(1, Access(64));
  ASSERT_TRUE(StartWrite(2, Access(64)));
  EndWrite(2, SUEDE_AXI_OKAY, SUEDE_AXI_EXOKAY);
  EXPECT_FALSE(StartWrite(3, Access(64)));
  ExpectAnswer(3, Status::kOk, SUEDE_AXI_OKAY);
  EXPECT_EQ(manager->counters().exclusive_failed, 1u);
}

TEST_F(Exclusive, AnErrorOfTheSocStays) {
  RespondR(StartRead(1, Access(64)), SUEDE_AXI_SLVERR);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_SLVERR);
  ASSERT_TRUE(StartWrite(2, Access(64)));
  EndWrite(2, SUEDE_AXI_DECERR, SUEDE_AXI_DECERR);
}

TEST_F(Exclusive, TheReservationBeginsWhenTheReadIsIssued) {
  const Address read = StartRead(1, Access(64));
  ASSERT_TRUE(StartWrite(2, Access(64)));
  EndWrite(2, SUEDE_AXI_OKAY, SUEDE_AXI_EXOKAY);
  RespondR(read);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_EXOKAY);
}

TEST_F(Exclusive, AWriteOfAnotherSourceBetweenReadAndWriteMakesItFail) {
  const Address read = StartRead(1, Access(64));
  ASSERT_TRUE(StartWrite(9, Plain(Access(68, 0, 0, 0)), 20));
  EndWrite(9, SUEDE_AXI_OKAY, SUEDE_AXI_OKAY);
  RespondR(read);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_EXOKAY);
  EXPECT_FALSE(StartWrite(2, Access(64)));
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Exclusive, AWriteUnderWayWhenTheReadIsIssuedMakesItFail) {
  ASSERT_TRUE(StartWrite(9, Plain(Access(64)), 20));
  DoRead(1, Access(64));
  EXPECT_FALSE(StartWrite(2, Access(64))) << "the write is under way";
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
  EndWrite(9, SUEDE_AXI_OKAY, SUEDE_AXI_OKAY);
  EXPECT_FALSE(StartWrite(3, Access(64))) << "its answer has ended the reservation";
  ExpectAnswer(3, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Exclusive, TheFirstOfTwoSourcesWins) {
  const Address a = StartRead(1, Access(64), 20);
  const Address b = StartRead(1, Access(64), 21);
  RespondR(a);
  RespondR(b);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_EXOKAY);
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_EXOKAY);
  ASSERT_TRUE(StartWrite(2, Access(64), 20));
  EXPECT_FALSE(StartWrite(2, Access(64), 21));
  EXPECT_EQ(TakeAnswer().lane, 21u);
  EndWrite(2, SUEDE_AXI_OKAY, SUEDE_AXI_EXOKAY);
}

TEST_F(Exclusive, TheDecisionFallsWhenTheWriteIsIssued) {
  Make({.address_places = 1});
  DoRead(1, Access(64));
  // One write fills the channel, so the others wait; the plain one comes first.
  WriteZeros(From(20), 5, Plain(Access(4096)));
  WriteZeros(From(20), 6, Plain(Access(64)));
  WriteZeros(From(), 2, Access(64));
  TakeAll();
  EXPECT_EQ(aws.size(), 2u);
  EXPECT_EQ(manager->counters().exclusive_failed, 1u);
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
}

TEST_F(Exclusive, WritesWaitForAnExclusiveOneThatTheyOverlap) {
  DoRead(1, Access(64));
  ASSERT_TRUE(StartWrite(2, Access(64)));
  EXPECT_FALSE(StartWrite(3, PlainAccess(64), 20));
  EXPECT_FALSE(StartWrite(4, PlainAccess(4096), 20)) << "behind one that waits";
  EndWrite(2, SUEDE_AXI_OKAY, SUEDE_AXI_EXOKAY);
  TakeAll();
  EXPECT_EQ(aws.size(), 3u);
  EXPECT_EQ(ws.size(), 3u);
}

TEST_F(Exclusive, ARefusingPortIssuesReadsOnly) {
  Make({.has_monitor = false});
  RespondR(StartRead(1, Access(64)));
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  EXPECT_FALSE(StartWrite(2, Access(64)));
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
  EXPECT_EQ(manager->counters().exclusive_failed, 1u);
}

TEST_F(Exclusive, AnAccessWiderThanTheBusIsAnsweredAsOne) {
  Make({.bus_bytes = 8});
  const Address wide = Access(128, 0, 0, 7);
  DoRead(1, wide);
  ASSERT_TRUE(StartWrite(2, wide));
  EXPECT_EQ(aws.back().len, 15);
  EndWrite(2, SUEDE_AXI_OKAY, SUEDE_AXI_EXOKAY);
}

TEST_F(Exclusive, AResetForgetsReservations) {
  DoRead(1, Access(64));
  manager->Reset(true);
  manager->Reset(false);
  EXPECT_FALSE(StartWrite(2, Access(64)));
}

}  // namespace
}  // namespace suede::axi
