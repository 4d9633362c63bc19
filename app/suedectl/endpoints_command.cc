// SPDX-License-Identifier: Apache-2.0
#include "suedectl/endpoints_command.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.h"
#include "local/fd.h"
#include "local/listener.h"
#include "suedectl/daemon.h"
#include "suedectl/exit_codes.h"
#include "suedectl/print.h"

namespace suede::ctl {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutS = 2;
constexpr std::string_view kSystemRoot = "/run/suede";

// Returns 0 if a process listens on the socket, otherwise an errno.
int ErrorOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  // EAGAIN: the daemon runs, and its listen backlog is full.
  const Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (connect(probe.get(), to, sizeof address) == 0 || errno == EAGAIN) return 0;
  return errno;
}

Json Describe(const fs::path& directory) {
  Json row{{"name", directory.filename().string()},
           {"state", "dead"},
           {"pid", nullptr},
           {"uptime_s", nullptr},
           {"version", nullptr},
           {"directory", directory.string()},
           {"says", ""}};
  const std::string path = (directory / "management.sock").string();
  switch (const int error = ErrorOf(path)) {
    case 0: break;
    case ECONNREFUSED:
      row["says"] = "its daemon was killed; its next start removes the files";
      return row;
    case ENOENT:
      // A daemon that ends normally leaves only its directory.
      row["state"] = "ended";
      row["says"] = "no management socket here: it has ended, or has it elsewhere";
      return row;
    default:
      row["state"] = "unknown";
      row["says"] = std::strerror(error);
      return row;
  }
  row["state"] = "silent";
  absl::StatusOr<Daemon> daemon = Daemon::Connect({path}, kTimeoutS);
  const absl::StatusOr<Json> version =
      daemon.ok() ? daemon->Call("version", ForeignJson::object())
                  : absl::StatusOr<Json>(daemon.status());
  if (!version.ok()) {
    row["says"] = std::string(version.status().message());
    return row;
  }
  row["state"] = "running";
  for (const auto& [member, from] : {std::pair{"pid", "pid"}, {"uptime_s", "uptime_s"},
                                     {"version", "suede"}, {"name", "name"}}) {
    if (version->contains(from)) row[member] = (*version)[from];
  }
  return row;
}

void AddSubdirectories(const fs::path& root, std::set<fs::path>* all) {
  std::error_code error;
  for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) all->insert(at->path());
  }
}

int Usage(FILE* err, std::string_view argument) {
  std::fprintf(err, "suedectl: endpoints takes --json and --wide, and not '%s'\n",
               std::string(argument).c_str());
  return kExitUsage;
}

}  // namespace

std::vector<std::string> RuntimeRoots() {
  std::set<std::string> roots = {std::string(kSystemRoot),
                                 fs::path(RuntimeDirectory("x")).parent_path().string()};
  if (geteuid() == 0) {
    std::set<fs::path> found;
    AddSubdirectories("/tmp", &found);
    std::erase_if(found, [](const fs::path& path) {
      return !path.filename().string().starts_with("suede-") ||
             path.filename().string().find_first_not_of("0123456789", 6) != std::string::npos;
    });
    for (const fs::path& path : found) roots.insert(path.string());
    found.clear();
    AddSubdirectories("/run/user", &found);
    for (const fs::path& path : found) roots.insert((path / "suede").string());
  }
  return {roots.begin(), roots.end()};
}

Json ListEndpoints(const std::vector<std::string>& roots) {
  std::set<fs::path> directories;
  for (const std::string& root : roots) AddSubdirectories(root, &directories);
  std::vector<Json> rows;
  for (const fs::path& directory : directories) rows.push_back(Describe(directory));
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return a["name"].get<std::string>() < b["name"].get<std::string>();
  });
  return Json{{"endpoints", rows}};
}

int RunEndpoints(std::span<const std::string_view> arguments, FILE*, FILE* out, FILE* err) {
  bool json = false;
  bool wide = false;
  for (const std::string_view argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      std::fputs(
          "suedectl endpoints: the endpoints that run on this machine.\n\n"
          "usage: suedectl endpoints [--json] [--wide]\n\n"
          "Found by their runtime directories (/run/suede, and the caller's own; for root\n"
          "those of all users), and each asked. States: running; silent: it does not\n"
          "answer; dead: it was killed and left its sockets behind; ended: only the files\n"
          "of locks are left; unknown: the caller may not ask.\n",
          out);
      return kExitDone;
    }
    const bool is_wide = argument == "--wide";
    if (!is_wide && argument != "--json" && argument != "-j") return Usage(err, argument);
    (is_wide ? wide : json) = true;
  }
  const Json list = ListEndpoints(RuntimeRoots());
  const std::string text = json ? Dump(list) + "\n" : ToText(list, wide ? SIZE_MAX : kTextColumns);
  std::fputs(text.c_str(), out);
  return std::fflush(out) == 0 ? kExitDone : kExitFailure;
}

}  // namespace suede::ctl
