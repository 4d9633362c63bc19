// SPDX-License-Identifier: Apache-2.0
// The messages to the watchdog, against a notification socket of the test's own.
#include "daemon/notifier.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace suede {
namespace {

using std::chrono::milliseconds;

TEST(LcoreWatchTest, EveryLcoreMustMove) {
  LcoreWatch watch(2);
  EXPECT_TRUE(watch.AllMoved(std::vector<uint64_t>{1, 1}));
  watch.Restart();
  EXPECT_FALSE(watch.AllMoved(std::vector<uint64_t>{1, 1}));
  EXPECT_FALSE(watch.AllMoved(std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(watch.stuck(), 1u);
  // The other one may move at another look.
  EXPECT_TRUE(watch.AllMoved(std::vector<uint64_t>{2, 2}));
  watch.Restart();
  EXPECT_FALSE(watch.AllMoved(std::vector<uint64_t>{2, 2}));
  EXPECT_EQ(watch.stuck(), 0u);
}

class NotifierTest : public ::testing::Test {
 protected:
  NotifierTest() {
    char name[] = "/tmp/suede-notify-XXXXXX";
    directory_ = mkdtemp(name);
    const std::string path = directory_ + "/s";
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    setenv("WATCHDOG_USEC", "300000", 1);
    unsetenv("WATCHDOG_PID");
  }
  ~NotifierTest() override {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(fd_);
    std::filesystem::remove_all(directory_);
  }

  // The next message; empty: none has come.
  std::string Message() {
    char text[512];
    const ssize_t size = recv(fd_, text, sizeof text, 0);
    return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
  }

  std::string directory_;
  int fd_ = -1;
};

TEST_F(NotifierTest, SaysWhatItIsToldOnce) {
  Notifier notifier(1);
  notifier.Ready("serving");
  EXPECT_EQ(Message(), "READY=1\nSTATUS=serving");
  notifier.Status("serving");
  EXPECT_EQ(Message(), "");
  notifier.Status("serving more");
  EXPECT_EQ(Message(), "STATUS=serving more");
  notifier.Stopping(milliseconds(1500));
  EXPECT_EQ(Message(), "STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=1500000");
}

TEST_F(NotifierTest, BeatsAThirdOfTheIntervalWhileLcoresTurn) {
  Notifier notifier(2);
  Notifier::Clock::time_point now{};
  std::vector<uint64_t> progress = {0, 0};
  int beats = 0;
  for (int ms = 0; ms < 1000; ms += 10) {
    ++progress[0];
    ++progress[1];
    EXPECT_EQ(notifier.Beat(now + milliseconds(ms), progress), -1);
    while (Message() == "WATCHDOG=1") ++beats;
  }
  EXPECT_EQ(beats, 10);
}

TEST_F(NotifierTest, AnLcoreThatHangsKeepsTheBeatBackAndIsNamedOnce) {
  Notifier notifier(2);
  const Notifier::Clock::time_point start{};
  std::vector<uint64_t> progress = {1, 1};
  EXPECT_EQ(notifier.Beat(start, progress), -1);
  EXPECT_EQ(Message(), "WATCHDOG=1");
  std::vector<int> named;
  for (int ms = 10; ms < 1000; ms += 10) {
    ++progress[0];
    if (const int lcore = notifier.Beat(start + milliseconds(ms), progress); lcore >= 0) {
      named.push_back(lcore);
    }
  }
  EXPECT_EQ(named, std::vector<int>{1});
  EXPECT_EQ(Message(), "");
  ++progress[1];
  EXPECT_EQ(notifier.Beat(start + milliseconds(1000), progress), -1);
  EXPECT_EQ(Message(), "WATCHDOG=1");
}

TEST_F(NotifierTest, BeatsNotWhereNobodyAsked) {
  unsetenv("WATCHDOG_USEC");
  Notifier notifier(1);
  EXPECT_EQ(notifier.Beat({}, std::vector<uint64_t>{1}), -1);
  EXPECT_EQ(Message(), "");
}

}  // namespace
}  // namespace suede
