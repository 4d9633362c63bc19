// SPDX-License-Identifier: Apache-2.0
#include "local/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "local/call_limit.h"
#include "local/socket_state.h"

namespace suede {
namespace {

absl::Status Failed(const std::string& path, const char* what, const char* mend) {
  return absl::UnavailableError(
      absl::StrCat("socket ", path, ": ", what, ": ", std::strerror(errno), "; ", mend));
}

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// Removes the socket that a terminated daemon left.
absl::Status RemoveStale(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("socket ", path, ": another kind of file is there; remove it"));
  }
  const SocketState state = StateOfSocket(path);
  if (state == SocketState::kHeld || state == SocketState::kUnknown) {
    return absl::AlreadyExistsError(absl::StrCat(
        "socket ", path, ": another program listens there; stop it or choose another name"));
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Failed(path, "removing the one of a dead run", "remove it");
  }
  return absl::OkStatus();
}

}  // namespace

std::string RuntimeDirectory(const std::string& name) {
  if (geteuid() == 0) return absl::StrCat("/run/suede/", name);
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != 0) return absl::StrCat(runtime, "/suede/", name);
  return absl::StrCat("/tmp/suede-", geteuid(), "/", name);
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Create(const std::string& path, mode_t mode,
                                                           Kind kind) {
  const int type = kind == Kind::kPackets ? SOCK_SEQPACKET : SOCK_STREAM;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(
        absl::StrCat("socket ", path, ": a path has 1 to ", sizeof address.sun_path - 1, " bytes"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  PathLock lock(path + ".lock");
  if (!lock.ok() && errno == EWOULDBLOCK) {
    return absl::AlreadyExistsError(absl::StrCat(
        "socket ", path, ": a daemon is running there; stop it or choose another name"));
  }
  if (!lock.ok()) return Failed(path + ".lock", "open", "make its directory writable");
  const int spare = OpenSpare();
  int fd = -1;
  const auto give_up = [&](absl::Status status) {
    if (fd >= 0) close(fd);
    close(spare);
    return status;
  };
  if (absl::Status status = RemoveStale(path); !status.ok()) return give_up(status);
  fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return give_up(Failed(path, "socket", "raise the open file limit"));
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return give_up(Failed(path, "bind", "make its directory writable"));
  }
  // No client can connect between bind and chmod: the socket does not listen yet.
  if (chmod(path.c_str(), mode) != 0 || listen(fd, 64) != 0) {
    return give_up(Failed(path, "listen", "check the directory's permissions"));
  }
  return std::unique_ptr<Listener>(
      new Listener(path, std::move(lock), {.socket = fd, .spare = spare}));
}

Listener::~Listener() {
  const CallLimit limit;  // closes connections that wait to be accepted, too
  unlink(path_.c_str());
  close(descriptors_.socket);
  close(descriptors_.spare);
}

int Listener::Accept(bool* turned_away) {
  *turned_away = false;
  const CallLimit limit;
  int client = accept4(descriptors_.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client >= 0 || (errno != EMFILE && errno != ENFILE)) return client;
  close(descriptors_.spare);
  client = accept4(descriptors_.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client >= 0) close(client);
  *turned_away = client >= 0;
  descriptors_.spare = OpenSpare();
  return -1;
}

}  // namespace suede
