// SPDX-License-Identifier: Apache-2.0
// Transactions of remote XPUs in front of a memory simulator: requests, order, loss, hostile
// completions.
#include "simbricks/memory_port.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "fake_axi.h"
#include "peer.h"

namespace suede::simbricks {
namespace {

using Octets = std::vector<uint8_t>;

axi::Address Burst(uint64_t address, uint32_t beats, uint8_t size, uint8_t kind = SUEDE_AXI_INCR,
                   uint32_t id = 0) {
  return {.address = address,
          .id = id,
          .len = static_cast<uint8_t>(beats - 1),
          .size = size,
          .burst = kind};
}

class MemoryPortTest : public testing::Test {
 protected:
  static constexpr uint64_t kLast = 0xffff;
  MemoryPortTest() : listener_(Peer::Listen(directory_ / "socket")) {
    link_ = *Link::Open({.listens = false, .path = directory_ / "socket", .name = "memory"});
    port_ = std::make_unique<MemoryPort>(&axi_, link_.get(), &counters_, axi::Range{0, kLast});
  }
  ~MemoryPortTest() override { close(listener_); }
  void Join(uint64_t entry_bytes = 8192 + 64, uint64_t entries = 16) {
    Poll(100);
    peer_.Accept(listener_);
    peer_.MakeMemory(entry_bytes, entries);
    peer_.SendListenerIntro(peer_.ListenerIntro(3), {peer_.memory_fd()});
    Poll();
    ASSERT_TRUE(link_->is_connected());
  }
  void Poll(int ms = 1) {
    now_ += std::chrono::milliseconds(ms);
    link_->Poll(now_);
    port_->Poll();
  }
  // Sends a write whose octet i is at(i), with strobes where has(i).
  template <typename Has>
  void Write(const axi::Address& burst, Has has) {
    axi_.manager_aw.push_back(burst);
    for (uint32_t i = 0; i <= burst.len; ++i) {
      suede_axi_write_beat beat = {};
      const uint32_t lane = static_cast<uint32_t>(axi::BeatAddress(burst, i) % 64);
      for (uint32_t k = 0; k < axi::BeatBytes(burst, i); ++k) {
        const uint32_t octet = axi::BeatOffset(burst, i) + k;
        beat.data[lane + k] = static_cast<uint8_t>(octet + 1);
        if (has(octet)) beat.strobes[0] |= uint64_t{1} << (lane + k);
      }
      beat.last = i == burst.len;
      axi_.manager_w.push_back(beat);
    }
  }
  // Takes the next request of the port.
  Peer::Got Next() {
    Poll();
    const auto got = peer_.Receive();
    EXPECT_TRUE(got);
    return got.value_or(Peer::Got{});
  }
  void ExpectRequest(uint8_t type, uint64_t address, uint16_t bytes, int first_octet = -1) {
    const Peer::Got got = Next();
    EXPECT_EQ(got.type, type);
    EXPECT_EQ(got.address, address);
    EXPECT_EQ(got.bytes, bytes);
    if (first_octet >= 0) {
      for (int i = 0; i < bytes; ++i) EXPECT_EQ(got.data[i], static_cast<uint8_t>(first_octet + i));
    }
    requests_.push_back(got);
  }
  void ExpectNoRequest() {
    Poll();
    EXPECT_FALSE(peer_.Receive());
  }
  void Complete(const Peer::Got& request) {
    Octets data(request.type == kRead ? request.bytes : 0);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(request.address + i);
    ASSERT_TRUE(
        peer_.Send(request.type == kRead ? kReadDone : kWriteDone, request.request, 0, 0, data));
    Poll();
  }
  void CompleteAll() {
    for (const Peer::Got& request : requests_) Complete(request);
    requests_.clear();
  }
  void ExpectFault(Fault fault) {
    EXPECT_FALSE(link_->is_connected());
    EXPECT_EQ(link_->faults(fault), ++faults_);
  }

  Directory directory_;
  Time now_{};
  suede_axi axi_;
  const int listener_;
  std::unique_ptr<Link> link_;
  Counters counters_;
  std::unique_ptr<MemoryPort> port_;
  Peer peer_;
  std::vector<Peer::Got> requests_;
  uint64_t faults_ = 0;
};

const auto kAll = [](uint32_t) { return true; };

TEST_F(MemoryPortTest, BurstsBecomeRunsOfAdjacentOctets) {
  Join();
  axi::Address burst = Burst(0x1003, 64, 6);
  burst.user[0] = 5;
  Write(burst, kAll);
  ExpectRequest(kWrite, 0x1003, 64 * 64 - 3, 1);
  EXPECT_EQ(requests_[0].space, 5u);
  Write(Burst(0x2000, 8, 2, SUEDE_AXI_FIXED), kAll);
  for (int i = 0; i < 8; ++i) ExpectRequest(kWrite, 0x2000, 4, 1 + 4 * i);
  Write(Burst(0x3010, 4, 3, SUEDE_AXI_WRAP), kAll);
  ExpectRequest(kWrite, 0x3010, 16, 1);
  ExpectRequest(kWrite, 0x3000, 16, 17);
  Write(Burst(0x4000, 2, 3), [](uint32_t octet) { return octet % 5 != 4; });
  ExpectRequest(kWrite, 0x4000, 4, 1);
  ExpectRequest(kWrite, 0x4005, 4, 6);
  ExpectRequest(kWrite, 0x400a, 4, 11);
  ExpectRequest(kWrite, 0x400f, 1, 16);
  // A write without strobes asks for nothing.
  Write(Burst(0x5000, 4, 3), [](uint32_t) { return false; });
  ExpectNoRequest();
  CompleteAll();
  EXPECT_EQ(axi_.manager_b.size(), 5u);
  for (const auto& response : axi_.manager_b) EXPECT_EQ(response.response, SUEDE_AXI_OKAY);
}

TEST_F(MemoryPortTest, ReadsReturnTheLanes) {
  Join();
  axi_.manager_ar.push_back(Burst(0x1005, 3, 3, SUEDE_AXI_INCR, 9));
  axi_.manager_ar.push_back(Burst(0x2018, 4, 3, SUEDE_AXI_WRAP, 8));
  ExpectRequest(kRead, 0x1005, 3 + 16);
  ExpectRequest(kRead, 0x2018, 8);
  ExpectRequest(kRead, 0x2000, 24);
  CompleteAll();
  ASSERT_EQ(axi_.manager_r.size(), 7u);
  for (uint32_t i = 0; i < 7; ++i) {
    const axi::Address burst = i < 3 ? Burst(0x1005, 3, 3) : Burst(0x2018, 4, 3, SUEDE_AXI_WRAP);
    const uint32_t number = i < 3 ? i : i - 3;
    const uint64_t address = axi::BeatAddress(burst, number);
    const suede_axi_read_beat& beat = axi_.manager_r[i];
    EXPECT_EQ(beat.id, i < 3 ? 9u : 8u);
    EXPECT_EQ(beat.last, number == burst.len);
    for (uint32_t lane = 0; lane < 64; ++lane) {
      const bool is_active =
          lane >= address % 64 && lane < address % 64 + axi::BeatBytes(burst, number);
      EXPECT_EQ(beat.data[lane], is_active ? static_cast<uint8_t>(address / 64 * 64 + lane) : 0);
    }
  }
}

TEST_F(MemoryPortTest, SmallEntriesDivideRequests) {
  Join(/*entry_bytes=*/64 + 128);
  axi_.manager_ar.push_back(Burst(0x1000, 5, 6));
  ExpectRequest(kRead, 0x1000, 128);
  ExpectRequest(kRead, 0x1080, 128);
  ExpectRequest(kRead, 0x1100, 64);
  CompleteAll();
  EXPECT_EQ(axi_.manager_r.size(), 5u);
}

TEST_F(MemoryPortTest, AnswersKeepTheOrderOfTransactions) {
  Join();
  Write(Burst(0x1000, 1, 3, SUEDE_AXI_INCR, 1), kAll);
  Write(Burst(0x1008, 1, 3, SUEDE_AXI_INCR, 2), kAll);
  ExpectRequest(kWrite, 0x1000, 8);
  ExpectRequest(kWrite, 0x1008, 8);
  Complete(requests_[1]);
  EXPECT_TRUE(axi_.manager_b.empty());
  Complete(requests_[0]);
  ASSERT_EQ(axi_.manager_b.size(), 2u);
  EXPECT_EQ(axi_.manager_b[0].id, 1u);
  EXPECT_EQ(axi_.manager_b[1].id, 2u);
}

TEST_F(MemoryPortTest, NothingOutsideOfTheRangeIsRequested) {
  Join();
  axi_.manager_ar.push_back(Burst(kLast - 63, 2, 6, SUEDE_AXI_INCR, 1));
  Write(Burst(kLast + 1, 1, 6, SUEDE_AXI_INCR, 2), kAll);
  axi_.manager_ar.push_back(Burst(~uint64_t{0} - 63, 1, 6, SUEDE_AXI_INCR, 3));
  ExpectNoRequest();
  ExpectNoRequest();
  ASSERT_EQ(axi_.manager_b.size(), 1u);
  ASSERT_EQ(axi_.manager_r.size(), 3u);
  EXPECT_EQ(axi_.manager_b[0].response, SUEDE_AXI_DECERR);
  for (const auto& beat : axi_.manager_r) EXPECT_EQ(beat.response, SUEDE_AXI_DECERR);
  EXPECT_EQ(counters_[Counter::kMemoryOutside], 3u);
  MemoryPort none(&axi_, nullptr, &counters_, {});
  axi_.manager_ar.push_back(Burst(0, 1, 0));
  none.Poll();
  EXPECT_EQ(axi_.manager_r.back().response, SUEDE_AXI_DECERR);
}

TEST_F(MemoryPortTest, ALostSimulatorEndsTransactions) {
  Join();
  axi_.manager_ar.push_back(Burst(0x1000, 1, 6));
  ExpectRequest(kRead, 0x1000, 64);
  // Half of a write has come.
  Write(Burst(0x2000, 2, 6), kAll);
  const suede_axi_write_beat last = axi_.manager_w.back();
  axi_.manager_w.pop_back();
  Poll();
  peer_.Close();
  Poll();
  Poll();
  ASSERT_EQ(axi_.manager_r.size(), 1u);
  EXPECT_EQ(axi_.manager_r[0].response, SUEDE_AXI_SLVERR);
  EXPECT_EQ(axi_.manager_r[0].data[0], 0);
  axi_.manager_w.push_back(last);
  Poll();
  ASSERT_EQ(axi_.manager_b.size(), 1u);
  EXPECT_EQ(axi_.manager_b[0].response, SUEDE_AXI_SLVERR);
  EXPECT_EQ(counters_[Counter::kMemoryUnserved], 2u);
  // A completion of the request before is none of the new connection.
  requests_.clear();
  Join();
  axi_.manager_ar.push_back(Burst(0x1000, 1, 6));
  ExpectRequest(kRead, 0x1000, 64);
  CompleteAll();
  EXPECT_EQ(axi_.manager_r.back().response, SUEDE_AXI_OKAY);
}

TEST_F(MemoryPortTest, BadCompletionsEndTheConnection) {
  const auto with_a_read = [&] {
    requests_.clear();
    Join();
    axi_.manager_ar.push_back(Burst(0x1000, 1, 6));
    ExpectRequest(kRead, 0x1000, 64);
  };
  for (unsigned type = 2; type < 128; ++type) {
    if (type == kReadDone || type == kWriteDone) continue;
    with_a_read();
    peer_.Send(static_cast<uint8_t>(type), requests_[0].request, 0, 0);
    Poll();
    ExpectFault(Fault::kType);
  }
  faults_ = 0;
  with_a_read();
  peer_.Send(kWriteDone, requests_[0].request, 0, 0);
  Poll();
  ExpectFault(Fault::kRequest);
  for (const uint64_t other : {uint64_t{1}, uint64_t{256}, ~uint64_t{0}}) {
    with_a_read();
    peer_.Send(kReadDone, requests_[0].request + other, 0, 0);
    Poll();
    ExpectFault(Fault::kRequest);
  }
  with_a_read();
  Complete(requests_[0]);
  EXPECT_TRUE(link_->is_connected());
  peer_.Send(kReadDone, requests_[0].request, 0, 0);
  Poll();
  ExpectFault(Fault::kRequest);
  Poll();
  const size_t reads = 126 - 2 + 1 + 3 + 1;
  EXPECT_EQ(axi_.manager_r.size(), reads) << "each transaction is answered once";
}

TEST_F(MemoryPortTest, PagesThatVanish) {
  Join(8192 + 64, 64);
  ASSERT_EQ(ftruncate(peer_.memory_fd(), 0), 0);
  for (int i = 0; i < 40; ++i) Write(Burst(0x1000, 64, 6), kAll);
  for (int i = 0; i < 10; ++i) Poll();
  ExpectFault(Fault::kMemory);
  EXPECT_EQ(axi_.manager_b.size(), 40u);
}

// Random transactions on a simulator that completes in any order, against a model.
TEST_F(MemoryPortTest, RandomTransactions) {
  Join(/*entry_bytes=*/64 + 512, /*entries=*/4);
  Random random(3);
  Octets octets(kLast + 1);
  std::deque<Peer::Got> open;
  uint64_t started = 0;
  const auto step = [&] {
    Poll();
    if (const auto got = peer_.Receive()) {
      // Executed when it comes, completed in any order.
      if (got->type == kWrite)
        std::memcpy(octets.data() + got->address, got->data.data(), got->bytes);
      open.push_back(*got);
    }
    if (open.empty() || random() % 2 == 0) return;
    const size_t at = random() % open.size();
    const Peer::Got& done = open[at];
    const Octets data(octets.begin() + done.address, octets.begin() + done.address + done.bytes);
    if (peer_.Send(done.type == kRead ? kReadDone : kWriteDone, done.request, 0, 0,
                   done.type == kRead ? data : Octets())) {
      open.erase(open.begin() + at);
    }
  };
  for (; started < 300; ++started) {
    // Each its own page, so that reads see their own writes alone.
    const uint8_t size = static_cast<uint8_t>(random() % 7);
    const uint32_t beats = 1 + random() % std::min(256u, 2048u >> size);
    const axi::Address burst = Burst(started % 16 * 4096 + random() % 2000, beats, size);
    const uint32_t stride = 2 + random() % 40;
    Write(burst, [&](uint32_t octet) { return octet % stride != 0; });
    const size_t writes = axi_.manager_b.size();
    for (int i = 0; i < 100000 && axi_.manager_b.size() == writes; ++i) step();
    ASSERT_EQ(axi_.manager_b.size(), writes + 1);
    axi_.manager_r.clear();
    axi_.manager_ar.push_back(burst);
    for (int i = 0; i < 100000 && axi_.manager_r.size() < beats; ++i) step();
    ASSERT_EQ(axi_.manager_r.size(), beats);
    for (uint32_t i = 0; i < beats; ++i) {
      const uint64_t address = axi::BeatAddress(burst, i);
      for (uint32_t k = 0; k < axi::BeatBytes(burst, i); ++k) {
        const uint32_t octet = axi::BeatOffset(burst, i) + k;
        const uint8_t got = axi_.manager_r[i].data[address % 64 + k];
        ASSERT_EQ(got, octets[address + k]);
        if (octet % stride != 0) {
          ASSERT_EQ(got, static_cast<uint8_t>(octet + 1));
        }
      }
    }
  }
}

}  // namespace
}  // namespace suede::simbricks
