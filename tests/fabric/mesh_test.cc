// SPDX-License-Identifier: Apache-2.0
// Forwarding by the routing tables of a mesh's device (docs/mesh.md): planes, hop counts, levels
// and refused cables.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fabric_fixture.h"
#include "mesh/address.h"

namespace suede::fabric {
namespace {

constexpr uint32_t kLevelCredits = 40;  // of each link VC

// Ports of the switch: the centres of planes 0 and 1, then cables.
constexpr uint32_t kCentre0 = 0;
constexpr uint32_t kCentre1 = 1;
constexpr uint32_t kEast = 2;   // P2, plane 0
constexpr uint32_t kWest = 3;   // P4, plane 0
constexpr uint32_t kExit = 4;   // P7, plane 0, to another mesh
constexpr uint32_t kEast1 = 5;  // P3, plane 1

SwitchParams MeshSwitch(bool levels = false) {
  SwitchParams params = ParamsOf(6, Forwarding::kMesh);
  params.levels = levels ? kLevelsOfClass : 0;
  for (const uint32_t centre : {kCentre0, kCentre1}) {
    params.ports[centre].centre = true;
    params.ports[centre].level = LevelRule::kFirst;
  }
  params.ports[kExit].level = LevelRule::kNext;
  params.ports[kCentre1].plane = params.ports[kEast1].plane = 1;
  params.mesh.port_of[2] = kEast;
  params.mesh.port_of[4] = kWest;
  params.mesh.port_of[7] = kExit;
  params.mesh.port_of[3] = kEast1;
  params.mesh.centre_of[0] = kCentre0;
  params.mesh.centre_of[1] = kCentre1;
  return params;
}

uint32_t AddressOf(uint32_t plane, uint32_t mesh, uint32_t device) {
  return *mesh::Encode({.device = {.mesh = mesh::MeshId(mesh), .device = mesh::DeviceId(device)},
                        .instance = InstanceIndex(5u),
                        .plane = PlaneIndex(plane)});
}

// Tables of M1D3: D4 is to the east, D2 to the west, and M0 behind the exit.
mesh::RoutingTable TableOf(uint32_t plane) {
  mesh::RoutingTable table{.own = {.mesh = 1, .device = 3}, .plane = PlaneIndex(plane)};
  table.to_devices.Set(4, mesh::PortId(uint32_t{plane == 0 ? 2u : 3u}));
  if (plane == 1) return table;
  table.to_devices.Set(2, 4);
  table.to_devices.Set(9, 15);  // a port without a cable
  table.to_meshes.Set(0, 7);
  return table;
}

struct MeshFabric : Fabric {
  explicit MeshFabric(const SwitchParams& params = MeshSwitch()) : Fabric(params) {
    for (const uint32_t plane : {0, 1}) the_switch.SetRoutes(PlaneIndex(plane), TableOf(plane));
  }
  void Send(uint32_t port, uint32_t address, Time now = At(0), uint8_t dscp = 0) {
    In(port, SueFrame{.encap = Encap::kAfh2, .to = address, .traffic_class = {.dscp = dscp}}, now);
  }
  // The port by which a frame to the address leaves; kNoPort: it is dropped.
  uint32_t OutputOf(uint32_t port, uint32_t address) {
    Send(port, address);
    uint32_t output = kNoPort;
    for (uint32_t out = 0; out < the_switch.params().ports.size(); ++out) {
      if (!Out(out, At(0)).empty()) output = out;
    }
    return output;
  }
};

TEST(Mesh, TheTableOfAPlaneLeadsToAPort) {
  MeshFabric fabric;
  EXPECT_EQ(fabric.OutputOf(kWest, AddressOf(0, 1, 3)), kCentre0) << "its own";
  EXPECT_EQ(fabric.OutputOf(kWest, AddressOf(0, 1, 4)), kEast);
  EXPECT_EQ(fabric.OutputOf(kEast, AddressOf(0, 1, 2)), kWest);
  EXPECT_EQ(fabric.OutputOf(kEast, AddressOf(0, 0, 900)), kExit);
  EXPECT_EQ(fabric.OutputOf(kCentre0, AddressOf(0, 1, 2)), kWest);
  EXPECT_EQ(fabric.OutputOf(kCentre1, AddressOf(1, 1, 4)), kEast1);
  EXPECT_EQ(fabric.OutputOf(kEast1, AddressOf(1, 1, 3)), kCentre1);
  EXPECT_EQ(fabric.the_switch.table().size(), 0u) << "nothing is learnt";
}

TEST(Mesh, TablesAreReplaced) {
  MeshFabric fabric;
  mesh::RoutingTable table = TableOf(0);
  table.to_devices.Set(2, 7);
  fabric.the_switch.SetRoutes(PlaneIndex(0), table);
  EXPECT_EQ(fabric.OutputOf(kEast, AddressOf(0, 1, 2)), kExit);
  EXPECT_EQ(fabric.OutputOf(kCentre1, AddressOf(1, 1, 4)), kEast1) << "of another plane";
}

TEST(Mesh, FramesWithoutARouteAreDropped) {
  MeshFabric fabric;
  uint64_t drops = 0;
  for (const uint32_t address : {AddressOf(0, 1, 5), AddressOf(0, 2, 4), AddressOf(0, 1, 9),
                                 AddressOf(0, 1, 4) | 1u << 28}) {
    EXPECT_EQ(fabric.OutputOf(kWest, address), kNoPort) << std::hex << address;
    EXPECT_EQ(fabric.Count(kWest, SwitchPortCounter::kRxNoRoute), ++drops);
  }
  Fabric without_tables(MeshSwitch());
  without_tables.In(kWest, SueFrame{.encap = Encap::kAfh2, .to = AddressOf(0, 0, 0)}, At(0));
  EXPECT_EQ(without_tables.Count(kWest, SwitchPortCounter::kRxNoRoute), 1u);
}

TEST(Mesh, AFrameStaysOnItsPlane) {
  MeshFabric fabric;
  for (const uint32_t port : {kWest, kCentre0}) {
    EXPECT_EQ(fabric.OutputOf(port, AddressOf(1, 1, 4)), kNoPort);
    EXPECT_EQ(fabric.Count(port, SwitchPortCounter::kRxPlane), 1u);
  }
  EXPECT_EQ(fabric.OutputOf(kEast1, AddressOf(0, 1, 2)), kNoPort);
  EXPECT_EQ(fabric.Count(kEast1, SwitchPortCounter::kRxPlane), 1u);
}

TEST(Mesh, NoFrameGoesBack) {
  MeshFabric fabric;
  EXPECT_EQ(fabric.OutputOf(kEast, AddressOf(0, 1, 4)), kNoPort);
  EXPECT_EQ(fabric.Count(kEast, SwitchPortCounter::kRxHairpin), 1u);
}

// The compressed form has no room for the address; groups are reserved.
TEST(Mesh, OtherFormsAreForeign) {
  MeshFabric fabric;
  std::vector<uint8_t> group = BytesOf({.encap = Encap::kAfh2, .to = AddressOf(0, 1, 4)});
  group[0] |= 1;
  fabric.In(kWest, group, At(0));
  fabric.In(kWest, SueFrame{.encap = Encap::kAfh2c, .to = 3}, At(0));
  fabric.In(kWest, SueFrame{.encap = Encap::kUdp4, .to = 3}, At(0));
  EXPECT_EQ(fabric.Count(kWest, SwitchPortCounter::kRxForeign), 3u);
  fabric.In(kWest, {1, 0x80, 0xc2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x88, 8}, At(0));
  EXPECT_EQ(fabric.Count(kWest, SwitchPortCounter::kRxLinkLocal), 1u);
  fabric.In(kWest, {2, 0, 0}, At(0));
  EXPECT_EQ(fabric.Count(kWest, SwitchPortCounter::kRxRunt), 1u);
}

TEST(Mesh, SourceAndDestinationUseNoHop) {
  MeshFabric fabric;
  const auto hops = [&](uint32_t in, uint32_t out, uint32_t device, uint8_t hop_limit) {
    fabric.In(
        in, SueFrame{.encap = Encap::kAfh2, .to = AddressOf(0, 1, device), .hop_limit = hop_limit},
        At(0));
    const auto frames = fabric.Out(out, At(0));
    return frames.empty() ? -1 : int{frames[0][kAfh2HopCount]};
  };
  EXPECT_EQ(hops(kCentre0, kWest, 2, 9), 9);
  EXPECT_EQ(hops(kCentre0, kWest, 2, 1), 1);
  EXPECT_EQ(hops(kWest, kCentre0, 3, 1), 1);
  EXPECT_EQ(hops(kEast, kWest, 2, 2), 1);
  EXPECT_EQ(hops(kEast, kWest, 2, 1), -1);
  EXPECT_EQ(hops(kEast, kWest, 2, 0), -1);
  EXPECT_EQ(fabric.Count(kEast, SwitchPortCounter::kRxHopLimit), 2u);
  EXPECT_EQ(fabric.the_switch.port(kEast).without_hops().destination, AddressOf(0, 1, 2));
}

// Devices of a grid of four columns, which count from 1, with a loop in their tables: 1, 5, 6, 7,
// 11, 10, 9, 5 and so on.
TEST(Mesh, ALoopEndsByTheHopCount) {
  constexpr uint32_t kDestination = 16;
  const std::map<uint32_t, uint32_t> ports = {{1, 1},  {5, 2},  {6, 2}, {7, 1},
                                              {11, 4}, {10, 4}, {9, 3}};
  std::map<uint32_t, std::unique_ptr<Fabric>> devices;
  for (const auto& [device, port] : ports) {
    SwitchParams params = ParamsOf(5, Forwarding::kMesh);
    params.ports[0].centre = true;
    params.mesh.centre_of[0] = 0;
    for (uint16_t p = 1; p < 5; ++p) params.mesh.port_of[p] = p;
    mesh::RoutingTable table{.own = {.device = mesh::DeviceId(device - 1)}};
    table.to_devices.Set(kDestination - 1, mesh::PortId(uint32_t{port}));
    devices[device] = std::make_unique<Fabric>(params);
    devices[device]->the_switch.SetRoutes(PlaneIndex(0), table);
  }
  const int to_next[] = {0, 4, 1, -4, -1};  // by port: south, east, north, west
  const uint32_t far_port[] = {0, 3, 4, 1, 2};
  std::vector<uint8_t> frame =
      BytesOf({.encap = Encap::kAfh2, .from = 0, .to = kDestination - 1, .hop_limit = 10});
  std::string walk;
  uint32_t at = 1;
  for (uint32_t in = 0; at != 0;) {
    devices.at(at)->In(in, frame, At(0));
    const auto frames = devices.at(at)->Out(ports.at(at), At(0));
    if (frames.empty()) break;
    frame = frames[0];
    walk += std::to_string(at) + ":" + std::to_string(frame[kAfh2HopCount]) + " ";
    in = far_port[ports.at(at)];
    at += to_next[ports.at(at)];
  }
  EXPECT_EQ(walk, "1:10 5:9 6:8 7:7 11:6 10:5 9:4 5:3 6:2 7:1 ");
  EXPECT_EQ(at, 11u);
  EXPECT_EQ(devices.at(11)->Count(3, SwitchPortCounter::kRxHopLimit), 1u);
}

// ---- Levels.

uint8_t DscpOf(uint32_t traffic_class, uint32_t level) {
  return static_cast<uint8_t>(traffic_class << 3 | level << 1);
}

struct LevelFabric : MeshFabric {
  explicit LevelFabric(const SwitchParams& params = MeshSwitch(true)) : MeshFabric(params) {}
  // The DSCP of the frame that leaves, in the only queue with a frame.
  uint8_t LeavesWith(uint32_t out, uint32_t queue) {
    EXPECT_EQ(the_switch.port(out).output().waiting(), QueueMask{1} << queue);
    const auto frames = Out(out, At(0));
    EXPECT_EQ(frames.size(), 1u);
    return frames.empty() ? uint8_t{0xff} : static_cast<uint8_t>(frames[0][kAfh2Ds] >> 2);
  }
};

TEST(MeshLevels, EachCableToAnotherMeshIsTheNextLevel) {
  LevelFabric fabric;
  for (uint32_t level = 0; level < 4; ++level) {
    const uint32_t next = std::min(level + 1, 3u);
    fabric.Send(kExit, AddressOf(0, 1, 4), At(0), DscpOf(5, level));
    EXPECT_EQ(fabric.LeavesWith(kEast, 5 * 4 + next), DscpOf(5, next));
    fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(5, level));
    EXPECT_EQ(fabric.LeavesWith(kEast, 5 * 4 + level), DscpOf(5, level)) << "inside the mesh";
    fabric.Send(kWest, AddressOf(0, 0, 4), At(0), DscpOf(5, level));
    EXPECT_EQ(fabric.LeavesWith(kExit, 5 * 4 + level), DscpOf(5, level)) << "until it has arrived";
  }
}

TEST(MeshLevels, TheDeviceItselfHasLevel0) {
  LevelFabric fabric;
  for (uint32_t level = 0; level < 4; ++level) {
    fabric.Send(kCentre0, AddressOf(0, 1, 4), At(0), DscpOf(3, level));
    EXPECT_EQ(fabric.LeavesWith(kEast, 3 * 4), DscpOf(3, 0));
    for (const uint32_t port : {kWest, kExit}) {
      fabric.Send(port, AddressOf(0, 1, 3), At(0), DscpOf(3, level));
      EXPECT_EQ(fabric.LeavesWith(kCentre0, 3 * 4), DscpOf(3, 0));
    }
  }
}

// PDUs of class 0 are queued by their VC, and acknowledgements as of class 6.
TEST(MeshLevels, TheQueueIsTheLinkVc) {
  LevelFabric fabric;
  for (uint8_t vc = 0; vc < 4; ++vc) {
    const SueFrame pdu{.encap = Encap::kAfh2,
                       .to = AddressOf(0, 1, 4),
                       .traffic_class = {.dscp = DscpOf(0, 1)},
                       .vc = vc};
    fabric.In(kExit, pdu, At(0));
    EXPECT_EQ(fabric.LeavesWith(kEast, vc * 4 + 2u), DscpOf(0, 2));
    EXPECT_EQ(fabric.Count(kEast, vc, SwitchClassCounter::kFrames), 1u);
  }
  fabric.In(kWest, SueFrame{.encap = Encap::kAfh2, .to = AddressOf(0, 1, 4), .bytes = 0}, At(0));
  EXPECT_EQ(fabric.LeavesWith(kEast, 6 * 4), DscpOf(0, 0));
}

// Levels have the parameters of their class; the later level of a strict class goes first.
TEST(MeshLevels, ALevelIsScheduledAsItsClass) {
  SwitchParams params = MeshSwitch(true);
  params.of_class[2].strict = true;
  LevelFabric fabric(params);
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(7, 3));
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(2, 0));
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(2, 1));
  std::vector<uint8_t> order;
  for (const auto& frame : fabric.Out(kEast, At(0))) order.push_back(frame[kAfh2Ds] >> 2);
  EXPECT_EQ(order, (std::vector<uint8_t>{DscpOf(2, 1), DscpOf(2, 0), DscpOf(7, 3)}));
}

TEST(MeshLevels, OtherSwitchesKeepEightQueues) {
  MeshFabric fabric(MeshSwitch(false));
  fabric.Send(kExit, AddressOf(0, 1, 4), At(0), DscpOf(5, 1));
  EXPECT_EQ(fabric.the_switch.port(kEast).output().waiting(), 1u << 5);
  EXPECT_EQ(fabric.Out(kEast, At(0))[0][kAfh2Ds] >> 2, DscpOf(5, 1)) << "the DSCP is not touched";
  EXPECT_EQ(GrantOf(MeshSwitch(false)).controlled(), 0u);
}

// ---- Levels and credit.

SwitchParams LevelCreditSwitch() {
  SwitchParams params = MeshSwitch(true);
  params.cbfc.largest_octets = 1600;
  for (ClassParams& own : params.of_class) {
    own.credits = kLevelCredits;
    own.reserved_bytes = 512;
  }
  for (const uint32_t port : {kEast, kWest, kExit}) params.ports[port].cbfc = true;
  return params;
}

TEST(MeshLevels, EachLevelHasCreditOfItsOwn) {
  const SwitchParams params = LevelCreditSwitch();
  const CreditGrant grant = GrantOf(params);
  EXPECT_EQ(grant.controlled(), ~LinkVcMask{0});
  for (const uint32_t limit : grant.limits) EXPECT_EQ(limit, kLevelCredits);
  EXPECT_EQ(LinkOf(params, kEast).credit.credits, grant.limits);
  EXPECT_EQ(CreditBytes(params, 31), kLevelCredits * params.cell_bytes);
  EXPECT_EQ(SharedBuffer::SharedBytes(params),
            int64_t{params.buffer_bytes} - 6 * 32 * 512 - 3 * 32 * kLevelCredits * 256);
}

TEST(MeshLevels, CreditIsOfTheLinkVcWithWhichTheFrameCame) {
  LevelFabric fabric(LevelCreditSwitch());
  CreditReceiver& receiver = fabric.the_switch.port(kExit).credit()->receiver();
  receiver.Start();
  receiver.OnConsumed({.serial = 1, .vcs = ~LinkVcMask{0}, .starts = ~LinkVcMask{0}}, At(0));
  receiver.Poll(At(0));
  fabric.Send(kExit, AddressOf(0, 1, 4), At(0), DscpOf(5, 1));
  fabric.Send(kExit, AddressOf(0, 1, 3), At(0), DscpOf(5, 2));
  EXPECT_EQ(receiver.held(5 * 4 + 1), 1u);
  EXPECT_EQ(receiver.held(5 * 4 + 2), 1u);
  EXPECT_EQ(fabric.the_switch.buffer().credited(kExit, 5 * 4 + 1), 256u);
  EXPECT_EQ(fabric.the_switch.buffer().queued(kEast, 5 * 4 + 2), 256u);
  fabric.the_switch.CheckInvariants();
  EXPECT_FALSE(fabric.Out(kEast, At(1)).empty());
  EXPECT_EQ(receiver.held(5 * 4 + 1), 0u);
  EXPECT_EQ(receiver.held(5 * 4 + 2), 1u);
  EXPECT_EQ(fabric.Out(kCentre0, At(1)).size(), 1u);
  const auto update = receiver.Poll(At(10));
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->vcs, 0b110u << 20);
  // A frame that is dropped frees its credit, too.
  fabric.Send(kExit, AddressOf(0, 1, 5), At(11), DscpOf(7, 3));
  EXPECT_EQ(receiver.unannounced(31), 1u);
}

TEST(MeshLevels, ALevelWithoutCreditHoldsNoOtherUp) {
  LevelFabric fabric(LevelCreditSwitch());
  CreditSender& sender = fabric.the_switch.port(kEast).credit()->sender();
  CreditGrant grant;
  grant.limits.fill(20);
  sender.Start(grant, At(0));
  sender.OnFreed({.serial = 1, .vcs = ~(LinkVcMask{1} << 21)});
  fabric.Send(kExit, AddressOf(0, 1, 4), At(0), DscpOf(5, 0));  // leaves as of level 1
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(5, 0));
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(5, 2));
  const auto data = [&](Time now) {
    std::vector<uint8_t> left;
    for (const auto& frame : fabric.Out(kEast, now)) {
      if (!IsToNeighbour(frame.data())) left.push_back(frame[kAfh2Ds] >> 2);
    }
    return left;
  };
  EXPECT_EQ(data(At(1)), (std::vector<uint8_t>{DscpOf(5, 0), DscpOf(5, 2)}));
  EXPECT_EQ(fabric.the_switch.port(kEast).output().without_credit(), QueueMask{1} << 21);
  EXPECT_EQ(sender.used(20) + sender.used(22), 2u);
  sender.OnFreed({.serial = 2, .vcs = LinkVcMask{1} << 21});
  EXPECT_EQ(data(At(2)), (std::vector<uint8_t>{DscpOf(5, 1)}));
  EXPECT_EQ(sender.used(21), 1u);
}

// Two devices whose cable has credit: both ends count each frame under the same link VC.
TEST(MeshLevels, NeighboursCountTheSameLinkVcs) {
  SwitchParams params = LevelCreditSwitch();
  LevelFabric west(params);
  params.ports[kWest].link.secret[0] = 1;
  LevelFabric east(params);
  const auto exchange = [&](Time now) {
    for (const auto& frame : west.Out(kEast, now)) east.In(kWest, frame, now);
    for (const auto& frame : east.Out(kWest, now)) west.In(kEast, frame, now);
  };
  for (int i = 0; i < 20; ++i) exchange(At(i * 1000));
  CreditEnd& sends = *west.the_switch.port(kEast).credit();
  const CreditEnd& receives = *east.the_switch.port(kWest).credit();
  ASSERT_TRUE(sends.is_on() && receives.is_on());
  EXPECT_EQ(sends.sender().controlled(), ~LinkVcMask{0});
  for (uint32_t dscp = 0; dscp < 64; ++dscp) {
    west.Send(kExit, AddressOf(0, 1, 4), At(20000 + dscp), static_cast<uint8_t>(dscp));
    exchange(At(20000 + dscp));
  }
  for (int i = 0; i < 20; ++i) exchange(At(21000 + i));
  // The frames wait at the other device, which is D3, too, and sends them on to D4.
  uint32_t used = 0;
  for (uint32_t vc = 0; vc < 32; ++vc) {
    EXPECT_EQ(sends.sender().used(vc), receives.receiver().held(vc)) << vc;
    EXPECT_EQ(sends.sender().consumed(vc), receives.receiver().counted(vc)) << vc;
    used += sends.sender().used(vc);
  }
  EXPECT_EQ(used, 64u);
  for (LevelFabric* fabric : {&west, &east}) fabric->the_switch.ShowCredit();
  const ShownCredit shown = west.the_switch.port(kEast).link()->counters().credit(7);
  EXPECT_EQ(shown.limit, 4 * kLevelCredits) << "of all levels";
  EXPECT_EQ(shown.limit - shown.free, 8u);
  EXPECT_EQ(east.the_switch.port(kWest).link()->counters().credit(7).held, 8u);
  EXPECT_EQ(sends.sender().used(31), 4u) << "DSCPs of levels 2 and 3";
  for (const auto& frame : east.Out(kEast, At(22000))) (void)frame;
  for (int i = 0; i < 20; ++i) exchange(At(22000 + i));
  for (uint32_t vc = 0; vc < 32; ++vc) EXPECT_EQ(sends.sender().used(vc), 0u) << vc;
  EXPECT_EQ(east.the_switch.port(kWest).link()->counters().Get(LinkCounter::kCreditExceeded), 0u);
}

// ---- Refused cables.

TEST(MeshRefusal, ARefusedCableCarriesOnlyLinkFrames) {
  SwitchParams params = LevelCreditSwitch();
  LevelFabric fabric(params);
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(4, 0));
  fabric.the_switch.SetRefused(kEast, true);
  EXPECT_TRUE(fabric.the_switch.port(kEast).is_refused());
  EXPECT_EQ(fabric.Count(kEast, 4, SwitchClassCounter::kRefusedDrop), 1u) << "it waited";
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(4, 0));
  fabric.Send(kWest, AddressOf(0, 1, 4), At(0), DscpOf(7, 0));
  EXPECT_EQ(fabric.Count(kEast, 4, SwitchClassCounter::kRefusedDrop), 2u);
  EXPECT_EQ(fabric.Count(kEast, 7, SwitchClassCounter::kRefusedDrop), 1u);
  for (const uint32_t device : {2, 3, 5}) fabric.Send(kEast, AddressOf(0, 1, device));
  EXPECT_EQ(fabric.Count(kEast, SwitchPortCounter::kRxRefused), 3u);
  EXPECT_EQ(fabric.Count(kEast, SwitchPortCounter::kRxNoRoute), 0u);
  // The session with the neighbour is agreed all the same.
  params.ports[kWest].link.secret[0] = 1;
  LevelFabric other(params);
  for (int i = 1; i < 20; ++i) {
    for (const auto& frame : fabric.Out(kEast, At(i * 1000))) {
      EXPECT_TRUE(IsToNeighbour(frame.data()));
      other.In(kWest, frame, At(i * 1000));
    }
    for (const auto& frame : other.Out(kWest, At(i * 1000))) fabric.In(kEast, frame, At(i * 1000));
  }
  EXPECT_TRUE(fabric.the_switch.port(kEast).credit()->is_on());
  EXPECT_EQ(fabric.Count(kEast, SwitchPortCounter::kRxRefused), 3u);
  fabric.the_switch.SetRefused(kEast, false);
  fabric.Send(kWest, AddressOf(0, 1, 4), At(20000), DscpOf(4, 0));
  fabric.Send(kEast, AddressOf(0, 1, 2), At(20000), DscpOf(4, 0));
  for (const uint32_t port : {kEast, kWest}) {
    EXPECT_EQ(fabric.the_switch.port(port).output().waiting(), QueueMask{1} << 16);
  }
}

}  // namespace
}  // namespace suede::fabric
