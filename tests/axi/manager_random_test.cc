// SPDX-License-Identifier: Apache-2.0
// Random traffic of several XPUs through a manager port to an SoC that responds in any order that
// AXI4 permits.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "manager_world.h"

namespace suede::axi {
namespace {

uint32_t OctetsByBook(const Address& burst) {
  uint32_t count = 0;
  for (const Octets& each : BeatsByBook(burst)) count += each.count;
  return count;
}

// An octet of memory as reads see it.
uint8_t OctetAt(uint64_t address, uint64_t tag) {
  return static_cast<uint8_t>((address * 31 + tag) * 0x9e3779b97f4a7c15u >> 56);
}

// A tag in bits 63:0 of AxUSER names the request to the SoC; it is the number too.
struct Request {
  Route from;
  Address burst = {};
  bool is_read = false;
  std::vector<WriteBeat> beats;
  uint32_t commands_left = 0;
  bool is_issued = false;
  uint32_t issued_id = 0;
  uint32_t octets_left = 0;  // of which the SoC has not responded
  uint8_t worst = 0;
  std::vector<Stored> stored;
  bool is_reset = false;
  bool is_answered = false;

  bool is_exclusive() const { return burst.lock != 0; }
};

class RandomTraffic : public ManagerWorld {
 protected:
  void Run(uint64_t seed);

 private:
  static constexpr uint32_t kBus = 64;  // of the initiators

  // A burst that the SoC works on.
  struct Job {
    Address issued;
    uint32_t beat = 0;
  };

  void Start(uint64_t seed);
  void Step();
  void Submit();
  void Deliver();
  void GiveCredit();
  void OnIssued(const Address& issued);
  void TakeTransfers();
  void RespondWrite(uint32_t id);
  void RespondRead(uint32_t id);
  void OnResponse(Request& request, uint32_t octets, uint8_t response);
  void ResetPort();
  void CheckAnswers();
  void CheckAnswer(const GotAnswer& got, const Request& request) const;
  uint32_t OpenOf(const Route& from) const;

  Random random_{0};
  uint32_t max_open_ = 0;
  std::vector<Request> requests_;                                           // by tag - 1
  std::map<uint32_t, std::deque<std::pair<uint32_t, WireCommand>>> wires_;  // by lane; tags
  std::deque<uint32_t> arrived_[2];     // tags of whole requests before their issue; writes, reads
  std::set<uint32_t> outstanding_[2];   // tags
  std::deque<Job> with_beats_to_come_;  // writes
  std::map<uint32_t, std::deque<Job>> writes_;  // by AxID
  std::map<uint32_t, std::deque<Job>> reads_;
};

void RandomTraffic::Start(uint64_t seed) {
  random_.seed(seed);
  max_open_ = 2 + Below(random_, 6);
  Make({.interfaces = 1 + Below(random_, 2),
        .bus_bytes = 4u << Below(random_, 6),
        .transactions = 8 + Below(random_, 30),
        .transactions_per_source = max_open_,
        .ids = 1 + Below(random_, 8),
        .address_places = 1 + Below(random_, 4),
        .beat_places = 1 + Below(random_, 20),
        .has_monitor = Below(random_, 2) == 0,
        .is_unordered = Below(random_, 2) == 0});
}

uint32_t RandomTraffic::OpenOf(const Route& from) const {
  return static_cast<uint32_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [&](const Request& each) { return each.from == from && !each.is_answered; }));
}

void RandomTraffic::Submit() {
  Request request;
  request.from = From(Below(random_, 4), Below(random_, params.interfaces));
  if (OpenOf(request.from) == max_open_) return;
  const auto tag = static_cast<uint32_t>(requests_.size() + 1);
  request.is_read = Below(random_, 2) == 0;
  request.burst = RandomBurst(random_, kBus);
  request.burst.address &= 0x3fff;
  if (Below(random_, 4) == 0) {
    request.burst = {};
    request.burst.address = Below(random_, 4) * 64;
    request.burst.size = 6;
    request.burst.burst = SUEDE_AXI_INCR;
    request.burst.lock = 1;
  }
  request.burst.id = Below(random_, 3);
  request.burst.user[0] = tag;
  request.octets_left = OctetsByBook(request.burst);
  std::vector<WireCommand> commands;
  if (request.is_read) {
    commands = EncodeRead(tag, request.burst);
  } else {
    request.beats = OnlyActive(
        request.burst, RandomBeats(random_, request.burst, kBus, Below(random_, 2) == 0, 0), kBus);
    commands = EncodeWrite(tag, request.burst, request.beats, kBus, 0);
  }
  request.commands_left = static_cast<uint32_t>(commands.size());
  const uint32_t lane = ServedLane(request.from);
  sink.Expect(lane, tag, request.burst);
  for (WireCommand& each : commands) wires_[lane].emplace_back(tag, std::move(each));
  requests_.push_back(std::move(request));
}

void RandomTraffic::Deliver() {
  for (auto& [lane, wire] : wires_) {
    while (!wire.empty() && Below(random_, 3) != 0 && manager->CanTake()) {
      const auto window = static_cast<uint32_t>(std::min<size_t>(wire.size(), 10));
      const uint32_t which = params.is_unordered ? Below(random_, window) : 0;
      const auto [tag, command] = wire[which];
      wire.erase(wire.begin() + which);
      Request& request = requests_[tag - 1];
      Give(request.from, command);
      if (--request.commands_left == 0) arrived_[request.is_read ? 1 : 0].push_back(tag);
    }
  }
}

void RandomTraffic::GiveCredit() {
  for (uint32_t source = 0; source < 4; ++source) {
    for (uint32_t interface = 0; interface < params.interfaces; ++interface) {
      sink.credit[ServedLane(From(source, interface))] += Below(random_, 4) == 0 ? 3 : 0;
    }
  }
}

void RandomTraffic::OnIssued(const Address& issued) {
  EXPECT_EQ(FindViolation(issued, params.bus_bytes), nullptr);
  EXPECT_EQ(issued.lock, 0);
  const auto tag = static_cast<uint32_t>(issued.user[0]);
  Request& request = requests_.at(tag - 1);
  const int direction = request.is_read ? 1 : 0;
  if (request.is_issued) {
    EXPECT_EQ(issued.id, request.issued_id);
    return;
  }
  // In the order of arrival, past exclusive writes that fail.
  std::deque<uint32_t>& queue = arrived_[direction];
  while (!queue.empty() && queue.front() != tag) {
    const Request& skipped = requests_[queue.front() - 1];
    EXPECT_TRUE(!skipped.is_read && skipped.is_exclusive()) << "an older one is not issued";
    queue.pop_front();
  }
  ASSERT_FALSE(queue.empty());
  queue.pop_front();
  for (const uint32_t other : outstanding_[direction]) {
    const Request& each = requests_[other - 1];
    const bool is_same = each.from == request.from && each.burst.id == request.burst.id;
    EXPECT_EQ(is_same, each.issued_id == issued.id);
    if (!request.is_read && (request.is_exclusive() || each.is_exclusive())) {
      EXPECT_FALSE(RangeOf(request.burst).Overlaps(RangeOf(each.burst)));
    }
  }
  request.is_issued = true;
  request.issued_id = issued.id;
  outstanding_[direction].insert(tag);
}

void RandomTraffic::TakeTransfers() {
  Address address;
  WriteBeat beat;
  while (Below(random_, 4) != 0 && manager->TakeAr(&address)) {
    OnIssued(address);
    reads_[address.id].push_back({.issued = address});
  }
  while (Below(random_, 4) != 0 && manager->TakeAw(&address)) {
    OnIssued(address);
    with_beats_to_come_.push_back({.issued = address});
  }
  while (Below(random_, 16) != 0 && !with_beats_to_come_.empty() && manager->TakeW(&beat)) {
    Job& first = with_beats_to_come_.front();
    Request& request = requests_[first.issued.user[0] - 1];
    const Octets octets = BeatsByBook(first.issued)[first.beat];
    for (uint32_t i = 0; i < octets.count; ++i) {
      const auto lane = static_cast<uint32_t>((octets.first + i) % params.bus_bytes);
      if ((beat.strobes[lane / 64] >> lane % 64 & 1) == 0) continue;
      request.stored.push_back({.address = octets.first + i, .value = beat.data[lane]});
    }
    const bool is_last = first.beat++ == first.issued.len;
    EXPECT_EQ(beat.last, is_last ? 1 : 0);
    if (!is_last) continue;
    writes_[first.issued.id].push_back(first);
    with_beats_to_come_.pop_front();
  }
}

void RandomTraffic::OnResponse(Request& request, uint32_t octets, uint8_t response) {
  request.worst = std::max(request.worst, response);
  request.octets_left -= octets;
  if (request.octets_left != 0) return;
  outstanding_[request.is_read ? 1 : 0].erase(static_cast<uint32_t>(request.burst.user[0]));
}

void RandomTraffic::RespondWrite(uint32_t id) {
  if (writes_[id].empty()) return;
  const Job job = writes_[id].front();
  writes_[id].pop_front();
  const uint8_t response =
      Below(random_, 10) == 0 ? static_cast<uint8_t>(2 + Below(random_, 2)) : uint8_t{0};
  OnResponse(requests_[job.issued.user[0] - 1], OctetsByBook(job.issued), response);
  RespondB(id, response);
}

void RandomTraffic::RespondRead(uint32_t id) {
  if (reads_[id].empty()) return;
  Job& job = reads_[id].front();
  const uint64_t tag = job.issued.user[0];
  const Octets octets = BeatsByBook(job.issued)[job.beat];
  ReadBeat beat = {};
  beat.id = id;
  beat.response = Below(random_, 20) == 0 ? uint8_t{SUEDE_AXI_SLVERR} : uint8_t{SUEDE_AXI_OKAY};
  for (uint32_t i = 0; i < octets.count; ++i) {
    beat.data[(octets.first + i) % params.bus_bytes] = OctetAt(octets.first + i, tag);
  }
  beat.last = job.beat++ == job.issued.len ? 1 : 0;
  OnResponse(requests_[tag - 1], octets.count, beat.response);
  EXPECT_TRUE(manager->SendR(beat));
  if (beat.last != 0) reads_[id].pop_front();
}

void RandomTraffic::ResetPort() {
  manager->Reset(true);
  for (Request& each : requests_) {
    if (each.commands_left == 0 && each.octets_left != 0) each.is_reset = true;
  }
  for (int direction = 0; direction < 2; ++direction) {
    arrived_[direction].clear();
    outstanding_[direction].clear();
  }
  with_beats_to_come_.clear();
  writes_.clear();
  reads_.clear();
  Pump();
  EXPECT_FALSE(manager->CanTake());
  manager->Reset(false);
}

void RandomTraffic::CheckAnswer(const GotAnswer& got, const Request& request) const {
  const bool has_failed = !request.is_read && request.is_exclusive() && !request.is_issued;
  if (got.answer.status == Status::kReset) {
    EXPECT_TRUE(request.is_reset);
    return;
  }
  EXPECT_EQ(got.answer.status, Status::kOk);
  if (has_failed) {
    EXPECT_EQ(got.answer.response, SUEDE_AXI_OKAY);
    return;
  }
  EXPECT_FALSE(request.is_reset);
  EXPECT_EQ(request.octets_left, 0u);
  const bool is_success = params.has_monitor && request.is_exclusive() && request.worst == 0;
  EXPECT_EQ(got.answer.response, is_success ? uint8_t{SUEDE_AXI_EXOKAY} : request.worst);
  if (request.is_read) {
    std::vector<uint8_t> expected;
    for (const Octets& each : BeatsByBook(request.burst)) {
      for (uint32_t i = 0; i < each.count; ++i) {
        expected.push_back(OctetAt(each.first + i, request.burst.user[0]));
      }
    }
    EXPECT_EQ(got.octets, expected);
  } else {
    std::vector<Stored> expected;
    Execute(request.burst, request.beats.data(), kBus, &expected);
    EXPECT_EQ(request.stored, expected);
  }
}

void RandomTraffic::CheckAnswers() {
  for (; !sink.answers.empty(); sink.answers.pop_front()) {
    const GotAnswer& got = sink.answers.front();
    Request& request = requests_.at(got.number - 1);
    EXPECT_EQ(got.lane, ServedLane(request.from));
    EXPECT_EQ(got.answer.is_read, request.is_read);
    EXPECT_FALSE(request.is_answered);
    request.is_answered = true;
    CheckAnswer(got, request);
  }
}

void RandomTraffic::Step() {
  Deliver();
  GiveCredit();
  Pump();
  TakeTransfers();
  for (uint32_t i = Below(random_, 60); i != 0; --i) RespondRead(Below(random_, params.ids));
  for (uint32_t i = Below(random_, 4); i != 0; --i) RespondWrite(Below(random_, params.ids));
  CheckAnswers();
}

void RandomTraffic::Run(uint64_t seed) {
  Start(seed);
  for (int step = 0; step < 150; ++step) {
    for (uint32_t i = Below(random_, 4); i != 0; --i) Submit();
    if (Below(random_, 150) == 0) ResetPort();
    Step();
    if (step % 10 == 0) manager->CheckInvariants();
  }
  const auto is_answered = [](const Request& each) { return each.is_answered; };
  for (int step = 0; !std::all_of(requests_.begin(), requests_.end(), is_answered); ++step) {
    ASSERT_LT(step, 20000);
    Step();
  }
  manager->CheckInvariants();
  EXPECT_EQ(manager->open(), 0u);
  const ManagerCounters counters = manager->counters();
  EXPECT_EQ(counters.served_reads + counters.served_writes, requests_.size());
  EXPECT_EQ(counters.busy + counters.dropped + counters.expired + counters.truncated +
                counters.unexpected + counters.malformed + counters.foreign,
            0u);
}

TEST(ManagerTraffic, EachRequestIsAnsweredOnceAndInOrder) {
  class One final : public RandomTraffic {
   public:
    void TestBody() override {}
    void Do(uint64_t seed) {
      Run(seed);
      TearDown();
    }
  };
  for (uint32_t seed = 1; seed <= Seeds(400) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    One().Do(seed);
  }
}

}  // namespace
}  // namespace suede::axi
