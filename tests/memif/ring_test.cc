// SPDX-License-Identifier: Apache-2.0
#include "memif/ring.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "event_count.h"
#include "frame_pool.h"
#include "local/fd.h"

namespace suede::memif {
namespace {

constexpr uint8_t kLog2 = 6;
constexpr uint32_t kSlots = 1u << kLog2;
constexpr uint32_t kBufferBytes = 256;
constexpr uint32_t kMaxFrame = 2000;
constexpr uint32_t kRingOffset[2] = {0, 2048};
constexpr uint32_t kBuffers = 4096;
constexpr uint64_t kBytes = kBuffers + 2 * kSlots * kBufferBytes;

// The memory of a connection with a ring in each direction. Behind its end lies nothing, so that
// a sanitizer finds each access there.
class Memory {
 public:
  Memory() : bytes_(static_cast<uint8_t*>(std::aligned_alloc(4096, kBytes))) {
    std::memset(bytes_.get(), 0, kBytes);
  }
  uint8_t* data() { return bytes_.get(); }
  // Returns how often a receiver was woken since the last call.
  eventfd_t Wakes() { return TakeCount(event_); }
  RingHeader* ring(int number) {
    return reinterpret_cast<RingHeader*>(bytes_.get() + kRingOffset[number]);
  }
  RingView View(int number, bool client) {
    RingView view{.header = ring(number), .log2_slots = kLog2, .event = event_.get()};
    view.regions[0] = {.base = bytes_.get(), .bytes = kBytes};
    if (client) {
      view.buffers = BufferOrder(kBuffers + number * kSlots * kBufferBytes, kSlots, kBufferBytes);
      view.buffer_bytes = kBufferBytes;
    }
    return view;
  }

 private:
  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> bytes_;
  const Fd event_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

// One queue of one end.
struct End {
  explicit End(bool is_client) : client(is_client) {}
  void Attach(Memory& memory) {
    rx.Attach(memory.View(client ? 1 : 0, client));
    tx.Attach(memory.View(client ? 0 : 1, client));
    rx.Open();
    tx.Open();
  }
  const bool client;
  QueueCounters counters;
  ReceiveRing rx{&counters};
  SendRing tx{&counters};
  FramePool pool{400};
};

// Random numbers of 32 bits.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

uint8_t ByteOf(uint32_t seed, uint32_t at) {
  return static_cast<uint8_t>(seed * 31 + at * 7 + at / 256);
}

std::vector<Frame*> MakeFrames(FramePool& pool, const std::vector<uint32_t>& lengths,
                               uint32_t seed) {
  std::vector<Frame*> frames(lengths.size());
  EXPECT_EQ(pool.Allocate(frames.data(), static_cast<uint32_t>(frames.size())), frames.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i]->data = frames[i]->buffer + 100;
    frames[i]->length = lengths[i];
    for (uint32_t at = 0; at < lengths[i]; ++at) {
      frames[i]->data[at] = ByteOf(seed + static_cast<uint32_t>(i), at);
    }
  }
  return frames;
}

uint32_t SendAll(End& end, const std::vector<uint32_t>& lengths, uint32_t seed) {
  std::vector<Frame*> frames = MakeFrames(end.pool, lengths, seed);
  const uint32_t sent = end.tx.Send(frames.data(), static_cast<uint32_t>(frames.size()));
  end.pool.Release(frames.data(), static_cast<uint32_t>(frames.size()));
  return sent;
}

std::vector<Frame*> ReceiveAll(End& end, uint32_t max = 200) {
  std::vector<Frame*> frames(max);
  frames.resize(end.rx.Receive(end.pool, frames.data(), max, kMaxFrame));
  return frames;
}

void ReleaseAll(End& end, const std::vector<Frame*>& frames) {
  end.pool.Release(frames.data(), static_cast<uint32_t>(frames.size()));
}

class RingTest : public testing::TestWithParam<bool> {
 protected:
  RingTest() {
    server_.Attach(memory_);
    client_.Attach(memory_);
  }
  End& sender() { return GetParam() ? client_ : server_; }
  End& receiver() { return GetParam() ? server_ : client_; }
  // The ring between them.
  RingHeader* ring() { return memory_.ring(GetParam() ? 0 : 1); }

  Memory memory_;
  End server_{false};
  End client_{true};
};

TEST_P(RingTest, CarriesFramesOfAllLengthsInOrder) {
  Random random(2);
  uint32_t seed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint32_t> lengths(random() % 40);
    for (uint32_t& length : lengths) {
      length = random() % 8 == 0 ? 1 + random() % kMaxFrame : 1 + random() % kBufferBytes;
    }
    const uint32_t sent = SendAll(sender(), lengths, seed);
    const std::vector<Frame*> got = ReceiveAll(receiver());
    ASSERT_EQ(got.size(), sent);
    for (uint32_t i = 0; i < sent; ++i) {
      ASSERT_EQ(got[i]->length, lengths[i]);
      for (uint32_t at = 0; at < lengths[i]; ++at)
        ASSERT_EQ(got[i]->data[at], ByteOf(seed + i, at));
    }
    ReleaseAll(receiver(), got);
    seed += sent;
  }
  EXPECT_GT(seed, 20'000u);
  EXPECT_EQ(sender().counters.tx_frames.Get(), seed);
  EXPECT_EQ(receiver().counters.rx_frames.Get(), seed);
  EXPECT_EQ(sender().counters.tx_bytes.Get(), receiver().counters.rx_bytes.Get());
  EXPECT_EQ(receiver().pool.free(), 400u);
}

TEST_P(RingTest, StopsAtAFullRing) {
  EXPECT_EQ(SendAll(sender(), std::vector<uint32_t>(100, 64), 0), kSlots);
  EXPECT_EQ(SendAll(sender(), {64}, 0), 0u);
  ReleaseAll(receiver(), ReceiveAll(receiver(), 10));
  EXPECT_EQ(SendAll(sender(), std::vector<uint32_t>(100, 64), 0), 10u);
  // A frame of several buffers waits for all of them.
  ReleaseAll(receiver(), ReceiveAll(receiver(), 3));
  EXPECT_EQ(SendAll(sender(), {4 * kBufferBytes}, 0), 0u);
  ReleaseAll(receiver(), ReceiveAll(receiver(), 1));
  EXPECT_EQ(SendAll(sender(), {4 * kBufferBytes}, 0), 1u);
  uint32_t rest = 0;
  for (std::vector<Frame*> got; !(got = ReceiveAll(receiver(), 7)).empty();
       ReleaseAll(receiver(), got)) {
    rest += static_cast<uint32_t>(got.size());
  }
  EXPECT_EQ(rest, kSlots + 10 - 14 + 1);
}

TEST_P(RingTest, WaitsForFramesOfThePool) {
  std::vector<Frame*> all(395);
  EXPECT_EQ(receiver().pool.Allocate(all.data(), 395), 395u);
  EXPECT_EQ(SendAll(sender(), std::vector<uint32_t>(8, 100), 0), 8u);
  const std::vector<Frame*> got = ReceiveAll(receiver());
  EXPECT_EQ(got.size(), 5u);
  EXPECT_GE(receiver().counters.rx_no_frame.Get(), 1u);
  ReleaseAll(receiver(), all);
  EXPECT_EQ(ReceiveAll(receiver()).size(), 3u);
}

TEST_P(RingTest, DropsFramesThatAreTooLong) {
  EXPECT_EQ(SendAll(sender(), {100, kMaxFrame + 1, 60}, 0), 3u);
  const std::vector<Frame*> got = ReceiveAll(receiver());
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[1]->length, 60u);
  EXPECT_EQ(receiver().counters.rx_oversize.Get(), 1u);
  EXPECT_EQ(SendAll(sender(), {4000, 50}, 0), 2u);  // 16 buffers
  EXPECT_EQ(ReceiveAll(receiver()).size(), 1u);
}

TEST_P(RingTest, DropsAChainWithoutEnd) {
  const uint32_t chain = 5;
  EXPECT_EQ(SendAll(sender(), std::vector<uint32_t>(chain + 1, 64), 0), chain + 1);
  for (uint32_t i = 0; i < chain; ++i) ring()->descriptors()[i].flags |= Descriptor::kNext;
  EXPECT_EQ(ReceiveAll(receiver()).size(), 1u);  // one frame of all
  EXPECT_EQ(SendAll(sender(), {64}, 0), 1u);
  ring()->descriptors()[chain + 1].flags |= Descriptor::kNext;
  EXPECT_EQ(ReceiveAll(receiver()).size(), 0u);
  EXPECT_EQ(SendAll(sender(), {64, 80}, 0), 2u);
  const std::vector<Frame*> got = ReceiveAll(receiver());
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0]->length, 80u);
  EXPECT_EQ(receiver().counters.rx_bad_chain.Get(), 1u);
}

TEST_P(RingTest, BreaksAtABadIndex) {
  EXPECT_EQ(SendAll(sender(), {64}, 0), 1u);
  std::atomic<uint16_t>& index = GetParam() ? ring()->head : ring()->tail;
  index.store(kSlots + 1);
  EXPECT_EQ(ReceiveAll(receiver()).size(), 0u);
  EXPECT_TRUE(receiver().rx.broken());
  EXPECT_EQ(receiver().counters.bad_index.Get(), 1u);
  index.store(1);
  EXPECT_EQ(ReceiveAll(receiver()).size(), 0u);  // until the next connection
}

TEST_P(RingTest, DoesNotWakeAPeerThatPolls) {
  EXPECT_EQ(ring()->flags.load(), RingHeader::kMaskInterrupt);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(SendAll(sender(), {64}, 0), 1u);
    sender().tx.OnPoll();
  }
  EXPECT_EQ(memory_.Wakes(), 0u);
}

TEST_P(RingTest, WakesAPeerThatSleepsOnceForABurst) {
  ring()->flags.store(0);
  EXPECT_EQ(SendAll(sender(), {64, 64, 64}, 0), 3u);
  EXPECT_EQ(memory_.Wakes(), 1u);
  EXPECT_EQ(SendAll(sender(), {64, 64}, 0), 2u);
  EXPECT_EQ(memory_.Wakes(), 1u);
  EXPECT_EQ(SendAll(sender(), {}, 0), 0u);
  for (int i = 0; i < 20; ++i) sender().tx.OnPoll();
  EXPECT_EQ(memory_.Wakes(), 0u);
  // The peer polls again.
  ring()->flags.store(RingHeader::kMaskInterrupt);
  EXPECT_EQ(SendAll(sender(), {64}, 0), 1u);
  EXPECT_EQ(memory_.Wakes(), 0u);
}

// The peer checks the index, then goes to sleep, at any time around a burst.
TEST_P(RingTest, WakesAPeerThatGoesToSleep) {
  for (int polls = 0; polls < 12; ++polls) {
    ring()->flags.store(RingHeader::kMaskInterrupt);
    for (int i = 0; i < polls; ++i) {
      EXPECT_EQ(SendAll(sender(), {64}, 0), 1u);
      sender().tx.OnPoll();
    }
    EXPECT_EQ(SendAll(sender(), {64}, 0), 1u);
    EXPECT_EQ(memory_.Wakes(), 0u) << polls;
    ring()->flags.store(0);
    for (int i = 0; i < 10; ++i) sender().tx.OnPoll();
    EXPECT_EQ(memory_.Wakes(), 1u) << polls;
    ReleaseAll(receiver(), ReceiveAll(receiver()));
  }
}

struct NameOf {
  std::string operator()(const testing::TestParamInfo<bool>& which) const {
    return which.param ? "ClientToServer" : "ServerToClient";
  }
};
INSTANTIATE_TEST_SUITE_P(Both, RingTest, testing::Bool(), NameOf());

class PeerTest : public testing::Test {
 protected:
  PeerTest() {
    server_.Attach(memory_);
    client_.Attach(memory_);
  }
  Memory memory_;
  End server_{false};
  End client_{true};
};

TEST_F(PeerTest, AServerChecksWhereBuffersLie) {
  End& server = server_;
  const struct {
    Descriptor descriptor;
    Tally* counter;
  } kBad[] = {
      {{0, 1, 64, kBuffers, 0}, &server.counters.rx_bad_region},
      {{0, 16, 64, kBuffers, 0}, &server.counters.rx_bad_region},
      {{0, 0xffff, 64, kBuffers, 0}, &server.counters.rx_bad_region},
      {{0, 0, 64, kBytes - 63, 0}, &server.counters.rx_bad_region},
      {{0, 0, 64, UINT32_MAX, 0}, &server.counters.rx_bad_region},
      {{0, 0, UINT32_MAX, kBuffers, 0}, &server.counters.rx_bad_region},
      {{0, 0, UINT32_MAX, UINT32_MAX, 0}, &server.counters.rx_bad_region},
      {{0, 0, 0, kBuffers, 0}, &server.counters.rx_bad_length},
      {{0, 0, kMaxFrame + 1, kBuffers, 0}, &server.counters.rx_oversize},
  };
  RingHeader* const ring = memory_.ring(0);
  for (const auto& bad : kBad) {
    const uint64_t before = bad.counter->Get();
    const uint16_t head = ring->head.load();
    ring->descriptors()[head % kSlots] = bad.descriptor;
    ring->descriptors()[(head + 1) % kSlots] = {0, 0, 64, kBytes - 64, 0};
    ring->head.store(static_cast<uint16_t>(head + 2));
    std::vector<Frame*> got = ReceiveAll(server);
    if (got.empty()) got = ReceiveAll(server);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0]->length, 64u);
    EXPECT_EQ(bad.counter->Get(), before + 1);
    EXPECT_EQ(ring->tail.load(), head + 2);
    ReleaseAll(server, got);
  }
  EXPECT_EQ(server.pool.free(), 400u);
}

TEST_F(PeerTest, AServerChecksWhereItWrites) {
  RingHeader* const ring = memory_.ring(1);
  ring->descriptors()[0].offset = kBytes - 255;
  ring->descriptors()[1].region = 3;
  EXPECT_EQ(SendAll(server_, {100}, 0), 1u);
  EXPECT_EQ(server_.counters.tx_bad_buffer.Get(), 2u);
  EXPECT_EQ(ring->tail.load(), 3);
  EXPECT_EQ(ring->descriptors()[0].length, 0u);
  // Buffers that hold less than the frame are chained.
  for (uint32_t i = 3; i < 10; ++i) ring->descriptors()[i].length = 50;
  EXPECT_EQ(SendAll(server_, {180}, 0), 1u);
  EXPECT_EQ(ring->tail.load(), 7);
  EXPECT_EQ(ring->descriptors()[6].length, 30u);
}

TEST_F(PeerTest, AClientKnowsItsBuffers) {
  EXPECT_EQ(SendAll(server_, {100, 100, 100}, 0), 3u);
  Descriptor* const descriptors = memory_.ring(1)->descriptors();
  descriptors[0].offset = UINT32_MAX;
  descriptors[0].region = 9;
  descriptors[1].length = kBufferBytes + 1;
  std::vector<Frame*> got = ReceiveAll(client_);
  ASSERT_EQ(got.size(), 2u);
  for (uint32_t at = 0; at < 100; ++at) ASSERT_EQ(got[0]->data[at], ByteOf(0, at));
  EXPECT_EQ(client_.counters.rx_bad_length.Get(), 1u);
  // The client offers the buffers as they were.
  EXPECT_EQ(descriptors[0].region, 0u);
  EXPECT_EQ(descriptors[1].length, kBufferBytes);
}

// Lets a peer write anything anywhere into the shared memory between bursts.
TEST_F(PeerTest, SurvivesAnyMemory) {
  Random random(3);
  for (int round = 0; round < 20'000; ++round) {
    for (uint32_t i = random() % 20; i > 0; --i) {
      RingHeader* const ring = memory_.ring(random() % 2);
      Descriptor& descriptor = ring->descriptors()[random() % kSlots];
      const uint32_t value = random() % 2 == 0 ? random() : random() % (2 * kBytes);
      switch (random() % 7) {
        case 0:
          descriptor.flags = static_cast<uint16_t>(random() % 2);
          break;
        case 1:
          descriptor.region = static_cast<uint16_t>(random() % 18);
          break;
        case 2:
          descriptor.length = random() % 4 == 0 ? value : value % 600;
          break;
        case 3:
          descriptor.offset = value;
          break;
        case 4:
          ring->head.fetch_add(static_cast<uint16_t>(random() % 8));
          break;
        case 5:
          ring->tail.fetch_add(static_cast<uint16_t>(random() % 8));
          break;
        case 6:
          if (random() % 100 == 0) ring->head.store(static_cast<uint16_t>(value));
          break;
      }
    }
    End& end = random() % 2 == 0 ? server_ : client_;
    SendAll(end, std::vector<uint32_t>(random() % 40, 1 + random() % kMaxFrame), 0);
    const std::vector<Frame*> got = ReceiveAll(end);
    for (const Frame* frame : got) ASSERT_LE(frame->length, kMaxFrame);
    ReleaseAll(end, got);
    ASSERT_EQ(end.pool.free(), 400u);
    if (server_.rx.broken() || server_.tx.broken() || client_.rx.broken() || client_.tx.broken()) {
      for (int number = 0; number < 2; ++number) {
        memory_.ring(number)->head.store(0);
        memory_.ring(number)->tail.store(0);
      }
      server_.Attach(memory_);
      client_.Attach(memory_);
    }
  }
}

TEST(MemifBuffersTest, HaveNoStride) {
  const std::vector<uint32_t> order = BufferOrder(4096, 1024, 2112);
  std::vector<uint32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t i = 0; i < 1024; ++i) ASSERT_EQ(sorted[i], 4096 + i * 2112);
  uint32_t repeated = 0;
  for (uint32_t i = 2; i < 1024; ++i) {
    repeated += order[i] - order[i - 1] == order[i - 1] - order[i - 2] ? 1 : 0;
  }
  EXPECT_LT(repeated, 10u);
}

}  // namespace
}  // namespace suede::memif
