// SPDX-License-Identifier: Apache-2.0
#include "suedectl/trace_command.h"

#include <optional>
#include <string>

#include "suedectl/command_line.h"
#include "suedectl/trace_rows.h"

namespace suede::ctl {

absl::Status RunTraceShow(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags,
                          FILE* out, FILE*) {
  ForeignJson wanted = ForeignJson::object();
  for (const char* name : {"xpu", "instance"}) {
    if (params.contains(name)) wanted[name] = params[name];
  }
  const absl::StatusOr<Json> own = daemon.Call("trace.list", wanted);
  if (!own.ok()) return own.status();
  std::optional<Json> far_rows;
  if (params.contains("with")) {
    absl::StatusOr<Daemon> far = Daemon::Connect({params["with"].get<std::string>()}, 10,
                                                 "start it, or name another by --with");
    if (!far.ok()) return far.status();
    absl::StatusOr<Json> answer = far->Call("trace.list", ForeignJson::object());
    if (!answer.ok()) return answer.status();
    far_rows = *std::move(answer);
  }
  const Json trace = TraceJson(*own, far_rows ? &*far_rows : nullptr);
  const std::string text =
      flags.json ? Dump(trace) + "\n" : TraceText(trace, flags.columns(), NamesOf(daemon));
  std::fputs(text.c_str(), out);
  return std::fflush(out) == 0 ? absl::OkStatus() : absl::AbortedError("cannot write the output");
}

}  // namespace suede::ctl
