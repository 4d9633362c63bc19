// SPDX-License-Identifier: Apache-2.0
// A host simulator in front of a memory of AXI4: results, order, errors, hostile messages.
#include "simbricks/host_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fake_axi.h"
#include "peer.h"

namespace suede::simbricks {
namespace {

using Octets = std::vector<uint8_t>;

constexpr uint32_t kMemoryBytes = 16384;

TEST(SimbricksBurst, CoversTheOctetsOfARequestAndNoOthers) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bytes = 1 + random() % (i % 2 == 0 ? 80 : 8192);
    const uint64_t first = i % 100 == 0 ? 0 - uint64_t{bytes} : random() % 9000;
    uint32_t done = 0;
    uint32_t bursts = 0;
    while (done < bytes) {
      const axi::Address burst = BurstOf(first + done, bytes - done);
      ASSERT_EQ(burst.address, first + done);
      ASSERT_EQ(axi::FindViolation(burst, 64), nullptr) << first << " " << bytes;
      done += axi::ActiveBytes(burst);
      ++bursts;
    }
    ASSERT_EQ(done, bytes);
    ASSERT_LE(bursts, 3u + 2 * 6);
  }
}

TEST(SimbricksBurst, AlignedRequestsAreOneBeat) {
  for (uint32_t size = 0; size <= 6; ++size) {
    const axi::Address burst = BurstOf(0x1000 + (5u << size), 1u << size);
    EXPECT_EQ(burst.size, size);
    EXPECT_EQ(burst.len, 0);
  }
  EXPECT_EQ(BurstOf(0x1000, 4096).len, 63);
}

// Executes bursts on a memory, and answers those of different IDs in any order.
class Soc {
 public:
  explicit Soc(suede_axi* axi) : axi_(*axi), octets_(kMemoryBytes) {}

  void Execute() {
    while (!axi_.aw.empty() || is_writing_) {
      if (!is_writing_) {
        write_ = Pop(axi_.aw);
        ++writes;
        beat_ = 0;
      }
      is_writing_ = true;
      if (axi_.w.empty()) return;
      const suede_axi_write_beat beat = Pop(axi_.w);
      const uint64_t address = axi::BeatAddress(write_, beat_);
      const uint32_t bytes = axi::BeatBytes(write_, beat_);
      EXPECT_EQ(beat.strobes[0], ~uint64_t{0} >> (64 - bytes) << address % 64);
      EXPECT_EQ(beat.last, beat_ == write_.len);
      if (address + bytes <= octets_.size()) {
        std::memcpy(octets_.data() + address, beat.data + address % 64, bytes);
      }
      if (beat_++ != write_.len) continue;
      is_writing_ = false;
      answers_[{write_.id, true}].push_back(
          {.write = {.id = write_.id, .response = ResponseOf(write_)}});
    }
    while (!axi_.ar.empty()) Read(Pop(axi_.ar));
  }

  // Sends the answer of one burst.
  bool Answer(Random& random) {
    std::vector<std::pair<uint32_t, bool>> waiting;
    for (const auto& [key, list] : answers_) {
      if (!list.empty()) waiting.push_back(key);
    }
    if (waiting.empty()) return false;
    auto& list = answers_[waiting[random() % waiting.size()]];
    const Answered answer = list.front();
    list.pop_front();
    if (answer.beats.empty()) axi_.b.push_back(answer.write);
    axi_.r.insert(axi_.r.end(), answer.beats.begin(), answer.beats.end());
    return true;
  }

  uint8_t ResponseOf(const axi::Address& burst) const {
    if (burst.user[0] == 2) return SUEDE_AXI_SLVERR;
    return axi::RangeOf(burst).last < octets_.size() ? SUEDE_AXI_OKAY : SUEDE_AXI_DECERR;
  }
  const Octets& octets() const { return octets_; }
  size_t open() const {
    size_t count = 0;
    for (const auto& [key, list] : answers_) count += list.size();
    return count;
  }
  uint32_t reads = 0;
  uint32_t writes = 0;

 private:
  struct Answered {
    suede_axi_write_response write = {};
    std::vector<suede_axi_read_beat> beats{};
  };
  template <typename Transfer>
  static Transfer Pop(std::deque<Transfer>& channel) {
    const Transfer transfer = channel.front();
    channel.pop_front();
    return transfer;
  }
  void Read(const axi::Address& burst) {
    ++reads;
    Answered answer;
    for (uint32_t i = 0; i <= burst.len; ++i) {
      const uint64_t address = axi::BeatAddress(burst, i);
      suede_axi_read_beat beat = {};
      std::memset(beat.data, 0xaa, sizeof beat.data);  // lanes that are not active, and errors
      beat.id = burst.id;
      beat.response = ResponseOf(burst);
      beat.last = i == burst.len;
      if (beat.response == SUEDE_AXI_OKAY) {
        std::memcpy(beat.data + address % 64, octets_.data() + address, axi::BeatBytes(burst, i));
      }
      answer.beats.push_back(beat);
    }
    answers_[{burst.id, false}].push_back(answer);
  }

  suede_axi& axi_;
  Octets octets_;
  axi::Address write_ = {};
  bool is_writing_ = false;
  uint32_t beat_ = 0;
  std::map<std::pair<uint32_t, bool>, std::deque<Answered>> answers_;
};

class HostPortTest : public testing::Test {
 protected:
  HostPortTest() {
    link_ = *Link::Open({.path = directory_ / "socket", .name = "host", .entries = 16});
    port_ = std::make_unique<HostPort>(&axi_, link_.get(), &counters_, 8);
    Join();
  }
  void Join() {
    peer_.Connect(directory_ / "socket");
    peer_.SendIntro(Peer::Intro(3));
    Poll();
    Poll();
    ASSERT_TRUE(peer_.TakeIntro());
  }
  void Poll() {
    now_ += std::chrono::milliseconds(1);
    link_->Poll(now_);
    port_->Poll(now_);
  }
  // Moves everything until it rests.
  void Settle() {
    for (int idle = 0; idle < 30; ++idle) {
      Poll();
      soc_.Execute();
      if (soc_.Answer(random_)) idle = 0;
    }
  }
  Octets RandomOctets(uint32_t bytes) {
    Octets octets(bytes);
    for (uint8_t& octet : octets) octet = static_cast<uint8_t>(random_());
    return octets;
  }

  Directory directory_;
  Time now_{};
  suede_axi axi_;
  Soc soc_{&axi_};
  std::unique_ptr<Link> link_;
  Counters counters_;
  std::unique_ptr<HostPort> port_;
  Peer peer_;
  Random random_{7};
};

TEST_F(HostPortTest, RandomRequestsHaveTheResultsOfTheirOrder) {
  Octets model(kMemoryBytes);
  std::map<uint64_t, std::pair<uint8_t, Octets>> expected;
  for (uint64_t number = 1; number <= 3000; ++number) {
    const uint32_t bytes = 1 + random_() % (number % 4 == 0 ? 8192 : 100);
    const uint64_t address = random_() % (bytes > 100 ? kMemoryBytes - bytes : 400);
    const uint8_t type = static_cast<uint8_t>(kRead + random_() % 3);
    const Octets data = type == kRead ? Octets() : RandomOctets(bytes);
    if (!peer_.Send(type, number, address, bytes, data)) {
      --number;
    } else if (type == kRead) {
      expected[number] = {kReadDone,
                          Octets(model.begin() + address, model.begin() + address + bytes)};
    } else {
      std::copy(data.begin(), data.end(), model.begin() + address);
      if (type == kWrite) expected[number] = {kWriteDone, {}};
    }
    for (uint32_t steps = random_() % 6; steps > 0; --steps) {
      Poll();
      if (random_() % 2 == 0) soc_.Execute();
      if (random_() % 2 == 0) soc_.Answer(random_);
    }
    if (random_() % 8 == 0) Settle();
    while (const auto got = peer_.Receive()) {
      const auto want = expected.find(got->request);
      ASSERT_NE(want, expected.end()) << got->request;
      ASSERT_EQ(got->type, want->second.first);
      ASSERT_TRUE(
          std::equal(want->second.second.begin(), want->second.second.end(), got->data.begin()));
      expected.erase(want);
    }
  }
  for (int i = 0; i < 10; ++i) {
    Settle();
    while (const auto got = peer_.Receive()) expected.erase(got->request);
  }
  EXPECT_TRUE(expected.empty());
  EXPECT_EQ(soc_.octets(), model);
  EXPECT_EQ(counters_[Counter::kHostReads] + counters_[Counter::kHostWrites], 3000u);
  EXPECT_EQ(counters_[Counter::kHostSlverr] + counters_[Counter::kHostDecerr], 0u);
}

TEST_F(HostPortTest, OverlappingRequestsWait) {
  peer_.Send(kWrite, 1, 0x100, 64, RandomOctets(64));
  peer_.Send(kRead, 2, 0x13f, 1);
  peer_.Send(kRead, 3, 0x200, 1);
  Poll();
  soc_.Execute();
  Poll();
  soc_.Execute();
  EXPECT_EQ(soc_.writes, 1u);
  EXPECT_EQ(soc_.reads, 0u) << "a request behind one that waits waits, too";
  soc_.Answer(random_);
  Poll();
  soc_.Execute();
  EXPECT_EQ(soc_.reads, 2u);
  // Reads overlap each other.
  Settle();
  peer_.Send(kRead, 4, 0x100, 64);
  peer_.Send(kRead, 5, 0x100, 64);
  peer_.Send(kWritePosted, 6, 0x100, 1, {1});
  Poll();
  soc_.Execute();
  EXPECT_EQ(soc_.reads, 4u);
  EXPECT_EQ(soc_.writes, 1u);
  Settle();
  EXPECT_EQ(soc_.writes, 2u);
}

TEST_F(HostPortTest, ErrorsReadAsZero) {
  // The second burst leads beyond the memory.
  peer_.Send(kWrite, 1, kMemoryBytes - 64, 64, Octets(64, 0xff));
  peer_.Send(kRead, 2, kMemoryBytes - 64, 128);
  peer_.Send(kRead, 3, 0, 8, {}, /*space=*/2);
  peer_.Send(kWrite, 4, kMemoryBytes, 8, Octets(8, 0xff));
  Settle();
  std::map<uint64_t, Peer::Got> done;
  while (const auto got = peer_.Receive()) done[got->request] = *got;
  ASSERT_EQ(done.size(), 4u);
  EXPECT_EQ(done[4].type, kWriteDone);
  EXPECT_EQ(Octets(done[3].data.begin(), done[3].data.begin() + 8), Octets(8));
  const Octets& read = done[2].data;
  EXPECT_EQ(Octets(read.begin() + 64, read.begin() + 128), Octets(64)) << "never what came with it";
  EXPECT_EQ(counters_[Counter::kHostDecerr], 2u);
  EXPECT_EQ(counters_[Counter::kHostSlverr], 1u);
}

TEST_F(HostPortTest, BadMessagesEndTheirConnectionOnly) {
  struct Case {
    uint8_t type;
    uint64_t address;
    uint64_t bytes;
    Fault fault;
  };
  std::vector<Case> cases = {
      {kRead, 0, 0, Fault::kLength},
      {kWrite, 0, 0, Fault::kLength},
      {kRead, 0, 8193, Fault::kLength},
      {kWritePosted, 0, 65535, Fault::kLength},
      {kRead, ~uint64_t{0}, 2, Fault::kLength},
      {kWrite, ~uint64_t{62}, 64, Fault::kLength},
  };
  for (unsigned type = 2; type < 128; ++type) {
    if (type < kRead || type > kWritePosted)
      cases.push_back({static_cast<uint8_t>(type), 0, 8, Fault::kType});
  }
  uint64_t faults = 0;
  for (const Case& each : cases) {
    // One request is under way, and is completed at the other end of the port.
    peer_.Send(kWrite, 1, 0x300, 300, RandomOctets(300));
    peer_.Send(each.type, 2, each.address, each.bytes);
    Poll();
    EXPECT_FALSE(link_->is_connected()) << int{each.type};
    EXPECT_EQ(link_->faults(each.fault), ++faults);
    if (&each == &cases[5]) faults = 0;  // those of the other kind follow
    Join();
    Settle();
    EXPECT_FALSE(peer_.Receive()) << "a completion of the connection before";
    peer_.Send(kRead, 3, 0x300, 8);
    Settle();
    const auto got = peer_.Receive();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->request, 3u);
    peer_.Close();
    Poll();
    ASSERT_FALSE(link_->is_connected());
    Join();
  }
}

TEST_F(HostPortTest, AFullQueueHoldsCompletionsBack) {
  for (uint64_t number = 1; number <= 16; ++number)
    ASSERT_TRUE(peer_.Send(kRead, number, 8 * number, 8));
  Settle();
  for (uint64_t number = 17; number <= 32; ++number)
    ASSERT_TRUE(peer_.Send(kRead, number, 8 * number, 8));
  Settle();
  EXPECT_EQ(soc_.open(), 0u);
  std::set<uint64_t> done;
  for (int i = 0; i < 4; ++i) {
    while (const auto got = peer_.Receive()) done.insert(got->request);
    Settle();
  }
  EXPECT_EQ(done.size(), 32u);
}

// A peer that writes any byte of the memory at any time harms its own connection at most.
TEST_F(HostPortTest, RandomMemory) {
  for (int round = 0; round < 200; ++round) {
    for (int step = 0; step < 40; ++step) {
      switch (random_() % 4) {
        case 0:
          peer_.Send(
              static_cast<uint8_t>(random_() % 4 == 0 ? random_() % 128 : kRead + random_() % 3),
              random_(), random_() % 20000, random_() % 4 == 0 ? random_() : random_() % 300);
          break;
        case 1: {  // an owner flips, in either direction
          const Peer::Queue& queue = random_() % 2 == 0 ? peer_.in : peer_.out;
          peer_.memory()[queue.offset + random_() % queue.entries * queue.entry_bytes + 63] ^= 0x80;
          break;
        }
        case 2:
          peer_.memory()[random_() % peer_.memory_bytes()] = static_cast<uint8_t>(random_());
          break;
        default:
          soc_.Execute();
          soc_.Answer(random_);
      }
      Poll();
    }
    peer_.Close();
    for (int i = 0; i < 1000 && link_->is_connected(); ++i) Settle();
    ASSERT_FALSE(link_->is_connected());
    Join();
  }
  Settle();
  peer_.Send(kWrite, 1, 0, 8, Octets(8, 5));
  peer_.Send(kRead, 2, 0, 8);
  Settle();
  while (const auto got = peer_.Receive()) {
    if (got->request == 2) {
      EXPECT_EQ(got->data[7], 5);
    }
  }
  EXPECT_EQ(soc_.open(), 0u);
}

}  // namespace
}  // namespace suede::simbricks
