// SPDX-License-Identifier: Apache-2.0
// The switch's end of a link: it repeats what the cable loses, and what it keeps is no frame of its
// buffer.
#include <gtest/gtest.h>

#include <vector>

#include "fabric/link_port.h"
#include "fabric_fixture.h"
#include "wire/frame_class.h"

namespace suede::fabric {
namespace {

using Bytes = std::vector<uint8_t>;

LinkParams RetryParamsOf(uint64_t boot) {
  LinkParams link;
  link.retry.on = true;
  link.retry.window_frames = 4;
  link.secret = {boot, 7};
  return link;
}

SwitchParams LinkedSwitch() {
  SwitchParams params = ParamsOf(2);
  params.learns = false;
  params.ports[1].link = RetryParamsOf(1);
  return params;
}

// The neighbour at the far end of port 1.
struct Neighbour {
  explicit Neighbour(const LinkParams& params = RetryParamsOf(2)) : end(params) {
    if (params.credit.cbfc) credit = std::make_unique<CreditEnd>(params, 1500);
  }

  LinkEnd end;
  std::unique_ptr<CreditEnd> credit;
  uint8_t memory[2048] = {};

  // Returns the frame as it is handed up; empty: a frame of the link.
  Bytes Hear(const Bytes& bytes, Time now) {
    Frame frame;
    frame.buffer = memory;
    frame.data = memory + 64;
    frame.length = static_cast<uint32_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), frame.data);
    if (end.OnFrame(frame, now) != LinkEnd::Fate::kUp) return {};
    if (credit != nullptr && IsCredit(frame, now)) return {};
    return {frame.data, frame.data + frame.length};
  }
  // Whether it is an update; another frame is counted, and free at once.
  bool IsCredit(const Frame& frame, Time now) {
    bool opened = false;
    if (credit->TakeUpdate(end, frame, opened, now)) return true;
    const uint32_t vc = LinkVcOf({}, frame.data, frame.length);
    const uint32_t credits = credit->receiver().OnFrame(vc, frame.length);
    if (credits != 0) credit->receiver().OnDrained(vc, credits, now);
    return false;
  }
  std::vector<Bytes> Says(Time now) {
    std::vector<Bytes> said;
    end.Poll(now);
    if (credit != nullptr) credit->Follow(end, now);
    if (credit != nullptr && now >= credit->receiver().deadline()) {
      Bytes bytes(kMaxLinkFrameBytes);
      bytes.resize(credit->NextFreed(end, bytes.data(), now));
      if (!bytes.empty()) said.push_back(bytes);
    }
    while (end.HasNext(now)) {
      Bytes bytes(kMaxLinkFrameBytes);
      bytes.resize(end.Next(bytes.data(), now));
      said.push_back(bytes);
    }
    return said;
  }
};

class LinkedFabric : public ::testing::Test {
 protected:
  explicit LinkedFabric(const SwitchParams& params = LinkedSwitch(),
                        const LinkParams& of_neighbour = RetryParamsOf(2))
      : fabric(params), neighbour(of_neighbour) {
    fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
  }
  // Everything that leaves port 1 arrives; what the neighbour says comes back.
  std::vector<Bytes> Carry() {
    std::vector<Bytes> up;
    for (const Bytes& bytes : fabric.Out(1, now)) {
      if (Bytes whole = neighbour.Hear(bytes, now); !whole.empty()) up.push_back(whole);
    }
    for (const Bytes& bytes : neighbour.Says(now)) fabric.In(1, bytes, now);
    return up;
  }
  void Agree() {
    for (int i = 0; i < 8; ++i, now += std::chrono::microseconds(200)) Carry();
    ASSERT_TRUE(fabric.the_switch.port(1).link()->numbers());
  }
  void Send(uint32_t bytes = 100) {
    fabric.In(0, SueFrame{.from = 1, .to = 2, .bytes = bytes}, now);
  }
  uint64_t Count(LinkCounter counter) {
    return fabric.the_switch.port(1).link()->counters().Get(counter);
  }

  Fabric fabric;
  Neighbour neighbour;
  Time now = At(1000);
};

TEST_F(LinkedFabric, HellosAreNotForwardedAndFramesComeAsTheyWere) {
  Agree();
  EXPECT_TRUE(fabric.Out(0, now).empty());
  Send();
  const std::vector<Bytes> up = Carry();
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0], BytesOf(SueFrame{.from = 1, .to = 2, .bytes = 100}));
  now += std::chrono::microseconds(10);
  Carry();
  EXPECT_EQ(fabric.the_switch.frames_inside(), 0u);
  EXPECT_EQ(fabric.the_switch.buffer().used(), 0u);
}

TEST_F(LinkedFabric, ALostFrameIsSentAgain) {
  Agree();
  Send();
  Send(200);
  std::vector<Bytes> left = fabric.Out(1, now);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 2u);
  EXPECT_TRUE(neighbour.Hear(left[1], now).empty());
  EXPECT_TRUE(Carry().empty()) << "the NACK goes";
  EXPECT_EQ(Carry().size(), 2u);
  EXPECT_EQ(Count(LinkCounter::kLlrReplays), 1u);
}

TEST_F(LinkedFabric, AFullWindowLeavesFramesInTheirQueue) {
  Agree();
  for (int i = 0; i < 9; ++i) Send();
  EXPECT_EQ(fabric.Out(1, now).size(), 4u);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 9u);
  EXPECT_GT(fabric.the_switch.deadline(1, now), now) << "it waits for the neighbour";
  now += std::chrono::microseconds(50);
  uint32_t up = 0;
  for (int i = 0; i < 6; ++i, now += std::chrono::microseconds(5)) {
    up += static_cast<uint32_t>(Carry().size());
  }
  EXPECT_EQ(up, 9u);
}

TEST_F(LinkedFabric, APortThatIsSetDownKeepsNothingThatWaits) {
  Agree();
  for (int i = 0; i < 9; ++i) Send();
  fabric.Out(1, now);
  fabric.the_switch.SetDown(1, true);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 4u + fabric.the_switch.ended().size());
  EXPECT_TRUE(fabric.Out(1, now).empty());
}

// Frames of the link, and frames of which the neighbour has a copy, are no losses of the switch.
TEST_F(LinkedFabric, FramesOfTheLinkEndAndAreCounted) {
  Agree();
  Send();
  Send(200);
  const LinkCounters& counters = fabric.the_switch.port(1).link()->counters();
  const std::vector<Bytes> left = fabric.Out(1, now);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(counters.Get(LinkGauge::kUp), 1u);
  EXPECT_EQ(counters.Get(LinkGauge::kLlrHeldFrames), 2u);
  EXPECT_EQ(Count(LinkCounter::kLlrTxFrames), 2u);
  const uint64_t before = fabric.the_switch.frames_of_links();
  for (const Bytes& bytes : left) EXPECT_FALSE(neighbour.Hear(bytes, now).empty());
  const std::vector<Bytes> said = neighbour.Says(now);
  ASSERT_FALSE(said.empty());
  for (const Bytes& bytes : said) fabric.In(1, bytes, now);
  EXPECT_EQ(fabric.the_switch.frames_of_links(), before + said.size() + 2);
  fabric.Out(1, now);
  EXPECT_EQ(counters.Get(LinkGauge::kLlrHeldFrames), 0u);
}

TEST_F(LinkedFabric, FramesThatAreGivenUpEndThoughNothingComes) {
  Agree();
  Send();
  Send();
  fabric.Out(1, now);
  ASSERT_EQ(fabric.the_switch.frames_inside(), 2u);
  for (int i = 0; i < 100 && Count(LinkCounter::kFailures) == 0; ++i) {
    now += std::chrono::microseconds(50);
    fabric.Out(1, now);
  }
  EXPECT_EQ(Count(LinkCounter::kFailures), 1u);
  EXPECT_EQ(Count(LinkCounter::kLlrGivenUp), 2u);
  EXPECT_EQ(fabric.the_switch.frames_inside(), 0u);
}

TEST_F(LinkedFabric, AFrameWithANumberIsOfItsClassOnTheCable) {
  Agree();
  fabric.the_switch.port(1).out().Set({.hole_classes = 1u << 3});
  fabric.In(0, SueFrame{.from = 1, .to = 2, .traffic_class = {.dscp = 24}}, now);
  Send();
  EXPECT_EQ(fabric.Out(1, now).size(), 1u);
  EXPECT_EQ(fabric.Count(1, SwitchPortCounter::kImpairHole), 1u);
  EXPECT_EQ(fabric.the_switch.port(1).link()->sender().held(), 2u) << "the link repeats it";
}

TEST_F(LinkedFabric, ANeighbourWithoutItIsServedAsEver) {
  Send();
  const std::vector<Bytes> left = fabric.Out(1, now);
  ASSERT_EQ(left.size(), 2u) << "a HELLO, and the frame";
  EXPECT_EQ(left[1], BytesOf(SueFrame{.from = 1, .to = 2, .bytes = 100}));
}

// Two switches with a cable between their ports 1, which have places and neither retry nor credit.
TEST(PlacedFabrics, SeeEachOthersPlaceAndForwardFramesUnchanged) {
  const auto params_of = [](uint16_t device) {
    SwitchParams params = ParamsOf(2);
    params.learns = false;
    params.ports[1].link.place = {.device = device, .port = 2};
    params.ports[1].link.secret = {device, 7};
    return params;
  };
  Fabric here(params_of(3));
  Fabric there(params_of(4));
  Time now = At(1000);
  const auto exchange = [&] {
    for (const Bytes& bytes : here.Out(1, now)) there.In(1, bytes, now);
    for (const Bytes& bytes : there.Out(1, now)) here.In(1, bytes, now);
    now += std::chrono::microseconds(200);
  };
  const auto place_at = [](const Fabric& fabric) {
    return fabric.the_switch.port(1).link()->neighbour_place();
  };
  EXPECT_EQ(here.the_switch.port(0).link(), nullptr) << "no place, no link frames";
  EXPECT_EQ(here.the_switch.port(1).credit(), nullptr);
  for (int i = 0; i < 8; ++i) exchange();
  EXPECT_EQ(place_at(here), (LinkPlace{.device = 4, .port = 2}));
  EXPECT_EQ(place_at(there), (LinkPlace{.device = 3, .port = 2}));
  const SueFrame sue{.from = 1, .to = 2, .bytes = 100};
  here.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 1);
  there.the_switch.table().AddStatic(ForwardingTable::MacKey(MacNumber(2), 0), 0);
  here.In(0, sue, now);
  exchange();
  EXPECT_EQ(there.Out(0, now), std::vector<Bytes>{BytesOf(sue)});
  EXPECT_EQ(here.the_switch.frames_inside(), 0u);
  now += std::chrono::milliseconds(100);
  there.Out(1, now);
  EXPECT_EQ(place_at(there), std::nullopt) << "the neighbour is silent";
}

// Both ends have credit as well. The window has room for two frames, and for an update beside them.
constexpr uint32_t kWindowOctets = 2600;

SwitchParams SwitchWithCredit() {
  SwitchParams params = LinkedSwitch();
  params.ports[1].cbfc = true;
  params.ports[1].link.retry.window_octets = kWindowOctets;
  for (ClassParams& own : params.of_class) own.credits = 100;
  return params;
}

LinkParams NeighbourWithCredit() {
  LinkParams params = RetryParamsOf(2);
  CreditGrant grant;
  std::fill_n(grant.limits.begin(), kClasses, 100);
  params.credit = OfferOf(grant);
  return params;
}

class LinkedCredit : public LinkedFabric {
 protected:
  LinkedCredit() : LinkedFabric(SwitchWithCredit(), NeighbourWithCredit()) {}
};

TEST_F(LinkedCredit, GaugesShowTheCreditOfBothDirections) {
  Agree();
  fabric.Out(1, now);
  fabric.the_switch.ShowCredit();
  const LinkCounters& counters = fabric.the_switch.port(1).link()->counters();
  EXPECT_EQ(counters.Get(LinkGauge::kCreditOn), 1u);
  Send(1000);
  fabric.Out(1, now);
  fabric.the_switch.ShowCredit();
  const ShownCredit shown = counters.credit(0);
  EXPECT_EQ(shown.limit, 100u);
  EXPECT_EQ(shown.free, 100u - 9);
  EXPECT_EQ(shown.granted, 100u);
  EXPECT_EQ(shown.held, 0u);
}

// A black hole of that class takes them all, and no other.
TEST_F(LinkedCredit, FramesOfTheLinkAreOfTheHighestClass) {
  Agree();
  Carry();
  fabric.the_switch.port(1).out().Set({.hole_classes = 1u << (kClasses - 1)});
  const auto lost = [&] { return fabric.Count(1, SwitchPortCounter::kImpairHole); };
  Send();
  EXPECT_EQ(Carry().size(), 1u);
  EXPECT_EQ(lost(), 0u);
  // An update of what was consumed is due.
  const auto of_link = [&] {
    return Count(LinkCounter::kTxHellos) + Count(LinkCounter::kCreditTxConsumed);
  };
  const uint64_t before = of_link();
  now = fabric.the_switch.port(1).credit()->sender().deadline();
  for (const Bytes& bytes : fabric.Out(1, now)) EXPECT_FALSE(IsToNeighbour(bytes.data()));
  EXPECT_GT(of_link(), before);
  EXPECT_EQ(lost(), of_link() - before);
}

// Four frames fill the window, and none waits: the update does, and is tried again soon.
TEST_F(LinkedCredit, AnUpdateWaitsForRoomInTheWindow) {
  Agree();
  const CreditSender& sender = fabric.the_switch.port(1).credit()->sender();
  for (int i = 0; i < 4; ++i) Send();
  std::vector<Bytes> left = fabric.Out(1, now);
  ASSERT_EQ(left.size(), 4u);
  now = sender.deadline();
  const uint64_t updates = Count(LinkCounter::kCreditTxConsumed);
  for (const Bytes& bytes : fabric.Out(1, now)) left.push_back(bytes);
  EXPECT_EQ(Count(LinkCounter::kCreditTxConsumed), updates + 1);
  EXPECT_EQ(sender.deadline(), now + std::chrono::microseconds(5));
  for (const Bytes& bytes : left) neighbour.Hear(bytes, now);
  for (int i = 0; i < 8; ++i, now += std::chrono::microseconds(100)) Carry();
  EXPECT_EQ(sender.used(0), 0u);
  EXPECT_EQ(neighbour.end.counters().Get(LinkCounter::kCreditRepaired), 0u);
}

TEST_F(LinkedCredit, NoUpdateOvertakesAFrameThatTheWindowHasNoRoomFor) {
  Agree();
  const CreditSender& sender = fabric.the_switch.port(1).credit()->sender();
  ASSERT_TRUE(sender.is_on() && sender.waiting() == 0);
  for (int i = 0; i < 3; ++i) Send(1000);
  std::vector<Bytes> left = fabric.Out(1, now);
  EXPECT_EQ(left.size(), 2u);
  EXPECT_TRUE(fabric.the_switch.deadline(1, now) > now);
  now = sender.deadline();  // of an update, which counts the frame that waits as well
  for (const Bytes& bytes : fabric.Out(1, now)) left.push_back(bytes);
  EXPECT_TRUE(fabric.the_switch.deadline(1, now) > now) << "it waits for the neighbour";
  size_t up = 0;
  for (const Bytes& bytes : left) up += neighbour.Hear(bytes, now).empty() ? 0 : 1;
  for (int i = 0; i < 8; ++i, now += std::chrono::microseconds(100)) up += Carry().size();
  EXPECT_EQ(up, 3u);
  EXPECT_EQ(neighbour.end.counters().Get(LinkCounter::kCreditRepaired), 0u);
  EXPECT_GT(neighbour.end.counters().Get(LinkCounter::kCreditRxConsumed), 1u);
  EXPECT_EQ(Count(LinkCounter::kCreditImpossible), 0u);
  EXPECT_EQ(sender.used(0), 0u);
}

}  // namespace
}  // namespace suede::fabric
