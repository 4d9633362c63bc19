// SPDX-License-Identifier: Apache-2.0
// Parts of an lcore by themselves: the frames that it needs, the classes of its frames, its
// acknowledgements, its events, its batches of frames to seal.
#include <gtest/gtest.h>

#include <memory>

#include "../seal/passing_crypto.h"
#include "client/client_table.h"
#include "lcore/events.h"
#include "lcore/params.h"
#include "lcore/port_context.h"
#include "lcore/seal_batch.h"
#include "link/handover.h"
#include "openssl/openssl_crypto.h"

namespace suede {
namespace {

TEST(PfcClassTest, IsThatOfTheDscpUnlessTheTagCounts) {
  constexpr TrafficClass kTraffic{.pcp = 3, .dscp = 46};
  struct Case {
    Encap encap;
    bool tagged;
    bool by_pcp;
    uint8_t expected;
  };
  for (const Case& c : {Case{Encap::kUdp4, false, false, 5}, Case{Encap::kUdp4, true, false, 5},
                        Case{Encap::kUdp4, true, true, 3}, Case{Encap::kUdp4, false, true, 5},
                        Case{Encap::kAfh1, false, false, 0}, Case{Encap::kAfh1, true, false, 3},
                        Case{Encap::kAfh1, true, true, 3}}) {
    PortParams port{.tagged = c.tagged, .class_by_pcp = c.by_pcp};
    port.rules.encap = c.encap;
    EXPECT_EQ(PfcClassOf(port, kTraffic), c.expected)
        << static_cast<int>(c.encap) << c.tagged << c.by_pcp;
  }
}

TEST(FramesNeededTest, AreThoseOfAllUsersTogether) {
  constexpr uint32_t kReserve = 16 * kBurst;  // of a queue pair
  const auto of_home = [](const PortHome& home) {
    return FramesNeeded({.homes = {home}}) - kReserve;
  };
  EXPECT_EQ(FramesNeeded({}), kReserve);
  EXPECT_EQ(FramesNeeded({.rx_descriptors = 100, .queue_pairs = 3}), 3 * (100 + kReserve));
  EXPECT_EQ(FramesNeeded({.tx_descriptors = 70, .queue_pairs = 2}), 70 + 2 * kReserve);
  EXPECT_EQ(FramesNeeded({.unclaimed_pdus = 9, .link_frames = 5}), kReserve + 9 + 5);
  EXPECT_EQ(FramesNeeded({.lcores = 3}), kReserve + 3 * 2 * kHandoverFrames);
  EXPECT_EQ(of_home({.inflight_pdus = {100, 200}, .packed_pdus = 5000}), 300u + 5000);
  EXPECT_EQ(of_home({.inflight_pdus = {100, 200}, .packed_pdus = 5000, .seals = true}),
            2 * 300u + 5000);
  EXPECT_EQ(of_home({.inflight_pdus = {100, 200}, .destinations = 400, .packed_pdus = 5000}),
            400u + 5000)
      << "each destination has one";
  EXPECT_EQ(of_home({.inflight_pdus = {kMaxHeldTogether, 7}, .packed_pdus = 5000}),
            kMaxHeldTogether + 5000)
      << "together they have no more";
  EXPECT_EQ(of_home({.inflight_pdus = {100'000, 7}, .packed_pdus = 5000}), 100'000u + 5000)
      << "unless one alone may";
  EXPECT_EQ(of_home({.inflight_pdus = {100, 200}}), 300 + ClientTable::kMaxQueues)
      << "and each queue of a client";
  EXPECT_EQ(FramesNeeded({.homes = {{.inflight_pdus = {100}, .packed_pdus = 5000},
                                    {.inflight_pdus = {200}, .packed_pdus = 6000}}}),
            kReserve + 100 + 5000 + 200 + 6000);
}

// Instances share a list of acknowledgements where both of its times are theirs.
TEST(DelayedAcksTest, AreForInstancesWithTheSameDelayAndTheSameBound) {
  TransportParams params;
  params.ack_delay = std::chrono::microseconds(10);
  params.rto_min = std::chrono::microseconds(200);
  const DelayedAcks list(params);
  EXPECT_TRUE(list.IsFor(params));
  TransportParams other = params;
  other.rto_min = std::chrono::microseconds(100);
  ASSERT_NE(other.ack_bound(), params.ack_bound());
  EXPECT_FALSE(list.IsFor(other));
  other = params;
  other.ack_delay = std::chrono::microseconds(20);
  ASSERT_EQ(other.ack_bound(), params.ack_bound());
  EXPECT_FALSE(list.IsFor(other));
}

// Sessions may move by the thousand, and planes die meanwhile.
TEST(EventsTest, ThoseOfSessionsLeaveHalfOfTheQueueToOthers) {
  for (const LcoreEventKind kind :
       {LcoreEventKind::kSessionOpened, LcoreEventKind::kSessionMoved,
        LcoreEventKind::kSessionStalled, LcoreEventKind::kSessionClosed}) {
    EventRing ring;
    CounterBlock counters;
    Events events(ring, counters);
    for (uint32_t i = 0; i < kEventRingItems; ++i) events.Emit({.kind = kind});
    EXPECT_EQ(ring.size(), kEventRingItems / 2);
    EXPECT_EQ(counters.Get(Counter::kEventsLost), kEventRingItems / 2);
    for (uint32_t i = 0; i < kEventRingItems / 2; ++i) {
      events.Emit({.kind = LcoreEventKind::kPlaneDown});
    }
    EXPECT_EQ(ring.size(), kEventRingItems);
    EXPECT_EQ(counters.Get(Counter::kEventsLost), kEventRingItems / 2);
    events.Emit({.kind = LcoreEventKind::kPlaneUp});
    EXPECT_EQ(counters.Get(Counter::kEventsLost), kEventRingItems / 2 + 1);
  }
}

// A library that leaves all as it is, and counts the frames of its bursts.
class CountingCrypto final : public PassingCrypto {
 public:
  using PassingCrypto::PassingCrypto;
  void Seal(std::span<SealJob> jobs) override { sealed += jobs.size(); }
  size_t sealed = 0;
};

TEST(SealBatchTest, IsFullAtItsFramesOrItsBytesAndEmptyOnceItIsSealed) {
  const std::unique_ptr<Crypto> library = NewOpensslCrypto();
  ASSERT_NE(library, nullptr);
  CountingCrypto crypto(*library);
  SealBatch batch;
  const auto add = [&](uint32_t bytes) {
    batch.Next().text_bytes = bytes;
    batch.Commit(nullptr);
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(batch.empty());
    for (uint32_t i = 0; i < SealBatch::kMax; ++i) {
      EXPECT_FALSE(batch.full()) << i;
      add(1);
    }
    EXPECT_TRUE(batch.full());
    batch.Flush(crypto);
    EXPECT_TRUE(batch.empty());
    add(SealBatch::kMaxBytes - 1);
    EXPECT_FALSE(batch.full());
    EXPECT_EQ(batch.Next().plain, nullptr);
    add(1);
    EXPECT_TRUE(batch.full());
    batch.Flush(crypto);
  }
  EXPECT_EQ(crypto.sealed, 2 * (SealBatch::kMax + 2));
}

}  // namespace
}  // namespace suede
