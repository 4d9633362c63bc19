// SPDX-License-Identifier: Apache-2.0
// Files of hugepages: those of killed endpoints go, those of others stay.
#include "dpdk/hugepages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace suede {
namespace {

namespace fs = std::filesystem;

class HugepageFilesTest : public ::testing::Test {
 protected:
  HugepageFilesTest() {
    char name[] = "/tmp/suede-pages-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~HugepageFilesTest() override { fs::remove_all(root_); }
  void Write(const std::string& file) { std::ofstream(root_ / file) << "page"; }
  bool Has(const std::string& file) const { return fs::exists(root_ / file); }

  fs::path root_;
};

TEST_F(HugepageFilesTest, OfTheDeadAreRemoved) {
  for (const char* file : {"suede_leftmap_0", "suede_leftmap_1", "suede_rightmap_0", "rtemap_0",
                           "suede_left.txt"}) {
    Write(file);
  }
  const int held = open((root_ / "suede_rightmap_0").c_str(), O_RDONLY);
  ASSERT_EQ(flock(held, LOCK_SH), 0);  // as EAL does for each page that it has
  EXPECT_EQ(RemoveDeadHugepageFiles(root_), 2u);
  EXPECT_FALSE(Has("suede_leftmap_0") || Has("suede_leftmap_1"));
  EXPECT_TRUE(Has("suede_rightmap_0")) << "its process lives";
  EXPECT_TRUE(Has("rtemap_0")) << "another program's";
  EXPECT_TRUE(Has("suede_left.txt"));
  close(held);
  EXPECT_EQ(RemoveDeadHugepageFiles(root_), 1u);
}

// EAL makes files before it locks them, and holds the directory meanwhile.
TEST_F(HugepageFilesTest, NoneWhileAnotherProcessStarts) {
  Write("suede_leftmap_0");
  const int starting = open(root_.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(starting, LOCK_EX), 0);
  EXPECT_EQ(RemoveDeadHugepageFiles(root_), 0u);
  close(starting);
  EXPECT_EQ(RemoveDeadHugepageFiles(root_), 1u);
  EXPECT_EQ(RemoveDeadHugepageFiles((root_ / "none").string()), 0u);
}

}  // namespace
}  // namespace suede
