// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace suede::simbricks {
namespace {

constexpr size_t kHeader = 64;
constexpr size_t kOwner = 63;
constexpr uint8_t kConsumer = 0x80;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

template <typename Integer>
Integer At(const uint8_t* entry, size_t offset) {
  Integer value;
  std::memcpy(&value, entry + offset, sizeof value);
  return value;
}

}  // namespace

std::string Words(const std::vector<uint64_t>& words, size_t rest) {
  std::string bytes(words.size() * 8 + rest, '\0');
  std::memcpy(bytes.data(), words.data(), words.size() * 8);
  return bytes;
}

void Peer::Close() {
  if (socket_ >= 0) close(socket_);
  if (memory_ != nullptr) munmap(memory_, memory_bytes_);
  if (memory_fd_ >= 0) close(memory_fd_);
  socket_ = memory_fd_ = -1;
  memory_ = nullptr;
}

void Peer::AdoptSocket(int socket, bool accepts) {
  Close();
  socket_ = accepts ? accept4(socket, nullptr, nullptr, SOCK_CLOEXEC) : socket;
  ASSERT_GE(socket_, 0);
}

bool Peer::IsTurnedAway() {
  char bytes[4096];
  ssize_t n;
  while ((n = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
  }
  return n == 0 || errno == ECONNRESET;
}

void Peer::Map(int fd) {
  struct stat file {};
  ASSERT_EQ(fstat(fd, &file), 0);
  memory_fd_ = fd;
  memory_bytes_ = static_cast<uint64_t>(file.st_size);
  void* const at = mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(at, MAP_FAILED);
  memory_ = static_cast<uint8_t*>(at);
}

bool Peer::Send(uint8_t type, uint64_t request, uint64_t address, uint64_t bytes,
                const std::vector<uint8_t>& data, uint64_t space) {
  uint8_t* const entry = memory_ + out.offset + out.at % out.entries * out.entry_bytes;
  if ((__atomic_load_n(entry + kOwner, __ATOMIC_ACQUIRE) & kConsumer) != 0) return false;
  std::memcpy(entry, &request, 8);
  std::memcpy(entry + 8, &space, 8);
  std::memcpy(entry + 16, &address, 8);
  std::memcpy(entry + 24, &bytes, 2);
  std::memset(entry + 48, 0xee, 8);  // the time stamp, which counts for nothing
  std::copy_n(data.begin(), std::min(data.size(), out.entry_bytes - kHeader), entry + kHeader);
  __atomic_store_n(entry + kOwner, static_cast<uint8_t>(type | kConsumer), __ATOMIC_RELEASE);
  ++out.at;
  return true;
}

std::optional<Peer::Got> Peer::Receive() {
  uint8_t* const entry = memory_ + in.offset + in.at % in.entries * in.entry_bytes;
  const uint8_t type = __atomic_load_n(entry + kOwner, __ATOMIC_ACQUIRE);
  if ((type & kConsumer) == 0) return std::nullopt;
  Got got{.type = static_cast<uint8_t>(type & ~kConsumer),
          .request = At<uint64_t>(entry, 0),
          .space = At<uint64_t>(entry, 8),
          .address = At<uint64_t>(entry, 16),
          .bytes = At<uint16_t>(entry, 24),
          .data = {entry + kHeader, entry + in.entry_bytes}};
  EXPECT_EQ(At<uint64_t>(entry, 48), 0u) << "the time stamp";
  __atomic_store_n(entry + kOwner, got.type, __ATOMIC_RELEASE);
  ++in.at;
  return got;
}

void Peer::Connect(const std::string& path) {
  AdoptSocket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), /*accepts=*/false);
  const sockaddr_un address = AddressOf(path);
  ASSERT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

void Peer::SendIntro(const std::string& intro) {
  ASSERT_EQ(send(socket_, intro.data(), intro.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(intro.size()));
}

bool Peer::TakeIntro() {
  uint8_t intro[2048];
  iovec data{.iov_base = intro, .iov_len = sizeof intro};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(socket_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (n != 84 || rights == nullptr) return false;
  EXPECT_EQ(At<uint64_t>(intro, 0), 1u);
  EXPECT_EQ(At<uint64_t>(intro, 8), 0u) << "no synchronisation is offered";
  EXPECT_EQ(At<uint64_t>(intro, 72), 80u);
  int fd;
  std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  Map(fd);
  in = {At<uint64_t>(intro, 16), At<uint64_t>(intro, 24), At<uint64_t>(intro, 32)};
  out = {At<uint64_t>(intro, 40), At<uint64_t>(intro, 48), At<uint64_t>(intro, 56)};
  return true;
}

int Peer::Listen(const std::string& path) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = AddressOf(path);
  EXPECT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener, 8), 0);
  return listener;
}

void Peer::MakeMemory(uint64_t entry_bytes, uint64_t entries) {
  const int fd = memfd_create("simulator", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(2 * entry_bytes * entries)), 0);
  Map(fd);
  out = {0, entry_bytes, entries};
  in = {entry_bytes * entries, entry_bytes, entries};
}

std::string Peer::ListenerIntro(uint64_t upper) const {
  return Words({1, 0, out.offset, out.entry_bytes, out.entries, in.offset, in.entry_bytes,
                in.entries, upper, 80},
               4);
}

void Peer::SendListenerIntro(const std::string& intro, const std::vector<int>& fds) {
  iovec data{.iov_base = const_cast<char*>(intro.data()), .iov_len = intro.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
  }
  ASSERT_EQ(sendmsg(socket_, &header, MSG_NOSIGNAL), static_cast<ssize_t>(intro.size()));
}

Directory::Directory() {
  char path[] = "/tmp/suede-simbricks-XXXXXX";
  path_ = mkdtemp(path);
}

Directory::~Directory() { std::filesystem::remove_all(path_); }

}  // namespace suede::simbricks
