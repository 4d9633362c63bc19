// SPDX-License-Identifier: Apache-2.0
// The programs of docs/examples, against a server.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "fake_daemon.h"

namespace suede {
namespace {

class ExampleTest : public ::testing::TestWithParam<const char*> {
 protected:
  int Run(const std::string& arguments) {
    const int status = system((std::string(GetParam()) + " " + arguments + " >/dev/null").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_P(ExampleTest, SendsToItselfAndReceives) {
  TestDirectory directory;
  FakeDaemon daemon(TestConfig(directory.Socket()));
  EXPECT_EQ(Run(directory.Socket() + " 1 1 500 --receive 500"), 0);
}

TEST_P(ExampleTest, ExitCodes) {
  TestDirectory directory;
  EXPECT_EQ(Run(directory.Socket() + " 1 1 5"), 4);
  FakeDaemon daemon(TestConfig(directory.Socket()));
  EXPECT_EQ(Run(directory.Socket()), 2);
  EXPECT_EQ(Run(directory.Socket() + " 1 1 5 --what 3"), 2);
  EXPECT_EQ(Run(directory.Socket() + " 1 9 5"), 3) << "nobody is there";
  EXPECT_EQ(Run(directory.Socket() + " 1 1 0 --receive 1 --seconds 1"), 1);
}

TEST(BatchesExampleTest, SendsToItselfAndReceives) {
  TestDirectory directory;
  const auto run = [&](const std::string& arguments) {
    const std::string command =
        std::string(BATCHES_C) + " " + directory.Socket() + " " + arguments + " >/dev/null";
    const int status = system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(run("1 1 5"), 4);
  FakeDaemon daemon(TestConfig(directory.Socket()));
  EXPECT_EQ(run("1 1 5000"), 0);
  EXPECT_EQ(run("1 9 5"), 3) << "nobody is there";
  EXPECT_EQ(run("1 1"), 2);
  EXPECT_EQ(run("1 1 5 --what 3"), 2);
}

TEST(PacketsExampleTest, SendsAndReceives) {
  TestDirectory directory;
  const auto run = [&](const std::string& arguments) {
    const std::string command =
        std::string(PACKETS_C) + " " + directory.Socket() + " " + arguments + " >/dev/null";
    const int status = system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(run("p0 --count 1"), 4);
  FakeDaemon daemon(TestConfig(directory.Socket()));
  EXPECT_EQ(run("p0 --count 50 --receive 50"), 0);
  EXPECT_EQ(daemon.packets, 50u);
  EXPECT_EQ(run("p0 --count 0 --receive 1 --seconds 0.1"), 1);
  EXPECT_EQ(run("p9 --count 1"), 2);
  EXPECT_EQ(run("p0 --what 1"), 2);
}

INSTANTIATE_TEST_SUITE_P(Languages, ExampleTest, ::testing::Values(HELLO_C, HELLO_CPP));

}  // namespace
}  // namespace suede
