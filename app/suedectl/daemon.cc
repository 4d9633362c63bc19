// SPDX-License-Identifier: Apache-2.0
#include "suedectl/daemon.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "local/listener.h"
#include "local/passing.h"
#include "mgmt/rpc.h"

namespace suede::ctl {
namespace {

constexpr char kSocketName[] = "management.sock";
constexpr size_t kMaxLine = 64u << 20;  // bytes; more than any response

// Reads of members that may be absent or of any type.
std::string MessageOf(const Json& error) {
  const auto message = error.is_object() ? error.find("message") : error.end();
  return message != error.end() && message->is_string() ? message->get<std::string>()
                                                        : "refused without a reason";
}
bool IsNumber(const Json& object, const char* name, uint64_t value) {
  const auto member = object.find(name);
  return member != object.end() && member->is_number() && *member == value;
}

absl::Status Unavailable(std::string message) { return absl::UnavailableError(std::move(message)); }

}  // namespace

std::vector<std::string> Daemon::PathsOf(const std::string& name) {
  std::vector<std::string> paths = {StrCat(RuntimeDirectory(name), "/", kSocketName)};
  const std::string of_root = StrCat("/run/suede/", name, "/", kSocketName);
  if (paths[0] != of_root) paths.push_back(of_root);
  return paths;
}

absl::StatusOr<Daemon> Daemon::Connect(const std::vector<std::string>& paths, int timeout_s,
                                       std::string_view mend) {
  std::string tried;
  for (const std::string& path : paths) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
      return Unavailable(StrCat(path, ": longer than the path of a socket can be"));
    }
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    Daemon daemon(Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    const int fd = daemon.socket_.get();
    const timeval limit{.tv_sec = timeout_s, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      StrAppend(&tried, tried.empty() ? "" : "; ", path, ": ", std::strerror(errno));
      continue;
    }
    absl::StatusOr<Json> greeting = daemon.ReadLine();
    if (!greeting.ok()) return Unavailable(StrCat(path, ": ", greeting.status().message()));
    if (greeting->contains("error")) {
      return Unavailable(StrCat(path, ": ", MessageOf((*greeting)["error"])));
    }
    if (!IsNumber(*greeting, "protocol", kRpcProtocol)) {
      return Unavailable(StrCat(path, ": speaks another protocol than ", kRpcProtocol,
                                "; use the suedectl of its version"));
    }
    const auto kind = greeting->find("kind");
    if (kind != greeting->end() && *kind == NameOf(DaemonKind::kSwitch)) {
      daemon.kind_ = DaemonKind::kSwitch;
    }
    return daemon;
  }
  return Unavailable(StrCat("no daemon: ", tried, "; ", mend));
}

absl::StatusOr<Json> Daemon::Call(std::string_view method, const ForeignJson& params, int fd) {
  const uint64_t id = ++last_id_;
  const std::string line =
      Dump(ForeignJson{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}) +
      "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t sent = SendWithFd(socket_.get(), rest, fd);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return Unavailable(StrCat("the daemon has gone: ", std::strerror(errno)));
    rest.remove_prefix(static_cast<size_t>(sent));
    fd = -1;
  }
  absl::StatusOr<Json> answer = ReadLine();
  if (!answer.ok()) return answer.status();
  if (const auto error = answer->find("error"); error != answer->end()) {
    return absl::AbortedError(MessageOf(*error));
  }
  const auto result = answer->find("result");
  if (result == answer->end() || !IsNumber(*answer, "id", id)) {
    return Unavailable("the daemon's message is no answer to the request");
  }
  return std::move(*result);
}

absl::StatusOr<Json> Daemon::ReadLine() {
  size_t end = 0;
  size_t searched_bytes = 0;
  while ((end = text_.find('\n', searched_bytes)) == std::string::npos) {
    searched_bytes = text_.size();
    char buffer[65536];
    const ssize_t n = recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return Unavailable("the daemon does not answer");
    if (n <= 0 || text_.size() > kMaxLine) return Unavailable("the daemon has gone");
    text_.append(buffer, static_cast<size_t>(n));
  }
  std::optional<Json> json = TryParse<Json>(std::string_view(text_).substr(0, end));
  text_.erase(0, end + 1);
  if (!json || !json->is_object()) return Unavailable("the daemon's message is no JSON object");
  return *std::move(json);
}

}  // namespace suede::ctl
