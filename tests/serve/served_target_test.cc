// SPDX-License-Identifier: Apache-2.0
#include "serve/served_target.h"

#include <atomic>
#include <random>
#include <thread>

#include "target_bench.h"

namespace suede {
namespace {

using mem::Opcode;
using mem::Status;

constexpr uint16_t kPartition = 4;

class ServedTargetTest : public ::testing::Test {
 protected:
  ServedTargetTest() { AddWindow(1); }
  void TearDown() override { target.CheckInvariants(); }

  bool AddWindow(uint32_t id, uint16_t partition = mem::Window::kAnyPartition) {
    return target.SetWindow(id, {.kind = ServedWindow::Kind::kLcore,
                                 .window = {.base = memory,
                                            .bytes = sizeof memory,
                                            .partition = partition,
                                            .rights = mem::Window::kAllRights}});
  }
  bool Send(mem::Request request, uint16_t source = 5) {
    request.window = request.window == 0 ? 1 : request.window;
    return Deliver(side.requests, request, source);
  }
  bool Put(uint32_t number, uint64_t offset = 0, uint16_t source = 5) {
    return Send(
        {.opcode = Opcode::kPut, .bytes = 4, .number = number, .offset = offset, .data = octets},
        source);
  }
  bool Immediate(uint32_t number, uint32_t immediate) {
    return Send({.opcode = Opcode::kPutImmediate,
                 .bytes = 4,
                 .number = number,
                 .offset = 8,
                 .data = octets,
                 .immediate = immediate,
                 .total_bytes = 4});
  }
  uint32_t Poll(uint32_t max = 64) { return target.Poll(max, kPartition, rings()); }
  RxRingWriter* rings() { return has_client ? client_rings.data() : nullptr; }
  // The requests in the client's ring of the VC.
  std::vector<mem::Request> PassedOn() {
    client_rings[kRequestVc].Publish();
    std::vector<mem::Request> all;
    ReceivedCommand command;
    while (client.Poll(&command, 1) == 1) {
      mem::Request& request = all.emplace_back();
      EXPECT_EQ(mem::ParseRequest(command.control, command.control_bytes, command.data,
                                  command.data_bytes, &request),
                mem::Parsed::kRequest);
      sources.push_back(command.source_xpuid);
    }
    client.Release();
    return all;
  }

  alignas(8) uint8_t memory[4096] = {};
  const uint8_t octets[256] = {1, 2, 3, 4, 5, 6, 7, 8};
  ServedTarget target{TestShape(), 1u << kRequestVc};
  TargetSide side{target};
  bool has_client = true;
  SegmentMemory client_memory{TestShape()};
  std::array<RxRingWriter, kVcCount> client_rings = {
      RxRingWriter(client_memory.base(), client_memory.shape, 0),
      RxRingWriter(client_memory.base(), client_memory.shape, 1),
      RxRingWriter(client_memory.base(), client_memory.shape, 2),
      RxRingWriter(client_memory.base(), client_memory.shape, 3)};
  ClientReceiver client{client_memory.base(), kRequestVc};
  std::vector<uint16_t> sources;
};

TEST_F(ServedTargetTest, ExecutesAndAnswersInOneTurn) {
  Put(9, 16);
  Put(10, 20);
  Send({.opcode = Opcode::kFetchAdd,
        .is_wide = true,
        .bytes = 8,
        .number = 11,
        .offset = 24,
        .operand = 7});
  EXPECT_EQ(Poll(), 3u);
  EXPECT_EQ(memory[16], 1);
  EXPECT_EQ(memory[24], 7);
  const std::vector<Answered> answers = side.Take();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].response.count, 2);
  EXPECT_EQ(answers[0].response.number, 9u);
  EXPECT_EQ(answers[0].xpuid, 5);
  EXPECT_EQ(answers[0].vc, kResponseVc);
  EXPECT_EQ(answers[1].response.number, 11u);
  EXPECT_EQ(Poll(), 0u);
}

TEST_F(ServedTargetTest, ATurnIsBounded) {
  for (uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(Put(i));
  EXPECT_EQ(Poll(64), 64u);
  EXPECT_EQ(side.Take().at(0).response.count, 64);
  EXPECT_EQ(Poll(64), 36u);
  EXPECT_EQ(target.counters().executed[1], 100u);
}

TEST_F(ServedTargetTest, RequestsThatWaitTakeTheCreditOfTheirVc) {
  uint32_t sent = 0;
  while (Put(sent)) ++sent;
  EXPECT_EQ(sent, 1024u);  // a line each
  EXPECT_EQ(side.requests.FreeLines(), 0u);
  Poll(10);
  EXPECT_EQ(side.requests.FreeLines(), 10u);
}

TEST_F(ServedTargetTest, AWindowThatIsTakenAwayIsTouchedNoMore) {
  EXPECT_FALSE(AddWindow(1));
  EXPECT_TRUE(target.SetWindow(1, {}));
  EXPECT_FALSE(target.SetWindow(1, {}));
  EXPECT_FALSE(target.SetWindow(mem::kMaxWindows, {}));
  Put(1);
  Poll();
  EXPECT_EQ(side.Take().at(0).response.status, Status::kNoWindow);
  EXPECT_EQ(memory[0], 0);
}

TEST_F(ServedTargetTest, ThePartitionIsLookedAtWithEachTurn) {
  AddWindow(2, kPartition);
  AddWindow(3, kPartition + 1);
  const auto status_of = [&](uint16_t window, uint16_t partition) {
    Send({.opcode = Opcode::kGet, .window = window, .bytes = 8, .number = 1});
    target.Poll(64, partition, rings());
    return side.Take().at(0).response.status;
  };
  EXPECT_EQ(status_of(2, kPartition), Status::kOk);
  EXPECT_EQ(status_of(3, kPartition), Status::kPartition);
  EXPECT_EQ(status_of(2, kPartition + 1), Status::kPartition);
  EXPECT_EQ(status_of(3, kPartition + 1), Status::kOk);
}

// An initiator that gives no credit holds its share of places; others are answered meanwhile, and
// once it gives credit it has its answers in order.
TEST_F(ServedTargetTest, ResponsesWithoutCreditWaitAndOthersGoOn) {
  uint32_t number = 0;
  for (; target.counters().dropped == 0; ++number) {
    Send({.opcode = Opcode::kGet, .bytes = 256, .number = number}, 6);
    Poll();
    side.Take(/*gives_credit=*/false);
    ASSERT_LT(number, 10000u);
  }
  EXPECT_GE(target.counters().waited, 1000u);
  Put(77, 0, 5);
  Poll();
  const std::vector<Answered> other = side.Take();
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].xpuid, 5);
  // All the credit comes back.
  const uint32_t in_flight = side.credits.OutstandingTo(6);
  side.credits.Return(6, kResponseVc, in_flight);
  uint32_t next = in_flight / RecordLines(8 + 256);
  for (int turn = 0; turn < 1000 && next < number - 1; ++turn) {
    Poll();
    for (const Answered& answered : side.Take()) EXPECT_EQ(answered.response.number, next++);
  }
  EXPECT_EQ(next, number - 1) << "all but the one that was dropped";
}

TEST_F(ServedTargetTest, ManyThatWaitAreTriedBitByBit) {
  const auto flood = [&] {
    for (uint16_t source = 0; source < 900; ++source) {
      Put(source, 0, source);
      Poll();
    }
  };
  // The queue is out of service: nothing can be sent to anyone.
  SetQueueState(target.segment(), 0, SUEDE_QUEUE_IN_RESET);
  flood();
  EXPECT_TRUE(side.Take().empty());
  EXPECT_EQ(target.counters().waited, 900u);
  SetQueueState(target.segment(), 0, SUEDE_QUEUE_READY);
  std::vector<bool> answered(900);
  size_t max = 0;
  for (int turn = 0; turn < 100; ++turn) {
    Poll();
    const std::vector<Answered> some = side.Take();
    max = std::max(max, some.size());
    for (const Answered& each : some) answered[each.xpuid] = true;
  }
  EXPECT_EQ(std::count(answered.begin(), answered.end(), true), 900);
  EXPECT_LE(max, 64u);
}

TEST_F(ServedTargetTest, NoticesAreCarriedToTheClient) {
  Immediate(1, 42);
  Poll();
  EXPECT_EQ(target.TakePassedOn(), 1u << kRequestVc);
  const std::vector<mem::Request> notices = PassedOn();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].opcode, Opcode::kPutImmediate);
  EXPECT_EQ(notices[0].immediate, 42u);
  EXPECT_EQ(notices[0].total_bytes, 4u);
  EXPECT_EQ(notices[0].offset, 12u);
  EXPECT_EQ(notices[0].bytes, 0);
  EXPECT_EQ(sources.at(0), 5);
  EXPECT_EQ(target.passed_on_count(), 0u) << "it is no request";
}

TEST_F(ServedTargetTest, NoticesThatFindNoRoomMakeTheTargetBusy) {
  uint32_t sent = 0;
  Status status = Status::kOk;
  while (status == Status::kOk) {
    Immediate(sent, sent);
    Poll();
    status = side.Take().at(0).response.status;
    ASSERT_LT(++sent, 5000u);
  }
  EXPECT_EQ(status, Status::kBusy);
  EXPECT_EQ(sent, 1024u + 1024u + 1u);  // ring and queue
  Put(1, 512);
  Poll();
  EXPECT_EQ(side.Take().at(0).response.status, Status::kOk);
  uint32_t next = 0;
  for (int turn = 0; turn < 100; ++turn, Poll()) {
    for (const mem::Request& notice : PassedOn()) EXPECT_EQ(notice.immediate, next++);
  }
  EXPECT_EQ(next, sent - 1);
}

TEST_F(ServedTargetTest, RequestsForWindowsOfTheProgramArePassedOnAsTheyAre) {
  EXPECT_TRUE(target.SetWindow(9, {.kind = ServedWindow::Kind::kProgram}));
  EXPECT_FALSE(AddWindow(9));
  Send({.opcode = Opcode::kPut,
        .window = 9,
        .bytes = 8,
        .number = 3,
        .key = 5,
        .offset = 70,
        .data = octets},
       8);
  EXPECT_EQ(Poll(), 1u);
  EXPECT_TRUE(side.Take().empty());
  const std::vector<mem::Request> passed = PassedOn();
  ASSERT_EQ(passed.size(), 1u);
  EXPECT_EQ(passed[0].key, 5u);
  EXPECT_EQ(passed[0].offset, 70u);
  EXPECT_EQ(passed[0].bytes, 8);
  EXPECT_EQ(sources.at(0), 8);
  EXPECT_TRUE(target.SetWindow(9, {}));
  Send({.opcode = Opcode::kGet, .window = 9, .bytes = 8, .number = 4});
  Poll();
  EXPECT_EQ(side.Take().at(0).response.status, Status::kNoWindow);
}

TEST_F(ServedTargetTest, AProgramThatDoesNotServeStopsWhatIsBehind) {
  target.SetWindow(9, {.kind = ServedWindow::Kind::kProgram});
  uint32_t passed = 0;
  for (uint32_t number = 0; passed == 0; ++number) {
    Send({.opcode = Opcode::kGet, .window = 9, .bytes = 8, .number = number});
    if (Poll() == 0) passed = number;
  }
  EXPECT_EQ(passed, 1024u);
  Put(7, 100);
  EXPECT_EQ(Poll(), 0u);
  EXPECT_EQ(memory[100], 0);
  // Once it goes on, all is as it was sent.
  std::vector<mem::Request> all = PassedOn();
  EXPECT_EQ(Poll(), 2u);
  EXPECT_EQ(memory[100], 1);
  for (const mem::Request& request : PassedOn()) all.push_back(request);
  ASSERT_EQ(all.size(), passed + 1);
  for (uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].number, i);
}

TEST_F(ServedTargetTest, WithoutItsClientNothingIsPassedOn) {
  target.SetWindow(9, {.kind = ServedWindow::Kind::kProgram});
  has_client = false;
  Send({.opcode = Opcode::kGet, .window = 9, .bytes = 8, .number = 1});
  Immediate(2, 3);
  EXPECT_EQ(Poll(), 2u);
  EXPECT_EQ(target.TakePassedOn(), 0);
}

// Whatever arrives: nothing but the window is written, and each request has one answer at most.
TEST_F(ServedTargetTest, ArbitraryCommandsHarmNothing) {
  std::mt19937 engine(7);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  target.SetWindow(9, {.kind = ServedWindow::Kind::kProgram});
  for (uint32_t round = 0; round < 20000; ++round) {
    uint8_t command[mem::kRequestControlBytes + 256];
    for (uint8_t& octet : command) octet = static_cast<uint8_t>(random());
    const bool is_request = random() % 4 != 0;
    const bool has_data = random() % 2 == 0;
    const uint32_t control_bytes = is_request ? 18 : 2 * (1 + random() % 9);
    command[0] = static_cast<uint8_t>((is_request ? 4u : random() % 8) << 5 |
                                      (has_data ? 0x10 : 0) | control_bytes / 2);
    const uint32_t bytes = control_bytes + (has_data ? command[1] + 1u : 0);
    if (is_request) command[7] = 0, command[8] = static_cast<uint8_t>(random() % 12);
    uint8_t* record = side.requests.Reserve(RecordLines(bytes));
    ASSERT_NE(record, nullptr);
    WriteRecordHead(
        record, ReceivedWord(ReceivedHead(kRequestVc, static_cast<uint16_t>(random() % 1024), 1, 0),
                             has_data));
    std::memcpy(record + SUEDE_RECORD_CONTROL, command, bytes);
    side.requests.Publish();
    EXPECT_EQ(Poll(), 1u);
    client_rings[kRequestVc].Publish();
    ReceivedCommand passed;
    while (client.Poll(&passed, 1) == 1) continue;
    client.Release();
    EXPECT_LE(side.Take().size(), 1u);
    target.CheckInvariants();
  }
}

// Atomics of the lcore against those of a thread of the program, in both directions.
TEST_F(ServedTargetTest, AtomicsAreAtomicAgainstThreadsOfTheProgram) {
  constexpr uint64_t kTimes = 20000;
  auto* counter = reinterpret_cast<uint64_t*>(memory);
  std::atomic<bool> has_begun{false};
  std::thread program([&] {
    has_begun = true;
    for (uint64_t i = 0; i < kTimes; ++i) std::atomic_ref(*counter).fetch_add(1);
  });
  while (!has_begun) std::this_thread::yield();
  for (uint64_t i = 0; i < kTimes; ++i) {
    Send({.opcode = i % 2 == 0 ? Opcode::kFetchAdd : Opcode::kIncrement,
          .is_wide = true,
          .boundary = 63,
          .bytes = 8,
          .number = static_cast<uint32_t>(i),
          .operand = 1});
    Poll();
    side.Take();
  }
  program.join();
  EXPECT_EQ(*counter, 2 * kTimes);
}

}  // namespace
}  // namespace suede
