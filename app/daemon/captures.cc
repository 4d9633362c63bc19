// SPDX-License-Identifier: Apache-2.0
#include "daemon/captures.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "local/passing.h"

namespace suede {
namespace {

// Dropped frames that are written in a second, unless the query says otherwise: a flood of bad
// frames must not keep the control thread busy.
constexpr uint32_t kDropsPerSecond = 10000;

}  // namespace

std::vector<Captures::Running>::iterator Captures::Find(std::string_view port, bool drops) {
  return std::find_if(running_.begin(), running_.end(), [&](const Running& running) {
    return running.capture->port().name() == port && running.drops == drops;
  });
}

CaptureView Captures::ViewOf(const Running& running) {
  const CaptureStats stats = running.capture->stats();
  return {.port = running.capture->port().name(),
          .drops = running.drops,
          .written = stats.written,
          .dropped = stats.dropped};
}

absl::Status Captures::Start(const CaptureQuery& query, Fd file) {
  TappedPort* const port = find_port_(query.port, query.drops);
  if (port == nullptr) {
    if (query.drops && find_port_(query.port, false) != nullptr) {
      return absl::UnimplementedError(absl::StrCat(
          "no dropped frames of ", query.port,
          " are captured: only those of ports of the configuration that an instance has"));
    }
    return absl::NotFoundError(
        absl::StrCat("there is no port ", query.port, "; ports.list names them"));
  }
  // Rejects FUSE files, whose server may block writes; Capture::Start rejects other kinds of files.
  struct stat facts;
  if (fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && !IsPlainFile(file.get())) {
    return absl::InvalidArgumentError(
        "file: is of a file system that a program serves (FUSE); pass another");
  }
  absl::StatusOr<std::unique_ptr<Capture>> capture = Capture::Start(
      *port, file.Release(),
      {.snap_bytes = query.snap_bytes,
       .frames = query.frames,
       .frames_per_s = query.frames_per_s.value_or(query.drops ? kDropsPerSecond : 0)});
  if (!capture.ok()) return capture.status();
  using Clock = std::chrono::steady_clock;
  running_.push_back({.capture = *std::move(capture),
                      .drops = query.drops,
                      .end = query.seconds == 0
                                 ? Clock::time_point::max()
                                 : Clock::now() + std::chrono::seconds(query.seconds)});
  log_(EalLogLevel::kInfo, "capture",
       absl::StrCat("begins port=", query.port, query.drops ? " drops" : ""));
  return absl::OkStatus();
}

absl::StatusOr<CaptureView> Captures::Stop(std::string_view port, bool drops) {
  const auto running = Find(port, drops);
  if (running == running_.end()) {
    return absl::NotFoundError(absl::StrCat(drops ? "dropped frames of port " : "port ",
                                            std::string(port), drops ? " are" : " is",
                                            " not being captured; capture.list names those that "
                                            "are"));
  }
  const absl::Status status = running->capture->Finish();
  CaptureView view = ViewOf(*running);
  running_.erase(running);
  log_(EalLogLevel::kInfo, "capture",
       absl::StrCat("ends port=", view.port, drops ? " drops" : "", " written=", view.written,
                    " dropped=", view.dropped));
  if (!status.ok()) return status;
  return view;
}

std::vector<CaptureView> Captures::List() const {
  std::vector<CaptureView> all;
  for (const Running& running : running_) all.push_back(ViewOf(running));
  return all;
}

void Captures::Drain() {
  const auto now = std::chrono::steady_clock::now();
  for (size_t i = 0; i < running_.size();) {
    const std::string port = running_[i].capture->port().name();
    const absl::Status status = running_[i].capture->Drain();
    if (status.ok() && now < running_[i].end) {
      ++i;
      continue;
    }
    if (!status.ok()) {
      log_(EalLogLevel::kError, "capture",
           absl::StrCat(std::string(status.message()), " port=", port));
    }
    Stop(port, running_[i].drops).IgnoreError();  // logs the result
  }
}

}  // namespace suede
