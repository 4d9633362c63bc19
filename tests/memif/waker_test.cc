// SPDX-License-Identifier: Apache-2.0
#include "memif/waker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cstdint>

#include "event_count.h"
#include "local/fd.h"

namespace suede::memif {
namespace {

class WakerTest : public testing::Test {
 protected:
  eventfd_t Count() { return TakeCount(event_); }
  Fd event_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  Waker waker_;
};

TEST_F(WakerTest, SignalsAnEventfd) {
  waker_.Signal();  // none yet
  EXPECT_EQ(Count(), 0u);
  waker_.Open(event_.get());
  // More than the kernel holds results for.
  for (int i = 0; i < 1000; ++i) waker_.Signal();
  EXPECT_EQ(Count(), 1000u);
  waker_.Open(-1);
  waker_.Signal();
  EXPECT_EQ(Count(), 0u);
}

TEST_F(WakerTest, DoesNotSleepAtAFullCounter) {
  ASSERT_EQ(eventfd_write(event_.get(), UINT64_MAX - 1), 0);
  ASSERT_EQ(fcntl(event_.get(), F_SETFL, 0), 0);  // a write would sleep now
  waker_.Open(event_.get());
  for (int i = 0; i < 3; ++i) waker_.Signal();
  EXPECT_EQ(Count(), UINT64_MAX);
}

TEST_F(WakerTest, IgnoresOtherFiles) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd reader(ends[0]);
  const Fd writer(ends[1]);
  waker_.Open(writer.get());
  waker_.Signal();
  ASSERT_EQ(fcntl(reader.get(), F_SETFL, O_NONBLOCK), 0);
  uint8_t byte = 0;
  EXPECT_LT(read(reader.get(), &byte, 1), 0);
  waker_.Open(event_.get());
  waker_.Signal();
  EXPECT_EQ(Count(), 1u);
}

}  // namespace
}  // namespace suede::memif
