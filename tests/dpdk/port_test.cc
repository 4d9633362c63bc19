// SPDX-License-Identifier: Apache-2.0
// References of frames over net_ring and net_null, on which the transport relies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "dpdk/crc.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/flow_control.h"
#include "dpdk/lcores.h"
#include "dpdk/link_settings.h"

namespace suede {
namespace {

std::unique_ptr<DpdkPort> OpenPort(const std::string& device, uint16_t lcores = 1) {
  PortOptions options;
  options.name = device;
  options.device = device;
  options.lcores = options.queue_pairs = lcores;
  options.pool_frames = 4096;
  absl::StatusOr<std::unique_ptr<DpdkPort>> port = DpdkPort::Open(options);
  EXPECT_TRUE(port.ok()) << port.status();
  return port.ok() ? *std::move(port) : nullptr;
}

// Devices are closed for good by a port's end, so all tests share them.
class PortTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ring_ = OpenPort("net_ring0").release();
    null_ = OpenPort("net_null0").release();
    ASSERT_TRUE(ring_ != nullptr && null_ != nullptr);
  }
  static void TearDownTestSuite() {
    delete ring_;
    delete null_;
  }

  void SetUp() override { free_before_ = ring_->FreeFrames(); }
  void TearDown() override {
    Drain();
    EXPECT_EQ(ring_->FreeFrames(), free_before_) << "a frame leaked";
  }

  static Frame* Make(Port* port, uint8_t fill, uint32_t length = 100) {
    Frame* frame = nullptr;
    if (port->Allocate(&frame, 1) != 1) return nullptr;
    frame->data = frame->buffer + 64;
    frame->length = length;
    std::memset(frame->data, fill, length);
    return frame;
  }

  // Receives and releases all that waits in the ring.
  static uint32_t Drain() {
    uint32_t count = 0;
    Frame* frames[64];
    while (const uint32_t got = ring_->pair().Receive(frames, 64)) {
      ring_->pair().Release(frames, got);
      count += got;
    }
    return count;
  }

  static DpdkPort* ring_;  // frames sent on it are received from it
  static DpdkPort* null_;
  uint32_t free_before_ = 0;
};
DpdkPort* PortTest::ring_ = nullptr;
DpdkPort* PortTest::null_ = nullptr;

// No virtual device has it. The error says which key to change.
TEST_F(PortTest, ADeviceThatCannotPauseClassesIsRefused) {
  PortOptions options;
  options.name = "p7";
  options.device = "net_null1";
  options.pool_frames = 1024;
  options.pfc = DevicePfc{.classes = 0b1000010};
  const auto port = DpdkPort::Open(options);
  ASSERT_FALSE(port.ok());
  EXPECT_EQ(port.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(port.status().message());
  EXPECT_EQ(
      message.find("port p7 (net_null1): pfc: device, priority flow control of class 1 failed"), 0u)
      << message;
  EXPECT_NE(message.find("; set ports[].pfc to software or off"), std::string::npos) << message;
}

// Their drivers report 10 Gbit/s, whatever the machine.
TEST_F(PortTest, SpeedsOfVirtualDevicesAreNotKnown) {
  for (DpdkPort* port : {ring_, null_}) {
    port->RefreshLink();
    EXPECT_TRUE(port->link().up);
    EXPECT_EQ(port->link().speed_bps, 0u);
    EXPECT_TRUE(port->facts().speeds.empty());
  }
}

TEST(FlowControlTest, EachClassIsAskedForAndTheDevicesThresholdsStay) {
  const rte_eth_fc_conf present{.high_water = 900, .low_water = 800, .autoneg = 1};
  const auto requests = internal::PfcRequests({.classes = 0b1000010, .quanta = 500}, present);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].priority, 1);
  EXPECT_EQ(requests[1].priority, 6);
  for (const rte_eth_pfc_conf& request : requests) {
    EXPECT_EQ(request.fc.mode, RTE_ETH_FC_FULL);
    EXPECT_EQ(request.fc.pause_time, 500);
    EXPECT_EQ(request.fc.send_xon, 1);
    EXPECT_EQ(request.fc.mac_ctrl_frame_fwd, 0);
    EXPECT_EQ(request.fc.high_water, 900u);
    EXPECT_EQ(request.fc.low_water, 800u);
    EXPECT_EQ(request.fc.autoneg, 1);
  }
  EXPECT_TRUE(internal::PfcRequests({.classes = 0}, present).empty());
}

TEST(LinkSettingsTest, SpeedsAreThoseOfTheDevice) {
  constexpr uint32_t kDevice = RTE_ETH_LINK_SPEED_25G | RTE_ETH_LINK_SPEED_100G;
  PortOptions options;
  EXPECT_EQ(*internal::LinkSpeedBits(options, 0), uint32_t{RTE_ETH_LINK_SPEED_AUTONEG});
  options.link_speeds_gbps = {100, 25};
  EXPECT_EQ(*internal::LinkSpeedBits(options, kDevice), kDevice);
  options.link_speeds_gbps = {25};
  options.autoneg = false;
  EXPECT_EQ(*internal::LinkSpeedBits(options, kDevice),
            RTE_ETH_LINK_SPEED_25G | RTE_ETH_LINK_SPEED_FIXED);
  for (const uint32_t unknown : {40u, 3u}) {
    options.link_speeds_gbps = {25, unknown};
    EXPECT_THAT(internal::LinkSpeedBits(options, kDevice).status().message(),
                testing::HasSubstr("Gbit/s, but 25, 100: change link_speeds_gbps"));
  }
  EXPECT_THAT(internal::LinkSpeedBits(options, RTE_ETH_LINK_SPEED_2_5G).status().message(),
              testing::HasSubstr("no 25 Gbit/s, but 2.5:"));
}

TEST(LinkSettingsTest, ModesOfFecAreNamed) {
  EXPECT_EQ(internal::FecText(RTE_ETH_FEC_MODE_CAPA_MASK(NOFEC) | RTE_ETH_FEC_MODE_CAPA_MASK(RS)),
            "off or rs");
  EXPECT_EQ(internal::FecText(0), "none");
}

TEST(LinkSettingsTest, AVirtualDeviceHasNone) {
  PortOptions options;
  options.name = "p0";
  options.device = "net_null3";
  options.pool_frames = 64;
  options.link_speeds_gbps = {100};
  EXPECT_THAT(DpdkPort::Open(options).status().message(),
              testing::HasSubstr("port p0 (net_null3): its driver reports no speeds"));
  options.link_speeds_gbps = {};
  options.fec = FecMode::kRs;
  EXPECT_THAT(DpdkPort::Open(options).status().message(),
              testing::HasSubstr("fec: rs is not possible: the driver net_null has no such "
                                 "setting; remove fec"));
}

TEST_F(PortTest, FramesAreAlignedAndLargeEnough) {
  Frame* frame = Make(&ring_->pair(), 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(frame) % 64, 0U);
  EXPECT_GE(frame->capacity, Frame::kCommandOffset + ring_->max_frame_bytes() + Frame::kSlackBytes);
  EXPECT_TRUE(ring_->link().up);
  ring_->pair().Release(&frame, 1);
}

TEST_F(PortTest, TransmitKeepsTheCallersReference) {
  Frame* frame = Make(&null_->pair(), 1);
  EXPECT_FALSE(null_->pair().IsBusy(frame));
  ASSERT_EQ(null_->pair().Transmit(&frame, 1), 1U);
  EXPECT_FALSE(null_->pair().IsBusy(frame));  // net_null is done at once, and has not freed it
  ASSERT_EQ(null_->pair().Transmit(&frame, 1), 1U);
  EXPECT_EQ(frame->data[99], 1);
  null_->pair().Release(&frame, 1);
}

TEST_F(PortTest, AFrameIsBusyWhileTheDeviceHoldsIt) {
  Frame* frame = Make(&ring_->pair(), 7);
  ASSERT_EQ(ring_->pair().Transmit(&frame, 1), 1U);
  EXPECT_TRUE(ring_->pair().IsBusy(frame));
  EXPECT_EQ(Drain(), 1U);
  EXPECT_FALSE(ring_->pair().IsBusy(frame));
  ring_->pair().Release(&frame, 1);
}

// Then the frames that it holds say nothing of frames that have left.
TEST_F(PortTest, ADeviceThatCannotBeAskedForFramesSaysSo) {
  EXPECT_FALSE(ring_->pair().Reclaim());
  EXPECT_FALSE(null_->pair().Reclaim());
}

TEST_F(PortTest, RetransmissionOfABusyFrameArrivesTwice) {
  Frame* frame = Make(&ring_->pair(), 7);
  ASSERT_EQ(ring_->pair().Transmit(&frame, 1), 1U);
  ASSERT_EQ(ring_->pair().Transmit(&frame, 1), 1U);
  Frame* received[4];
  ASSERT_EQ(ring_->pair().Receive(received, 4), 2U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(received[i], frame) << "a frame that the sender holds was given away";
    EXPECT_EQ(received[i]->length, 100U);
    EXPECT_EQ(received[i]->data[50], 7);
  }
  EXPECT_FALSE(ring_->pair().IsBusy(frame));
  ring_->pair().Release(received, 2);
  ring_->pair().Release(&frame, 1);
}

TEST_F(PortTest, ReleaseWhileTheDeviceHoldsTheFrameLeavesItToTheDevice) {
  Frame* frame = Make(&ring_->pair(), 9);
  ASSERT_EQ(ring_->pair().Transmit(&frame, 1), 1U);
  ring_->pair().Release(&frame, 1);
  Frame* received = nullptr;
  ASSERT_EQ(ring_->pair().Receive(&received, 1), 1U);
  EXPECT_EQ(received, frame);  // ours alone now: no copy
  EXPECT_EQ(received->data[99], 9);
  ring_->pair().Release(&received, 1);
}

TEST_F(PortTest, APartialBurstLeavesTheRestUntouched) {
  std::vector<Frame*> frames(1500);  // the ring takes 1023
  ASSERT_EQ(ring_->pair().Allocate(frames.data(), 1500), 1500U);
  for (Frame* frame : frames) {
    frame->data = frame->buffer + 64;
    frame->length = 60;
  }
  const uint32_t taken = ring_->pair().Transmit(frames.data(), 1500);
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, 1500U);
  for (uint32_t i = 0; i < 1500; ++i) EXPECT_EQ(ring_->pair().IsBusy(frames[i]), i < taken);
  EXPECT_EQ(ring_->pair().Transmit(frames.data() + taken, 1), 0U);
  EXPECT_EQ(ring_->pair().Transmit(frames.data(), 1), 0U);  // a busy one: its reference is taken back
  EXPECT_EQ(Drain(), taken);
  for (Frame* frame : frames) EXPECT_FALSE(ring_->pair().IsBusy(frame));
  ring_->pair().Release(frames.data(), 1500);
}

TEST_F(PortTest, AnExhaustedPoolGivesWhatItHas) {
  std::vector<Frame*> frames(ring_->pool_frames() + 100);
  const uint32_t got = ring_->pair().Allocate(frames.data(), static_cast<uint32_t>(frames.size()));
  EXPECT_EQ(got, free_before_);
  EXPECT_EQ(std::set<Frame*>(frames.begin(), frames.begin() + got).size(), got);
  Frame* more = nullptr;
  EXPECT_EQ(ring_->pair().Allocate(&more, 1), 0U);
  ring_->pair().Release(frames.data(), got);
}

TEST_F(PortTest, AFrameThatIsTooLongIsDroppedAndCounted) {
  const uint64_t before = ring_->Stats().rx_oversize;
  Frame* frame = Make(&ring_->pair(), 1, ring_->max_frame_bytes() + 1);
  ASSERT_EQ(ring_->pair().Transmit(&frame, 1), 1U);
  Frame* received = nullptr;
  EXPECT_EQ(ring_->pair().Receive(&received, 1), 0U);
  EXPECT_EQ(ring_->Stats().rx_oversize, before + 1);
  ring_->pair().Release(&frame, 1);
}

TEST_F(PortTest, EachLcoreHasAQueuePairOfItsOwn) {
  const std::unique_ptr<DpdkPort> port = OpenPort("net_ring2", 2);
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->queues(), 2U);
  const uint32_t free_before = port->FreeFrames();
  Frame* frames[2] = {Make(&port->pair(0), 10), Make(&port->pair(1), 11)};
  for (uint32_t lcore : {0U, 1U}) {
    ASSERT_EQ(port->pair(lcore).Transmit(&frames[lcore], 1), 1U);
    port->pair(lcore).Release(&frames[lcore], 1);
  }
  for (uint32_t lcore : {0U, 1U}) {
    Frame* received[4];
    ASSERT_EQ(port->pair(lcore).Receive(received, 4), 1U);
    EXPECT_EQ(received[0]->data[99], 10 + lcore);
    port->pair(1 - lcore).Release(received, 1);  // the pool is one
  }
  Frame* long_one = Make(&port->pair(1), 1, port->max_frame_bytes() + 1);
  ASSERT_EQ(port->pair(1).Transmit(&long_one, 1), 1U);
  port->pair(1).Release(&long_one, 1);
  EXPECT_EQ(port->pair(1).Receive(&long_one, 1), 0U);
  EXPECT_EQ(port->Stats().rx_oversize, 1U);
  EXPECT_EQ(port->FreeFrames(), free_before);
}

TEST_F(PortTest, NoLcoreGetsIntoAClosedPort) {
  const std::unique_ptr<DpdkPort> port = OpenPort("net_ring3", 2);
  ASSERT_NE(port, nullptr);
  Frame* frames[2] = {Make(&port->pair(0), 10), Make(&port->pair(1), 11)};
  port->WithoutBursts([&] {
    for (uint32_t lcore : {0U, 1U}) {
      EXPECT_EQ(port->pair(lcore).Transmit(&frames[lcore], 1), 0U);
    }
  });
  for (uint32_t lcore : {0U, 1U}) {
    EXPECT_EQ(port->pair(lcore).Transmit(&frames[lcore], 1), 1U);
    EXPECT_TRUE(port->pair(lcore).IsBusy(frames[lcore]));
  }
}

TEST_F(PortTest, ADeviceWithFewerQueuePairsThanLcoresIsRefused) {
  PortOptions options;
  options.name = "p0";
  options.device = "net_ring4";
  options.queue_pairs = 40;
  const auto message = [&options] {
    const auto port = DpdkPort::Open(options);
    EXPECT_EQ(port.status().code(), absl::StatusCode::kFailedPrecondition);
    return std::string(port.status().message());
  };
  options.lcores = 40;
  EXPECT_THAT(message(), testing::AllOf(testing::HasSubstr("port p0 (net_ring4): 40 lcores serve it"),
                                        testing::HasSubstr("put its instances on")));
  options.lcores = 2;
  EXPECT_THAT(message(), testing::AllOf(testing::HasSubstr("40 instances are to have queues"),
                                        testing::HasSubstr("leave out ports[].queues")));
}

TEST_F(PortTest, FramesBeyondTheMtuAreRefusedAtOpening) {
  PortOptions options;
  options.name = "p0";
  options.device = "net_null1";
  options.frame_bytes = 4000;
  const auto port = DpdkPort::Open(options);
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.status().message().find("mtu_bytes"), std::string::npos) << port.status();
}

TEST_F(PortTest, AMissingDeviceIsNamed) {
  PortOptions options;
  options.name = "p0";
  options.device = "0000:ff:1f.7";
  const auto port = DpdkPort::Open(options);
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.status().message().find("0000:ff:1f.7"), std::string::npos) << port.status();
}

TEST(CrcTest, EqualsZlibsForEveryLength) {
  std::vector<uint8_t> data(4500);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i * 167 + (i >> 5));
  for (size_t length = 1; length <= 4400; length += length < 300 ? 1 : 37) {
    for (size_t offset = 0; offset < 3; ++offset) {
      EXPECT_EQ(DpdkCrc32(data.data() + offset, length),
                crc32(0, data.data() + offset, static_cast<uInt>(length)))
          << length;
    }
  }
}

TEST(LcoresTest, ABodyRunsOnItsCpuAndItsResultIsSeen) {
  int cpu = -1;
  ASSERT_TRUE(LaunchOnCpu(0, [&cpu] {
                cpu = sched_getcpu();
                return 5;
              }).ok());
  EXPECT_EQ(WaitForLcores(), 5);
  EXPECT_EQ(cpu, 0);
  EXPECT_FALSE(LaunchOnCpu(99, [] { return 0; }).ok());
}

TEST(ClockTest, GoesAtTheRateOfTheKernels) {
  using Kernel = std::chrono::steady_clock;
  const TscClock clock;
  // Each reading lies between two of the kernel's, however long this thread is kept waiting.
  const Kernel::time_point before_start = Kernel::now();
  const Time start = clock.Now();
  const Kernel::time_point after_start = Kernel::now();
  SleepNs(50'000'000);
  const Kernel::time_point before_end = Kernel::now();
  const Duration mine = clock.Now() - start;
  const Kernel::time_point after_end = Kernel::now();
  EXPECT_GT(mine, (before_end - after_start) * 99 / 100);
  EXPECT_LT(mine, (after_end - before_start) * 101 / 100);
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  suede::EalOptions options;
  options.file_prefix = "suede_port_test_" + std::to_string(getpid());
  options.no_huge = true;
  options.memory_mb = 512;
  options.cpus = {0};
  options.vdevs = {"net_ring0", "net_ring1", "net_ring2", "net_ring3", "net_ring4",
                   "net_ring5", "net_null0", "net_null1", "net_null2", "net_null3"};
  if (const absl::Status status = suede::StartEal(options); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  return suede::StopEal() ? result : 1;
}
