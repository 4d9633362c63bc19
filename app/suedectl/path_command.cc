// SPDX-License-Identifier: Apache-2.0
#include "suedectl/path_command.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/text.h"
#include "suedectl/command_line.h"
#include "suedectl/json_members.h"
#include "suedectl/path_experiments.h"
#include "suedectl/path_incast.h"
#include "suedectl/path_judge.h"
#include "suedectl/path_plan.h"
#include "suedectl/path_text.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {
namespace {

using Clock = PathProber::Clock;

constexpr uint32_t kDefaultCount = 200;
constexpr uint32_t kDefaultSeconds = 10;
constexpr uint32_t kMaxCaptureSeconds = 600;
constexpr char kForeign[] = "rx_drop_destination_total";

std::optional<uint32_t> Given(const ForeignJson& params, const char* name) {
  if (!params.contains(name)) return std::nullopt;
  return params[name].get<uint32_t>();
}
bool IsSet(const ForeignJson& params, const char* name) {
  return params.contains(name) && params[name].get<bool>();
}

PathCall CallOf(Daemon& daemon) {
  return [&daemon](std::string_view method, const ForeignJson& params) {
    return daemon.Call(method, params);
  };
}

// A capture of the own port around the run.
class PortCapture {
 public:
  static absl::StatusOr<std::unique_ptr<PortCapture>> Start(Daemon& daemon, const std::string& path,
                                                            const PathTask& task) {
    if (task.planes.size() != 1) {
      return absl::InvalidArgumentError(StrCat("--capture: ", task.planes.size(),
                                               " planes lead to the peer; choose one by --plane"));
    }
    const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.ok()) {
      return absl::AbortedError(
          StrCat("cannot write ", path, ": ", std::strerror(errno), "; pass another --capture"));
    }
    const ForeignJson params{{"port", task.planes[0].port}, {"seconds", kMaxCaptureSeconds}};
    const absl::StatusOr<Json> begun = daemon.Call("capture.start", params, file.get());
    if (!begun.ok()) return begun.status();
    return std::unique_ptr<PortCapture>(new PortCapture(daemon, task.planes[0].port));
  }
  ~PortCapture() {
    if (!is_done_) static_cast<void>(Stop());
  }
  PortCapture(const PortCapture&) = delete;
  PortCapture& operator=(const PortCapture&) = delete;

  absl::Status Stop() {
    is_done_ = true;
    return daemon_.Call("capture.stop", {{"port", port_}}).status();
  }

 private:
  PortCapture(Daemon& daemon, std::string port) : daemon_(daemon), port_(std::move(port)) {}

  Daemon& daemon_;
  const std::string port_;
  bool is_done_ = false;
};

// The frames for other addresses that an endpoint got.
absl::StatusOr<uint64_t> ForeignFrames(Daemon& daemon) {
  const absl::StatusOr<Json> result = daemon.Call("counters.get", ForeignJson::object());
  if (!result.ok()) return result.status();
  const Json& sets = ListOf(*result, "sets");
  const Json* const counters = sets.empty() ? nullptr : MemberOf(sets[0], "counters");
  return counters == nullptr ? 0 : NumberOr0(*counters, kForeign);
}

struct Senders {
  std::vector<PathSender> given;
  std::deque<Daemon> daemons;  // as `given`
  std::deque<PathProber> probers;

  absl::Status Connect(uint32_t peer) {
    for (const PathSender& sender : given) {
      absl::StatusOr<Daemon> daemon =
          Daemon::Connect({sender.socket}, 10, "start it, or name another by --with");
      if (!daemon.ok()) return daemon.status();
      daemons.push_back(*std::move(daemon));
      probers.emplace_back(CallOf(daemons.back()),
                           PathEnds{.xpu = sender.xpu, .instance = {}, .peer = peer});
    }
    return absl::OkStatus();
  }
};

class PathRunner {
 public:
  PathRunner(Daemon& daemon, const PathTask& task, const ForeignJson& params, Senders& senders)
      : task_(task),
        params_(params),
        senders_(senders),
        prober_(
            CallOf(daemon),
            {.xpu = task.xpu, .instance = task.instance, .peer = params["peer"].get<uint32_t>()}) {}

  absl::StatusOr<PathResult> Run() {
    const Clock::time_point begun = Clock::now();
    PathResult result{.xpu = task_.xpu,
                      .instance = task_.instance,
                      .peer = params_["peer"].get<uint32_t>(),
                      .disruptive = IsSet(params_, "disruptive"),
                      .planes = {}};
    if (result.disruptive) result.senders += static_cast<uint32_t>(senders_.probers.size());
    for (const PathPlan& plan : task_.planes) {
      PlaneResult& plane = result.planes.emplace_back();
      plane.plan = plan;
      if (absl::Status s = RunPlane(result.disruptive, &plane); !s.ok()) return s;
    }
    result.frames = prober_.frames();
    result.bytes = prober_.bytes();
    for (const PathProber& sender : senders_.probers) {
      result.frames += sender.frames();
      result.bytes += sender.bytes();
    }
    result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    return result;
  }

 private:
  absl::Status RunPlane(bool disruptive, PlaneResult* plane) {
    const Clock::time_point deadline =
        Clock::now() + std::chrono::seconds(Given(params_, "seconds").value_or(kDefaultSeconds));
    const uint64_t before = prober_.frames();
    std::vector<uint64_t> foreign;
    if (absl::Status s = CountForeign(&foreign); !s.ok()) return s;
    prober_.Permit(kMaxPathFrames, deadline);
    const uint32_t count = Given(params_, "count").value_or(kDefaultCount);
    if (absl::Status s = RunExperiments(prober_, count, plane); !s.ok()) return s;
    std::vector<uint64_t> after;
    if (absl::Status s = CountForeign(&after); !s.ok()) return s;
    for (size_t i = 0; i < after.size(); ++i) {
      plane->bystanders.push_back({.socket = senders_.given[i].socket,
                                   .foreign = after[i] - foreign[i],
                                   .sent = static_cast<uint32_t>(prober_.frames() - before)});
    }
    if (!disruptive || plane->state != "done" || plane->was_cut) return absl::OkStatus();
    std::vector<PathProber*> all = {&prober_};
    for (PathProber& sender : senders_.probers) all.push_back(&sender);
    for (PathProber* const sender : all) sender->Permit(kMaxBurstFrames, deadline);
    return RunIncast(all, plane);
  }

  absl::Status CountForeign(std::vector<uint64_t>* counts) {
    for (Daemon& daemon : senders_.daemons) {
      const absl::StatusOr<uint64_t> count = ForeignFrames(daemon);
      if (!count.ok()) return count.status();
      counts->push_back(*count);
    }
    return absl::OkStatus();
  }

  const PathTask& task_;
  const ForeignJson& params_;
  Senders& senders_;
  PathProber prober_;
};

absl::StatusOr<PathTask> TaskOf(Daemon& daemon, const ForeignJson& params) {
  const absl::StatusOr<Json> config = daemon.Call("config.get", ForeignJson::object());
  if (!config.ok()) return config.status();
  const Json* const yaml = MemberOf(*config, "yaml");
  if (yaml == nullptr || !yaml->is_string()) {
    return absl::UnavailableError("the daemon's message has no configuration");
  }
  return PlanPath(yaml->get<std::string>(), {.peer = params["peer"].get<uint32_t>(),
                                             .xpu = Given(params, "xpu"),
                                             .instance = Given(params, "instance"),
                                             .plane = Given(params, "plane"),
                                             .traffic_class = Given(params, "class")});
}

absl::Status EndOf(const PathResult& result, const std::vector<PathFinding>& findings) {
  const auto has_answers = [](const PlaneResult& plane) {
    return std::any_of(plane.classes.begin(), plane.classes.end(),
                       [](const ClassResult& of) { return of.figures.answered != 0; });
  };
  if (std::none_of(result.planes.begin(), result.planes.end(), has_answers)) {
    return absl::UnavailableError(
        StrCat("XPU ", result.peer_text, " answered no probe; see the reasons above"));
  }
  const auto count = std::count_if(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.verdict >= PathVerdict::kWarn;
  });
  if (count == 0) return absl::OkStatus();
  return absl::AbortedError(StrCat(count, count == 1 ? " check" : " checks", " of the path to XPU ",
                                   result.peer_text, " failed; docs/path.md explains them"));
}

}  // namespace

absl::StatusOr<std::vector<PathSender>> ParsePathSenders(std::string_view text) {
  std::vector<PathSender> senders;
  if (text.empty()) return senders;
  for (const std::string_view part : Split(text, ',')) {
    const size_t at = part.rfind('@');
    PathSender sender{.socket = std::string(part.substr(0, at)), .xpu = {}};
    uint32_t xpu = 0;
    if (at != std::string_view::npos) {
      if (!absl::SimpleAtoi(std::string(part.substr(at + 1)), &xpu) || xpu > 1023) {
        return absl::InvalidArgumentError(
            StrCat("--with: '", part, "' has no XPU from 0 to 1023 behind '@'; give SOCKET@XPU"));
      }
      sender.xpu = xpu;
    }
    if (sender.socket.empty()) {
      return absl::InvalidArgumentError("--with: a path is missing; give SOCKET, or SOCKET@XPU");
    }
    senders.push_back(std::move(sender));
  }
  return senders;
}

absl::Status RunPath(Daemon& daemon, const ForeignJson& params, const GlobalFlags& flags, FILE* out,
                     FILE*) {
  absl::StatusOr<std::vector<PathSender>> given =
      ParsePathSenders(params.contains("with") ? params["with"].get<std::string>() : "");
  if (!given.ok()) return given.status();
  const absl::StatusOr<PathTask> task = TaskOf(daemon, params);
  if (!task.ok()) return task.status();
  Senders senders{.given = *std::move(given), .daemons = {}, .probers = {}};
  if (absl::Status s = senders.Connect(params["peer"].get<uint32_t>()); !s.ok()) return s;
  std::unique_ptr<PortCapture> capture;
  if (params.contains("capture")) {
    auto begun = PortCapture::Start(daemon, params["capture"].get<std::string>(), *task);
    if (!begun.ok()) return begun.status();
    capture = *std::move(begun);
  }
  absl::StatusOr<PathResult> result = PathRunner(daemon, *task, params, senders).Run();
  if (!result.ok()) return result.status();
  result->peer_text = NamedXpu(result->peer, NamesOf(daemon));
  if (capture != nullptr) {
    if (absl::Status s = capture->Stop(); !s.ok()) return s;
  }
  const std::vector<PathFinding> findings = JudgePath(*result);
  const std::string text = flags.json ? Dump(PathJson(*result, findings)) + "\n"
                                      : PathText(*result, findings, flags.columns());
  std::fputs(text.c_str(), out);
  if (std::fflush(out) != 0) return absl::AbortedError("cannot write the output");
  return EndOf(*result, findings);
}

}  // namespace suede::ctl
