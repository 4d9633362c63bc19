// SPDX-License-Identifier: Apache-2.0
// Classes, scheduling, ECN, trimming and tail drop of one output.
#include <gtest/gtest.h>

#include "../port/drop_recorder.h"
#include "fabric_fixture.h"
#include "wire/trimmed.h"

namespace suede::fabric {
namespace {

constexpr uint64_t kQueueRate = 10'000'000'000;

SwitchParams QueueParams() {
  SwitchParams params = ParamsOf(3);
  params.learns = false;
  params.ports[2].rate_bps = kQueueRate;
  return params;
}

struct QueueFabric : Fabric {
  explicit QueueFabric(const SwitchParams& params) : Fabric(params) {
    the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 2);
  }
  void Send(uint8_t dscp, Time now, uint32_t bytes = 1000, uint8_t ecn = 0,
            Encap encap = Encap::kUdp4) {
    In(0,
       SueFrame{.encap = encap,
                .from = 1,
                .to = 2,
                .bytes = bytes,
                .traffic_class = {.dscp = dscp, .ecn = ecn}},
       now);
  }
};

// Both classes always have frames waiting: what leaves in 10 ms.
std::array<uint64_t, kClasses> Shares(SwitchParams params, std::initializer_list<uint8_t> dscps,
                                      uint32_t bytes_of_first = 1000) {
  QueueFabric fabric(params);
  for (int us = 0; us < 10000; ++us) {
    bool first = true;
    for (const uint8_t dscp : dscps) {
      while (fabric.the_switch.port(2).output().queued_frames(dscp >> 3) < 20) {
        fabric.Send(dscp, At(us), first ? bytes_of_first : 1000);
      }
      first = false;
    }
    fabric.Out(2, At(us));
  }
  std::array<uint64_t, kClasses> bytes{};
  for (uint32_t c = 0; c < kClasses; ++c) {
    bytes[c] = fabric.Count(2, c, SwitchClassCounter::kFrameBytes);
  }
  return bytes;
}

TEST(Queueing, TheRateIsKept) {
  const auto bytes = Shares(QueueParams(), {0});
  // 10 Gb/s for 10 ms, less preamble, gap and FCS.
  EXPECT_NEAR(static_cast<double>(bytes[0]), 12.5e6 * 1054 / 1078, 12.5e6 * 0.01);
}

// An lcore with many ports comes by seldom: what was waiting meanwhile leaves at the rate all the
// same.
TEST(Queueing, LatePollIterationsKeepTheRate) {
  QueueFabric fabric(QueueParams());
  for (int us = 0; us < 10000; us += 100) {
    while (fabric.the_switch.port(2).output().queued_frames(0) < 300) fabric.Send(0, At(us));
    for (int burst = 0; burst < 4; ++burst) fabric.Out(2, At(us));
  }
  EXPECT_NEAR(static_cast<double>(fabric.Count(2, 0, SwitchClassCounter::kFrameBytes)),
              12.5e6 * 1054 / 1078, 12.5e6 * 0.02);
}

// Neither an idle time nor a pause lets frames leave faster afterwards.
TEST(Queueing, NothingIsSavedUp) {
  SwitchParams params = QueueParams();
  params.ports[2].pfc.on = true;
  QueueFabric fabric(params);
  const auto sent = [&] { return fabric.Count(2, 0, SwitchClassCounter::kFrames); };
  fabric.Send(0, At(0));
  fabric.Out(2, At(0));
  // Nine microseconds of nothing would be ten frames.
  for (int i = 0; i < 20; ++i) fabric.Send(0, At(9));
  fabric.Out(2, At(9));
  EXPECT_EQ(sent(), 2u);
  fabric.In(2, FrameOfPfc(1, 0xffff), At(10));
  for (int us = 10; us < 100; ++us) fabric.Out(2, At(us));
  const uint64_t before = sent();
  fabric.In(2, FrameOfPfc(1, 0), At(100));
  fabric.Out(2, At(100));
  EXPECT_LE(sent(), before + 2);
}

TEST(Queueing, WeightsAreSharesOfBytes) {
  SwitchParams params = QueueParams();
  params.of_class[1].weight = 3;
  // Frames of class 0 are short: what counts is bytes.
  const auto bytes = Shares(params, {0, 8}, 100);
  EXPECT_NEAR(static_cast<double>(bytes[1]) / static_cast<double>(bytes[0]), 3, 0.3);
}

// Frames of 2,048 bytes, which is a quantum of weight 1.
TEST(ClassScheduler, AClassHasItsQuantaEachRound) {
  SwitchParams params;
  params.of_class[1].weight = 2;
  params.of_class[5].strict = params.of_class[6].strict = true;
  ClassScheduler scheduler(params);
  const auto next = [&](ClassMask ready) {
    return scheduler.Next(ready, [](uint32_t) { return 2048u; });
  };
  EXPECT_EQ(next(0), ClassScheduler::kNone);
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(next(0b11), 1u);
    EXPECT_EQ(next(0b11), 1u);
    EXPECT_EQ(next(0b11), 0u);
  }
  EXPECT_EQ(next(0b1100011), 6u);
  EXPECT_EQ(next(0b0100011), 5u);
  EXPECT_EQ(next(0b0000011), 1u) << "a strict class takes no turn";
  // A class that had nothing waiting has saved up nothing.
  scheduler.OnEmpty(1);
  EXPECT_EQ(next(0b11), 0u);
  EXPECT_EQ(next(0b11), 1u);
  EXPECT_EQ(next(0b11), 1u);
  EXPECT_EQ(next(0b11), 0u);
}

// A deficit below the length of a frame is lost, too.
TEST(ClassScheduler, AnEmptyClassLosesThePartOfItsQuantum) {
  ClassScheduler scheduler(SwitchParams{});
  const auto next = [&](ClassMask ready) {
    return scheduler.Next(ready, [](uint32_t) { return 1000u; });
  };
  EXPECT_EQ(next(0b1), 0u);
  scheduler.OnEmpty(0);
  EXPECT_EQ(next(0b11), 1u);
  EXPECT_EQ(next(0b11), 1u);
  EXPECT_EQ(next(0b11), 0u);
  // Two quanta are enough for a frame of one quantum and a byte, and one is not.
  ClassScheduler empty(SwitchParams{});
  empty.OnEmpty(0);
  EXPECT_EQ(empty.Next(0b11, [](uint32_t c) { return c == 0 ? 2049u : 4096u; }), 1u);
}

TEST(Queueing, StrictClassesGoFirst) {
  SwitchParams params = QueueParams();
  params.of_class[7].strict = params.of_class[6].strict = true;
  const auto bytes = Shares(params, {0, 56, 48});
  EXPECT_LT(bytes[0] + bytes[6], bytes[7] / 50);
}

TEST(Queueing, FramesThatHaveWaitedForTooLongAreDropped) {
  SwitchParams params = QueueParams();
  params.ports[2].pfc.on = true;
  params.of_class[0].max_wait = std::chrono::microseconds(50);
  QueueFabric fabric(params);
  std::vector<uint8_t> pfc(PfcFrame::kBytes);
  EncodePfc({.classes = 3, .quanta = {20000, 20000}}, {}, pfc.data());
  DropRecorder tap;
  fabric.the_switch.port(2).drop_tap().Set(&tap);
  fabric.In(2, pfc, At(0));
  fabric.Send(0, At(0));
  fabric.Send(8, At(0));
  fabric.Send(0, At(10));
  EXPECT_EQ(fabric.Out(2, At(50)).size(), 0u);
  EXPECT_TRUE(tap.dropped.empty());  // though the PFC frame has ended
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kAgeDrop), 0u);
  EXPECT_EQ(fabric.Out(2, At(51)).size(), 0u);
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kAgeDrop), 1u);
  ASSERT_EQ(tap.dropped.size(), 1u);
  EXPECT_EQ(tap.dropped[0].counter, "class_drop_age_total");
  const DropNote& note = fabric.the_switch.port(2).output().too_old();
  EXPECT_EQ(note.count, 1u);
  EXPECT_EQ(note.traffic_class, 0);
  EXPECT_EQ(note.destination, MacNumber(2));
  EXPECT_EQ(note.cause, WaitCause::kPause);
  EncodePfc({.classes = 3, .quanta = {0, 0}}, {}, pfc.data());
  fabric.In(2, pfc, At(55));
  EXPECT_EQ(fabric.Out(2, At(60)).size(), 2u);  // one of each class
  EXPECT_EQ(fabric.the_switch.buffer().used(), 0u);
}

// Frames behind others at the port's rate, and frames that the device does not take.
TEST(Queueing, TheCauseOfAWaitIsKnown) {
  for (const uint64_t rate_bps : {uint64_t{8'000'000}, uint64_t{0}}) {
    SwitchParams params = QueueParams();
    params.ports[2].rate_bps = rate_bps;
    params.of_class[0].max_wait = std::chrono::microseconds(50);
    QueueFabric fabric(params);
    for (int i = 0; i < 3; ++i) fabric.Send(0, At(0));
    fabric.Out(2, At(0), 1);
    EXPECT_EQ(fabric.the_switch.Transmit(2, nullptr, 0, At(51)), 0u);
    fabric.Out(2, At(51));
    const DropNote& note = fabric.the_switch.port(2).output().too_old();
    EXPECT_EQ(note.count, 2u);
    EXPECT_EQ(note.cause, rate_bps != 0 ? WaitCause::kRate : WaitCause::kDown);
  }
}

// Each class has a bound of its own, and a frame behind one that waits for longer is found.
TEST(Queueing, ClassesHaveBoundsOfTheirOwn) {
  SwitchParams params = QueueParams();
  params.ports[2].pfc.on = true;
  params.of_class[0].max_wait = std::chrono::microseconds(500);
  params.of_class[1].max_wait = std::chrono::microseconds(50);
  QueueFabric fabric(params);
  fabric.In(2, FrameOfPfc(0x7, 20000), At(0));
  for (uint8_t c = 0; c < 3; ++c) fabric.Send(static_cast<uint8_t>(8 * c), At(0));
  fabric.Out(2, At(50));
  EXPECT_EQ(fabric.Count(2, 1, SwitchClassCounter::kAgeDrop), 0u);
  fabric.Out(2, At(51));
  EXPECT_EQ(fabric.Count(2, 1, SwitchClassCounter::kAgeDrop), 1u);
  fabric.Out(2, At(501));
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kAgeDrop), 1u);
  EXPECT_EQ(fabric.Count(2, 2, SwitchClassCounter::kAgeDrop), 0u) << "it has no bound";
  EXPECT_EQ(fabric.the_switch.port(2).output().waiting(), 1u << 2);
}

TEST(Queueing, TailDropIsCounted) {
  SwitchParams params = QueueParams();
  params.buffer_bytes = 256 * 1024;
  params.of_class[0].alpha_16th = 4;
  QueueFabric fabric(params);
  DropRecorder tap;
  fabric.the_switch.port(2).drop_tap().Set(&tap);
  for (int i = 0; i < 500; ++i) fabric.Send(0, At(0));
  const uint64_t dropped = fabric.Count(2, 0, SwitchClassCounter::kTailDrop);
  EXPECT_GT(dropped, 300u);
  ASSERT_EQ(tap.dropped.size(), dropped);
  for (const DropRecorder::Dropped& drop : tap.dropped) {
    EXPECT_EQ(drop.counter, "class_drop_tail_total");
    EXPECT_EQ(drop.direction, FrameDirection::kOut);
    EXPECT_EQ(drop.bytes, tap.dropped[0].bytes);
  }
  uint64_t got = 0;
  for (int us = 0; us < 1000; ++us) got += fabric.Out(2, At(us)).size();
  EXPECT_EQ(got, 500 - dropped);
  EXPECT_GT(fabric.the_switch.port(2).output().max_queued_bytes(0), 20000u);
  EXPECT_GT(fabric.the_switch.buffer().max_used(), 20000u);
  fabric.the_switch.ResetHighWater();
  EXPECT_EQ(fabric.the_switch.port(2).output().max_queued_bytes(0),
            fabric.the_switch.buffer().queued(2, 0));
  EXPECT_EQ(fabric.the_switch.buffer().max_used(), fabric.the_switch.buffer().used());
}

uint64_t Marks(EcnParams ecn, uint32_t frames, uint8_t field) {
  SwitchParams params = QueueParams();
  params.of_class[0].ecn = ecn;
  QueueFabric fabric(params);
  for (uint32_t i = 0; i < frames; ++i) fabric.Send(0, At(0), 1000, field);
  uint64_t marked = 0;
  for (int us = 0; us < 2000; ++us) {
    for (const auto& frame : fabric.Out(2, At(us))) {
      marked += (frame[15] & 3) == 3 ? 1 : 0;
      const ParsedFrame parsed = ParseFrame({}, const_cast<uint8_t*>(frame.data()),
                                            static_cast<uint32_t>(frame.size()), false);
      EXPECT_EQ(parsed.error, FrameError::kNone);
    }
  }
  EXPECT_EQ(marked, fabric.Count(2, 0, SwitchClassCounter::kMarked));
  return marked;
}

TEST(Queueing, EcnByAStep) {
  // A frame takes 1,280 bytes of cells: the queue is over 12,800 with the eleventh.
  const EcnParams step{.least_bytes = 12'800, .most_bytes = 12'800};
  EXPECT_EQ(Marks(step, 10, 2), 0u);
  EXPECT_EQ(Marks(step, 30, 2), 20u);
  EXPECT_EQ(Marks(step, 30, 1), 20u);
  EXPECT_EQ(Marks(step, 30, 0), 0u);  // its sender does not speak ECN
}

// As of a leaf's ports to hosts with RCCC.
TEST(Queueing, EcnIsOffAtAPort) {
  SwitchParams params = ParamsOf(3);
  for (ClassParams& own : params.of_class) own.ecn = {.least_bytes = 0, .most_bytes = 0};
  params.ports[1].marks = false;
  Fabric fabric(params);
  for (const uint16_t port : {uint16_t{1}, uint16_t{2}}) {
    fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(port), 0), port);
    for (uint32_t i = 0; i < 4; ++i) {
      fabric.In(0, SueFrame{.to = port, .traffic_class = {.ecn = 2}}, At(0));
    }
  }
  EXPECT_EQ(fabric.Count(1, 0, SwitchClassCounter::kMarked), 0u);
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kMarked), 4u);
}

TEST(Queueing, EcnByProbability) {
  // Just below `most_bytes` with this one, and from there on always.
  EXPECT_EQ(Marks({.least_bytes = 0, .most_bytes = 12'800, .probability = 0}, 30, 2), 21u);
  const EcnParams red{.least_bytes = 0, .most_bytes = 1280 * 1000, .probability = 32768};
  // From 0 to 1/4 at half of the range: 1/8 of 500 on average.
  EXPECT_NEAR(static_cast<double>(Marks(red, 500, 2)), 62, 30);
}

// From 0 to 1/2 behind the first 250 of 500 frames: 1/4 of 250 on average.
TEST(Queueing, EcnByProbabilityBeginsAtItsFirstByte) {
  const EcnParams red{.least_bytes = 1280 * 250, .most_bytes = 1280 * 750};
  EXPECT_EQ(Marks(red, 250, 2), 0u);
  EXPECT_NEAR(static_cast<double>(Marks(red, 500, 2)), 62, 20);
}

TEST(Queueing, EveryKindOfFrameWithAClassIsMarked) {
  for (const Encap encap :
       {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1, Encap::kAfh1s, Encap::kAfh2, Encap::kAfh2c}) {
    const bool gen2 = encap == Encap::kAfh2 || encap == Encap::kAfh2c;
    for (uint8_t ecn = 0; ecn < 4; ++ecn) {
      SwitchParams params = ParamsOf(2, gen2 ? Forwarding::kAfh2 : Forwarding::kMac);
      for (ClassParams& own : params.of_class) own.ecn = {.least_bytes = 0, .most_bytes = 0};
      Fabric fabric(params);
      const auto first =
          BytesOf({.encap = encap, .to = 2, .traffic_class = {.dscp = 5, .ecn = ecn}});
      const auto marked =
          BytesOf({.encap = encap, .to = 2, .traffic_class = {.dscp = 5, .ecn = 3}});
      fabric.the_switch.table().AddStatic(
          gen2 ? ForwardingTable::ForwardingKey(2)
               : ForwardingTable::MacKey(
                     uint64_t{LoadBe16(first.data())} << 32 | LoadBe32(first.data() + 2), 0),
          1);
      fabric.In(0, first, At(0));
      auto got = fabric.Out(1, At(0));
      ASSERT_EQ(got.size(), 1u);
      const bool is_markable = encap != Encap::kAfh1 && (ecn == 1 || ecn == 2);
      if (encap == Encap::kAfh2) got[0][1] = first[1];  // the hop limit
      EXPECT_EQ(got[0], is_markable ? marked : first) << EncapName(encap) << int{ecn};
      EXPECT_EQ(fabric.Count(1, 0, SwitchClassCounter::kMarked), is_markable ? 1u : 0u);
    }
  }
}

TEST(Queueing, TrimmedFramesTellTheReceiver) {
  for (const Encap encap : {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1s}) {
    SwitchParams params = QueueParams();
    params.buffer_bytes = 256 * 1024;
    params.of_class[7].strict = true;
    params.trim = {.on = true, .dscps = 1u << 0, .trimmed_dscp = 57};
    if (encap == Encap::kAfh1s) params.forwarding = Forwarding::kAfh1;
    QueueFabric fabric(params);
    fabric.the_switch.table().AddStatic(ForwardingTable::ForwardingKey(2), 2);
    for (int i = 0; i < 500; ++i) fabric.Send(0, At(0), 1000, 0, encap);
    const uint64_t trimmed = fabric.Count(2, 0, SwitchClassCounter::kTrimmed);
    EXPECT_GT(trimmed, 50u);
    EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTailDrop), 0u);
    uint64_t whole = 0;
    uint64_t cut = 0;
    const uint32_t length = encap == Encap::kUdp6 ? 128 : 64;
    for (int us = 0; us < 2000; ++us) {
      for (auto& frame : fabric.Out(2, At(us))) {
        if (frame.size() > length) {
          ++whole;
          continue;
        }
        ++cut;
        EXPECT_EQ(whole, 0u) << "trimmed frames go first";
        EXPECT_EQ(frame.size(), length);
        const ParsedFrame parsed = ParseFrame({.encap = encap}, frame.data(), length, false);
        EXPECT_EQ(parsed.error, FrameError::kTruncated);
        // Recognized by its DSCP and by the lengths in it.
        const auto read = ParseTrimmed({.encap = encap}, frame.data(), length, 57);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->pdu_bytes, 1000 + kMinPduBytes);
        EXPECT_EQ(DecodeRh(read->pdu).xpuid, 1);
        EXPECT_EQ(ParseTrimmed({.encap = encap}, frame.data(), length, 56), std::nullopt);
      }
    }
    EXPECT_EQ(cut, trimmed);
    EXPECT_EQ(whole + cut + fabric.Count(2, 0, SwitchClassCounter::kTrimDrop), 500u);
  }
}

TEST(Queueing, FramesTooShortToGainAreDropped) {
  SwitchParams params = QueueParams();
  params.buffer_bytes = 128 * 1024;
  params.trim = {.on = true, .ipv4_bytes = 256, .dscps = 1u << 0, .trimmed_dscp = 57};
  QueueFabric fabric(params);
  for (int i = 0; i < 1000; ++i) fabric.Send(0, At(0), 100);
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTrimmed), 0u);
  EXPECT_GT(fabric.Count(2, 0, SwitchClassCounter::kTailDrop), 100u);
}

// A frame that is one byte longer is trimmed. Its ECN field stays.
// There is room: only frames of a DSCP that is trimmed are, beyond the depth.
TEST(Queueing, FramesOfADeepQueueAreTrimmedAlthoughThereIsRoom) {
  SwitchParams params = QueueParams();
  params.trim = {.on = true, .max_queue_bytes = 12'800, .dscps = 1, .trimmed_dscp = 57};
  QueueFabric fabric(params);
  // A frame takes 1,280 bytes of cells: the queue is over 12,800 with the eleventh.
  for (int i = 0; i < 30; ++i) fabric.Send(0, At(0));
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTrimmed), 19u);
  for (int i = 0; i < 30; ++i) fabric.Send(8, At(0));
  EXPECT_EQ(fabric.Count(2, 1, SwitchClassCounter::kTrimmed), 0u);
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTailDrop), 0u);
}

TEST(Queueing, TrimmingHasToSaveAByte) {
  const auto length = static_cast<uint32_t>(BytesOf({.from = 1, .to = 2, .bytes = 300}).size());
  for (const uint32_t less : {0u, 1u}) {
    SwitchParams params = QueueParams();
    params.buffer_bytes = 256 * 1024;
    params.trim = {.on = true, .ipv4_bytes = length - less, .dscps = 1, .trimmed_dscp = 57};
    QueueFabric fabric(params);
    for (int i = 0; i < 500; ++i) fabric.Send(0, At(0), 300, 1);
    const uint64_t trimmed = fabric.Count(2, 0, SwitchClassCounter::kTrimmed);
    const uint64_t dropped = fabric.Count(2, 0, SwitchClassCounter::kTailDrop);
    EXPECT_EQ(trimmed != 0, less == 1);
    EXPECT_EQ(dropped != 0, less == 0);
    uint64_t cut = 0;
    for (int us = 0; us < 1000; ++us) {
      for (const auto& frame : fabric.Out(2, At(us))) {
        if (frame[15] >> 2 != 57) continue;
        ++cut;
        EXPECT_EQ(frame.size(), length - 1);
        EXPECT_EQ(frame[15] & 3, 1);
        uint32_t sum = 0;
        for (uint32_t at = 14; at < 34; at += 2) sum += LoadBe16(frame.data() + at);
        EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu) << "the checksum is right";
      }
    }
    EXPECT_EQ(cut, trimmed);
  }
}

// The class of trimmed frames is full, too.
TEST(Queueing, ATrimmedFrameThatFindsNoRoomIsDroppedUnderItsOwnClass) {
  SwitchParams params = QueueParams();
  params.buffer_bytes = 256 * 1024;
  params.trim = {.on = true, .dscps = 1, .trimmed_dscp = 57, .trimmed_class = 6};
  params.of_class[6].alpha_16th = 0;
  params.of_class[6].reserved_bytes = 512;
  QueueFabric fabric(params);
  for (int i = 0; i < 500; ++i) fabric.Send(0, At(0));
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTrimmed), 2u) << "two cells";
  EXPECT_GT(fabric.Count(2, 0, SwitchClassCounter::kTrimDrop), 100u);
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTailDrop), 0u);
  EXPECT_EQ(fabric.the_switch.port(2).output().queued_frames(6), 2u);
  // A lossless class is paused instead.
  params.of_class[0].lossless = true;
  QueueFabric lossless(params);
  for (int i = 0; i < 500; ++i) lossless.Send(0, At(0));
  EXPECT_EQ(lossless.Count(2, 0, SwitchClassCounter::kTrimmed), 0u);
  EXPECT_GT(lossless.Count(2, 0, SwitchClassCounter::kHeadroomDrop), 100u);
}

TEST(Queueing, OtherDscpsAreNotTrimmed) {
  SwitchParams params = QueueParams();
  params.buffer_bytes = 128 * 1024;
  params.trim = {.on = true, .dscps = uint64_t{1} << 9, .trimmed_dscp = 57};
  QueueFabric fabric(params);
  for (int i = 0; i < 500; ++i) fabric.Send(0, At(0));
  EXPECT_EQ(fabric.Count(2, 0, SwitchClassCounter::kTrimmed), 0u);
}

TEST(Queueing, EveryEncapsulationHasItsClass) {
  for (const Encap encap :
       {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1, Encap::kAfh1s, Encap::kAfh2, Encap::kAfh2c}) {
    const bool gen2 = encap == Encap::kAfh2 || encap == Encap::kAfh2c;
    SwitchParams params = ParamsOf(2, gen2 ? Forwarding::kAfh2 : Forwarding::kMac);
    Fabric fabric(params);
    fabric.the_switch.table().AddStatic(
        gen2 ? ForwardingTable::ForwardingKey(2) : ForwardingTable::MacKey(MacNumber(2), 0), 1);
    fabric.In(0, {.encap = encap, .to = 2, .traffic_class = {.pcp = 3, .dscp = 48}}, At(0));
    ASSERT_EQ(fabric.Out(1, At(0)).size(), 1u);
    // AFH Gen 1 without a shim has none, and is of the class `other`.
    EXPECT_EQ(fabric.Count(1, encap != Encap::kAfh1 ? 6 : 0, SwitchClassCounter::kFrames), 1u)
        << static_cast<int>(encap);
  }
}

TEST(Queueing, TheTagsPriorityWhereItCountsFirst) {
  SwitchParams params = QueueParams();
  params.classes.pcp_first = true;
  QueueFabric fabric(params);
  fabric.In(0, SueFrame{.from = 1, .to = 2, .traffic_class = {.pcp = 6, .dscp = 0}, .tagged = true},
            At(0));
  fabric.Out(2, At(0));
  EXPECT_EQ(fabric.Count(2, 6, SwitchClassCounter::kFrames), 1u);
}

}  // namespace
}  // namespace suede::fabric
