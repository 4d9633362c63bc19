// SPDX-License-Identifier: Apache-2.0
#include "daemon/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

#include "daemon/version.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

uint64_t CountFds() {
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  uint64_t count = 0;
  while (const dirent* entry = readdir(directory)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(directory);
  return count - 1;  // without the directory's own
}

uint64_t NsOf(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void Set(MetricCell* cell, uint64_t value) { cell->store(value, std::memory_order_relaxed); }

}  // namespace

std::vector<MetricRow> ProcessMetricRows() {
  return {
      {"build_info", MetricType::kGauge, "version revision dpdk_version", "1: which suede this is"},
      {"start_time_seconds", MetricType::kGauge, "", "When the daemon started, since 1970"},
      {"ready", MetricType::kGauge, "", "1 where /readyz says so"},
      {"tsc_hertz", MetricType::kGauge, "", "Cycles of the TSC in a second"},
      {"process_cpu_seconds_total", MetricType::kCounter, "",
       "CPU time of all of the daemon's threads"},
      {"process_resident_memory_bytes", MetricType::kGauge, "",
       "Memory of the daemon that is present"},
      {"process_virtual_memory_bytes", MetricType::kGauge, "", "Address space of the daemon"},
      {"process_open_fds", MetricType::kGauge, "", "Open file descriptors"},
      {"process_max_fds", MetricType::kGauge, "", "Max open file descriptors"},
      {"log_lines_total", MetricType::kCounter, "", "Lines that the daemon logged"},
      {"log_lines_dropped_total", MetricType::kCounter, "",
       "Lines not written: the reader of the log was too slow or had gone"},
  };
}

std::vector<MetricRow> ManagementMetricRows() {
  constexpr MetricType kCounter = MetricType::kCounter;
  return {
#define SUEDE_MANAGEMENT_ROW(id, name, sentence) {name, kCounter, "", sentence},
      SUEDE_MANAGEMENT_COUNTERS(SUEDE_MANAGEMENT_ROW)
#undef SUEDE_MANAGEMENT_ROW
          {"http_requests_total", kCounter, "", "Requests of the web server that came whole"},
      {"http_refused_total", kCounter, "", "Requests of the web server whose answer was not 200"},
      {"http_displaced_total", kCounter, "", "Idle web connections closed to admit new ones"},
  };
}

ProcessMetrics::ProcessMetrics(MetricsPage* page, uint64_t tsc_hertz,
                               const ManagementCounters* management, const HttpCounters* http,
                               const LogCounters* log) {
  Set(page->NewCell(
          "build_info",
          {{"version", kVersion}, {"revision", kRevision}, {"dpdk_version", DpdkVersion()}}),
      1);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  Set(page->NewCell("start_time_seconds", {}, CellUnit::kNanoseconds), NsOf(now));
  ready_ = page->NewCell("ready", {});
  Set(page->NewCell("tsc_hertz", {}), tsc_hertz);
  cpu_ = page->NewCell("process_cpu_seconds_total", {}, CellUnit::kNanoseconds);
  resident_ = page->NewCell("process_resident_memory_bytes", {});
  virtual_ = page->NewCell("process_virtual_memory_bytes", {});
  open_fds_ = page->NewCell("process_open_fds", {});
  max_fds_ = page->NewCell("process_max_fds", {});
#define SUEDE_MANAGEMENT_COUNTER_CELL(id, name, sentence) \
  page->NewSample(name, {}, &management->id);
  SUEDE_MANAGEMENT_COUNTERS(SUEDE_MANAGEMENT_COUNTER_CELL)
#undef SUEDE_MANAGEMENT_COUNTER_CELL
  page->Add("http_requests_total", {}, &http->requests);
  page->Add("http_refused_total", {}, &http->refusals);
  page->Add("http_displaced_total", {}, &http->displaced);
  page->Add("log_lines_total", {}, &log->lines);
  page->Add("log_lines_dropped_total", {}, &log->dropped);
}

void ProcessMetrics::CopyProcess() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  Set(cpu_, NsOf(used));
  uint64_t pages = 0;
  uint64_t present = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    if (std::fscanf(file, "%lu %lu", &pages, &present) == 2) {
      const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
      Set(virtual_, pages * page_bytes);
      Set(resident_, present * page_bytes);
    }
    std::fclose(file);
  }
  Set(open_fds_, CountFds());
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) Set(max_fds_, limit.rlim_cur);
}

}  // namespace suede
