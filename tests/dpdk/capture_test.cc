// SPDX-License-Identifier: Apache-2.0
// A capture of a port's frames, over net_ring: sent frames are received from it.
#include "dpdk/capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dpdk/dpdk_port.h"
#include "port/tap_group.h"

namespace suede {
namespace {

// Returns the comment among the options at the end of a packet block; empty: there is none.
std::string CommentOf(const std::vector<uint8_t>& body, size_t at) {
  for (uint16_t option[2]; at + sizeof option <= body.size();) {
    std::memcpy(option, body.data() + at, sizeof option);
    if (option[0] == 0) break;
    at += sizeof option;
    if (option[0] == 1) return {body.begin() + at, body.begin() + at + option[1]};
    at += (option[1] + 3u) / 4 * 4;
  }
  return "";
}

// The packets of a pcapng file (draft-ietf-opsawg-pcapng §4.3), and their comments.
std::vector<std::vector<uint8_t>> PacketsOf(const std::string& path,
                                            std::vector<std::string>* comments = nullptr) {
  FILE* file = std::fopen(path.c_str(), "rb");
  std::vector<std::vector<uint8_t>> packets;
  uint32_t head[2];
  bool first = true;
  while (std::fread(head, sizeof head, 1, file) == 1) {
    EXPECT_EQ(first, head[0] == 0x0a0d0d0a) << "not a section header where one belongs";
    first = false;
    if (head[1] < 12 || head[1] > 65536) break;
    std::vector<uint8_t> body(head[1] - sizeof head);
    EXPECT_EQ(std::fread(body.data(), body.size(), 1, file), 1U);
    constexpr uint32_t kEnhancedPacket = 6;
    if (head[0] != kEnhancedPacket) continue;
    uint32_t captured;
    std::memcpy(&captured, body.data() + 12, sizeof captured);
    packets.emplace_back(body.begin() + 20, body.begin() + 20 + captured);
    if (comments != nullptr) comments->push_back(CommentOf(body, 20 + (captured + 3) / 4 * 4));
  }
  std::fclose(file);
  return packets;
}

class CaptureTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    PortOptions options;
    options.name = options.device = "net_ring1";
    options.lcores = options.queue_pairs = 2;
    options.pool_frames = 2048;
    absl::StatusOr<std::unique_ptr<DpdkPort>> port = DpdkPort::Open(options);
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = port->release();
  }
  static void TearDownTestSuite() { delete port_; }

  void SetUp() override {
    file_ = mkstemp(path_.data());
    ASSERT_GE(file_, 0);
    free_before_ = port_->FreeFrames();
  }
  void TearDown() override {
    unlink(path_.c_str());
    EXPECT_EQ(port_->FreeFrames(), free_before_) << "a frame leaked";
  }
  std::unique_ptr<Capture> Start(const CaptureOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<Capture>> capture = Capture::Start(*port_, file_, options);
    EXPECT_TRUE(capture.ok()) << capture.status();
    return capture.ok() ? *std::move(capture) : nullptr;
  }
  // Sends a frame of such bytes and takes it back, on one of the port's lcores.
  static void Exchange(uint8_t fill, uint32_t length, uint32_t lcore = 0) {
    Frame* frame = nullptr;
    Port& port = port_->pair(lcore);
    ASSERT_EQ(port.Allocate(&frame, 1), 1U);
    frame->data = frame->buffer + Frame::kCommandOffset;
    frame->length = length;
    std::memset(frame->data, fill, length);
    ASSERT_EQ(port.Transmit(&frame, 1), 1U);
    port.Release(&frame, 1);
    ASSERT_EQ(port.Receive(&frame, 1), 1U);
    port.Release(&frame, 1);
  }

  static DpdkPort* port_;
  std::string path_ = "/tmp/suede-capture-XXXXXX";
  int file_ = -1;
  uint32_t free_before_ = 0;
};
DpdkPort* CaptureTest::port_ = nullptr;

TEST_F(CaptureTest, HoldsWhatWasSentAndReceived) {
  auto capture = Start();
  Exchange(1, 60);
  Exchange(2, 1400, 1);
  ASSERT_TRUE(capture->Drain().ok());
  EXPECT_EQ(capture->stats().written, 4U);
  EXPECT_EQ(capture->stats().dropped, 0U);
  Exchange(3, 61);
  capture.reset();  // writes the rest
  Exchange(4, 60);  // no longer seen
  Exchange(4, 60, 1);
  const auto packets = PacketsOf(path_);
  ASSERT_EQ(packets.size(), 6U);
  const std::pair<uint8_t, size_t> expected[] = {{1, 60},   {1, 60}, {2, 1400},
                                                 {2, 1400}, {3, 61}, {3, 61}};
  for (size_t i = 0; i < packets.size(); ++i) {
    EXPECT_EQ(packets[i], std::vector<uint8_t>(expected[i].second, expected[i].first)) << i;
  }
}

TEST_F(CaptureTest, KeepsSoManyBytesOfAFrame) {
  auto capture = Start({.snap_bytes = 64, .frames = 256});
  Exchange(7, 1000);
  capture.reset();
  const auto packets = PacketsOf(path_);
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(packets[0], std::vector<uint8_t>(64, 7));
}

TEST_F(CaptureTest, AFullRingCostsTheCopyAlone) {
  auto capture = Start({.snap_bytes = 64, .frames = 128});
  for (int i = 0; i < 200; ++i) Exchange(1, 60);
  EXPECT_GT(capture->stats().dropped, 0U);
  ASSERT_TRUE(capture->Drain().ok());
  EXPECT_EQ(capture->stats().written + capture->stats().dropped, 400U);
}

// A place where frames are dropped, without a port.
class DropPlace {
 public:
  DropPlace() {
    frame_.data = bytes_.data();
    frame_.length = static_cast<uint32_t>(bytes_.size());
  }
  TappedPort& port() { return group_; }
  void Drop(int count, std::string_view counter) {
    for (int i = 0; i < count; ++i) point_.CopyDropped(frame_, FrameDirection::kIn, counter);
  }

 private:
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(61, 5);
  Frame frame_;
  TapPoint point_;
  TapGroup group_{"p0", {&point_}};
};

TEST_F(CaptureTest, DroppedFramesHaveTheirCounterAsComment) {
  DropPlace place;
  place.Drop(1, "rx_drop_rcrc_total");  // not captured
  auto capture = Capture::Start(place.port(), file_, {});
  ASSERT_TRUE(capture.ok()) << capture.status();
  place.Drop(1, "rx_drop_rcrc_total");
  place.Drop(2, "rx_drop_partition_total");
  EXPECT_TRUE((*capture)->Finish().ok());
  EXPECT_EQ((*capture)->stats().written, 3U);
  place.Drop(1, "rx_drop_rcrc_total");
  capture->reset();
  std::vector<std::string> comments;
  const auto packets = PacketsOf(path_, &comments);
  const std::vector<std::string> expected = {"rx_drop_rcrc_total", "rx_drop_partition_total",
                                             "rx_drop_partition_total"};
  EXPECT_EQ(comments, expected);
  EXPECT_EQ(packets, std::vector<std::vector<uint8_t>>(3, std::vector<uint8_t>(61, 5)));
}

// A quarter of a second's frames at once, the rest waits, and what finds no room is counted.
TEST_F(CaptureTest, TheRateOfFramesIsBounded) {
  DropPlace place;
  auto capture =
      Capture::Start(place.port(), file_, {.snap_bytes = 64, .frames = 128, .frames_per_s = 40});
  ASSERT_TRUE(capture.ok()) << capture.status();
  place.Drop(300, "rx_drop_rcrc_total");
  const uint64_t lost = (*capture)->stats().dropped;
  EXPECT_EQ(lost, 300U - 127U);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE((*capture)->Drain().ok());
  ASSERT_TRUE((*capture)->Drain().ok());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE((*capture)->stats().written, 10U);
  EXPECT_LE(static_cast<double>((*capture)->stats().written), 11 + 40 * took.count());
  EXPECT_TRUE((*capture)->Finish().ok());
  EXPECT_EQ((*capture)->stats().written + lost, 300U);
}

TEST_F(CaptureTest, OneAtATimeAndAgainAfterwards) {
  auto first = Start();
  EXPECT_EQ(Capture::Start(*port_, dup(file_), {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  first.reset();
  file_ = open(path_.c_str(), O_RDWR | O_TRUNC);
  auto second = Start();
  Exchange(5, 60);
  second.reset();
  EXPECT_EQ(PacketsOf(path_).size(), 2U);
}

TEST_F(CaptureTest, TakesRegularFilesThatCanBeWritten) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(Capture::Start(*port_, pipe_ends[1], {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  close(pipe_ends[0]);
  EXPECT_EQ(Capture::Start(*port_, open(path_.c_str(), O_RDONLY), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  close(file_);
}

}  // namespace
}  // namespace suede
