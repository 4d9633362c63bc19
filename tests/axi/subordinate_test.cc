// SPDX-License-Identifier: Apache-2.0
// Rules of the subordinate port, one by one; plays have their combinations.
#include "axi/subordinate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "suede/layout.h"

namespace suede::axi {
namespace {

constexpr uint32_t kBus = 32;
constexpr uint64_t kSpace = 1u << 20;  // of addresses of each XPU

suede_axi_route RouteOf(uint64_t first, uint64_t last, uint16_t xpuid) {
  suede_axi_route route{};
  route.first = first;
  route.last = last;
  route.remote_base = first;
  route.xpuid = xpuid;
  return route;
}

Address BurstAt(uint64_t address, uint32_t beats = 1, uint32_t id = 0) {
  Address burst{};
  burst.address = address;
  burst.id = id;
  burst.len = static_cast<uint8_t>(beats - 1);
  burst.size = 5;
  burst.burst = SUEDE_AXI_INCR;
  return burst;
}

class SubordinatePort : public testing::Test, public BurstSink {
 protected:
  struct Sent {
    Command command;
    Route to;
    uint32_t data_bytes = 0;
    bool wants_completion = false;
    uint32_t tag = 0;
  };

  SubordinatePort() { Make({}); }
  void Make(SubordinateParams params) {
    params.bus_bytes = kBus;
    params.deadline = std::chrono::milliseconds(10);
    port = std::make_unique<Subordinate>(
        params,
        AddressMap(std::vector{RouteOf(0, kSpace - 1, 1), RouteOf(kSpace, 2 * kSpace - 1, 2)}));
  }
  int Send(const Burst& burst) override {
    if (credit == 0) return 0;
    --credit;
    Sent each{.to = burst.to,
              .data_bytes = burst.data_bytes,
              .wants_completion = burst.wants_completion,
              .tag = static_cast<uint32_t>(burst.tag)};
    EXPECT_EQ(ParseControl(burst.controls, (burst.controls[0] & 15u) * 2, burst.data_bytes,
                           &each.command),
              Parsed::kCommand);
    sent.push_back(each);
    return 1;
  }
  void Pump() {
    port->Pump(*this, now);
    port->CheckInvariants();
  }
  void SendBeats(uint32_t beats, int32_t last) {
    for (uint32_t i = 0; i < beats; ++i) {
      WriteBeat beat{};
      beat.strobes[0] = UINT32_MAX;
      beat.last = static_cast<int32_t>(i) == last ? 1 : 0;
      ASSERT_TRUE(port->SendW(beat));
    }
  }
  void SendWrite(const Address& burst) {
    ASSERT_TRUE(port->SendAw(burst));
    SendBeats(BeatsOf(burst), burst.len);
    Pump();
  }
  void Answer(const Sent& request, Status status, uint16_t from_xpuid) {
    axi::Answer answer{.is_read = request.command.kind == Kind::kRead, .status = status};
    uint32_t bytes = 0;
    uint8_t data[kMaxDataBytes] = {};
    if (status != Status::kOk) {
      answer.response = ResponseOf(status);
    } else if (answer.is_read) {
      bytes = ActiveBytes(request.command.address);
    }
    uint8_t control[kMaxControlBytes];
    EncodeAnswer(request.command.number, answer, bytes, control);
    port->OnCommand({.xpuid = from_xpuid, .vc = 1}, control, kAnswerControlBytes, data, bytes);
    Pump();
  }
  // Response of the next B; -1: none.
  int TakeB() {
    WriteResponse response{};
    return port->TakeB(&response) ? response.response : -1;
  }
  int TakeR() {
    ReadBeat beat{};
    return port->TakeR(&beat) ? beat.response : -1;
  }
  uint64_t Ended(Status status) const {
    return port->counters().ended[static_cast<size_t>(status)];
  }

  std::unique_ptr<Subordinate> port;
  std::vector<Sent> sent;
  uint32_t credit = UINT32_MAX;
  Time now = TimeFromMs(1);
};

TEST_F(SubordinatePort, NumbersRequestsAndSendsThemToTheirXpu) {
  Make({.first_number = UINT32_MAX});
  ASSERT_TRUE(port->SendAr(BurstAt(64)));
  ASSERT_TRUE(port->SendAr(BurstAt(kSpace + 64)));
  Pump();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].command.number, UINT32_MAX);
  EXPECT_EQ(sent[1].command.number, 0u);
  EXPECT_EQ(sent[0].to, (Route{.xpuid = 1}));
  EXPECT_EQ(sent[1].to, (Route{.xpuid = 2}));
  EXPECT_TRUE(sent[1].wants_completion);
  EXPECT_EQ(sent[1].tag, 0u);
}

TEST_F(SubordinatePort, PairsBeatsThatComeBeforeTheirAddress) {
  SendBeats(3, 2);
  Pump();
  EXPECT_TRUE(sent.empty());
  ASSERT_TRUE(port->SendAw(BurstAt(0, 3)));
  Pump();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].data_bytes, 3 * kBus);
}

TEST_F(SubordinatePort, RefusesBrokenBurstsAndConsumesTheirBeats) {
  SendWrite(BurstAt(4096 - 32, 2));  // crosses a boundary
  EXPECT_EQ(TakeB(), SUEDE_AXI_SLVERR);
  ASSERT_TRUE(port->SendAw(BurstAt(0, 4)));
  SendBeats(2, 1);  // WLAST is early
  Pump();
  EXPECT_EQ(TakeB(), SUEDE_AXI_SLVERR);
  ASSERT_TRUE(port->SendAw(BurstAt(0, 2)));
  SendBeats(5, 4);  // WLAST is late
  Pump();
  EXPECT_EQ(TakeB(), SUEDE_AXI_SLVERR);
  SendWrite(BurstAt(2 * kSpace, 2));
  EXPECT_EQ(TakeB(), SUEDE_AXI_DECERR);
  EXPECT_TRUE(sent.empty());
  EXPECT_EQ(Ended(Status::kInvalid), 3u);
  EXPECT_EQ(Ended(Status::kNoRoute), 1u);
  EXPECT_EQ(port->open(), 0u);
  SendWrite(BurstAt(0, 2));  // the port goes on
  EXPECT_EQ(sent.size(), 1u);
}

TEST_F(SubordinatePort, ReturnsAnswersOfOneIdInOrder) {
  ASSERT_TRUE(port->SendAr(BurstAt(0, 1, 7)));
  ASSERT_TRUE(port->SendAr(BurstAt(kSpace, 1, 7)));
  ASSERT_TRUE(port->SendAr(BurstAt(kSpace, 1, 8)));
  Pump();
  Answer(sent[1], Status::kOk, 2);
  EXPECT_EQ(TakeR(), -1);
  Answer(sent[2], Status::kReset, 2);
  EXPECT_EQ(TakeR(), SUEDE_AXI_SLVERR);  // of ID 8
  Answer(sent[0], Status::kOk, 1);
  EXPECT_EQ(TakeR(), SUEDE_AXI_OKAY);
  EXPECT_EQ(TakeR(), SUEDE_AXI_OKAY);
  EXPECT_EQ(port->open(), 0u);
}

TEST_F(SubordinatePort, TakesAnswersOfTheTargetOnly) {
  ASSERT_TRUE(port->SendAr(BurstAt(0)));
  Pump();
  Answer(sent[0], Status::kOk, 2);  // another XPU
  EXPECT_EQ(port->counters().stray, 1u);
  Sent write = sent[0];
  write.command.kind = Kind::kWrite;
  Answer(write, Status::kOk, 1);  // of another direction
  EXPECT_EQ(port->counters().stray, 2u);
  EXPECT_EQ(TakeR(), -1);
  Answer(sent[0], Status::kOk, 1);
  EXPECT_EQ(TakeR(), SUEDE_AXI_OKAY);
  Answer(sent[0], Status::kOk, 1);  // again
  EXPECT_EQ(port->counters().stray, 3u);
}

TEST_F(SubordinatePort, EndsAtTheDeadline) {
  ASSERT_TRUE(port->SendAr(BurstAt(0, 2)));
  SendWrite(BurstAt(0, 1));
  ASSERT_TRUE(port->SendAw(BurstAt(0, 2)));  // whose beats do not come
  Pump();
  now += std::chrono::milliseconds(10);
  Pump();
  EXPECT_EQ(TakeR(), SUEDE_AXI_SLVERR);
  EXPECT_EQ(TakeR(), SUEDE_AXI_SLVERR);
  EXPECT_EQ(TakeB(), SUEDE_AXI_SLVERR);
  EXPECT_EQ(TakeB(), -1);  // a B does not come before its last beat
  EXPECT_EQ(Ended(Status::kTimedOut), 2u);
  EXPECT_EQ(port->open(), 1u);
}

TEST_F(SubordinatePort, EndsByItsCompletion) {
  for (uint32_t id = 0; id < 3; ++id) ASSERT_TRUE(port->SendAr(BurstAt(0, 1, id)));
  ASSERT_TRUE(port->SendAr(BurstAt(kSpace, 1, 3)));
  Pump();
  // Requests before that of the completion are in doubt; those behind it and to others stay open.
  port->OnCompletion({.xpuid = 1}, sent[1].command.number, SUEDE_STATUS_UNREACHABLE);
  EXPECT_EQ(Ended(Status::kInDoubt), 1u);
  EXPECT_EQ(Ended(Status::kUnreachable), 1u);
  EXPECT_EQ(port->open(), 4u);  // until they are returned
  Pump();
  EXPECT_EQ(TakeR(), SUEDE_AXI_SLVERR);
  EXPECT_EQ(TakeR(), SUEDE_AXI_DECERR);
  EXPECT_EQ(TakeR(), -1);
  port->OnCompletion({.xpuid = 1}, sent[2].command.number, SUEDE_STATUS_UNKNOWN_XPU);
  EXPECT_EQ(Ended(Status::kUnreachable), 2u);
}

TEST_F(SubordinatePort, EndsWithItsInterface) {
  ASSERT_TRUE(port->SendAr(BurstAt(0)));
  Pump();
  credit = 0;
  ASSERT_TRUE(port->SendAr(BurstAt(0)));
  Pump();
  port->OnInterfaceLost(0);
  EXPECT_EQ(Ended(Status::kInDoubt), 1u);
  EXPECT_EQ(Ended(Status::kUnreachable), 1u);
  Pump();
  EXPECT_EQ(port->open(), 0u);
  EXPECT_FALSE(port->HasUnsent());
}

TEST_F(SubordinatePort, CountsTransactionsOfBeforeAReset) {
  Make({.transactions_to_target = 2});
  for (uint32_t id = 0; id < 2; ++id) ASSERT_TRUE(port->SendAr(BurstAt(0, 1, id)));
  Pump();
  port->Reset();
  EXPECT_EQ(port->counters().abandoned, 2u);
  ASSERT_TRUE(port->SendAr(BurstAt(0, 1, 0)));
  Pump();
  EXPECT_EQ(sent.size(), 2u);  // the target still has two
  Answer(sent[0], Status::kOk, 1);
  EXPECT_EQ(port->counters().stray, 1u);
  EXPECT_EQ(sent.size(), 3u);
  EXPECT_EQ(TakeR(), -1);
  now += std::chrono::milliseconds(10);
  Pump();
  EXPECT_EQ(TakeR(), SUEDE_AXI_SLVERR);
  EXPECT_EQ(port->open(), 0u);
}

TEST_F(SubordinatePort, KeepsOrderOverUnorderedInstances) {
  Make({.is_unordered = true});
  ASSERT_TRUE(port->SendAr(BurstAt(0, 1, 7)));
  ASSERT_TRUE(port->SendAr(BurstAt(0, 1, 7)));
  ASSERT_TRUE(port->SendAr(BurstAt(kSpace, 1, 7)));  // to another XPU
  Pump();
  EXPECT_EQ(sent.size(), 2u);
  Answer(sent[0], Status::kOk, 1);
  EXPECT_EQ(sent.size(), 3u);
}

TEST_F(SubordinatePort, HasEightLongWritesOpenOverUnorderedInstances) {
  Make({.beat_places = 256, .is_unordered = true});
  for (uint32_t id = 0; id < 10; ++id) SendWrite(BurstAt(id * 4096, 9, id));  // two commands each
  EXPECT_EQ(sent.size(), 16u);
  Answer(sent[0], Status::kOk, 1);
  EXPECT_EQ(sent.size(), 18u);
}

TEST_F(SubordinatePort, SendsTheRestOfAWriteWhenCreditReturns) {
  credit = 1;
  SendWrite(BurstAt(0, 24));  // three commands
  EXPECT_EQ(sent.size(), 1u);
  credit = 1;
  Pump();
  EXPECT_EQ(sent.size(), 2u);
  EXPECT_TRUE(port->HasUnsent());
  credit = 5;
  Pump();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[2].command.kind, Kind::kWriteMore);
  EXPECT_EQ(sent[2].command.part, 2u);
  EXPECT_FALSE(port->HasUnsent());
}

// ---- Map and table

TEST(AxiAddressMap, TakesTheFirstEntryThatMatches) {
  std::vector<suede_axi_route> routes = {RouteOf(4096, 8191, 1), RouteOf(0, UINT64_MAX, 2)};
  suede_axi_route by_user = RouteOf(9, 9, 3);
  by_user.by = SUEDE_AXI_BY_USER;
  routes.insert(routes.begin() + 1, by_user);
  routes[0].remote_base = 1u << 30;
  ASSERT_EQ(AddressMap::FindInvalid(routes, 1), nullptr);
  const AddressMap map(routes);
  Address burst = BurstAt(4096 + 64);
  EXPECT_EQ(map.Find(burst)->xpuid, 1u);
  EXPECT_EQ(map.Find(burst)->address, (1u << 30) + 64u);
  burst.address = 64;
  EXPECT_EQ(map.Find(burst)->xpuid, 2u);
  burst.user[0] = 9;
  EXPECT_EQ(map.Find(burst)->xpuid, 3u);
  EXPECT_EQ(map.Find(burst)->address, 64u);
  burst.user[1] = 1;
  EXPECT_EQ(map.Find(burst)->xpuid, 2u);
  EXPECT_FALSE(AddressMap({}).Find(burst).has_value());
  // A burst that leaves the entry of its address.
  const AddressMap narrow(std::vector{RouteOf(0, 63, 1), RouteOf(64, 4095, 2)});
  EXPECT_TRUE(narrow.Find(BurstAt(0, 2)).has_value());
  EXPECT_FALSE(narrow.Find(BurstAt(32, 2)).has_value());
}

TEST(AxiAddressMap, IsReadFromAText) {
  const auto routes = AddressMap::Parse("0-fff:1,1000-1fff:1023:7000");
  ASSERT_TRUE(routes.has_value());
  ASSERT_EQ(routes->size(), 2u);
  EXPECT_EQ((*routes)[0].last, 0xfffu);
  EXPECT_EQ((*routes)[0].remote_base, 0u);
  EXPECT_EQ((*routes)[1].xpuid, 1023);
  EXPECT_EQ((*routes)[1].remote_base, 0x7000u);
  EXPECT_TRUE(AddressMap::Parse("").has_value());
  for (const char* text : {"0", "0-fff", "0-fff:", "0-fff:x", "0-fff:1:", "0-fff:1;", "0-fff:1 2",
                           "0-fff:1024", "0-fff:65537"}) {
    EXPECT_FALSE(AddressMap::Parse(text).has_value()) << text;
  }
}

TEST(AxiAddressMap, SaysWhatIsWrong) {
  const auto error_of = [](suede_axi_route route) {
    const char* const error = AddressMap::FindInvalid(std::vector{route}, 2);
    return std::string(error == nullptr ? "" : error);
  };
  suede_axi_route route = RouteOf(4096, 8191, 1);
  EXPECT_EQ(error_of(route), "");
  route.remote_base = 64;
  EXPECT_NE(error_of(route).find("4096"), std::string::npos);
  route.remote_base = 4096u - 8192u;
  route.last = UINT64_MAX;
  EXPECT_NE(error_of(route), "");
  EXPECT_NE(error_of(RouteOf(2, 1, 1)), "");
  EXPECT_NE(error_of(RouteOf(0, 1, 1024)), "");
  route = RouteOf(0, 1, 1);
  route.interface = 2;
  EXPECT_NE(error_of(route), "");
  route.interface = 0;
  route.by = 2;
  EXPECT_NE(error_of(route), "");
}

TEST(AxiIdTable, IsAsAMap) {
  std::mt19937_64 random(1);
  IdTable<uint32_t> table(64);
  std::map<uint64_t, uint32_t> model;
  for (uint32_t i = 0; i < 200'000; ++i) {
    // Few keys, whose homes lie together.
    const uint64_t key = random() % 96 * (random() % 2 == 0 ? 1 : uint64_t{1} << 40);
    const auto found = model.find(key);
    uint32_t* const value = table.Find(key);
    ASSERT_EQ(value != nullptr, found != model.end());
    if (value == nullptr) {
      if (model.size() == 64) continue;
      table.Insert(key, i);
      model[key] = i;
      continue;
    }
    ASSERT_EQ(*value, found->second);
    if (random() % 2 == 0) {
      table.Erase(key);
      model.erase(found);
    }
    ASSERT_EQ(table.size(), model.size());
  }
  table.Clear();
  EXPECT_EQ(table.Find(0), nullptr);
}

}  // namespace
}  // namespace suede::axi
