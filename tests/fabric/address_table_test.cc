// SPDX-License-Identifier: Apache-2.0
#include "fabric/address_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace suede::fabric {
namespace {

using Learnt = AddressTable::Learnt;

constexpr Duration kAge = std::chrono::seconds(10);

NetAddress A(uint64_t number) { return {.low = number}; }
Time Second(int64_t s) { return TimeFromNs(s * 1'000'000'000); }

TEST(AddressTable, LearntEntriesAge) {
  AddressTable table({16, 16, kAge}, 4);
  EXPECT_EQ(table.Learn(A(1), 2, Second(0)), Learnt::kNew);
  EXPECT_EQ(table.Learn(A(1), 2, Second(5)), Learnt::kKnown);
  EXPECT_EQ(table.Find(A(1), Second(15)), 2);
  EXPECT_EQ(table.Find(A(1), Second(16)), AddressTable::kNoPort);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.Age(Second(16), static_cast<uint32_t>(table.places().size())), 1u);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.learnt_on(2), 0u);
}

TEST(AddressTable, AddressesMoveBetweenPorts) {
  AddressTable table({16, 16, kAge}, 4);
  table.Learn(A(1), 2, Second(0));
  EXPECT_EQ(table.Learn(A(1), 3, Second(1)), Learnt::kMoved);
  EXPECT_EQ(table.Find(A(1), Second(1)), 3);
  EXPECT_EQ(table.learnt_on(2), 0u);
  EXPECT_EQ(table.learnt_on(3), 1u);
}

TEST(AddressTable, ConfiguredEntriesStay) {
  AddressTable table({16, 16, kAge}, 4);
  EXPECT_TRUE(table.AddStatic(A(1), 1));
  EXPECT_EQ(table.Learn(A(1), 3, Second(0)), Learnt::kStatic);
  EXPECT_EQ(table.Find(A(1), Second(1'000'000)), 1);
  EXPECT_TRUE(table.AddStatic(A(1), 2));
  EXPECT_EQ(table.Find(A(1), Second(0)), 2);
  EXPECT_TRUE(table.Remove(A(1)));
  EXPECT_FALSE(table.Remove(A(1)));
  EXPECT_EQ(table.Find(A(1), Second(0)), AddressTable::kNoPort);
}

// A port from which frames with ever new sources come leaves the others their room.
TEST(AddressTable, OnePortCannotFillTheTable) {
  AddressTable table({100, 40, kAge}, 4);
  for (uint64_t i = 0; i < 1000; ++i) table.Learn(A(1000 + i), 0, Second(0));
  EXPECT_EQ(table.learnt_on(0), 40u);
  EXPECT_EQ(table.Learn(A(1), 1, Second(0)), Learnt::kNew);
  EXPECT_EQ(table.Find(A(1), Second(0)), 1);
  // A known address may not move to the full port, either.
  EXPECT_EQ(table.Learn(A(1), 0, Second(0)), Learnt::kFull);
  EXPECT_EQ(table.Find(A(1), Second(0)), 1);
}

TEST(AddressTable, ForgetsWhatAPortHasLearnt) {
  AddressTable table({64, 64, kAge}, 4);
  for (uint64_t i = 0; i < 40; ++i) table.Learn(A(i), static_cast<uint16_t>(i % 2), Second(0));
  table.AddStatic(A(100), 1);
  table.Forget(1);
  EXPECT_EQ(table.size(), 21u);
  for (uint64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(table.Find(A(i), Second(0)), i % 2 == 0 ? 0 : AddressTable::kNoPort) << i;
  }
  EXPECT_EQ(table.Find(A(100), Second(0)), 1);
}

// A port whose link flaps costs the others nothing: its entries end at once, and ageing makes room.
TEST(AddressTable, ForgottenEntriesGiveTheirRoomByAndBy) {
  AddressTable table({200, 100, kAge}, 4);
  for (uint64_t i = 0; i < 200; ++i) table.Learn(A(i), i % 2, Second(0));
  table.Forget(1);
  EXPECT_EQ(table.forgotten(), 100u);
  EXPECT_EQ(table.size(), 100u);
  EXPECT_EQ(table.Learn(A(1000), 1, Second(0)), Learnt::kFull);
  // A forgotten address still has its place; another port may take it as well.
  EXPECT_EQ(table.Learn(A(1), 1, Second(0)), Learnt::kNew);
  EXPECT_EQ(table.Learn(A(3), 2, Second(0)), Learnt::kNew);
  EXPECT_FALSE(table.Remove(A(5)));
  EXPECT_EQ(table.forgotten(), 97u);
  table.Forget(1);  // again, before ageing has come by
  EXPECT_EQ(table.Find(A(1), Second(0)), AddressTable::kNoPort);
  EXPECT_EQ(table.learnt_on(1), 0u);
  EXPECT_EQ(table.Age(Second(0), 2 * static_cast<uint32_t>(table.places().size())), 98u);
  EXPECT_EQ(table.forgotten(), 0u);
  EXPECT_EQ(table.learnt_on(0), 100u);
  EXPECT_EQ(table.Find(A(3), Second(0)), 2);
  EXPECT_EQ(table.Learn(A(1000), 1, Second(0)), Learnt::kNew);
}

// The bound of a port holds for its new entries and for those that it takes from another one.
TEST(AddressTable, APortTakesNoForgottenEntryBeyondItsBound) {
  AddressTable table({16, 2, kAge}, 4);
  for (uint64_t i = 1; i <= 2; ++i) table.Learn(A(i), 0, Second(0));
  table.Learn(A(3), 1, Second(0));
  table.Forget(1);
  EXPECT_EQ(table.Learn(A(3), 0, Second(0)), Learnt::kFull);
  EXPECT_EQ(table.Find(A(3), Second(0)), AddressTable::kNoPort);
  EXPECT_EQ(table.forgotten(), 1u);
  EXPECT_EQ(table.Learn(A(3), 2, Second(0)), Learnt::kNew);
}

// Against a map, with so few addresses that chains form and break.
TEST(AddressTable, AgreesWithAMap) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    AddressTable table({24, 24, kAge}, 4);
    struct Known {
      uint16_t port;
      bool is_static = false;
    };
    std::map<uint64_t, Known> model;
    for (int i = 0; i < 500; ++i) {
      const uint64_t number = random() % 40 * 0x100000001;
      const auto port = static_cast<uint16_t>(random() % 4);
      switch (random() % 8) {
        case 0:
          table.Forget(port);
          std::erase_if(model, [port](const auto& one) {
            return !one.second.is_static && one.second.port == port;
          });
          break;
        case 1:
          table.Age(Second(0), 5);
          break;
        case 2:
          EXPECT_EQ(table.Remove(A(number)), model.erase(number) == 1);
          break;
        case 3:
        case 4:
          if (table.AddStatic(A(number), port))
            model[number] = {port, true};
          else
            model.erase(number);
          break;
        default:
          switch (table.Learn(A(number), port, Second(0))) {
            case Learnt::kNew:
            case Learnt::kMoved:
              model[number] = {port};
              break;
            case Learnt::kFull:
              EXPECT_GE(model.size() + table.forgotten(), 24u);
              break;
            default:
              EXPECT_TRUE(model.contains(number));
          }
      }
      ASSERT_EQ(table.size(), model.size());
      for (const auto& [address, where] : model)
        ASSERT_EQ(table.Find(A(address), Second(0)), where.port);
    }
  }
}

}  // namespace
}  // namespace suede::fabric
