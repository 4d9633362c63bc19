// SPDX-License-Identifier: Apache-2.0
#include "link/device_queue.h"

#include <gtest/gtest.h>

namespace suede {
namespace {

constexpr uint64_t kSpeed = 8'000'000'000;  // an octet in a nanosecond
constexpr int64_t kCost = 1000;

class DeviceQueueTest : public ::testing::Test {
 protected:
  // A turn in which the device is given all that it has room for. Returns how many frames that
  // were.
  int Turn(Duration after) {
    now += after;
    queue.OnTurn(kSpeed, now);
    int given = 0;
    for (; queue.Room(now) > 0; ++given) queue.Give(kCost, now);
    return given;
  }

  Time now = TimeFromNs(1'000'000'000);
  DeviceQueue queue;
};

TEST_F(DeviceQueueTest, WithoutASpeedThereIsRoomForAll) {
  queue.OnTurn(0, now);
  queue.Give(1 << 30, now);
  EXPECT_GT(queue.Room(now), int64_t{1} << 40);
}

TEST_F(DeviceQueueTest, AnEmptyDeviceTakesAFrame) {
  queue.OnTurn(kSpeed, now);
  EXPECT_GT(queue.Room(now), 0);
  queue.Give(kCost, now);
  EXPECT_EQ(queue.Room(now), 0);
  EXPECT_EQ(queue.Room(now + Duration(kCost - 1)), 0);
  EXPECT_GT(queue.Room(now + Duration(kCost)), 0);
}

// From turn to turn the device has enough, and hardly more.
TEST_F(DeviceQueueTest, TheDeviceNeverRunsOutBetweenTurns) {
  for (const int64_t apart : {100, 700, 4000}) {
    const Duration turn(apart);
    for (int i = 0; i < 200; ++i) Turn(turn);  // it learns
    int64_t frames = 0;
    for (int i = 0; i < 1000; ++i) frames += Turn(turn);
    EXPECT_NEAR(static_cast<double>(frames * kCost), 1000.0 * static_cast<double>(apart),
                2 * kCost);
    EXPECT_EQ(queue.Room(now + turn / 8), 0) << "it has what it sends until the next turn";
    EXPECT_GT(queue.Room(now + turn + Duration(kCost)), 0) << "and not more than a frame beyond it";
  }
}

TEST_F(DeviceQueueTest, APauseWithoutTrafficIsNoDistanceBetweenTurns) {
  for (int i = 0; i < 100; ++i) Turn(Duration(100));
  for (int i = 0; i < 100; ++i) {  // nothing is given
    now += Duration(100);
    queue.OnTurn(kSpeed, now);
  }
  EXPECT_EQ(Turn(std::chrono::milliseconds(1)), 1);
}

TEST_F(DeviceQueueTest, ALongTurnCountsUpToABoundAndIsForgotten) {
  Turn(Duration(100));
  const int max = Turn(std::chrono::milliseconds(5));
  EXPECT_LE(max * kCost, 2 * DeviceQueue::kMaxLead.count());
  int frames = 0;
  for (int i = 0; i < 2000; ++i) frames = Turn(Duration(1000));
  EXPECT_EQ(frames, 1);
}

}  // namespace
}  // namespace suede
