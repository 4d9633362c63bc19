// SPDX-License-Identifier: Apache-2.0
// Commands of hostile XPUs, and transfers of an SoC that breaks the rules of AXI4.
#include <gtest/gtest.h>

#include <algorithm>

#include "manager_world.h"

namespace suede::axi {
namespace {

// Takes or refuses commands at random, and does not look at them.
class DeafSink final : public BurstSink {
 public:
  explicit DeafSink(Random& random) : random_(random) {}
  int Send(const Burst& burst) override {
    const uint32_t choice = Below(random_, 60);
    if (choice == 0) return kLost;
    commands += burst.count;
    // Reads all that it gets, for the sanitizers.
    for (uint32_t i = 0; i < burst.count * burst.data_bytes; ++i) sum += burst.data[i];
    return static_cast<int>(choice < 20 ? Below(random_, burst.count) : burst.count);
  }
  uint64_t commands = 0;
  uint64_t sum = 0;

 private:
  Random& random_;
};

class HostileWorld : public ManagerWorld {
 public:
  void TestBody() override {}
  void Run(uint64_t seed);

 private:
  static constexpr uint32_t kHonest = 50;

  std::vector<WireCommand> RandomRequest();
  void Mutate(std::vector<WireCommand>* commands);
  void Attack(DeafSink& deaf);
  void Misrespond();
  void ServeHonest(DeafSink& deaf);

  Random random_{0};
};

std::vector<WireCommand> HostileWorld::RandomRequest() {
  const uint32_t number = Below(random_, 12);
  Address burst = RandomBurst(random_, kMaxBusBytes);
  if (Below(random_, 3) == 0) burst.user[Below(random_, 2)] = random_() >> Below(random_, 64);
  if (Below(random_, 8) == 0) burst.lock = 1;
  if (Below(random_, 3) == 0) return EncodeRead(number, burst);
  const uint32_t user_bytes = Below(random_, 5);
  return EncodeWrite(number, burst,
                     RandomBeats(random_, burst, kMaxBusBytes, Below(random_, 2) == 0, user_bytes),
                     kMaxBusBytes, user_bytes);
}

void HostileWorld::Mutate(std::vector<WireCommand>* commands) {
  for (uint32_t i = Below(random_, 4); i != 0 && !commands->empty(); --i) {
    const uint32_t which = Below(random_, static_cast<uint32_t>(commands->size()));
    WireCommand& command = (*commands)[which];
    const auto octets = static_cast<uint32_t>(command.data.size());
    const auto control_bytes = static_cast<uint32_t>(command.control.size());
    switch (Below(random_, 8)) {
      case 0:
        command.control[Below(random_, control_bytes)] ^=
            static_cast<uint8_t>(1u << Below(random_, 8));
        break;
      case 1:
        command.control[2 + Below(random_, control_bytes - 2)] = static_cast<uint8_t>(random_());
        break;
      case 2:
        if (octets != 0) {
          command.data[Below(random_, std::min(octets, 24u))] = static_cast<uint8_t>(random_());
        }
        break;
      case 3:
        command.data.resize(Below(random_, 257));
        break;
      case 4:
        command.control.resize(2 * (1 + Below(random_, 9)));
        command.control.resize(std::max<size_t>(command.control.size(), 4));
        break;
      case 5:
        commands->erase(commands->begin() + which);
        break;
      case 6: {
        const WireCommand copy = command;
        commands->insert(commands->begin() + which, copy);
        break;
      }
      default:
        std::swap(command, commands->front());
    }
  }
}

void HostileWorld::Attack(DeafSink& deaf) {
  std::vector<WireCommand> commands = RandomRequest();
  Mutate(&commands);
  const Route from = From(Below(random_, 6), Below(random_, params.interfaces));
  for (const WireCommand& each : commands) {
    if (!manager->CanTake()) break;
    const std::vector<uint8_t> data = each.data;
    manager->OnCommand(from, each.control.data(), static_cast<uint32_t>(each.control.size()),
                       data.data(), static_cast<uint32_t>(data.size()), now, deaf);
  }
}

void HostileWorld::Misrespond() {
  WriteResponse b = {};
  b.id = Below(random_, params.ids + 2);
  b.response = static_cast<uint8_t>(random_());
  b.user[Below(random_, 2)] = random_();
  manager->SendB(b);
  ReadBeat r = {};
  for (uint32_t i = Below(random_, 30); i != 0; --i) {
    r.id = Below(random_, params.ids + 2);
    r.response = static_cast<uint8_t>(random_());
    r.last = Below(random_, 8) == 0 ? static_cast<uint8_t>(random_()) : uint8_t{0};
    manager->SendR(r);
  }
}

// An XPU that keeps the rules is served whatever the others did.
void HostileWorld::ServeHonest(DeafSink& deaf) {
  manager->Reset(true);
  for (int i = 0; i < 5000 && manager->HasAnswers(); ++i) manager->Pump(deaf, now);
  EXPECT_EQ(manager->open(), 0u);
  EXPECT_FALSE(manager->HasAnswers());
  manager->Reset(false);
  aws.clear();
  ars.clear();
  Address burst = {};
  burst.size = 2;
  burst.len = 255;
  burst.burst = SUEDE_AXI_INCR;
  WriteZeros(From(kHonest), 1, burst);
  Read(From(kHonest), 2, burst);
  TakeAll();
  ASSERT_EQ(aws.size(), 1u);
  ASSERT_EQ(ars.size(), 1u);
  RespondB(aws[0].id);
  RespondR(ars[0]);
  Pump();
  ExpectAnswer(1, Status::kOk, SUEDE_AXI_OKAY);
  ExpectAnswer(2, Status::kOk, SUEDE_AXI_OKAY);
}

void HostileWorld::Run(uint64_t seed) {
  random_.seed(seed);
  Make({.interfaces = 1 + Below(random_, 2),
        .bus_bytes = 4u << Below(random_, 6),
        .transactions = 16 + Below(random_, 30),
        .transactions_per_source = 2 + Below(random_, 9),
        .ids = 1 + Below(random_, 8),
        .address_places = 1 + Below(random_, 4),
        .beat_places = 1 + Below(random_, 20),
        .read_user_bytes = Below(random_, 5),
        .has_monitor = Below(random_, 2) == 0,
        .is_unordered = Below(random_, 2) == 0,
        .deadline = std::chrono::microseconds(20)});
  DeafSink deaf(random_);
  for (int step = 0; step < 400; ++step) {
    now += std::chrono::microseconds(Below(random_, 3));
    Attack(deaf);
    manager->Pump(deaf, now);
    Address address;
    WriteBeat beat;
    if (Below(random_, 3) != 0) manager->TakeAw(&address);
    if (Below(random_, 3) != 0) manager->TakeAr(&address);
    for (uint32_t i = Below(random_, 40); i != 0; --i) manager->TakeW(&beat);
    Misrespond();
    if (Below(random_, 100) == 0) manager->OnInterfaceLost(Below(random_, params.interfaces));
    if (Below(random_, 200) == 0) {
      manager->Reset(true);
      manager->Pump(deaf, now);
      manager->Reset(false);
    }
    if (step % 16 == 0) manager->CheckInvariants();
  }
  manager->CheckInvariants();
  // Six hostile sources have no more than their share of the memory.
  const uint32_t parts = 6 * params.interfaces * Assembly::PlacesOf(params.is_unordered);
  EXPECT_LE(manager->touched(), params.transactions + parts + 1);
  EXPECT_NE(manager->counters().malformed, 0u);
  ServeHonest(deaf);
  TearDown();
}

TEST(ManagerHostile, NoCommandAndNoTransferBreaksThePort) {
  for (uint32_t seed = 1; seed <= Seeds(400) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    HostileWorld().Run(seed);
  }
}

}  // namespace
}  // namespace suede::axi
