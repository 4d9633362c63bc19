// SPDX-License-Identifier: Apache-2.0
// The parameters of pipelines and ports: planes, peers, weights, pools.
#include "endpoint/pipeline_params.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "link/handover.h"

namespace suede {
namespace {

const MachineFacts kMachine{.cpu_count = 4};

// XPU 0 has four planes, XPU 1 two of their ports in another order, XPU 2 a port of its own.
constexpr char kConfig[] =
    "version: 1\n"
    "name: left\n"
    "lcores: [{cpu: 1}, {cpu: 2}]\n"
    "ports:\n"
    "  - {name: p0, device: '0000:00:00.0', encapsulation: afh1}\n"
    "  - {name: p1, device: '0000:00:01.0', encapsulation: udp4, bandwidth_gbps: 50}\n"
    "  - {name: p2, device: '0000:00:02.0', encapsulation: afh1s}\n"
    "  - {name: p3, device: '0000:00:03.0', encapsulation: udp4, tap: t3}\n"
    "  - {name: p4, device: net_null4, encapsulation: afh1}\n"
    "instances:\n"
    "  - xpu: 0\n"
    "    lcore: 1\n"
    "    ordering: unordered\n"
    "    ports: [{port: p0}, {port: p1, ip: 198.18.1.1}, {port: p2}, {port: p3, ip: 198.18.3.1}]\n"
    "  - {xpu: 1, lcore: 1, ports: [{port: p2}, {port: p0}]}\n"
    "  - {xpu: 2, lcore: 2, ports: [{port: p4}]}\n"
    "peers:\n"
    "  - {xpu: 8, ports: [{port: p0}, {port: p1, ip: 198.18.1.8, mac: 02:00:00:00:01:08},\n"
    "                     {port: p2}, {port: p3, ip: 198.18.3.8}]}\n"
    "  - {xpu: 9, ports: [{port: p2}]}\n"
    "  - {xpu: 0, ports: [{port: p0}, {port: p2, forwarding_address: 0x0700}]}\n"
    "  - {xpu: 10, ports: [{port: p4}]}\n"
    "planes: {hello_interval_us: 2000, hello_multiplier: 5, hello_idle_us: 30000,\n"
    "         hold_down_us: 4000, hold_down_max_us: 50000, unreachable_us: 60000}\n"
    "transport: {inflight_pdus: 3000, pause_limit_us: 77000}\n"
    "clients: {aggregate_lines: 500, max_queues: 2, unclaimed_pdus: 7}\n";

Config Parsed() {
  auto config = ParseConfig(kConfig, "test.yaml", kMachine);
  EXPECT_TRUE(config.ok()) << config.status();
  return *std::move(config);
}

TEST(PipelineParamsTest, EachPortIsAPlane) {
  const Config config = Parsed();
  const InstanceParams params = InstanceParamsOf(config, config.instances[0]);
  ASSERT_EQ(params.planes.size(), 4u);
  EXPECT_EQ(params.planes[1].address, (NetAddress{.low = 0xc6120101}));
  EXPECT_EQ(params.planes[3].address, (NetAddress{.low = 0xc6120301}));
  EXPECT_EQ(params.paths.ordering, Ordering::kUnordered);
  EXPECT_EQ(InstanceParamsOf(config, config.instances[1]).paths.ordering, Ordering::kStrict);
}

TEST(PipelineParamsTest, PlanesHaveTheConfiguredTimes) {
  using std::chrono::microseconds;
  const Config config = Parsed();
  const PathParams of_instance = InstanceParamsOf(config, config.instances[0]).paths;
  for (const PathParams& paths : {of_instance, SettingsOf(config).paths}) {
    EXPECT_EQ(paths.hello_interval, microseconds(2000));
    EXPECT_EQ(paths.hello_multiplier, 5u);
    EXPECT_EQ(paths.hello_idle, microseconds(30000));
    EXPECT_EQ(paths.hold_down, microseconds(4000));
    EXPECT_EQ(paths.hold_down_max, microseconds(50000));
    EXPECT_EQ(paths.unreachable, microseconds(60000));
  }
  for (const TransportParams& transport :
       {InstanceParamsOf(config, config.instances[0]).transport, SettingsOf(config).transport}) {
    EXPECT_EQ(transport.pause_limit, microseconds(77000));
  }
}

// A source that waits is silent for up to repeat_max: its credit is not written off meanwhile.
TEST(PipelineParamsTest, CreditOutlastsTheRepetitionsOfASource) {
  using std::chrono::milliseconds;
  Config config = Parsed();
  EXPECT_EQ(InstanceParamsOf(config, config.instances[0]).target.age, milliseconds(20));
  config.congestion.repeat_max = milliseconds(1000);
  EXPECT_EQ(InstanceParamsOf(config, config.instances[0]).target.age, milliseconds(16'000));
}

TEST(PipelineParamsTest, PeersAreReachedByThePlanesThatLeadThere) {
  const Config config = Parsed();
  const InstanceParams params = InstanceParamsOf(config, config.instances[0]);
  ASSERT_EQ(params.peers.size(), 3u);
  const auto planes_to = [&](size_t peer) {
    std::string text;
    for (const PeerPlane& plane : params.peers[peer].planes) text += plane.present ? "x" : "-";
    return text;
  };
  EXPECT_EQ(params.peers[0].xpuid, 8);
  EXPECT_EQ(planes_to(0), "xxxx");
  EXPECT_EQ(params.peers[0].planes[1].mac, (MacAddress{2, 0, 0, 0, 1, 8}));
  EXPECT_FALSE(params.peers[0].planes[1].resolving);
  EXPECT_TRUE(params.peers[0].planes[3].resolving) << "learnt through the TAP device";
  EXPECT_EQ(params.peers[1].xpuid, 9);
  EXPECT_EQ(planes_to(1), "--x-");
  // The instance's own address on plane 0 leads nowhere; another address of its XPU does.
  EXPECT_EQ(params.peers[2].xpuid, 0);
  EXPECT_EQ(planes_to(2), "--x-");
}

TEST(PipelineParamsTest, WhomNoPlaneReachesIsNoPeer) {
  const Config config = Parsed();
  const InstanceParams params = InstanceParamsOf(config, config.instances[2]);
  ASSERT_EQ(params.peers.size(), 1u);
  EXPECT_EQ(params.peers[0].xpuid, 10);
}

TEST(PipelineParamsTest, WeightsAreBandwidths) {
  constexpr uint64_t kGbps = 1'000'000'000;
  const Config config = Parsed();
  const auto weights = [&](const std::vector<uint64_t>& speeds) {
    return PlaneWeightsOf(config, config.instances[0], speeds);
  };
  using Weights = std::vector<uint32_t>;
  EXPECT_EQ(weights({400 * kGbps, 100 * kGbps, 100 * kGbps, 25 * kGbps, 0}),
            (Weights{400, 50, 100, 25}));
  // A bandwidth below one Gb/s, one beyond the largest weight, and one that is not known.
  EXPECT_EQ(weights({kGbps / 10, 0, 70000 * kGbps, 0, 0}), (Weights{1, 50, 65535, 65535}));
  EXPECT_EQ(weights({0, 0, 0, 0, 0}), (Weights{50, 50, 50, 50}));
  EXPECT_EQ(PlaneWeightsOf(config, config.instances[1], {0, 0, 0, 0, 0}), (Weights{100, 100}));
}

// Frames needed for the instances on a port, with or without it as plane 0.
uint32_t Needed(uint32_t first, uint32_t others, uint32_t packed, uint32_t tx_ports) {
  PortUse use{.rx_descriptors = 1024,
              .tx_descriptors = 1024 * tx_ports,
              .unclaimed_pdus = (7 + kMaxPromisedPdus) * kVcCount * (first + others)};
  if (first != 0) {
    use.homes = {{.inflight_pdus = std::vector<uint32_t>(first, 3000), .packed_pdus = packed}};
  }
  return FramesNeeded(use);
}

TEST(PipelineParamsTest, ThePoolOfPlane0HoldsWhatIsInFlightOnAllPlanes) {
  Config config = Parsed();
  const auto frames = [&](uint32_t port) { return PortOptionsOf(config, port).pool_frames; };
  constexpr uint32_t kPacked = 8192;
  EXPECT_EQ(frames(0), Needed(1, 1, kPacked, 4));
  EXPECT_EQ(frames(1), Needed(0, 1, 0, 1));
  EXPECT_EQ(frames(2), Needed(1, 1, kPacked, 2));
  EXPECT_EQ(frames(3), Needed(0, 1, 0, 1));
  EXPECT_EQ(frames(4), Needed(1, 0, kPacked, 1));
  EXPECT_GT(frames(0), frames(1) + 3000);
  // No more can be packed than clients have credit for.
  config.clients.max_clients = 3;
  EXPECT_EQ(PackedPdusOf(config), 3000u);
  EXPECT_EQ(frames(4), Needed(1, 0, 3000, 1));
}

TEST(PipelineParamsTest, PoolsHoldWhatInstancesMayHaveInFlightTogether) {
  EXPECT_EQ(MaxHeldPdus({3000, 4000}), 7000u);
  EXPECT_EQ(MaxHeldPdus({16384, 16384, 16384}), 16384u);
  EXPECT_EQ(MaxHeldPdus({100000, 1}), 100000u);
  // Each destination has at least one.
  const auto frames = [](const PortHome& home) { return FramesNeeded({.homes = {home}}); };
  EXPECT_EQ(frames({.inflight_pdus = {512}, .destinations = 4092, .packed_pdus = 1000}) -
                frames({.inflight_pdus = {512}, .destinations = 4, .packed_pdus = 1000}),
            4092u - 512);
  EXPECT_EQ(frames({.inflight_pdus = {512}, .packed_pdus = 20000}) -
                frames({.inflight_pdus = {512}, .packed_pdus = 1000}),
            19000u);
}

using Pairs = std::vector<PairUse>;

TEST(PipelineParamsTest, APortIsServedByTheLcoresOfItsInstances) {
  Config config = Parsed();
  EXPECT_EQ(PairsOf(config, 0), (Pairs{{0, {0, 1}}}));
  EXPECT_EQ(PairsOf(config, 4), (Pairs{{1, {2}}}));
  EXPECT_EQ(PortOptionsOf(config, 0).lcores, 1);
  // XPU 1, with p2 and p0, goes to the other lcore.
  config.instances[1].lcore = 1;
  for (const uint32_t port : {0u, 2u}) {
    EXPECT_EQ(PairsOf(config, port), (Pairs{{0, {0}}, {1, {1}}}));
    EXPECT_EQ(PortOptionsOf(config, port).lcores, 2);
    EXPECT_EQ(PortOptionsOf(config, port).queue_pairs, 2);
  }
  EXPECT_EQ(PairsOf(config, 1), (Pairs{{0, {0}}}));
  const NetAddress of_xpu_0{.low = config.instances[0].ports[2].address.low};
  const NetAddress of_xpu_1{.low = config.instances[1].ports[0].address.low};
  EXPECT_EQ(AddressesOf(config, 2, 0), std::vector{of_xpu_0});
  EXPECT_EQ(AddressesOf(config, 2, 1), std::vector{of_xpu_1});
  EXPECT_TRUE(AddressesOf(config, 1, 1).empty());
}

TEST(PipelineParamsTest, ThePoolOfASharedPortHoldsWhatItsLcoresNeed) {
  Config config = Parsed();
  const auto frames = [&](uint32_t port) { return PortOptionsOf(config, port).pool_frames; };
  const uint32_t before_0 = frames(0);
  const uint32_t before_2 = frames(2);
  config.instances[1].lcore = 1;
  constexpr uint32_t kBetweenLcores = 2 * kHandoverFrames;
  constexpr uint32_t kOfPipeline = 16 * 32;
  // A receive queue and a transmit queue more. XPU 1 has frames of p2 and sends them by p0, too.
  EXPECT_EQ(frames(0), before_0 + 2 * 1024 + kOfPipeline + kBetweenLcores);
  EXPECT_EQ(frames(2), before_2 + 2 * 1024 + kOfPipeline + kBetweenLcores);
}

TEST(PipelineParamsTest, APortReceivesForAllWhosePlaneItIs) {
  const Config config = Parsed();
  const auto addresses = PortOptionsOf(config, 2).addresses;
  ASSERT_EQ(addresses.size(), 2u);
  EXPECT_EQ(addresses[0], (MacAddress{2, 0x53, 0x55, 0x45, 0, 0}));
  EXPECT_EQ(addresses[1], (MacAddress{2, 0x53, 0x55, 0x45, 0, 1}));
}

// A NIC drops frames to other groups.
TEST(PipelineParamsTest, APortReceivesForTheGroupsOfItsNeighbour) {
  Config config = Parsed();
  const auto groups = [&] { return PortOptionsOf(config, 4).groups; };
  using Groups = std::vector<MacAddress>;
  EXPECT_EQ(groups(), Groups{});
  EXPECT_FALSE(PortOptionsOf(config, 4).takes_mac_control);
  config.ports[4].llr = OnOff::kOn;
  EXPECT_EQ(groups(), (Groups{{0x01, 0x80, 0xc2, 0, 0, 0x0e}}));
  config.ports[4].llr = OnOff::kOff;
  config.ports[4].cbfc = OnOff::kOn;
  EXPECT_EQ(groups(), (Groups{{0x01, 0x80, 0xc2, 0, 0, 0x0e}}));
  config.ports[4].pfc = PortConfig::Pfc::kSoftware;
  EXPECT_EQ(groups(), (Groups{{0x01, 0x80, 0xc2, 0, 0, 0x0e}, {0x01, 0x80, 0xc2, 0, 0, 0x01}}));
  EXPECT_TRUE(PortOptionsOf(config, 4).takes_mac_control);
  config.ports[4].cbfc = OnOff::kOff;
  config.ports[4].pfc = PortConfig::Pfc::kDevice;
  EXPECT_EQ(groups(), Groups{}) << "the device takes pauses itself";
}

TEST(PipelineParamsTest, InstancesHaveQueuesOfTheirOwnWhereThePortSaysSo) {
  Config config = Parsed();
  const PortOptions before_0 = PortOptionsOf(config, 0);
  const PortOptions before_2 = PortOptionsOf(config, 2);
  config.ports[0].queues = PortConfig::Queues::kInstance;
  EXPECT_EQ(PairsOf(config, 0), (Pairs{{0, {0}}, {0, {1}}}));
  EXPECT_EQ(PairsOf(config, 2), (Pairs{{0, {0, 1}}}));
  const PortOptions port_0 = PortOptionsOf(config, 0);
  EXPECT_EQ(port_0.queue_pairs, 2);
  EXPECT_EQ(port_0.lcores, 1);
  constexpr uint32_t kOfPair = 16 * 32;
  // Two queues more. Frames of p0 are sent by XPU 0's queue of it, those of p2, where XPU 1 has its
  // plane 0, by XPU 1's.
  EXPECT_EQ(port_0.pool_frames, before_0.pool_frames + 2 * 1024 + kOfPair);
  EXPECT_EQ(PortOptionsOf(config, 2).pool_frames, before_2.pool_frames);
  const std::vector<PairUse> pairs = PairsOf(config, 0);
  EXPECT_EQ(PairOf(pairs, 1), pairs.begin() + 1);
  EXPECT_EQ(PairOf(pairs, 2), pairs.end());
}

std::vector<SteeredAddress> SteeredOn(const std::string& port, const std::string& addresses) {
  const std::string text =
      "version: 1\nname: left\nlcores: [{cpu: 1}, {cpu: 2}]\n"
      "ports: [{name: p0, device: net_null0, " +
      port + "}]\n" + "instances:\n" + addresses;
  const auto config = ParseConfig(text, "test.yaml", kMachine);
  EXPECT_TRUE(config.ok()) << config.status();
  if (!config.ok()) return {};
  const SteeringPlan plan = PortOptionsOf(*config, 0).steering;
  EXPECT_EQ(plan.udp_port != 0, plan.ether_type == 0);
  return plan.addresses;
}

TEST(PipelineParamsTest, FramesAreSteeredByTheAddressOfTheirHeader) {
  using Kind = SteeredAddress::Kind;
  using Bytes = std::array<uint8_t, 16>;
  using Mask = std::array<uint8_t, 6>;
  const std::string forwarding =
      "  - {xpu: 1, lcore: 1, ports: [{port: p0}]}\n"
      "  - {xpu: 2, lcore: 2, ports: [{port: p0, forwarding_address: 0x0802}]}\n";
  const auto gen1 = SteeredOn("encapsulation: afh1", forwarding);
  ASSERT_EQ(gen1.size(), 2u);
  EXPECT_EQ(gen1[0].kind, Kind::kEthernet);
  EXPECT_EQ(gen1[0].queue, 0);
  EXPECT_EQ(gen1[1].queue, 1);
  EXPECT_EQ(gen1[1].bytes, (Bytes{0x02, 0x53, 0x55, 0x45, 0x08, 0x02}));
  EXPECT_EQ(gen1[1].mask, (Mask{255, 255, 255, 255, 255, 255}));
  const auto gen2 = SteeredOn("encapsulation: afh2", forwarding);
  ASSERT_EQ(gen2.size(), 2u);
  EXPECT_EQ(gen2[1].bytes, (Bytes{0, 0, 0, 0, 0x08, 0x02}));
  EXPECT_EQ(gen2[1].mask, (Mask{0, 0, 255, 255, 255, 255}));
  const auto compressed = SteeredOn("encapsulation: afh2c", forwarding);
  ASSERT_EQ(compressed.size(), 2u);
  EXPECT_EQ(compressed[1].mask, (Mask{0, 0, 0, 0, 255, 255}));
  const auto ipv4 = SteeredOn("encapsulation: udp4",
                              "  - {xpu: 1, lcore: 1, ports: [{port: p0, ip: 198.18.0.1}]}\n"
                              "  - {xpu: 2, lcore: 2, ports: [{port: p0, ip: 198.18.0.2}]}\n");
  ASSERT_EQ(ipv4.size(), 2u);
  EXPECT_EQ(ipv4[1].kind, Kind::kIpv4);
  EXPECT_EQ(ipv4[1].bytes, (Bytes{198, 18, 0, 2}));
  const auto ipv6 = SteeredOn("encapsulation: udp6",
                              "  - {xpu: 1, lcore: 1, ports: [{port: p0, ip: 'fd00::1'}]}\n"
                              "  - {xpu: 2, lcore: 2, ports: [{port: p0, ip: 'fd00::2'}]}\n");
  ASSERT_EQ(ipv6.size(), 2u);
  EXPECT_EQ(ipv6[1].kind, Kind::kIpv6);
  EXPECT_EQ(ipv6[1].bytes[0], 0xfd);
  EXPECT_EQ(ipv6[1].bytes[15], 2);
}

TEST(PipelineParamsTest, APortWithOneQueueSteersNothing) {
  const std::string one =
      "  - {xpu: 1, lcore: 1, ports: [{port: p0}]}\n  - {xpu: 2, lcore: 1, ports: [{port: p0}]}\n";
  EXPECT_TRUE(SteeredOn("encapsulation: afh1", one).empty());
  EXPECT_EQ(SteeredOn("encapsulation: afh1, queues: instance", one).size(), 2u);
}

// docs/pfc.md, "Classes".
TEST(PipelineParamsTest, TheClassOfTrafficIsThatOfTheNeighbour) {
  const TrafficClass traffic{.pcp = 3, .dscp = 45};
  const auto of = [&](Encap encap, bool tagged, bool by_pcp) {
    const PortParams port{.rules = {.encap = encap}, .tagged = tagged, .class_by_pcp = by_pcp};
    return PfcClassOf(port, traffic);
  };
  for (const Encap encap : {Encap::kUdp4, Encap::kUdp6, Encap::kAfh1s}) {
    EXPECT_EQ(of(encap, false, false), 5);
    EXPECT_EQ(of(encap, true, false), 5);
    EXPECT_EQ(of(encap, true, true), 3);
    EXPECT_EQ(of(encap, false, true), 5);
  }
  EXPECT_EQ(of(Encap::kAfh1, false, false), 0);
  EXPECT_EQ(of(Encap::kAfh1, true, false), 3);
  EXPECT_EQ(of(Encap::kAfh2, false, false), 5);
}

TEST(PipelineParamsTest, ADevicePausesTheClassesThatAreUsed) {
  Config config = Parsed();
  EXPECT_FALSE(PortOptionsOf(config, 1).pfc);
  config.ports[1].pfc = PortConfig::Pfc::kDevice;
  config.pfc.quanta = 777;
  config.classes.vc[2].dscp = 16;
  const PortOptions options = PortOptionsOf(config, 1);
  ASSERT_TRUE(options.pfc);
  EXPECT_EQ(options.pfc->classes, 1 << 0 | 1 << 2 | 1 << 6);
  EXPECT_EQ(options.pfc->quanta, 777);
  EXPECT_EQ(PauseParamsOf(config, config.ports[1]).rate_bps, 50'000'000'000u);
  EXPECT_EQ(FlowNames(0b10011), "0,1,ack");
}

}  // namespace
}  // namespace suede
