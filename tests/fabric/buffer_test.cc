// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "fabric/shared_buffer.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kCell = 256;

// Two ports, 64 KiB, of which a queue has 1 KiB for itself; class 3 is lossless.
SwitchParams BufferParams() {
  SwitchParams params;
  params.ports.resize(2);
  params.buffer_bytes = 65536;
  params.cell_bytes = kCell;
  for (ClassParams& of_class : params.of_class) of_class.reserved_bytes = 1024;
  params.of_class[3].lossless = true;
  params.of_class[3].headroom_bytes = 4096;
  params.of_class[3].resume_bytes = 1024;
  return params;
}

uint32_t Fill(SharedBuffer& buffer, PortIndex in, PortIndex out, uint32_t traffic_class) {
  uint32_t admitted = 0;
  while (buffer.Admit(in, out, traffic_class, kCell)) admitted += kCell;
  return admitted;
}

TEST(SharedBuffer, FramesTakeWholeCells) {
  const SwitchParams params = BufferParams();
  SharedBuffer buffer(params);
  EXPECT_EQ(buffer.Charge(1), kCell);
  EXPECT_EQ(buffer.Charge(256), kCell);
  EXPECT_EQ(buffer.Charge(257), 2 * kCell);
  EXPECT_EQ(buffer.shared_bytes(), 65536u - 2 * 8 * 1024 - 2 * 4096);
}

TEST(SharedBuffer, HighWaterMarksStayUntilTheyAreReset) {
  const SwitchParams params = BufferParams();
  SharedBuffer buffer(params);
  EXPECT_EQ(buffer.shared_free(), buffer.shared_bytes());
  const uint32_t held = Fill(buffer, 0, 1, 3);
  EXPECT_EQ(buffer.headroom_used(), 4096u);
  EXPECT_EQ(buffer.max_headroom_used(), 4096u);
  EXPECT_EQ(buffer.max_used(), held);
  EXPECT_EQ(buffer.shared_free(), buffer.shared_bytes() - (held - 1024 - 4096));
  for (uint32_t bytes = 0; bytes < 1024; bytes += kCell) buffer.Release(0, 1, 3, kCell);
  EXPECT_EQ(buffer.headroom_used(), 3072u);
  EXPECT_EQ(buffer.max_headroom_used(), 4096u);
  buffer.ResetMax();
  EXPECT_EQ(buffer.max_headroom_used(), 3072u);
  EXPECT_EQ(buffer.max_used(), held - 1024);
  buffer.CheckInvariants();
  for (uint32_t bytes = 1024; bytes < held; bytes += kCell) buffer.Release(0, 1, 3, kCell);
  EXPECT_EQ(buffer.headroom_used(), 0u);
  EXPECT_EQ(buffer.shared_free(), buffer.shared_bytes());
  buffer.CheckInvariants();
}

// With alpha 1 one queue gets half of what is shared, the second half of the rest.
TEST(SharedBuffer, AQueueLeavesRoomForOthers) {
  const SwitchParams params = BufferParams();
  SharedBuffer buffer(params);
  const uint32_t shared = buffer.shared_bytes();
  const uint32_t first = Fill(buffer, 0, 1, 0);
  EXPECT_NEAR(first, 1024 + shared / 2, kCell);
  const uint32_t second = Fill(buffer, 0, 1, 1);
  EXPECT_NEAR(second, 1024 + shared / 4, kCell);
  buffer.CheckInvariants();
}

// alpha, in sixteenths, is the part of what is free that a queue may have: 1/2 leaves two thirds.
TEST(SharedBuffer, AlphaIsAPartOfWhatIsFree) {
  for (const uint16_t alpha : std::initializer_list<uint16_t>{0, 4, 8, 32}) {
    SwitchParams params = BufferParams();
    params.of_class[0].alpha_16th = alpha;
    SharedBuffer buffer(params);
    const uint32_t shared = buffer.shared_bytes();
    EXPECT_NEAR(Fill(buffer, 0, 1, 0), 1024 + shared * alpha / (16 + alpha), kCell) << alpha;
    buffer.CheckInvariants();
  }
}

TEST(SharedBuffer, WithoutASharedPartThereAreTheReservesAlone) {
  for (const uint32_t missing : {0u, 4096u}) {
    SwitchParams params = BufferParams();
    params.buffer_bytes = 2 * 8 * 1024 + 2 * 4096 - missing;
    EXPECT_EQ(SharedBuffer::SharedBytes(params), -int64_t{missing});
    SharedBuffer buffer(params);
    EXPECT_EQ(buffer.shared_bytes(), 0u);
    EXPECT_EQ(Fill(buffer, 0, 1, 0), 1024u);
    EXPECT_EQ(Fill(buffer, 0, 0, 0), 1024u) << "another output";
    EXPECT_EQ(Fill(buffer, 0, 1, 3), 1024u + 4096u);
    EXPECT_EQ(Fill(buffer, 0, 0, 3), 0u) << "the input is full";
    EXPECT_EQ(Fill(buffer, 1, 0, 3), 1024u + 4096u);
    buffer.CheckInvariants();
  }
}

// However full the shared part is, a queue has its reserved bytes.
TEST(SharedBuffer, ReservedBytesAreThereForEveryQueue) {
  SwitchParams params = BufferParams();
  for (ClassParams& of_class : params.of_class) of_class.alpha_16th = 16 * 64;
  SharedBuffer buffer(params);
  EXPECT_NEAR(Fill(buffer, 0, 0, 0), 1024 + buffer.shared_bytes(), 2 * kCell);
  for (uint32_t c = 1; c < kClasses; ++c) EXPECT_GE(Fill(buffer, 0, 0, c), 1024u) << c;
  for (uint32_t c = 0; c < kClasses; ++c) EXPECT_GE(Fill(buffer, 1, 1, c), 1024u) << c;
  buffer.CheckInvariants();
}

TEST(SharedBuffer, ALosslessInputIsPausedBeforeItsHeadroomIsUsed) {
  const SwitchParams params = BufferParams();
  SharedBuffer buffer(params);
  uint32_t before_pause = 0;
  while (buffer.paused(0) == 0) {
    ASSERT_TRUE(buffer.Admit(0, 1, 3, kCell));
    before_pause += kCell;
  }
  EXPECT_EQ(buffer.paused(0), 1u << 3);
  EXPECT_EQ(buffer.paused(1), 0);
  // The frame that caused the pause is the first in the headroom.
  const uint32_t headroom = Fill(buffer, 0, 1, 3) + kCell;
  EXPECT_EQ(headroom, 4096u);
  // The other input has room still.
  EXPECT_TRUE(buffer.Admit(1, 1, 3, kCell));
  buffer.Release(1, 1, 3, kCell);
  for (uint32_t left = before_pause + headroom - kCell; left != 0; left -= kCell) {
    buffer.Release(0, 1, 3, kCell);
    if (buffer.paused(0) != 0) {
      EXPECT_GT(left, kCell);
    }
  }
  EXPECT_EQ(buffer.paused(0), 0);
  EXPECT_EQ(buffer.used(), 0u);
  buffer.CheckInvariants();
}

// It ends once the headroom is empty and the input holds `resume_bytes` less than its threshold,
// which is what is free.
TEST(SharedBuffer, APauseEndsBelowItsThreshold) {
  for (const uint32_t resume : {0u, 1024u, 4096u, 1u << 20}) {
    SwitchParams params = BufferParams();
    params.of_class[3].resume_bytes = resume;
    SharedBuffer buffer(params);
    uint32_t held = Fill(buffer, 0, 1, 3);
    bool was_paused = true;
    for (; held != 0; held -= kCell) {
      EXPECT_EQ(buffer.paused(0) != 0, was_paused) << held;
      buffer.Release(0, 1, 3, kCell);
      const uint32_t left = held - kCell;
      const uint32_t shared = left > 1024 ? left - 1024 : 0;
      if (buffer.headroom_used() != 0) continue;
      was_paused = shared != 0 && shared + resume > buffer.shared_free();
    }
    EXPECT_EQ(buffer.paused(0), 0);
  }
}

TEST(SharedBuffer, FramesOnCreditHaveAPartOfTheirOwn) {
  SwitchParams params = BufferParams();
  params.ports[0].cbfc = true;
  params.of_class[5].credits = 6;
  SharedBuffer buffer(params);
  ASSERT_EQ(CreditBytes(params, 5), 6 * kCell);
  FrameNote note{.charge = 2 * kCell, .in = 0, .traffic_class = 1, .queue = 1, .link_vc = 5};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(buffer.AdmitCredited(0, 1, note));
  EXPECT_EQ(buffer.credited(0, 5), 6 * kCell);
  EXPECT_EQ(buffer.credited(0, 1), 0u);
  EXPECT_EQ(buffer.queued(1, 1), 6 * kCell);
  EXPECT_EQ(buffer.used(), 6 * kCell);
  EXPECT_EQ(buffer.max_used(), 6 * kCell);
  EXPECT_EQ(buffer.shared_free(), buffer.shared_bytes());
  note.charge = kCell;
  EXPECT_FALSE(buffer.AdmitCredited(0, 1, note));
  note.link_vc = 4;
  EXPECT_FALSE(buffer.AdmitCredited(0, 1, note)) << "it has no credit";
  EXPECT_TRUE(buffer.Admit(0, 1, 1, kCell)) << "its queue has its reserve";
  EXPECT_EQ(buffer.queued(1, 1), 7 * kCell);
  buffer.CheckInvariants();
  note = {.charge = 2 * kCell, .in = 0, .traffic_class = 1, .queue = 1, .link_vc = 5};
  for (int i = 0; i < 3; ++i) buffer.ReleaseCredited(1, note);
  EXPECT_EQ(buffer.credited(0, 5), 0u);
  EXPECT_EQ(buffer.queued(1, 1), kCell);
  EXPECT_EQ(buffer.used(), kCell);
  EXPECT_EQ(buffer.max_used(), 7 * kCell);
  buffer.CheckInvariants();
}

// A pause ends with a release: an input that holds nothing is never paused.
TEST(SharedBuffer, AnInputThatHoldsNothingIsNotPaused) {
  SwitchParams params = BufferParams();
  params.of_class[3].headroom_bytes = 0;
  params.of_class[3].reserved_bytes = 0;
  params.of_class[0].alpha_16th = 16 * 1024;
  SharedBuffer buffer(params);
  Fill(buffer, 1, 1, 0);
  EXPECT_FALSE(buffer.Admit(0, 1, 3, 4 * kCell));
  EXPECT_EQ(buffer.paused(0), 0);
  // One that holds something is, by the frame that finds no room.
  params.of_class[0].alpha_16th = 16;
  SharedBuffer other(params);
  EXPECT_GT(Fill(other, 0, 1, 3), 0u);
  EXPECT_EQ(other.paused(0), 1u << 3);
}

TEST(SharedBuffer, HeadroomFollowsRateAndCable) {
  // 100 Gb/s, 100 m: 1,000 ns both ways are 12,500 bytes.
  EXPECT_EQ(HeadroomBytes(100'000'000'000, 100, 1500), 12500u + 60 * 64 + 3000);
  EXPECT_GT(HeadroomBytes(400'000'000'000, 100, 1500), HeadroomBytes(100'000'000'000, 100, 1500));
}

TEST(SharedBuffer, SumsHoldForAnySchedule) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    SwitchParams params = BufferParams();
    params.buffer_bytes = 16384 + 512 * static_cast<uint32_t>(random() % 64);
    for (ClassParams& of_class : params.of_class) {
      of_class.lossless = random() % 3 == 0;
      of_class.reserved_bytes = 256 * static_cast<uint32_t>(random() % 4);
      of_class.headroom_bytes = 256 * static_cast<uint32_t>(random() % 3);
      of_class.alpha_16th = static_cast<uint16_t>(1u << random() % 8);
    }
    SharedBuffer buffer(params);
    struct Held {
      uint32_t in, out, traffic_class, charge;
    };
    std::deque<Held> held;
    for (int i = 0; i < 1000; ++i) {
      if (random() % 5 < 3) {
        const Held frame{static_cast<uint32_t>(random() % 2), static_cast<uint32_t>(random() % 2),
                         static_cast<uint32_t>(random() % 8),
                         buffer.Charge(1 + static_cast<uint32_t>(random() % 1500))};
        if (buffer.Admit(PortIndex(frame.in), PortIndex(frame.out), frame.traffic_class,
                         frame.charge)) {
          held.push_back(frame);
        }
      } else if (!held.empty()) {
        const size_t which = random() % held.size();
        const Held frame = held[which];
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
        buffer.Release(PortIndex(frame.in), PortIndex(frame.out), frame.traffic_class,
                       frame.charge);
      }
      buffer.CheckInvariants();
      ASSERT_LE(buffer.used(), params.buffer_bytes);
    }
    for (const Held& frame : held) {
      buffer.Release(PortIndex(frame.in), PortIndex(frame.out), frame.traffic_class, frame.charge);
    }
    EXPECT_EQ(buffer.used(), 0u);
    EXPECT_EQ(buffer.paused(0) | buffer.paused(1), 0) << "seed " << seed;
    buffer.CheckInvariants();
  }
}

}  // namespace
}  // namespace suede::fabric
