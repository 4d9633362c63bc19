// SPDX-License-Identifier: Apache-2.0
// suede-perf: measures bandwidth and latency of SUE commands. docs/suede-perf.md is its manual.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "daemon/version.h"
#include "perf/options.h"
#include "perf/programs.h"
#include "perf/why_watch.h"

namespace {

using suede::perf::ResultFile;

std::atomic<bool> g_stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnSignal(int) { g_stop.store(true, std::memory_order_relaxed); }

// The files of results besides the table.
class Outputs {
 public:
  absl::Status Open(const suede::perf::Options& options, suede::perf::Document* document) {
    absl::Status status;
    document->json = Open("--json", options.json, document, &status);
    document->csv = Open("--csv", options.csv, document, &status);
    document->histogram_csv = Open("--histogram_csv", options.histogram_csv, document, &status);
    document->samples = Open("--samples", options.samples, document, &status);
    return status;
  }

 private:
  // Returns null if there is no path.
  ResultFile* Open(const char* flag, const std::string& path, suede::perf::Document* document,
                   absl::Status* status) {
    if (path.empty()) return nullptr;
    absl::StatusOr<ResultFile> opened = ResultFile::Open(path, flag);
    status->Update(opened.status());
    if (!opened.ok()) return nullptr;
    ResultFile& file = files_.emplace_back(*std::move(opened));
    if (file.TakesStdout()) document->table = stderr;
    return &file;
  }

  std::deque<ResultFile> files_;
};

}  // namespace

int main(int argc, char** argv) {
  using suede::perf::Document;
  Document document{.version = suede::kVersion,
                    .revision = suede::kRevision,
                    .start = std::chrono::system_clock::now(),
                    .argv = {argv, argv + argc},
                    .host = suede::perf::ReadHost()};
  suede::perf::Options options;
  int exit_code = 0;
  const std::string version = "suede-perf " + document.version + " (" + document.revision + ")";
  if (!suede::perf::ParseCommandLine(argc, argv, version, &options, &exit_code)) return exit_code;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal kills the program
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  Outputs outputs;
  if (absl::Status status = outputs.Open(options, &document); !status.ok()) {
    std::fprintf(stderr, "suede-perf: %s\n", std::string(status.message()).c_str());
    return suede::perf::kExitFailure;
  }
  absl::StatusOr<std::unique_ptr<suede::perf::WhyWatch>> why =
      suede::perf::WhyWatch::Start(options);
  if (!why.ok()) {
    std::fprintf(stderr, "suede-perf: --why: %s\n", std::string(why.status().message()).c_str());
    return suede::perf::kExitUnreachable;
  }
  if (*why != nullptr) document.why = [watch = why->get()] { return watch->End(); };
  const auto run = options.embed                                  ? suede::perf::RunEmbedded
                   : options.UsesMemory()                         ? suede::perf::RunMemory
                   : options.ServesMemory()                       ? suede::perf::ServeMemory
                   : options.mode == suede::perf::Mode::kMessage  ? suede::perf::RunMessages
                   : options.ServesMessages()                     ? suede::perf::ServeMessages
                   : options.mode == suede::perf::Mode::kAxi      ? suede::perf::RunAxi
                   : options.ServesAxi()                          ? suede::perf::ServeAxi
                   : options.mode == suede::perf::Mode::kWorkload ? suede::perf::RunWorkload
                                                                  : suede::perf::RunOverDaemon;
  return run(options, std::move(document), g_stop);
}
