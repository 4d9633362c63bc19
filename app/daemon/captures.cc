// SPDX-License-Identifier: Apache-2.0
#include "daemon/captures.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "local/passing.h"

namespace suede {

std::vector<Captures::Running>::iterator Captures::Find(std::string_view port) {
  return std::find_if(running_.begin(), running_.end(), [port](const Running& running) {
    return running.capture->port().name() == port;
  });
}

absl::Status Captures::Start(const CaptureQuery& query, Fd file) {
  TappedPort* const port = find_port_(query.port);
  if (port == nullptr) {
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
      *port, file.Release(), {.snap_bytes = query.snap_bytes, .frames = query.frames});
  if (!capture.ok()) return capture.status();
  using Clock = std::chrono::steady_clock;
  running_.push_back({.capture = *std::move(capture),
                      .end = query.seconds == 0
                                 ? Clock::time_point::max()
                                 : Clock::now() + std::chrono::seconds(query.seconds)});
  log_(EalLogLevel::kInfo, "capture", absl::StrCat("begins port=", query.port));
  return absl::OkStatus();
}

absl::StatusOr<CaptureView> Captures::Stop(std::string_view port) {
  const auto running = Find(port);
  if (running == running_.end()) {
    return absl::NotFoundError(absl::StrCat(
        "port ", std::string(port), " is not being captured; capture.list names those that are"));
  }
  const absl::Status status = running->capture->Drain();
  const CaptureStats stats = running->capture->stats();
  running_.erase(running);
  log_(EalLogLevel::kInfo, "capture",
       absl::StrCat("ends port=", std::string(port), " written=", stats.written,
                    " dropped=", stats.dropped));
  if (!status.ok()) return status;
  return CaptureView{.port = std::string(port), .written = stats.written, .dropped = stats.dropped};
}

std::vector<CaptureView> Captures::List() const {
  std::vector<CaptureView> all;
  for (const Running& running : running_) {
    const CaptureStats stats = running.capture->stats();
    all.push_back({.port = running.capture->port().name(),
                   .written = stats.written,
                   .dropped = stats.dropped});
  }
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
    Stop(port).IgnoreError();  // logs the result
  }
}

}  // namespace suede
