// SPDX-License-Identifier: Apache-2.0
// The needs of a configuration, checked against the machine before anything is started.
#ifndef SUEDE_PREFLIGHT_PREFLIGHT_H_
#define SUEDE_PREFLIGHT_PREFLIGHT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "preflight/machine.h"

namespace suede {

// Memory that the configuration leads to; the builder of the endpoint knows it.
struct MemoryNeeds {
  std::vector<uint64_t> pool_bytes;  // of each of Config::ports
  uint64_t segment_bytes = 0;        // of a client with all the queues that it may have
};

// Hugepages that an endpoint takes: the pools, and DPDK's own memory. Where hugepages are
// taken if enough are free, captures and similar users must have room too.
uint64_t HugepageBytes(Hugepages mode, const std::vector<uint64_t>& pool_bytes);

struct Finding {
  enum class Severity : uint8_t {
    kError,    // the endpoint does not start, or a port of it does not work
    kWarning,  // it runs, but not as well as it could
  };
  Severity severity = Severity::kError;
  std::string_view check;  // name of its row
  std::string problem;     // begins with the key that leads to it
  std::string mend;        // a command where there is one
};

// The input of a check.
struct PreflightSubject {
  const Config& config;
  const MemoryNeeds& needs;
  const Machine& machine;
};

// A row of the one list of checks: the daemon runs them in this order, docs/service.md lists them.
struct PreflightCheck {
  std::string_view name;
  std::string_view sentence;
  void (*run)(const PreflightSubject& subject, std::vector<Finding>& findings);
};
std::span<const PreflightCheck> PreflightChecks();

// Everything that the checks find, errors and warnings.
std::vector<Finding> RunPreflight(const PreflightSubject& subject);

// "error hugepages: PROBLEM; mend: COMMAND".
std::string FormatFinding(const Finding& finding);
// The table of docs/service.md.
std::string PreflightChecksAsMarkdown();

// The checks, by subject; each adds its findings.
void CheckHugepageNeeds(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckHugetlbfs(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckSegments(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckMemory(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckMemlock(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckCpus(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckIsolation(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckScheduler(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckVdevDrivers(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckPciDevices(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckVfio(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckInterfaces(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckTaps(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckMemifSockets(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckHttp(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckSealing(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckDescriptors(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckSockets(const PreflightSubject& subject, std::vector<Finding>& findings);
void CheckFilePrefix(const PreflightSubject& subject, std::vector<Finding>& findings);

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_PREFLIGHT_H_
