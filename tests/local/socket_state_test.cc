// SPDX-License-Identifier: Apache-2.0
#include "local/socket_state.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "local/fd.h"

namespace suede {
namespace {

class SocketStateTest : public ::testing::TestWithParam<int> {
 protected:
  SocketStateTest() { std::filesystem::create_directory(directory_); }
  ~SocketStateTest() override { std::filesystem::remove_all(directory_); }

  void Bind(const std::string& path) {
    fd_ = Fd(socket(AF_UNIX, GetParam() | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    ASSERT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  const std::string directory_ = "/tmp/suede_socket_state_" + std::to_string(getpid());
  const std::string path_ = directory_ + "/s.sock";
  Fd fd_;
};

TEST_P(SocketStateTest, IsKnownWithoutAConnection) {
  EXPECT_EQ(StateOfSocket(path_), SocketState::kAbsent);
  Bind(path_);
  EXPECT_EQ(StateOfSocket(path_), SocketState::kHeld);
  ASSERT_EQ(listen(fd_.get(), 1), 0);
  EXPECT_EQ(StateOfSocket(path_), SocketState::kHeld);
  pollfd connections{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&connections, 1, 0), 0);
  fd_.Reset();
  EXPECT_EQ(StateOfSocket(path_), SocketState::kDead);
}

TEST_P(SocketStateTest, FollowsTheFileAndNotItsName) {
  Bind(path_);
  const std::string link = directory_ + "/link.sock";
  std::filesystem::create_symlink(path_, link);
  EXPECT_EQ(StateOfSocket(link), SocketState::kHeld);
  const std::string moved = directory_ + "/moved.sock";
  std::filesystem::rename(path_, moved);
  EXPECT_EQ(StateOfSocket(moved), SocketState::kHeld);
}

INSTANTIATE_TEST_SUITE_P(Types, SocketStateTest, ::testing::Values(SOCK_SEQPACKET, SOCK_STREAM));

TEST(SocketState, OtherFilesAreNotDeadSockets) {
  const std::string path = "/tmp/suede_socket_state_file_" + std::to_string(getpid());
  std::ofstream(path) << "text";
  EXPECT_NE(StateOfSocket(path), SocketState::kHeld);
  std::filesystem::remove(path);
  EXPECT_EQ(StateOfSocket(std::string(200, 'a')), SocketState::kUnknown);
}

TEST(SocketState, AnAbstractNameIsInTheKernelsList) {
  const std::string name = "suede_socket_state_" + std::to_string(getpid());
  EXPECT_FALSE(IsAbstractNameHeld(name));
  const Fd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path + 1, name.c_str());
  // Padded with zero bytes to the whole size, as drivers do.
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(IsAbstractNameHeld(name));
  EXPECT_FALSE(IsAbstractNameHeld(name + "x"));
}

}  // namespace
}  // namespace suede
