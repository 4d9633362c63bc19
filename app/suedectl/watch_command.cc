// SPDX-License-Identifier: Apache-2.0
#include "suedectl/watch_command.h"

#include <cstdint>
#include <optional>

#include "base/text.h"
#include "suedectl/command_line.h"
#include "suedectl/json_members.h"

namespace suede::ctl {
namespace {

// Wait of events.wait; shorter than the timeout of Daemon::Call.
constexpr int kWaitSeconds = 5;

std::string TextOf(const Json& value) {
  if (!value.is_string()) return Dump(value);
  const auto& text = value.get_ref<const std::string&>();
  return text.empty() || text.find(' ') != std::string::npos ? Dump(value) : text;
}

std::string MemberText(const Json& event, const char* name) {
  const Json* const member = MemberOf(event, name);
  return member != nullptr ? TextOf(*member) : "-";
}

}  // namespace

std::string EventLine(const Json& event, const XpuNames& names) {
  const std::string severity = MemberText(event, "severity");
  std::string line = StrCat(MemberText(event, "time"), " ", severity,
                            std::string(severity.size() < 7 ? 7 - severity.size() : 0, ' '), " ",
                            MemberText(event, "kind"));
  for (const auto& member : event.items()) {
    const std::string& name = member.key();
    if (name == "time" || name == "severity" || name == "kind" || name == "sequence") continue;
    StrAppend(&line, " ", name, "=", TextOf(member.value()));
    const std::optional<uint64_t> xpu = NumberOf(event, name.c_str());
    const auto found = xpu && TakesXpu(name) ? names.find(*xpu) : names.end();
    if (found != names.end()) StrAppend(&line, " (", found->second, ")");
  }
  return line + "\n";
}

absl::Status RunWatchEvents(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                            FILE* out, FILE* err) {
  ForeignJson request = params;
  const uint64_t max = params.contains("count") ? params["count"].get<uint64_t>() : 0;
  request.erase("count");
  if (!request.contains("since")) {
    const absl::StatusOr<Json> now = daemon.Call("events.list", ForeignJson{{"limit", 1}});
    if (!now.ok()) return now.status();
    request["since"] = NumberOr0(*now, "next");
  }
  request["seconds"] = kWaitSeconds;
  const XpuNames names = flags.json ? XpuNames() : NamesOf(daemon);
  std::fprintf(err, "watching events after sequence %s\n", Dump(request["since"]).c_str());
  for (uint64_t shown = 0;;) {
    const absl::StatusOr<Json> answer = daemon.Call("events.wait", request);
    if (!answer.ok()) return answer.status();
    if (const uint64_t lost = NumberOr0(*answer, "lost"); lost != 0) {
      std::fprintf(err, "%llu events lost\n", static_cast<unsigned long long>(lost));
      if (flags.json) std::fprintf(out, "%s\n", Dump(Json{{"lost", lost}}).c_str());
    }
    const Json* const events = MemberOf(*answer, "events");
    if (events == nullptr || !events->is_array()) {
      return absl::UnavailableError("the daemon's message has no events");
    }
    for (const Json& event : *events) {
      if (!event.is_object()) return absl::UnavailableError("the daemon has sent a bad event");
      std::fputs(flags.json ? (Dump(event) + "\n").c_str() : EventLine(event, names).c_str(), out);
      if (++shown == max) return std::fflush(out), absl::OkStatus();
    }
    if (std::fflush(out) != 0) return absl::AbortedError("cannot write the output");
    request["since"] = NumberOr0(*answer, "next");
  }
}

}  // namespace suede::ctl
