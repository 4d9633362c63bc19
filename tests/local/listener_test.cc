// SPDX-License-Identifier: Apache-2.0
#include "local/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace suede {
namespace {

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() { std::filesystem::create_directory(directory_); }
  ~ListenerTest() override { std::filesystem::remove_all(directory_); }
  auto Listen() { return Listener::Create(path_, 0600); }
  size_t Files() {
    const std::filesystem::directory_iterator files(directory_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  const std::string directory_ = "/tmp/suede_listener_" + std::to_string(getpid());
  const std::string path_ = directory_ + "/s.sock";
};

TEST_F(ListenerTest, LeavesNoFile) {
  for (int round = 0; round < 2; ++round) {
    const auto listener = Listen();
    ASSERT_TRUE(listener.ok()) << listener.status();
    EXPECT_EQ(Files(), 2u);
    const auto other = Listen();
    EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(Files(), 2u);
  }
  EXPECT_EQ(Files(), 0u);
}

TEST_F(ListenerTest, LeavesNoLockBesideAnotherFile) {
  std::ofstream{path_} << "text";
  EXPECT_EQ(Listen().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Files(), 1u);
}

TEST_F(ListenerTest, ReplacesTheFilesOfAKilledProcess) {
  const pid_t child = fork();
  if (child == 0) {
    const auto listener = Listen();
    raise(SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(Files(), 2u);
  EXPECT_TRUE(Listen().ok());
  EXPECT_EQ(Files(), 0u);
}

// Holders remove the file under the eyes of others.
TEST_F(ListenerTest, ALockHasOneHolderAtATime) {
  std::atomic<int> holders = 0;
  std::atomic<int> max_holders = 1;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (taken.load() < 500) {
        const PathLock lock(path_);
        if (!lock.ok()) continue;
        const int now = ++holders;
        if (now > 1) max_holders = now;
        ++taken;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(max_holders.load(), 1);
  EXPECT_EQ(Files(), 0u);
}

}  // namespace
}  // namespace suede
