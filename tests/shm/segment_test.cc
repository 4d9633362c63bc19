// SPDX-License-Identifier: Apache-2.0
#include "shm/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/falloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "local/sigbus.h"

namespace suede {
namespace {

TEST(Segment, IsFormattedAndBigEnough) {
  const SegmentShape shape{.queue_count = 3};
  const auto segment = Segment::Create(shape, 0, HugePages::kAuto);
  ASSERT_TRUE(segment.ok()) << segment.status();
  EXPECT_FALSE((*segment)->CheckSealed().ok());
  ASSERT_TRUE((*segment)->Prepare().ok());
  EXPECT_GE((*segment)->bytes(), SegmentOffsets(shape).bytes);
  EXPECT_EQ(static_cast<suede_segment*>((*segment)->base())->magic, SUEDE_LAYOUT_MAGIC);
  EXPECT_FALSE((*segment)->broken());
}

TEST(Segment, SealedItKeepsItsPages) {
  constexpr int kFutureWrite = 0x10;  // F_SEAL_FUTURE_WRITE
  constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  for (const HugePages huge : {HugePages::kNever, HugePages::kAlways}) {
    for (const bool has_hole : {false, true}) {
      const auto segment = Segment::Create({.queue_count = 1}, -1, huge);
      if (!segment.ok() && huge == HugePages::kAlways) GTEST_SKIP() << "no hugepages here";
      ASSERT_TRUE(segment.ok()) << segment.status();
      const int fd = (*segment)->fd();
      if (has_hole) {
        ASSERT_EQ(fallocate(fd, kPunch, 0, 2 << 20), 0);
      }
      ASSERT_EQ(fcntl(fd, F_ADD_SEALS, kFutureWrite), 0);
      EXPECT_EQ((*segment)->CheckSealed().ok(), !has_hole);
      EXPECT_NE(fallocate(fd, kPunch, 0, 2 << 20), 0);
      EXPECT_NE(madvise((*segment)->base(), 2 << 20, MADV_REMOVE), 0);
      EXPECT_EQ((*segment)->CheckSealed().ok(), !has_hole);
    }
  }
}

TEST(Segment, BadShapeIsRefused) {
  EXPECT_FALSE(Segment::Create({.queue_count = 0}, -1, HugePages::kNever).ok());
}

// A file that can shrink stands for a hugepage that cannot be had again.
TEST(SigbusGuard, MendsVanishedPagesAndNotesTheSegment) {
  const int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, 8 * 4096), 0);
  auto* base =
      static_cast<uint8_t*>(mmap(nullptr, 8 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  const int range = SigbusGuard::Register(base, 8 * 4096, 4096);
  ASSERT_GE(range, 0);
  base[5000] = 1;
  EXPECT_FALSE(SigbusGuard::IsBroken(range));
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  EXPECT_EQ(static_cast<volatile uint8_t*>(base)[5000], 0);
  EXPECT_TRUE(SigbusGuard::IsBroken(range));
  static_cast<volatile uint8_t*>(base)[5000] = 7;
  EXPECT_EQ(base[5000], 7);
  SigbusGuard::Unregister(range);
  munmap(base, 8 * 4096);
  close(fd);
}

void TouchBeyondTheEndOfAFile() {
  signal(SIGBUS, SIG_DFL);
  char page[4096] = {};
  SigbusGuard::Unregister(SigbusGuard::Register(page, sizeof page, 4096));
  const int fd = memfd_create("test", MFD_CLOEXEC);
  (void)!ftruncate(fd, 4096);
  auto* base = static_cast<volatile uint8_t*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
  (void)!ftruncate(fd, 0);
  (void)base[0];
}

TEST(SigbusGuardDeathTest, OtherFaultsAreNotHidden) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(TouchBeyondTheEndOfAFile(), "");
}

TEST(SigbusGuard, TableHasAnEnd) {
  char page[4096];
  std::vector<int> ranges;
  for (int range; (range = SigbusGuard::Register(page, sizeof page, 4096)) >= 0;) {
    ranges.push_back(range);
  }
  EXPECT_EQ(ranges.size(), size_t{SigbusGuard::kMaxRanges});
  for (const int range : ranges) SigbusGuard::Unregister(range);
  const int range = SigbusGuard::Register(page, sizeof page, 4096);
  EXPECT_GE(range, 0);
  SigbusGuard::Unregister(range);
}

}  // namespace
}  // namespace suede
