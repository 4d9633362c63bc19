// SPDX-License-Identifier: Apache-2.0
// Each check against a machine that fails it, and the list against docs/service.md.
#include "preflight/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/device_string.h"
#include "fake_machine.h"
#include "page_tables.h"

namespace suede {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMiB = 1 << 20;

class PreflightTest : public ::testing::Test {
 protected:
  PreflightTest() {
    config.name = "left";
    config.eal.hugepages = Hugepages::kOn;
    config.lcores = {{.cpu = 1}};
    config.ports = {{.name = "p0", .device = "0000:03:00.0", .mtu_bytes = 2088}};
    config.clients.socket = "/run/suede/left/xpu.sock";
    config.management.socket = "/run/suede/left/management.sock";
    needs = {.pool_bytes = {100 * kMiB}, .segment_bytes = 3 * kMiB};
  }

  void UseDevice(const std::string& device) { config.ports[0].device = device; }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const Finding& finding :
         RunPreflight({.config = config, .needs = needs, .machine = machine})) {
      lines.push_back(FormatFinding(finding));
    }
    return lines;
  }

  // Expects exactly one finding.
  void ExpectOne(const std::string& line) const {
    EXPECT_THAT(Lines(), ::testing::ElementsAre(line));
  }
  void ExpectNone() const { EXPECT_THAT(Lines(), IsEmpty()); }

  FakeMachine machine;
  Config config;
  MemoryNeeds needs;
};

TEST_F(PreflightTest, FindsNothingWhereAllIsThere) { ExpectNone(); }

TEST_F(PreflightTest, HugepagesAreCountedOnThePortsNode) {
  machine.pools[1].free = 20;
  ExpectOne(
      "error hugepages: eal.hugepages: 100 MiB are needed on NUMA node 1 (port p0 100) and 40 MiB "
      "are free; mend: echo 542 > /n1/2M/nr_hugepages");
}

TEST_F(PreflightTest, HugepagesOfAVirtualDeviceMayBeOnAnyNode) {
  UseDevice("net_memif0,role=client");
  machine.pools[0].free = 40;
  machine.pools[1].free = 26;
  ExpectNone();
  machine.pools[1].free = 25;
  ExpectOne(
      "error hugepages: eal.hugepages: 132 MiB are needed on any NUMA node (port p0 100, DPDK 32) "
      "and 130 MiB are free; mend: echo 513 > /n0/2M/nr_hugepages");
}

TEST_F(PreflightTest, EveryNodeThatLacksHugepagesIsNamed) {
  config.ports.push_back({.name = "p1", .device = "0000:04:00.0", .mtu_bytes = 2088});
  needs.pool_bytes.push_back(50 * kMiB);
  machine.pci["0000:04:00.0"] = {.driver = "vfio-pci", .iommu_group = 7, .numa_node = 0};
  for (HugepagePool& pool : machine.pools) pool.free = 0;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("50 MiB are needed on NUMA node 0"),
                                              HasSubstr("100 MiB are needed on NUMA node 1")));
}

TEST_F(PreflightTest, HugepagesThatAreTakenIfThereAreEnoughAreAWarning) {
  config.eal.hugepages = Hugepages::kAuto;
  UseDevice("net_memif0,role=client");
  for (HugepagePool& pool : machine.pools) pool.free = 60;
  ExpectOne(
      "warning hugepages: eal.hugepages: 256 MiB are needed on any NUMA node (port p0 100, DPDK "
      "156) and 240 MiB are free, so that it runs without hugepages; mend: echo 520 > "
      "/n0/2M/nr_hugepages");
}

TEST_F(PreflightTest, AKernelWithoutHugepages) {
  UseDevice("net_memif0,role=client");
  machine.pools.clear();
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("mend: set eal.hugepages: off")));
}

TEST_F(PreflightTest, HugetlbfsThatIsNotThereOrNotWritable) {
  machine.mounts.clear();
  EXPECT_THAT(Lines(), ::testing::ElementsAre(
                           HasSubstr("warning hugetlbfs: eal.hugepages: no hugetlbfs is mounted")));
  machine.mounts = {"/dev/hugepages"};
  machine.files["/dev/hugepages"].writable = false;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("suede may not write to the hugetlbfs")));
}

TEST_F(PreflightTest, ASegmentNeedsHugepagesBesideThePools) {
  config.clients.hugepages = Hugepages::kOn;
  machine.pools.erase(machine.pools.begin());
  machine.pools[0].free = 67;  // 134 MiB: 132 for DPDK
  ExpectOne(
      "error segments: clients.hugepages: a client's segment takes 3 MiB in pages of 2 MiB beside "
      "132 MiB of DPDK's, and 134 MiB are free; mend: echo 513 > /n1/2M/nr_hugepages");
}

TEST_F(PreflightTest, MemoryWhereHugepagesAreOff) {
  config.eal.hugepages = Hugepages::kOff;
  config.eal.memory_mb = 64;
  ExpectOne(
      "error memory: eal.memory_mb: the ports' pools take 100 MiB, and DPDK is given 64; mend: set "
      "eal.memory_mb: 132");
  config.eal.memory_mb = 0;
  machine.memory = 131 * kMiB;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("131 MiB of memory are available")));
}

TEST_F(PreflightTest, LockedMemory) {
  machine.memlock = 8 * kMiB;
  ExpectOne(
      "error memlock: ports[].device: VFIO locks 132 MiB in memory, and this process may lock 8 "
      "MiB; mend: ulimit -l unlimited (in a unit: LimitMEMLOCK=infinity)");
  machine.capabilities.insert(Capability::kIpcLock);
  ExpectNone();
  machine.capabilities.erase(Capability::kIpcLock);
  UseDevice("net_memif0,role=client");
  ExpectNone();
}

TEST_F(PreflightTest, Cpus) {
  machine.cpus[1] = {.online = false, .allowed = false, .isolated = false};
  ExpectOne(
      "error cpus: lcores[0].cpu: CPU 1 is offline; mend: echo 1 > "
      "/sys/devices/system/cpu/cpu1/online");
  machine.cpus[1] = {.online = true, .allowed = false, .isolated = true};
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("CPU 1 is not one that this process may")));
  machine.cpus[1] = {.online = true, .allowed = true, .isolated = false};
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("warning isolation: lcores[0].idle")));
  config.lcores[0].idle = LcoreConfig::Idle::kSleep;
  ExpectNone();
}

TEST_F(PreflightTest, Scheduler) {
  machine.shares_by_session = true;
  ExpectNone();
  machine.cpus[1].isolated = false;
  config.lcores[0].idle = LcoreConfig::Idle::kSleep;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(AllOf(
                           HasSubstr("warning scheduler: lcores[0].idle: the lcore leaves CPU 1"),
                           HasSubstr("mend: sysctl -w kernel.sched_autogroup_enabled=0"))));
  machine.shares_by_session = false;
  ExpectNone();
}

TEST_F(PreflightTest, VirtualDevices) {
  UseDevice("net_tap0");
  ExpectNone();
  UseDevice("virtio_user0,path=/dev/vhost-net");
  ExpectNone();
  UseDevice("net_pcap0,rx_pcap=x");
  ExpectOne(
      "error vdev: ports[0].device: net_pcap0: DPDK has no driver net_pcap; mend: apt-get install "
      "librte-meta-net, or take one of net_af_packet, net_memif, net_tap");
}

TEST_F(PreflightTest, PciDevices) {
  machine.pci["0000:03:00.0"].driver = "ixgbe";
  ExpectOne(
      "error pci: ports[0].device: 0000:03:00.0 is bound to ixgbe; mend: modprobe vfio-pci && "
      "dpdk-devbind.py --bind=vfio-pci 0000:03:00.0");
  machine.pci["0000:03:00.0"].driver = "mlx5_core";
  ExpectNone();
  UseDevice("03:00.1");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("there is no such PCI device")));
  machine.pci["0000:03:00.1"] = {.driver = "vfio-pci", .iommu_group = 7, .numa_node = 0};
  ExpectNone();
}

TEST_F(PreflightTest, VfioGroups) {
  machine.files["/dev/vfio/7"].writable = false;
  ExpectOne(
      "error vfio: ports[0].device: 0000:03:00.0: suede may not open /dev/vfio/7; mend: chown "
      "suede "
      "/dev/vfio/7");
  machine.files.erase("/dev/vfio/7");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("/dev/vfio/7 is not there")));
  machine.pci["0000:03:00.0"].iommu_group.reset();
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("is in no IOMMU group")));
  machine.pci["0000:03:00.0"].iommu_group = 7;
  machine.files["/dev/vfio/7"] = FakeMachine::kNode;
  machine.files.erase("/dev/vfio/vfio");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("/dev/vfio/vfio is not there; mend: mod")));
  machine.files["/dev/vfio/vfio"] = {FileFacts::Kind::kOther, true, false};
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("mend: chmod 666 /dev/vfio/vfio")));
}

TEST_F(PreflightTest, Interfaces) {
  UseDevice("net_af_packet0,iface=eth0,framesz=4096");
  ExpectNone();
  machine.interfaces["eth0"] = {.mtu = 1500, .up = false};
  EXPECT_THAT(Lines(), ::testing::ElementsAre(
                           HasSubstr("its MTU is 1500, and 2088 is needed; mend: ip link set dev "
                                     "eth0 mtu 2088"),
                           HasSubstr("it is down; mend: ip link set dev eth0 up")));
  machine.interfaces["eth0"] = {.mtu = 9000, .up = true};
  machine.capabilities.erase(Capability::kNetRaw);
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("af_packet takes CAP_NET_RAW")));
  machine.interfaces.clear();
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("iface=eth0: there is no such interface"),
                                              HasSubstr("CAP_NET_RAW")));
}

TEST_F(PreflightTest, Taps) {
  UseDevice("net_tap0,iface=x");
  machine.files["/dev/net/tun"].writable = false;
  machine.capabilities.clear();
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("suede may not open /dev/net/tun"),
                                              HasSubstr("a TAP takes CAP_NET_ADMIN")));
  machine.capabilities = {Capability::kNetAdmin};
  machine.files.erase("/dev/net/tun");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("/dev/net/tun is not there")));
}

TEST_F(PreflightTest, APortsTap) {
  config.ports[0].tap = "sue0";
  ExpectNone();
  machine.interfaces["sue0"] = {.mtu = 1500, .up = true, .is_tap = true};
  ExpectNone();
  machine.interfaces["sue0"].is_tap = false;
  machine.capabilities.clear();
  EXPECT_THAT(Lines(),
              ::testing::ElementsAre(
                  "error tap: ports[0].tap: another kind of interface is called sue0; mend: choose "
                  "another name, or: ip link del sue0",
                  HasSubstr("ports[0].tap: a TAP takes CAP_NET_ADMIN")));
}

TEST_F(PreflightTest, MemifServersNeedADirectory) {
  UseDevice("net_memif0,role=server,socket=/run/memif/m.sock,socket-abstract=no");
  ExpectOne(
      "error memif: ports[0].device: net_memif0: the directory /run/memif is not there; mend: "
      "install -d -o suede /run/memif");
  machine.files["/run/memif"] = {FileFacts::Kind::kDirectory, true, false};
  ExpectOne(
      "error memif: ports[0].device: net_memif0: suede may not write to /run/memif; mend: install "
      "-d -o suede /run/memif");
  // A client waits for the socket.
  UseDevice("net_memif0,role=client,socket=/run/memif/m.sock,socket-abstract=no");
  ExpectNone();
}

TEST_F(PreflightTest, MemifServersNeedTheirPlace) {
  UseDevice("net_memif0,role=server,socket=/run/m.sock,socket-abstract=no");
  machine.files["/run/m.sock"] = {FileFacts::Kind::kSocket, true, true};
  ExpectNone();  // of a dead server
  machine.served.insert("/run/m.sock");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("a program listens at /run/m.sock")));
  UseDevice("net_memif0,role=client,socket=/run/m.sock,socket-abstract=no");
  ExpectNone();
  machine.files["/run/m.sock"] = FakeMachine::kNode;
  UseDevice("net_memif0,role=server,socket=/run/m.sock,socket-abstract=no");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("mend: rm /run/m.sock")));
}

TEST_F(PreflightTest, AMemifSocketWithoutAFileIsOpenToAll) {
  UseDevice("net_memif0,role=server,socket=pair");
  EXPECT_THAT(Lines(),
              ::testing::ElementsAre(HasSubstr("warning memif: ports[0].device: net_memif0: "
                                               "any process")));
  machine.held = {"pair"};
  EXPECT_THAT(Lines(), ::testing::Contains(HasSubstr(
                           "error memif: ports[0].device: net_memif0: a program of this network "
                           "namespace has bound the abstract socket pair")));
  machine.held.clear();
  UseDevice("net_memif0,role=server,socket=pair,secret=topsy");
  ExpectNone();
  UseDevice("net_memif0,role=client,socket=pair");
  ExpectNone();
}

TEST_F(PreflightTest, TheWebServersAddressMustBeFree) {
  config.management.http_address = "9464";
  ExpectNone();
  machine.listened["127.0.0.1:9464"] = "Address already in use";
  ExpectOne(
      "error http: management.http_address: 127.0.0.1:9464: Address already in use; mend: choose "
      "another port or address; ss -ltnp shows the listeners");
  config.management.http_address = "0";
  ExpectNone();
}

TEST_F(PreflightTest, Descriptors) {
  machine.descriptors = 16;
  EXPECT_THAT(Lines(),
              ::testing::ElementsAre(HasSubstr("error descriptors: ports: the endpoint takes "
                                               "68 descriptors to start, and this process "
                                               "may open 16; mend: ulimit -n")));
  machine.descriptors = 68;
  EXPECT_THAT(Lines(),
              ::testing::ElementsAre(HasSubstr("warning descriptors: clients.max_clients: with")));
}

TEST_F(PreflightTest, SocketsNeedADirectory) {
  machine.files["/run/suede"].writable = false;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(
                           "error sockets: clients.socket: suede may not write to /run/suede; "
                           "mend: install -d -o suede /run/suede/left",
                           HasSubstr("management.socket: suede may not write to /run/suede")));
  machine.files["/run/suede"] = {FileFacts::Kind::kOther, true, true};
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("/run/suede is no directory"),
                                              HasSubstr("/run/suede is no directory")));
}

TEST_F(PreflightTest, SocketsThatAreTaken) {
  machine.files["/run/suede/left"] = FakeMachine::kDirectory;
  machine.files["/run/suede/left/xpu.sock"] = {FileFacts::Kind::kSocket, true, true};
  ExpectNone();  // of a dead daemon
  machine.served.insert("/run/suede/left/xpu.sock");
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("a program listens at")));
  machine.files["/run/suede/left/xpu.sock"] = FakeMachine::kNode;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("mend: rm /run/suede/left/xpu.sock")));
}

TEST_F(PreflightTest, FilePrefix) {
  machine.holders["suede_left"] = 4711;
  EXPECT_THAT(Lines(), ::testing::ElementsAre(HasSubstr("process 4711 runs with the EAL file")));
}

TEST_F(PreflightTest, EverythingThatIsMissingIsListedAtOnce) {
  FakeMachine bare;
  bare.pools.clear();
  bare.mounts.clear();
  bare.cpus.clear();
  bare.pci.clear();
  bare.files.clear();
  bare.memlock = 0;
  bare.holders["suede_left"] = 1;
  std::set<std::string_view> checks;
  for (const Finding& f : RunPreflight({.config = config, .needs = needs, .machine = bare})) {
    checks.insert(f.check);
    EXPECT_FALSE(f.problem.empty());
    EXPECT_FALSE(f.mend.empty());
  }
  EXPECT_EQ(checks, (std::set<std::string_view>{"hugepages", "hugetlbfs", "memlock", "cpus", "pci",
                                                "sockets", "prefix"}));
}

TEST_F(PreflightTest, FilesOfSealingAreReadWhereAnInstanceSeals) {
  machine.sealing = {"sealing.secrets: /etc/s: others may read it; chmod 0640 /etc/s",
                     "sealing.tls.ca: /etc/ca holds no certificate"};
  config.instances = {{.xpu = 1}};
  ExpectNone();
  config.instances[0].sealing = InstanceConfig::Sealing::kRequired;
  EXPECT_THAT(Lines(),
              ::testing::ElementsAre(
                  "error sealing: sealing.secrets: /etc/s: others may read it; mend: chmod 0640 "
                  "/etc/s",
                  "error sealing: sealing.tls.ca: /etc/ca holds no certificate; mend: see "
                  "docs/sealing.md"));
}

TEST(DeviceTest, IsTakenApart) {
  EXPECT_EQ(VdevDriver("net_af_packet12,iface=eth0"), "net_af_packet");
  EXPECT_EQ(DeviceArgument("net_af_packet0,iface=eth0,framesz=4096", "framesz"), "4096");
  EXPECT_EQ(DeviceArgument("net_af_packet0,iface2=eth0", "iface"), "");
  EXPECT_EQ(PciAddress("0A:00.1"), "0000:0a:00.1");
}

TEST(PreflightDocumentation, HasTheDeclaredChecks) {
  std::string table = "| Check | Looks whether |\n|---|---|\n";
  for (const PreflightCheck& check : PreflightChecks()) {
    StrAppend(&table, "| `", check.name, "` | ", check.sentence, " |\n");
  }
  ExpectTable("docs/service.md", "checks", table);
}

}  // namespace
}  // namespace suede
