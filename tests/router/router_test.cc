// SPDX-License-Identifier: Apache-2.0
// Routers of two devices with a cable between them, and a cable that leaves the process.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/big_endian.h"
#include "pool.h"
#include "port/tap_group.h"
#include "router/board.h"
#include "router/cable.h"
#include "wire/frame_builder.h"
#include "wire/link_frame.h"

namespace suede {
namespace {

constexpr mesh::Device kA{.mesh = 0, .device = 0};
constexpr mesh::Device kB{.mesh = 0, .device = 1};
constexpr mesh::Device kFar{.mesh = 1, .device = 0};
using Bytes = std::vector<std::vector<uint8_t>>;
constexpr Duration kStep = std::chrono::microseconds(100);

uint32_t AddressOf(const mesh::Device& device) { return *mesh::Encode({.device = device}); }

// A frame from a device to another one, whose data has `marker`.
std::vector<uint8_t> BytesOf(const mesh::Device& from, const mesh::Device& to, uint8_t marker = 7) {
  const HeaderTemplate header = MakeTemplate(
      Encap::kAfh2,
      {.source = {.low = AddressOf(from)}, .destination = {.low = AddressOf(to)}, .hop_limit = 9});
  std::vector<uint8_t> commands(64, marker);
  commands[0] = 1;
  std::vector<uint8_t> buffer(FrameBufferBytes(64) + 64);
  const auto frame = BuildFrame(header, {.xpuid = 1, .vc = 0}, commands, buffer);
  return {frame.begin(), frame.end()};
}

// Devices A and B of one board: port 2 of A leads to port 4 of B, and port 1 of B out to P3 of the
// far device.
class RouterTest : public testing::Test {
 protected:
  explicit RouterTest(bool cbfc = false) : pool_(4096), outer_(0) {
    const PoolPort::Params params{.pool = &pool_, .max_frame_bytes = 2048};
    cable_ = std::make_unique<Cable>(params);
    board_.AddCentre(params);
    Router& a = board_.AddRouter(kA, ParamsOf({2}, cbfc), pool_);
    a.AddCable(&cable_->a());
    board_.AddCentres(a, 1);
    Router& b = board_.AddRouter(kB, ParamsOf({4, 1}, cbfc), pool_);
    b.AddCable(&cable_->b());
    b.AddOuterCable(&outer_, {.at = {.device = kB, .port = 1}, .plane = 0, .specification = 5},
                    {.device = kFar, .port = 3});
    board_.AddCentres(b, 2);
    SetRoutes(a, 2, 2);
    SetRoutes(b, 4, 1);
  }
  ~RouterTest() override {
    for (uint32_t i = 0; i < board_.size(); ++i) board_.router(i).fabric().CheckInvariants();
  }

  fabric::SwitchParams ParamsOf(const std::vector<uint32_t>& ports, bool cbfc) {
    fabric::SwitchParams params{.forwarding = fabric::Forwarding::kMesh,
                                .learns = false,
                                .floods = false,
                                .buffer_bytes = 64 * 2048,
                                .cell_bytes = 2048,
                                .levels = 4};
    for (auto& of_class : params.of_class) {
      of_class.reserved_bytes = 0;
      of_class.alpha_16th = 128;
    }
    if (cbfc) {
      params.of_class[0].credits = 4;
      params.cbfc.rule.shift = 11;
      params.cbfc.largest_octets = 2048;
    }
    for (const uint32_t port : ports) {
      params.mesh.port_of[port] = static_cast<uint16_t>(params.ports.size());
      fabric::PortParams& of = params.ports.emplace_back();
      of.cbfc = cbfc && port != 1;
      of.link.secret = {port, 77};
      if (port == 1) {
        of.link.place = LinkPlace{.mesh = 0, .device = 1, .port = 1, .specification = 5};
      }
    }
    if (cbfc) params.buffer_bytes += CreditBytes(params, 0) * 2;
    params.mesh.centre_of[0] = static_cast<uint16_t>(params.ports.size());
    params.ports.push_back({.hairpins = true, .centre = true, .level = fabric::LevelRule::kFirst});
    return params;
  }

  static void SetRoutes(Router& router, uint32_t inner, uint32_t out) {
    mesh::RoutingTable table{.own = router.device()};
    for (uint32_t device = 0; device < 2; ++device) {
      if (device != router.device().device) table.to_devices.Set(device, mesh::PortId(inner));
    }
    table.to_meshes.Set(1, mesh::PortId(out));
    router.fabric().SetRoutes(PlaneIndex(0u), table);
  }

  // Returns a frame with these bytes.
  Frame* Make(const std::vector<uint8_t>& bytes) {
    Frame* frame = nullptr;
    EXPECT_EQ(pool_.Allocate(&frame, 1), 1u);
    frame->data = frame->buffer + 64;
    frame->length = static_cast<uint32_t>(bytes.size());
    std::memcpy(frame->data, bytes.data(), bytes.size());
    return frame;
  }

  void Run(uint32_t steps = 8) {
    for (uint32_t i = 0; i < steps; ++i) board_.Poll(now_ += kStep);
  }

  // Receives what the centre has, and frees it; returns the bytes of each frame.
  Bytes Receive() {
    Bytes all;
    Frame* frames[64];
    const uint32_t count = board_.centre(0).Receive(frames, 64);
    for (uint32_t i = 0; i < count; ++i) {
      all.emplace_back(frames[i]->data, frames[i]->data + frames[i]->length);
    }
    pool_.Release(frames, count);
    return all;
  }

  // The far end of the outer cable, which announces a place.
  void Announce(const LinkPlace& place) {
    for (int round = 0; round < 3; ++round) {
      Run();
      for (Frame* const frame : std::exchange(outer_.sent, {})) {
        if (const auto hello = DecodeLinkHello(frame->data, frame->length))
          far_.echo = hello->nonce;
        pool_.Release(&frame, 1);
      }
      far_.nonce = 0x1122 + nonce_;
      far_.hears = true;
      far_.place = place;
      std::vector<uint8_t> bytes(LinkHelloBody::kPlacedBytes);
      EncodeLinkHello(kDefaultLinkEtherType, {2, 0, 0, 0, 0, 9}, far_, bytes.data());
      outer_.arrived.push_back(Make(bytes));
    }
    Run(20);
  }

  const Router& b() { return board_.router(1); }

  TestPort pool_;
  TestPort outer_;
  std::unique_ptr<Cable> cable_;
  Board board_;
  Time now_ = TimeFromNs(1'000'000'000);
  LinkHelloBody far_;
  uint64_t nonce_ = 0;
};

TEST_F(RouterTest, FramesPassACableAndLeaveTheSendersCopyAlone) {
  const std::vector<uint8_t> bytes = BytesOf(kA, kB);
  Frame* const frame = Make(bytes);
  EXPECT_EQ(board_.centre(0).Transmit(&frame, 1), 1u);
  EXPECT_EQ(std::memcmp(frame->data, bytes.data(), bytes.size()), 0);
  pool_.Release(&frame, 1);
  Run();
  EXPECT_EQ(Receive(), (Bytes{bytes}));
}

TEST_F(RouterTest, AFrameForTheOwnDeviceComesBack) {
  Frame* const frame = Make(BytesOf(kA, kA));
  EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  Run();
  EXPECT_EQ(Receive(), (Bytes{BytesOf(kA, kA)}));
}

TEST_F(RouterTest, ABurstOfSeveralDevicesKeepsItsOrderPerDevice) {
  std::vector<Frame*> frames;
  for (uint8_t i = 0; i < 40; ++i) {
    frames.push_back(Make(i % 3 == 0 ? BytesOf(kB, kA, i) : BytesOf(kA, kB, i)));
  }
  EXPECT_EQ(board_.centre(0).Transmit(frames.data(), 40), 40u);
  Run();
  std::array<std::vector<uint8_t>, 2> markers;
  for (const auto& bytes : Receive()) markers[bytes[11] & 1].push_back(bytes[40]);
  for (const auto& of_source : markers) EXPECT_TRUE(std::ranges::is_sorted(of_source));
  EXPECT_EQ(markers[0].size(), 26u);
  EXPECT_EQ(markers[1].size(), 14u);
  pool_.Release(frames.data(), 40);
}

TEST_F(RouterTest, FramesForTheOwnDevicePassItsQueueBy) {
  std::vector<Frame*> frames;
  for (uint8_t i = 0; i < 20; ++i) frames.push_back(Make(BytesOf(kA, kB, i)));
  EXPECT_EQ(board_.centre(0).Give(frames.data(), 20), 20u);
  Run();
  EXPECT_EQ(Receive().size(), 20u);
  const fabric::SwitchPort& centre = b().fabric().port(2);
  EXPECT_EQ(centre.output().max_queued_bytes(0), 0u);
  EXPECT_EQ(centre.counters().Get(SwitchPortCounter::kTxFrames), 20u);
  EXPECT_EQ(centre.counters(0).Get(SwitchClassCounter::kFrames), 20u);
}

TEST_F(RouterTest, FramesForAFullCentreWaitAndKeepTheirOrder) {
  uint32_t sent = 0;
  const auto send = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<uint8_t> bytes = BytesOf(kA, kB);
      StoreBe32(bytes.data() + 40, sent++);
      Frame* const frame = Make(bytes);
      ASSERT_EQ(board_.centre(0).Give(&frame, 1), 1u);
      Run(1);
    }
  };
  send(Centre::kDelivered + 20);
  const fabric::Output& queue = b().fabric().port(2).output();
  EXPECT_GT(queue.max_queued_bytes(0), 0u);
  uint32_t received = 0;
  const auto receive = [&] {
    for (const auto& bytes : Receive()) EXPECT_EQ(LoadBe32(bytes.data() + 40), received++);
  };
  receive();  // some leave the queue while others arrive
  send(20);
  for (int i = 0; i < 40; ++i) {
    Run(1);
    receive();
  }
  EXPECT_EQ(received, sent);
}

class Taps : public FrameTap {
 public:
  void Add(Frame* const* frames, uint32_t count, FrameDirection direction) override {
    for (uint32_t i = 0; i < count; ++i) {
      auto& to = direction == FrameDirection::kIn ? in : out;
      to.emplace_back(frames[i]->data, frames[i]->data + frames[i]->length);
    }
  }
  void AddDropped(const Frame&, FrameDirection, std::string_view) override {}
  Bytes in;
  Bytes out;
};

TEST_F(RouterTest, TapsCopyEachFrameOnce) {
  Router& a = board_.router(0);
  Router& b = board_.router(1);
  Taps cable, centre_of_a, centre_of_b;
  TapGroup cable_tap("M0D0P2", {&a.tap(0)});
  TapGroup centre_tap("plane0", {&a.tap(1)});
  cable_tap.SetTap(&cable);
  centre_tap.SetTap(&centre_of_a);
  b.tap(2).Set(&centre_of_b);
  EXPECT_TRUE(cable_tap.is_tapped() && centre_tap.is_tapped());
  Frame* there = Make(BytesOf(kA, kB, 1));
  Frame* back = Make(BytesOf(kB, kA, 2));
  EXPECT_EQ(board_.centre(0).Give(&there, 1), 1u);
  EXPECT_EQ(board_.centre(0).Give(&back, 1), 1u);
  Run();
  const Bytes of_there{BytesOf(kA, kB, 1)}, of_back{BytesOf(kB, kA, 2)};
  EXPECT_EQ(cable.out, of_there);
  EXPECT_EQ(cable.in, of_back);
  EXPECT_EQ(centre_of_a.out, of_there);
  EXPECT_EQ(centre_of_a.in, of_back);
  EXPECT_EQ(centre_of_b.out, of_back);
  EXPECT_EQ(centre_of_b.in, of_there);
  cable_tap.SetTap(nullptr);
  EXPECT_FALSE(cable_tap.is_tapped());
  there = Make(BytesOf(kA, kB, 3));
  EXPECT_EQ(board_.centre(0).Give(&there, 1), 1u);
  Run();
  EXPECT_EQ(cable.out.size(), 1u);
  EXPECT_EQ(centre_of_a.out.size(), 2u);
  b.tap(2).Set(nullptr);
  EXPECT_EQ(Receive().size(), 3u);
}

TEST_F(RouterTest, DepthsOfQueuesAreShownByClass) {
  Announce({.mesh = 1, .device = 0, .port = 3, .specification = 5});
  outer_.room = 0;
  for (int i = 0; i < 24; ++i) {
    Frame* const frame = Make(BytesOf(kB, kFar));
    EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  }
  Run(20);
  const RouterPortReport& report = b().report(1);
  EXPECT_EQ(report.queue(0).frames, 24u) << "with those that the device has not taken";
  EXPECT_EQ(report.queue(0).bytes, 24u * 2048);
  EXPECT_GE(report.queued(), 24u);
  EXPECT_EQ(report.queue(3).frames, 0u);
}

class LosslessRouterTest : public RouterTest {
 protected:
  LosslessRouterTest() : RouterTest(true) {}
};

TEST_F(LosslessRouterTest, InjectionWaitsForRoomAndNothingIsDropped) {
  Run(400);  // the ends of the cable agree
  uint32_t sent = 0;
  uint32_t refused = 0;
  uint32_t received = 0;
  for (uint32_t round = 0; round < 400; ++round) {
    Frame* const frame = Make(BytesOf(kA, kB, static_cast<uint8_t>(round)));
    board_.centre(0).SetNow(now_);
    // The destination's centre is not read at first.
    board_.centre(0).Transmit(&frame, 1) == 1 ? ++sent : ++refused;
    pool_.Release(&frame, 1);
    if (round % 8 == 0) Run(1);
  }
  EXPECT_GT(refused, 0u);
  for (uint32_t round = 0; round < 400; ++round) {
    Run(1);
    received += static_cast<uint32_t>(Receive().size());
  }
  EXPECT_EQ(received, sent);
}

TEST_F(LosslessRouterTest, IdleRoutersHoldFewFramesAndAreNotPolled) {
  Run(400);
  const uint32_t ends = 3;  // of links
  EXPECT_EQ(pool_.free(), 4096 - 4 * ends - outer_.sent.size());
  // The links of the cable inside speak at their times; a device has no bell.
  EXPECT_GT(board_.router(0).due(), now_ + kStep);
  EXPECT_EQ(b().due(), now_);
}

TEST_F(LosslessRouterTest, ABrokenCableLosesFramesAndCarriesThemOnceMended) {
  Run(400);
  cable_->SetUp(false);
  Run(20);
  EXPECT_FALSE(board_.router(0).report(0).up());
  EXPECT_FALSE(b().report(0).up());
  for (uint32_t i = 0; i < 20; ++i) {
    Frame* const frame = Make(BytesOf(kA, kB));
    EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
    Run(1);
  }
  Run(2000);
  EXPECT_TRUE(Receive().empty());
  cable_->SetUp(true);
  Run(400);  // the session ends for silence, and the next one begins
  EXPECT_TRUE(b().report(0).routes());
  for (uint8_t i = 0; i < 20; ++i) {
    Frame* const frame = Make(BytesOf(kA, kB, i));
    EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
    Run(4);
    EXPECT_EQ(Receive(), (Bytes{BytesOf(kA, kB, i)}));
  }
}

// The session outlives the outage: updates repair the credit of lost frames.
TEST_F(LosslessRouterTest, CreditOfFramesThatABriefOutageLosesComesBack) {
  Run(400);
  const uint64_t sessions = b().fabric().port(0).link()->sessions();
  for (uint32_t outage = 0; outage < 8; ++outage) {
    cable_->SetUp(false);
    for (uint32_t i = 0; i < 20; ++i) {
      Frame* const frame = Make(BytesOf(kA, kB));
      EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
      Run(1);
    }
    cable_->SetUp(true);
    Run(40);
    Receive();
  }
  EXPECT_EQ(b().fabric().port(0).link()->sessions(), sessions);
  for (uint8_t i = 0; i < 20; ++i) {
    Frame* const frame = Make(BytesOf(kA, kB, i));
    EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
    Run(4);
    EXPECT_EQ(Receive(), (Bytes{BytesOf(kA, kB, i)}));
  }
}

TEST_F(RouterTest, NoFrameGoesOverACableBeforeItsEndIsKnown) {
  Frame* const frame = Make(BytesOf(kA, kFar));
  EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  Run();
  for (Frame* const sent : outer_.sent) {
    EXPECT_TRUE(DecodeLinkHello(sent->data, sent->length).has_value());
  }
  EXPECT_FALSE(b().report(1).routes());
  EXPECT_FALSE(b().report(1).neighbour().has_value());
  EXPECT_EQ(b().fabric().port(1).counters(0).Get(SwitchClassCounter::kRefusedDrop), 1u);
}

TEST_F(RouterTest, FramesGoOverAVerifiedCable) {
  Announce({.mesh = 1, .device = 0, .port = 3, .specification = 5});
  EXPECT_TRUE(b().report(1).routes());
  EXPECT_EQ(b().report(1).neighbour()->at, (mesh::DevicePort{.device = kFar, .port = 3}));
  outer_.sent.clear();
  Frame* const frame = Make(BytesOf(kA, kFar));
  EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  Run(2);
  ASSERT_FALSE(outer_.sent.empty());
  // One transit device: the hop count is one less.
  EXPECT_EQ(outer_.sent.back()->data[1], 8);
}

TEST_F(RouterTest, NoFrameGoesOverAWrongCable) {
  Announce({.mesh = 1, .device = 2, .port = 3, .specification = 5});
  EXPECT_FALSE(b().report(1).routes());
  EXPECT_EQ(NameOf(b().report(1).neighbour()->at), "M1D2P3");
  // A frame that arrives there is dropped, too.
  outer_.arrived.push_back(Make(BytesOf(kFar, kA)));
  Run();
  EXPECT_TRUE(Receive().empty());
  EXPECT_EQ(b().fabric().port(1).counters().Get(SwitchPortCounter::kRxRefused), 1u);
}

TEST_F(RouterTest, AnotherSpecificationIsRefused) {
  Announce({.mesh = 1, .device = 0, .port = 3, .specification = 6});
  EXPECT_FALSE(b().report(1).routes());
}

TEST_F(RouterTest, ACableIsVerifiedAgainAfterItsLinkWasDown) {
  Announce({.mesh = 1, .device = 0, .port = 3, .specification = 5});
  EXPECT_TRUE(b().report(1).routes());
  outer_.up = false;
  Run(20);
  EXPECT_FALSE(b().report(1).up());
  EXPECT_FALSE(b().report(1).neighbour().has_value());
  outer_.up = true;
  ++nonce_;   // another device is plugged in
  Run(2000);  // the former session ends
  far_ = {};
  Announce({.mesh = 1, .device = 2, .port = 3, .specification = 5});
  EXPECT_FALSE(b().report(1).routes());
}

// Frames for a cable without a link end, and block no others.
TEST_F(RouterTest, FramesForACableWithoutALinkEnd) {
  Announce({.mesh = 1, .device = 0, .port = 3, .specification = 5});
  outer_.sent.clear();
  outer_.room = 0;  // the device takes nothing
  for (uint32_t i = 0; i < 20; ++i) {
    Frame* const frame = Make(BytesOf(kA, kFar));
    EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  }
  Run(2);
  outer_.up = false;
  Run(20);
  EXPECT_EQ(b().report(1).queued(), 0u);
  Frame* const frame = Make(BytesOf(kA, kB));
  EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  Run();
  EXPECT_EQ(Receive().size(), 1u);
}

// Tables of another epoch take effect while frames pass; sets that are replaced before the lcore
// has seen them are skipped.
TEST_F(RouterTest, TablesAreReplacedByTheControlThread) {
  Router& a = board_.router(0);
  for (uint32_t epoch = 1; epoch < 4; ++epoch) {
    mesh::RoutingTable table{.own = kA, .epoch = epoch};
    if (epoch == 1) table.to_devices.Set(1, mesh::PortId(2u));
    a.Offer({table});
    if (epoch == 2) continue;
    Run(20);
    EXPECT_EQ(a.epoch(), epoch);
    Frame* const frame = Make(BytesOf(kA, kB));
    EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
    Run();
    EXPECT_EQ(Receive().size(), epoch == 1 ? 1u : 0u);
  }
  EXPECT_EQ(a.fabric().port(1).counters().Get(SwitchPortCounter::kRxNoRoute), 1u);
}

TEST_F(RouterTest, DropsOfALoopAreReported) {
  // B sends frames for the far mesh back to A.
  mesh::RoutingTable table{.own = kB};
  table.to_devices.Set(0, mesh::PortId(4u));
  table.to_meshes.Set(1, mesh::PortId(4u));
  board_.router(1).fabric().SetRoutes(PlaneIndex(0u), table);
  Frame* const frame = Make(BytesOf(kA, kFar));
  EXPECT_EQ(board_.centre(0).Give(&frame, 1), 1u);
  Run(40);
  // A sends it to B, which may not send it back by the cable by which it came.
  EXPECT_EQ(b().fabric().port(0).counters().Get(SwitchPortCounter::kRxHairpin), 1u);
}

}  // namespace
}  // namespace suede
