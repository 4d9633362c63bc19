// SPDX-License-Identifier: Apache-2.0
#include "suedectl/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "base/text.h"
#include "suedectl/daemon.h"
#include "suedectl/help.h"
#include "suedectl/output_file.h"
#include "suedectl/print.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {
namespace {

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument: return kExitUsage;
    case absl::StatusCode::kUnavailable: return kExitUnreachable;
    default: return kExitFailure;
  }
}

int Fail(const absl::Status& status, std::FILE* err) {
  std::fprintf(err, "suedectl: %s\n", std::string(status.message()).c_str());
  return ExitCodeOf(status);
}

// Opens the file to pass to the daemon, which gets descriptors, not paths.
absl::StatusOr<Fd> OpenDescriptor(const Invocation& invocation) {
  const bool is_written = invocation.method->descriptor->is_written;
  const std::string& path = invocation.descriptor_path;
  const int flags = is_written ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
  Fd file(path == "-" ? dup(is_written ? STDOUT_FILENO : STDIN_FILENO)
                      : open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (file.ok()) return file;
  return absl::AbortedError(
      StrCat(path, ": ", std::strerror(errno), "; give the path of a file that can be ",
             is_written ? "written" : "read"));
}

// Whether the call writes a temporary file that replaces the one at the path.
bool Replaces(const Invocation& invocation) {
  struct stat former {};
  const std::string& path = invocation.descriptor_path;
  return invocation.method->descriptor && invocation.method->descriptor->is_replaced &&
         !path.empty() && path != "-" &&
         (stat(path.c_str(), &former) != 0 || S_ISREG(former.st_mode));
}

// The arguments, parsed for an endpoint and for a switch.
struct Meanings {
  absl::StatusOr<Invocation> of_endpoint;
  absl::StatusOr<Invocation> of_switch;

  const absl::StatusOr<Invocation>& For(DaemonKind kind) const {
    return kind == DaemonKind::kSwitch ? of_switch : of_endpoint;
  }
  // Returns the endpoint's invocation if valid, otherwise the switch's.
  const absl::StatusOr<Invocation>& good() const {
    return of_endpoint.ok() ? of_endpoint : of_switch;
  }
};

// Returns an error if this kind of daemon does not support the command.
absl::Status NotFor(DaemonKind kind, const Meanings& meanings, const Commands& commands) {
  const absl::StatusOr<Invocation>& meant = meanings.good();
  const bool is_known = commands.Find(meant->method->name, kind) != nullptr;
  if (is_known && !meanings.For(kind).ok()) return meanings.For(kind).status();
  if (is_known) return absl::OkStatus();
  const bool is_switch = kind == DaemonKind::kSwitch;
  return absl::InvalidArgumentError(
      StrCat("'", CommandOf(*meant->method), "' is for ", is_switch ? "endpoints" : "switches",
             ", and this daemon is ", is_switch ? "a switch" : "an endpoint",
             "; 'suedectl rpc describe' has its methods"));
}

// Sets the parameters that name an XPU to its number.
absl::Status ResolveXpus(Daemon& daemon, Invocation* invocation) {
  if (invocation->xpu_names.empty()) return absl::OkStatus();
  const XpuNames names = NamesOf(daemon);
  for (const auto& [parameter, name] : invocation->xpu_names) {
    const absl::StatusOr<uint64_t> xpu = NumberOfXpu(parameter, name, names);
    if (!xpu.ok()) return xpu.status();
    invocation->params[parameter] = *xpu;
  }
  return absl::OkStatus();
}

int CallMethod(const Meanings& meanings, const Commands& commands, std::FILE* out, std::FILE* err) {
  const GlobalFlags& flags = meanings.good()->flags;
  absl::StatusOr<Daemon> daemon = Daemon::Connect(
      flags.socket.empty() ? Daemon::PathsOf(flags.endpoint) : std::vector{flags.socket});
  if (!daemon.ok()) return Fail(daemon.status(), err);
  if (absl::Status s = NotFor(daemon->kind(), meanings, commands); !s.ok()) return Fail(s, err);
  Invocation invocation = *meanings.For(daemon->kind());
  if (absl::Status s = ResolveXpus(*daemon, &invocation); !s.ok()) return Fail(s, err);
  Fd file;
  const bool replaces = Replaces(invocation);
  if (!replaces && invocation.method->descriptor && !invocation.descriptor_path.empty()) {
    absl::StatusOr<Fd> opened = OpenDescriptor(invocation);
    if (!opened.ok()) return Fail(opened.status(), err);
    file = *std::move(opened);
  }
  if (invocation.daemon != nullptr) {
    const absl::Status end =
        invocation.daemon->run(*daemon, invocation.params, flags, out, err);
    return end.ok() ? kExitDone : Fail(end, err);
  }
  for (uint32_t i = 0;; ++i) {
    std::optional<OutputFile> replacing;
    if (replaces) {
      absl::StatusOr<OutputFile> opened = OutputFile::Open(invocation.descriptor_path);
      if (!opened.ok()) return Fail(opened.status(), err);
      replacing.emplace(*std::move(opened));
    }
    const absl::StatusOr<Json> result =
        daemon->Call(invocation.method->name, invocation.params,
                     replacing ? replacing->fd() : file.get());
    if (!result.ok()) return Fail(result.status(), err);
    if (replacing) {
      if (absl::Status put = replacing->Commit(); !put.ok()) return Fail(put, err);
    }
    const std::string text =
        flags.json ? Dump(*result) + "\n" : ToText(WithNames(*result, *daemon), flags.columns());
    if (i != 0 && !flags.json) std::fputs("\n", out);
    std::fputs(text.c_str(), out);
    if (std::fflush(out) != 0) return kExitFailure;
    if (flags.every_s == 0 || i + 1 == flags.times) return kExitDone;
    std::this_thread::sleep_for(std::chrono::duration<double>(flags.every_s));
  }
}

int RunLocal(const Invocation& invocation, std::FILE* out, std::FILE* err) {
  std::vector<std::string_view> arguments(invocation.arguments.begin(),
                                          invocation.arguments.end());
  if (invocation.flags.json && invocation.local->takes_json) arguments.emplace_back("--json");
  if (invocation.flags.wide && invocation.local->takes_json) arguments.emplace_back("--wide");
  return invocation.local->run(arguments, stdin, out, err);
}

// Returns the error of arguments that are invalid for both kinds of daemon: from the kind that has
// the command.
absl::Status ErrorOf(const Meanings& meanings) {
  const absl::Status& of_endpoint = meanings.of_endpoint.status();
  const absl::Status& of_switch = meanings.of_switch.status();
  const auto is_unknown = [](const absl::Status& status) {
    return absl::StartsWith(status.message(), "unknown command");
  };
  return is_unknown(of_endpoint) && !is_unknown(of_switch) ? of_switch : of_endpoint;
}

std::string HelpFor(const Invocation& invocation, const Commands& commands) {
  if (invocation.method == nullptr) return Help(commands, invocation.group);
  std::string text = HelpOf(*invocation.method);
  const Method* const other = commands.Find(invocation.method->name, DaemonKind::kSwitch);
  if (other == nullptr || HelpOf(*other) == text) return text;
  return StrCat(text, "\nOf a switch:\n\n", HelpOf(*other));
}

}  // namespace

int Run(const std::vector<std::string>& arguments, const Commands& commands,
        const char* const* environment, const std::string& version, std::FILE* out,
        std::FILE* err) {
  Meanings meanings{.of_endpoint = ParseCommandLine(arguments, commands, environment),
                    .of_switch = absl::InvalidArgumentError("no commands for switches")};
  if (commands.switch_catalog != nullptr) {
    meanings.of_switch = ParseCommandLine(arguments, commands, environment, DaemonKind::kSwitch);
  } else {
    meanings.of_switch = meanings.of_endpoint;
  }
  const absl::StatusOr<Invocation>& invocation = meanings.good();
  if (!invocation.ok()) return Fail(ErrorOf(meanings), err);
  if (invocation->local != nullptr) return RunLocal(*invocation, out, err);
  if (invocation->flags.version) {
    std::fprintf(out, "suedectl %s\n", version.c_str());
    return kExitDone;
  }
  if (invocation->flags.help) {
    std::fputs(HelpFor(*invocation, commands).c_str(), out);
    return kExitDone;
  }
  return CallMethod(meanings, commands, out, err);
}

}  // namespace suede::ctl
