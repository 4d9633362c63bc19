// SPDX-License-Identifier: Apache-2.0
// Peers: each sends to all others and serves them.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "loopback.h"
#include "perf/server.h"
#include "perf/stream_load.h"

namespace suede::perf {
namespace {

class PeersTest : public ::testing::Test {
 protected:
  struct Peer {
    Peer(Loopback& link, uint16_t xpuid) : own(xpuid), end(link, xpuid), server(end, xpuid) {}
    const uint16_t own;
    LoopbackEndpoint end;
    ServerWorkload<LoopbackEndpoint> server;
    RunPlan plan;
    std::unique_ptr<RunBoard> board;
    std::unique_ptr<StreamRun<LoopbackEndpoint>> client;
    bool lingers = false;
    std::vector<uint16_t> others;
    std::vector<RunResult> results;
  };

  // All-to-all among `count` peers on `vcs`, `runs` runs each; peer i begins i * `apart` later.
  void Run(uint16_t count, const std::vector<uint8_t>& vcs, size_t runs, Duration apart = {}) {
    for (uint16_t i = 0; i < count; ++i) {
      Peer& peer = peers_.emplace_back(link_, static_cast<uint16_t>(i + 1));
      peer.plan.shape = {.control_bytes = 12, .data_bytes = 33, .check = true};
      peer.plan.count = 300;
      peer.plan.connect_timeout = std::chrono::seconds(2);
      peer.plan.drain_timeout = std::chrono::seconds(1);
      for (uint16_t other = 1; other <= count; ++other) {
        if (other == peer.own) continue;
        peer.others.push_back(other);
        for (const uint8_t vc : vcs) peer.plan.streams.push_back({other, vc});
      }
    }
    bool all_done = false;
    for (int round = 0; round < 5'000'000 && !all_done; ++round) {
      link_.now += std::chrono::microseconds(1);
      all_done = true;
      for (Peer& peer : peers_) {
        if (link_.now < Time() + apart * (peer.own - 1)) {
          all_done = false;
          continue;
        }
        all_done &= Step(peer, vcs, runs);
      }
    }
    EXPECT_TRUE(all_done);
  }

  // Returns whether the peer has left.
  bool Step(Peer& peer, const std::vector<uint8_t>& vcs, size_t runs) {
    if (peer.lingers) return peer.server.done() || (peer.server.Poll(link_.now), false);
    if (peer.client != nullptr) {
      peer.client->Poll(link_.now);
      if (!peer.client->done()) return false;
      peer.results.push_back(Combine({&peer.client->record()}, peer.board.get()));
      peer.client.reset();
    }
    if (peer.results.size() == runs) {
      peer.server.StartLinger(
          {.peers = peer.others, .vcs = vcs, .runs = runs, .timeout = std::chrono::seconds(1)},
          link_.now);
      peer.lingers = true;
      return false;
    }
    const auto run = static_cast<uint32_t>(peer.own * 100 + peer.results.size());
    peer.board = std::make_unique<RunBoard>(RunBoard::Parts{.run = run}, peer.plan.streams);
    peer.client = std::make_unique<StreamRun<LoopbackEndpoint>>(
        peer.plan, stop_, peer.end, *peer.board, peer.own, uint8_t{0}, vcs, &peer.server);
    return false;
  }

  void ExpectAllArrived(size_t runs) {
    for (Peer& peer : peers_) {
      ASSERT_EQ(peer.results.size(), runs);
      for (const RunResult& r : peer.results) {
        EXPECT_EQ(r.outcome, Outcome::kDone) << r.explanation;
        EXPECT_EQ(r.measured, 300u);
        EXPECT_EQ(r.forward.received, r.sent);
        EXPECT_EQ(r.lost() + r.wrong() + r.duplicated() + r.misordered(), 0u);
      }
      const StreamCounts served = peer.server.Total();
      EXPECT_EQ(served.received, 300 * runs);
      EXPECT_EQ(served.wrong + served.lost + served.duplicated, 0u);
    }
  }

  Loopback link_;
  std::atomic<bool> stop_ = false;
  std::deque<Peer> peers_;
};

TEST_F(PeersTest, ThreeSendToAndServeEachOther) {
  Run(3, {0, 2}, 2);
  ExpectAllArrived(2);
  EXPECT_LT(link_.now, Time() + std::chrono::seconds(1));  // nobody waited for nobody
}

// Receive rings of two commands, which both sides fill with load: answers have to get through.
TEST_F(PeersTest, TwoWhoseRingsAreFullDoNotWaitForEachOther) {
  link_.credit = 2;
  Run(2, {0}, 3);
  ExpectAllArrived(3);
}

// The first waits for the last, and does not leave before it has been served.
TEST_F(PeersTest, OneThatBeginsLateIsServedToItsEnd) {
  Run(3, {0}, 1, std::chrono::milliseconds(700));
  ExpectAllArrived(1);
}

TEST_F(PeersTest, WrongContentIsSeenByBothSides) {
  int n = 0;
  link_.fault = [&](Loopback::Stored& c) {
    if (++n == 100) c.data[5] ^= 1;
    return Loopback::Fate::kDeliver;
  };
  Run(2, {1}, 1);
  uint64_t sent = 0, served = 0;
  for (Peer& peer : peers_) {
    sent += peer.results[0].wrong();
    served += peer.server.Total().wrong;
  }
  EXPECT_EQ(sent, 1u);
  EXPECT_EQ(served, 1u);
}

// An end that is no peer but a server only is not waited for longer than the drain takes.
TEST_F(PeersTest, AServerThatSendsNothingIsNotWaitedForForEver) {
  Peer& peer = peers_.emplace_back(link_, 1);
  peer.plan.streams = {{2, 0}};
  peer.plan.count = 300;
  peer.plan.drain_timeout = std::chrono::milliseconds(5);
  peer.others = {2};
  LoopbackEndpoint end(link_, 2);
  ServerWorkload<LoopbackEndpoint> server(end, 2, {0}, false);
  for (int round = 0; round < 5'000'000 && !peer.server.done(); ++round) {
    link_.now += std::chrono::microseconds(1);
    Step(peer, {0}, 1);
    server.Poll(link_.now);
  }
  EXPECT_TRUE(peer.server.done());
  EXPECT_EQ(peer.results[0].forward.received, 300u);
}

}  // namespace
}  // namespace suede::perf
