// SPDX-License-Identifier: Apache-2.0
// The machine as it is read from files of /sys and /proc, which the tests write.
#include "preflight/linux_machine.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace suede {
namespace {

namespace fs = std::filesystem;

class LinuxMachineTest : public ::testing::Test {
 protected:
  LinuxMachineTest() {
    char name[] = "/tmp/suede-machine-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~LinuxMachineTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void Link(const std::string& path, const std::string& target) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    fs::create_symlink(target, root_ + path);
  }
  LinuxMachine Made() const {
    return LinuxMachine({.prefix_holder = [](const std::string&) { return 0; },
                         .vdev_drivers = [] { return std::vector<std::string>{}; }},
                        root_);
  }

  std::string root_;
};

TEST_F(LinuxMachineTest, HugepagesOfEachNode) {
  const std::string node = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/";
  Write(node + "nr_hugepages", "8\n");
  Write(node + "free_hugepages", "5\n");
  Write("/sys/devices/system/node/possible", "0-1\n");
  const auto pools = Made().Hugepages();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].node, 1);
  EXPECT_EQ(pools[0].page_bytes, 2u << 20);
  EXPECT_EQ(pools[0].total, 8u);
  EXPECT_EQ(pools[0].free, 5u);
  EXPECT_EQ(pools[0].directory + "/", root_ + node);
}

TEST_F(LinuxMachineTest, HugepagesOfAKernelWithoutNodes) {
  Write("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "2\n");
  const auto pools = Made().Hugepages();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].page_bytes, uint64_t{1} << 30);
}

TEST_F(LinuxMachineTest, Mounts) {
  Write("/proc/self/mounts",
        "proc /proc proc rw 0 0\nhugetlbfs /run/suede/hugepages hugetlbfs rw,pagesize=2M 0 0\n");
  EXPECT_EQ(Made().HugetlbfsMounts(), std::vector<std::string>{"/run/suede/hugepages"});
}

TEST_F(LinuxMachineTest, SharesOfSessions) {
  EXPECT_FALSE(Made().SharesBySession());
  Write("/proc/sys/kernel/osrelease", "6.18.3-amd64\n");
  Write("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
  EXPECT_TRUE(Made().SharesBySession());
  Write("/proc/sys/kernel/sched_autogroup_enabled", "0\n");
  EXPECT_FALSE(Made().SharesBySession());
  Write("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
  Write("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
  EXPECT_FALSE(Made().SharesBySession());
}

TEST_F(LinuxMachineTest, Cpus) {
  Write("/sys/devices/system/cpu/online", "0-2,5\n");
  Write("/sys/devices/system/cpu/isolated", "2\n");
  Write("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t1-2\n");
  EXPECT_TRUE(Made().Cpu(5).online);
  EXPECT_FALSE(Made().Cpu(4).online);
  EXPECT_FALSE(Made().Cpu(5).allowed);
  EXPECT_TRUE(Made().Cpu(2).allowed && Made().Cpu(2).isolated);
  EXPECT_FALSE(Made().Cpu(1).isolated);
}

TEST_F(LinuxMachineTest, Capabilities) {
  Write("/proc/self/status", "CapEff:\t0000000000003000\n");
  EXPECT_TRUE(Made().Has(Capability::kNetAdmin) && Made().Has(Capability::kNetRaw));
  EXPECT_FALSE(Made().Has(Capability::kIpcLock));
}

TEST_F(LinuxMachineTest, PciDevices) {
  const std::string device = "/sys/bus/pci/devices/0000:03:00.0/";
  Write(device + "numa_node", "1\n");
  Link(device + "driver", "../../../bus/pci/drivers/vfio-pci");
  Link(device + "iommu_group", "../../../kernel/iommu_groups/17");
  const auto facts = Made().Pci("0000:03:00.0");
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->driver, "vfio-pci");
  EXPECT_EQ(facts->iommu_group, 17);
  EXPECT_EQ(facts->numa_node, 1);
  Write("/sys/bus/pci/devices/0000:04:00.0/numa_node", "-1\n");
  EXPECT_EQ(Made().Pci("0000:04:00.0")->driver, "");
  EXPECT_FALSE(Made().Pci("0000:04:00.0")->iommu_group.has_value());
  EXPECT_FALSE(Made().Pci("0000:05:00.0").has_value());
}

TEST_F(LinuxMachineTest, Interfaces) {
  Write("/sys/class/net/eth0/mtu", "9000\n");
  Write("/sys/class/net/eth0/flags", "0x1003\n");
  EXPECT_EQ(Made().Interface("eth0")->mtu, 9000u);
  EXPECT_TRUE(Made().Interface("eth0")->up);
  Write("/sys/class/net/eth0/flags", "0x1002\n");
  EXPECT_FALSE(Made().Interface("eth0")->up);
  EXPECT_FALSE(Made().Interface("eth0")->is_tap);
  Write("/sys/class/net/eth0/tun_flags", "0x1002\n");
  EXPECT_TRUE(Made().Interface("eth0")->is_tap);
  EXPECT_FALSE(Made().Interface("eth1").has_value());
  EXPECT_FALSE(Made().Interface("../net/eth0").has_value());
}

TEST_F(LinuxMachineTest, Memory) {
  Write("/proc/meminfo", "MemTotal:  8 kB\nMemAvailable:   2048 kB\n");
  EXPECT_EQ(Made().AvailableMemory(), 2u << 20);
}

TEST_F(LinuxMachineTest, FilesAndSockets) {
  const std::string path = root_ + "/s.sock";
  EXPECT_EQ(Made().File(path).kind, FileFacts::Kind::kAbsent);
  EXPECT_EQ(Made().File(root_).kind, FileFacts::Kind::kDirectory);
  EXPECT_TRUE(Made().File(root_).writable);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(Made().File(path).kind, FileFacts::Kind::kSocket);
  EXPECT_TRUE(Made().IsServed(path));
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_TRUE(Made().IsServed(path));
  pollfd connections{.fd = fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&connections, 1, 0), 0) << "the server of the socket was connected to";
  close(fd);
  EXPECT_FALSE(Made().IsServed(path));
}

TEST_F(LinuxMachineTest, AbstractNames) {
  Write("/proc/net/unix",
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01 1200 @pair@@@@\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 1201\n"
        "0000000000000000: 00000002 00000000 00010000 0005 01 1202 /run/m.sock\n");
  EXPECT_TRUE(Made().IsAbstractNameHeld("pair"));
  EXPECT_FALSE(Made().IsAbstractNameHeld("pai"));
  EXPECT_FALSE(Made().IsAbstractNameHeld("/run/m.sock"));
}

TEST_F(LinuxMachineTest, AnAddressIsTakenByWhoListens) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const ListenAddress listened{.port = ntohs(address.sin_port)};
  EXPECT_EQ(Made().ListenError(listened), "Address already in use");
  close(fd);
  EXPECT_EQ(Made().ListenError(listened), "");
  // 198.18.0.0/15 is of nobody.
  EXPECT_EQ(Made().ListenError({.ip = 0xc6120001, .port = 9464}),
            "Cannot assign requested address");
}

}  // namespace
}  // namespace suede
