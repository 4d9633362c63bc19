// SPDX-License-Identifier: Apache-2.0
// Handshakes and ends of connections, with peers that break each rule.
#include "simbricks/link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "page_tables.h"
#include "peer.h"
#include "simbricks/counters.h"

namespace suede::simbricks {
namespace {

constexpr uint64_t kMemoryId = 3;

TEST(SimbricksPage, HasTheFaultsAndCounters) {
  std::string table = "| reason | cause |\n|---|---|\n";
  for (size_t fault = 1; fault < kFaults; ++fault) {
    table += std::string("| `") + NameOf(Fault(fault)) + "` | " + SentenceOf(Fault(fault)) + " |\n";
  }
  ExpectTable("docs/simbricks.md", "faults", table);
  std::string counters = "| counter | counts |\n|---|---|\n";
#define SUEDE_ROW(id, name, sentence) counters += "| `" name "` | " sentence " |\n";
  SUEDE_SIMBRICKS_COUNTERS(SUEDE_ROW)
  ExpectTable("docs/simbricks.md", "counters", counters);
}

class LinkTest : public testing::Test {
 protected:
  void Open(bool listens) {
    auto link = Link::Open({.listens = listens,
                            .path = directory_ / "socket",
                            .name = "test",
                            .room = 1024,
                            .entries = 8});
    ASSERT_TRUE(link.ok()) << link.status();
    link_ = *std::move(link);
  }
  void Poll(int ms = 1) {
    now_ += std::chrono::milliseconds(ms);
    link_->Poll(now_);
  }
  void ExpectFault(Fault fault, uint64_t count) {
    EXPECT_EQ(link_->faults(fault), count) << NameOf(fault);
    EXPECT_FALSE(link_->is_connected());
  }
  // A connecter whose handshake has come to its end.
  void Join(Peer& peer) {
    peer.Connect(directory_ / "socket");
    peer.SendIntro(Peer::Intro(kMemoryId));
    Poll();
    Poll();
    ASSERT_TRUE(link_->is_connected());
    ASSERT_TRUE(peer.TakeIntro());
  }

  Directory directory_;
  Time now_{};
  std::unique_ptr<Link> link_;
};

TEST_F(LinkTest, ConnectersWithBadIntros) {
  Open(/*listens=*/true);
  struct Case {
    std::string intro;
    Fault fault;
  };
  const std::string good = Peer::Intro(kMemoryId);
  const std::vector<Case> cases = {
      {good.substr(0, 31), Fault::kIntro},
      {good.substr(0, 1), Fault::kIntro},
      {good + std::string(2048, 'x'), Fault::kIntro},
      {Words({1, 0, 3, 31}, 4), Fault::kIntro},
      {Words({1, 0, 3, 37}, 4), Fault::kIntro},
      {Words({1, 0, 3, ~uint64_t{0}}, 4), Fault::kIntro},
      {Words({2, 0, 3, 32}, 4), Fault::kVersion},
      {Words({0, 0, 3, 32}, 4), Fault::kVersion},
      {Words({1, 0, 1, 32}, 4), Fault::kUpper},
      {Words({1, 0, 2, 32}, 4), Fault::kUpper},
      {Words({1, 2, 3, 32}, 4), Fault::kSync},
      {Words({1, 3, 3, 32}, 4), Fault::kSync},
  };
  std::array<uint64_t, kFaults> counts{};
  for (const Case& each : cases) {
    Peer peer;
    peer.Connect(directory_ / "socket");
    peer.SendIntro(each.intro);
    Poll();
    ExpectFault(each.fault, ++counts[static_cast<size_t>(each.fault)]);
    EXPECT_TRUE(peer.IsTurnedAway());
  }
  // A peer that closes without an intro, and one that sends none.
  Peer peer;
  peer.Connect(directory_ / "socket");
  peer.Close();
  Poll();
  ExpectFault(Fault::kIntro, ++counts[static_cast<size_t>(Fault::kIntro)]);
  peer.Connect(directory_ / "socket");
  Poll();
  Poll(4000);
  EXPECT_FALSE(peer.IsTurnedAway());
  Poll(1001);
  ExpectFault(Fault::kTimeout, 1);
  EXPECT_TRUE(peer.IsTurnedAway());
  // Another connection is as good as the first.
  Join(peer);
}

TEST_F(LinkTest, OfferedSynchronisationIsNotTaken) {
  Open(/*listens=*/true);
  Peer peer;
  peer.Connect(directory_ / "socket");
  peer.SendIntro(Words({1, 1, kMemoryId, 32}, 0));
  Poll();
  EXPECT_TRUE(link_->is_connected());
}

TEST_F(LinkTest, MemoryOfAListenerKeepsItsLength) {
  Open(/*listens=*/true);
  Peer peer;
  Join(peer);
  EXPECT_EQ(peer.in.entry_bytes, 1024u + 64);
  EXPECT_EQ(peer.in.entries, 8u);
  EXPECT_NE(ftruncate(peer.memory_fd(), 0), 0);
  EXPECT_NE(ftruncate(peer.memory_fd(), 1 << 30), 0);
}

TEST_F(LinkTest, OneConnectionAtATime) {
  Open(/*listens=*/true);
  Peer first;
  Join(first);
  Peer second;
  second.Connect(directory_ / "socket");
  Poll();
  EXPECT_TRUE(second.IsTurnedAway());
  EXPECT_EQ(link_->busy(), 1u);
  EXPECT_TRUE(link_->is_connected());
  first.Close();
  Header header;
  Poll();
  EXPECT_FALSE(link_->Next(&header));
  EXPECT_FALSE(link_->is_connected());
  Join(second);
  EXPECT_EQ(link_->generation(), 2u);
}

TEST_F(LinkTest, MessagesBeforeTheEndAreTaken) {
  Open(/*listens=*/true);
  Peer peer;
  Join(peer);
  ASSERT_TRUE(peer.Send(kSync, 0, 0, 0));
  ASSERT_TRUE(peer.Send(kRead, 5, 0x1000, 8, {}, 9));
  ASSERT_TRUE(peer.Send(kRead, 6, 0x1000, 8));
  peer.Close();
  Poll();
  Header header;
  EXPECT_FALSE(link_->Next(&header)) << "SYNC is ignored";
  ASSERT_TRUE(link_->Next(&header));
  EXPECT_EQ(header.type, kRead);
  EXPECT_EQ(header.request, 5u);
  EXPECT_EQ(header.space, 9u);
  EXPECT_EQ(header.address, 0x1000u);
  EXPECT_EQ(header.bytes, 8u);
  link_->reader().Release();
  ASSERT_TRUE(link_->Next(&header));
  EXPECT_EQ(header.request, 6u);
  link_->reader().Release();
  EXPECT_FALSE(link_->Next(&header));
  EXPECT_FALSE(link_->is_connected());
}

TEST_F(LinkTest, APeerThatHasClosedSendsNotForEver) {
  Open(/*listens=*/true);
  Peer peer;
  Join(peer);
  ASSERT_TRUE(peer.Send(kRead, 5, 0x1000, 8));
  shutdown(peer.socket(), SHUT_WR);
  Header header;
  for (int i = 0; i < 50; ++i) {
    Poll(100);
    EXPECT_TRUE(link_->Next(&header));
    link_->reader().Release();
    ASSERT_TRUE(peer.Send(kRead, 5, 0x1000, 8));
  }
  Poll(101);
  EXPECT_FALSE(link_->is_connected());
}

TEST_F(LinkTest, Termination) {
  Open(/*listens=*/true);
  Peer peer;
  Join(peer);
  ASSERT_TRUE(peer.Send(kTerminate, 0, 0, 0));
  Header header;
  EXPECT_FALSE(link_->Next(&header));
  EXPECT_FALSE(link_->is_connected());
  EXPECT_TRUE(peer.IsTurnedAway());
  const auto last = peer.Receive();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->type, kTerminate);
}

TEST_F(LinkTest, BytesBehindTheIntro) {
  Open(/*listens=*/true);
  Peer peer;
  Join(peer);
  peer.SendIntro("more");
  Poll();
  ExpectFault(Fault::kIntro, 1);
}

TEST_F(LinkTest, ListenersWithBadIntros) {
  const int listener = Peer::Listen(directory_ / "socket");
  Open(/*listens=*/false);
  Peer peer;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  constexpr uint64_t kEntry = 1024 + 64;
  constexpr uint64_t kQueue = kEntry * 8;
  const auto queues = [](std::vector<uint64_t> plan) {
    std::vector<uint64_t> words = {1, 0};
    words.insert(words.end(), plan.begin(), plan.end());
    words.insert(words.end(), {kMemoryId, 80});
    return Words(words, 4);
  };
  struct Case {
    std::string intro;
    Fault fault;
    int descriptors = 1;  // 3: of a pipe
  };
  const std::string good = queues({0, kEntry, 8, kQueue, kEntry, 8});
  const std::vector<Case> cases = {
      {good.substr(0, 79), Fault::kIntro},
      {good.substr(0, 32), Fault::kIntro},
      {Words({2, 0, 0, kEntry, 8, kQueue, kEntry, 8, 3, 80}, 4), Fault::kVersion},
      {Words({1, 2, 0, kEntry, 8, kQueue, kEntry, 8, 3, 80}, 4), Fault::kSync},
      {Words({1, 0, 0, kEntry, 8, kQueue, kEntry, 8, 1, 80}, 4), Fault::kUpper},
      {good, Fault::kDescriptor, 0},
      {good, Fault::kDescriptor, 2},
      {good, Fault::kDescriptor, 3},
      {queues({0, kEntry, 0, kQueue, kEntry, 8}), Fault::kQueues},
      {queues({0, kEntry, 8, kQueue, 64, 8}), Fault::kQueues},
      {queues({0, kEntry, 8, kQueue, 0, 8}), Fault::kQueues},
      {queues({4, kEntry, 8, kQueue, kEntry, 8}), Fault::kQueues},
      {queues({0, kEntry + 4, 8, kQueue, kEntry, 8}), Fault::kQueues},
      {queues({0, kEntry, 8, kQueue + 8, kEntry, 8}), Fault::kQueues},
      {queues({0, kEntry, 8, kQueue, kEntry, 9}), Fault::kQueues},
      {queues({uint64_t(-8), kEntry, 8, kQueue, kEntry, 8}), Fault::kQueues},
      {queues({0, kEntry, uint64_t{1} << 60, kQueue, kEntry, 8}), Fault::kQueues},
      {queues({0, uint64_t{1} << 61, 8, kQueue, kEntry, 8}), Fault::kQueues},
      {queues({0, kEntry, 1 << 20, 0, kEntry, 8}), Fault::kQueues},
  };
  std::array<uint64_t, kFaults> counts{};
  for (const Case& each : cases) {
    Poll(100);
    peer.Accept(listener);
    peer.MakeMemory(kEntry, 8);
    std::vector<int> fds(each.descriptors % 3, peer.memory_fd());
    if (each.descriptors == 3) fds = {pipes[0]};
    peer.SendListenerIntro(each.intro, fds);
    Poll();
    ExpectFault(each.fault, ++counts[static_cast<size_t>(each.fault)]);
    EXPECT_TRUE(peer.IsTurnedAway());
  }
  // It tries again, and the next is good.
  Poll(100);
  peer.Accept(listener);
  peer.MakeMemory(kEntry, 8);
  peer.SendListenerIntro(good, {peer.memory_fd()});
  Poll();
  EXPECT_TRUE(link_->is_connected());
  close(pipes[0]);
  close(pipes[1]);
  close(listener);
}

TEST_F(LinkTest, PagesThatVanish) {
  const int listener = Peer::Listen(directory_ / "socket");
  Open(/*listens=*/false);
  Poll();
  Peer peer;
  peer.Accept(listener);
  peer.MakeMemory(1024 + 64, 64);
  peer.SendListenerIntro(peer.ListenerIntro(kMemoryId), {peer.memory_fd()});
  Poll();
  ASSERT_TRUE(link_->is_connected());
  ASSERT_EQ(ftruncate(peer.memory_fd(), 0), 0);
  Header header;
  EXPECT_FALSE(link_->Next(&header)) << "the page that took its place is empty";
  EXPECT_FALSE(link_->Next(&header));
  ExpectFault(Fault::kMemory, 1);
  close(listener);
}

TEST_F(LinkTest, AListenerMayTakeItsTime) {
  Open(/*listens=*/false);
  Poll(100);  // no socket is there yet
  const int listener = Peer::Listen(directory_ / "socket");
  Poll(100);
  Poll(600000);
  Peer peer;
  peer.Accept(listener);
  peer.MakeMemory(1024 + 64, 8);
  peer.SendListenerIntro(peer.ListenerIntro(kMemoryId), {peer.memory_fd()});
  Poll();
  EXPECT_TRUE(link_->is_connected());
  close(listener);
}

}  // namespace
}  // namespace suede::simbricks
