// SPDX-License-Identifier: Apache-2.0
// Frames on loan to devices that copy them, and what becomes of them where a device does not.
#include "dpdk/lending.h"

#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dpdk/dpdk_port.h"

namespace suede {
namespace {

rte_mempool* PoolOf(const DpdkPort& port) {
  return rte_mempool_lookup(("frames_" + std::to_string(port.id())).c_str());
}

class LendingTest : public testing::Test {
 protected:
  // Devices are closed for good by a port's end, so all tests share them.
  static void SetUpTestSuite() {
    null_ = Open("net_null2");
    ring_ = Open("net_ring5");
    ASSERT_TRUE(null_ != nullptr && ring_ != nullptr);
  }
  static void TearDownTestSuite() {
    delete null_;
    delete ring_;
  }
  static DpdkPort* Open(const std::string& device) {
    auto port = DpdkPort::Open({.name = device, .device = device, .pool_frames = 2048});
    EXPECT_TRUE(port.ok()) << port.status();
    return port.ok() ? port->release() : nullptr;
  }
  void SetUp() override {
    free_null_ = null_->FreeFrames();
    free_ring_ = ring_->FreeFrames();
  }
  void TearDown() override {
    Drain();
    EXPECT_EQ(null_->FreeFrames(), free_null_) << "a frame leaked";
    EXPECT_EQ(ring_->FreeFrames(), free_ring_) << "a frame leaked";
  }

  // A queue pair of net_ring, which keeps frames, that counts as one of a driver that copies.
  static std::unique_ptr<QueuePair> TrustingPair() {
    auto pair = std::make_unique<QueuePair>(QueuePairParams{.device = ring_,
                                                            .id = ring_->id(),
                                                            .frame_bytes = ring_->max_frame_bytes(),
                                                            .pool = PoolOf(*ring_),
                                                            .lending = internal::LendingPool()});
    pair->gate().Open();
    return pair;
  }
  static std::vector<Frame*> Make(Port& port, uint32_t count) {
    std::vector<Frame*> frames(count);
    EXPECT_EQ(port.Allocate(frames.data(), count), count);
    for (uint32_t i = 0; i < count; ++i) {
      frames[i]->data = frames[i]->buffer + Frame::kCommandOffset;
      frames[i]->length = 60;
      std::memset(frames[i]->data, static_cast<int>(i), 60);
    }
    return frames;
  }
  static uint32_t Drain() {
    uint32_t count = 0;
    Frame* frames[64];
    while (const uint32_t got = ring_->pair().Receive(frames, 64)) {
      ring_->pair().Release(frames, got);
      count += got;
    }
    return count;
  }

  // Frames that the driver is given.
  struct Given {
    uint32_t lent = 0;
    uint32_t referenced = 0;
  };
  static uint16_t See(uint16_t /*port*/, uint16_t /*queue*/, rte_mbuf** mbufs, uint16_t count,
                      void* given) {
    auto& seen = *static_cast<Given*>(given);
    for (uint16_t i = 0; i < count; ++i) {
      const bool lent = mbufs[i]->pool == internal::LendingPool();
      EXPECT_EQ(rte_mbuf_refcnt_read(mbufs[i]), lent ? 1 : 2);
      ++(lent ? seen.lent : seen.referenced);
    }
    return count;
  }
  static Given TransmitSeen(QueuePair& pair, const DpdkPort& port,
                            const std::vector<Frame*>& frames) {
    Given given;
    const auto* callback = rte_eth_add_tx_callback(port.id(), 0, See, &given);
    EXPECT_EQ(pair.Transmit(frames.data(), static_cast<uint32_t>(frames.size())), frames.size());
    EXPECT_EQ(rte_eth_remove_tx_callback(port.id(), 0, callback), 0);
    return given;
  }

  static DpdkPort* null_;
  static DpdkPort* ring_;
  uint32_t free_null_ = 0;
  uint32_t free_ring_ = 0;
};
DpdkPort* LendingTest::null_ = nullptr;
DpdkPort* LendingTest::ring_ = nullptr;

TEST_F(LendingTest, DriversThatCopyAreKnown) {
  for (const char* driver : {"net_af_packet", "net_tap", "net_null"}) {
    EXPECT_TRUE(internal::CopiesFrames(driver)) << driver;
  }
  for (const char* driver : {"net_ring", "mlx5_pci", "net_virtio", "net_af_xdp", "net_ice"}) {
    EXPECT_FALSE(internal::CopiesFrames(driver)) << driver;
  }
}

TEST_F(LendingTest, ACopyingDeviceGetsNoReferences) {
  std::vector<Frame*> frames = Make(null_->pair(), 200);
  const Given given = TransmitSeen(null_->pair(), *null_, frames);
  EXPECT_EQ(given.lent, 200U);
  EXPECT_EQ(given.referenced, 0U);
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_FALSE(null_->pair().IsBusy(frames[i]));
    EXPECT_EQ(internal::MbufOf(frames[i])->pool, PoolOf(*null_));
    EXPECT_EQ(frames[i]->data[59], static_cast<uint8_t>(i));
  }
  null_->pair().Release(frames.data(), 200);
  EXPECT_EQ(null_->Stats().tx_kept, 0U);
}

TEST_F(LendingTest, ADeviceThatMayKeepFramesGetsReferences) {
  std::vector<Frame*> frames = Make(ring_->pair(), 10);
  EXPECT_EQ(TransmitSeen(ring_->pair(), *ring_, frames).referenced, 10U);
  ring_->pair().Release(frames.data(), 10);
}

// Frames of another port's pool, and frames that another device has still, are not lent.
TEST_F(LendingTest, FramesThatAreNotOursAloneGetReferences) {
  std::vector<Frame*> own = Make(null_->pair(), 5);
  std::vector<Frame*> busy = Make(null_->pair(), 5);
  std::vector<Frame*> foreign = Make(ring_->pair(), 5);
  EXPECT_EQ(ring_->pair().Transmit(busy.data(), 5), 5U);
  std::vector<Frame*> all = own;
  all.insert(all.end(), foreign.begin(), foreign.end());
  const Given given = TransmitSeen(null_->pair(), *null_, all);
  EXPECT_EQ(given.lent, 5U);
  EXPECT_EQ(given.referenced, 5U);
  EXPECT_EQ(null_->pair().Transmit(busy.data(), 5), 5U);
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_FALSE(null_->pair().IsBusy(own[i]));
    EXPECT_FALSE(null_->pair().IsBusy(foreign[i]));
    EXPECT_TRUE(null_->pair().IsBusy(busy[i]));
  }
  EXPECT_EQ(null_->pair().kept(), 0U);
  EXPECT_EQ(Drain(), 5U);
  for (auto* frames : {&own, &busy, &foreign}) null_->pair().Release(frames->data(), 5);
}

TEST_F(LendingTest, ADeviceThatKeepsFramesGetsReferencesFromThenOn) {
  const std::unique_ptr<QueuePair> pair = TrustingPair();
  std::vector<Frame*> frames = Make(*pair, 10);
  ASSERT_EQ(pair->Transmit(frames.data(), 10), 10U);
  EXPECT_EQ(pair->kept(), 10U);
  for (Frame* frame : frames) EXPECT_TRUE(pair->IsBusy(frame));
  pair->Release(frames.data(), 3);  // while the device has them
  std::vector<Frame*> more = Make(*pair, 10);
  EXPECT_EQ(TransmitSeen(*pair, *ring_, more).referenced, 10U);
  EXPECT_EQ(pair->kept(), 10U);
  EXPECT_EQ(Drain(), 20U);
  for (uint32_t i = 3; i < 10; ++i) {
    EXPECT_FALSE(pair->IsBusy(frames[i]));
    EXPECT_EQ(frames[i]->data[59], i);
  }
  pair->Release(frames.data() + 3, 7);
  pair->Release(more.data(), 10);
}

TEST_F(LendingTest, WhatTheDeviceDoesNotTakeIsNotKept) {
  const std::unique_ptr<QueuePair> pair = TrustingPair();
  std::vector<Frame*> fill = Make(ring_->pair(), 1020);
  ASSERT_EQ(ring_->pair().Transmit(fill.data(), 1020), 1020U);
  std::vector<Frame*> frames = Make(*pair, 10);
  ASSERT_EQ(pair->Transmit(frames.data(), 10), 3U);  // the ring holds 1023
  EXPECT_EQ(pair->kept(), 3U);
  for (uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(pair->IsBusy(frames[i]), i < 3);
    EXPECT_EQ(internal::MbufOf(frames[i])->pool, PoolOf(*ring_));
  }
  Drain();
  pair->Release(frames.data(), 10);
  ring_->pair().Release(fill.data(), 1020);
}

// A full device that is lent frames takes none, and none is missed.
TEST_F(LendingTest, ARefusedBurstIsNoKeptOne) {
  const std::unique_ptr<QueuePair> pair = TrustingPair();
  std::vector<Frame*> fill = Make(ring_->pair(), 1023);
  ASSERT_EQ(ring_->pair().Transmit(fill.data(), 1023), 1023U);
  std::vector<Frame*> frames = Make(*pair, 10);
  EXPECT_EQ(pair->Transmit(frames.data(), 10), 0U);
  EXPECT_EQ(pair->kept(), 0U);
  for (Frame* frame : frames) EXPECT_FALSE(pair->IsBusy(frame));
  Drain();
  pair->Release(frames.data(), 10);
  ring_->pair().Release(fill.data(), 1023);
}

// DPDK gives no cache to a thread that it does not know.
TEST_F(LendingTest, AThreadWithoutACacheGivesReferences) {
  std::vector<Frame*> frames = Make(null_->pair(), 10);
  Given given;
  std::thread([&] { given = TransmitSeen(null_->pair(), *null_, frames); }).join();
  EXPECT_EQ(given.lent, 0U);
  EXPECT_EQ(given.referenced, 10U);
  null_->pair().Release(frames.data(), 10);
  EXPECT_EQ(null_->pair().kept(), 0U);
}

}  // namespace
}  // namespace suede
