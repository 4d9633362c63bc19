// SPDX-License-Identifier: Apache-2.0
// The drivers that are found among the plugins, as they are installed with and without the
// development packages.
#include "dpdk/vdev_drivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace suede {
namespace {

namespace fs = std::filesystem;

class VdevDriversTest : public ::testing::Test {
 protected:
  VdevDriversTest() {
    char name[] = "/tmp/suede-plugins-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~VdevDriversTest() override { fs::remove_all(root_); }

  // A driver's description as DPDK's buildtools write it, in a file that may stand for a shared
  // object.
  void Write(const std::string& file, const std::string& driver, const std::string& ids = "") {
    std::ofstream(root_ / file) << "ELF" << '\0' << "PMD_INFO_" << "STRING= {\"name\": \"" << driver
                                << "\", \"pci_ids\": [" << ids << "]}" << '\0';
  }

  fs::path root_;
};

TEST_F(VdevDriversTest, WithoutDevelopmentPackages) {
  Write("librte_net_probe.so.23.0", "net_probe");
  fs::create_symlink("librte_net_probe.so.23.0", root_ / "librte_net_probe.so.23");
  Write("librte_net_nic.so.23.0", "net_nic", "[1, 2, 65535, 65535]");
  EXPECT_THAT(VdevDriversOf(root_), ::testing::ElementsAre("net_probe"));
}

TEST_F(VdevDriversTest, WithThemOrWithPluginsOfOnesOwn) {
  Write("librte_net_probe.so.23.0", "net_probe");
  fs::create_symlink("librte_net_probe.so.23.0", root_ / "librte_net_probe.so");
  Write("net_own.so", "net_own");
  Write("net_not.a", "net_not");
  fs::create_symlink("librte_net_gone.so.23.0", root_ / "librte_net_gone.so");
  EXPECT_THAT(VdevDriversOf(root_), ::testing::ElementsAre("net_own", "net_probe"));
}

TEST_F(VdevDriversTest, NoDirectory) {
  EXPECT_TRUE(VdevDriversOf(root_ / "none").empty());
}

}  // namespace
}  // namespace suede
