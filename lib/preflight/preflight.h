// SPDX-License-Identifier: Apache-2.0
// Checks of a configuration's requirements against the machine, before anything is started.
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

// Memory that a configuration requires, computed by the endpoint's builder.
struct MemoryNeeds {
  std::vector<uint64_t> pool_bytes;  // by index of Config::ports
  uint64_t segment_bytes = 0;        // of a client with its maximum number of queues
};

// Returns the hugepage bytes of an endpoint: the pools, and DPDK's own memory. With kAuto, which
// takes hugepages if enough are free, at least 256 MiB, so that captures and similar users have
// room too.
uint64_t HugepageBytes(Hugepages mode, const std::vector<uint64_t>& pool_bytes);

struct Finding {
  enum class Severity : uint8_t {
    kError,    // the endpoint does not start, or one of its ports does not work
    kWarning,  // the endpoint runs, but not optimally
  };
  Severity severity = Severity::kError;
  std::string_view check;  // name of the check
  std::string problem;     // begins with the configuration key that causes it
  std::string mend;        // a command if there is one
};

// Input of a check.
struct PreflightSubject {
  const Config& config;
  const MemoryNeeds& needs;
  const Machine& machine;
};

// A row of the list of checks: the daemon runs them in this order, docs/service.md lists them.
struct PreflightCheck {
  std::string_view name;
  std::string_view sentence;
  void (*run)(const PreflightSubject& subject, std::vector<Finding>& findings);
};
std::span<const PreflightCheck> PreflightChecks();

// Runs all checks and returns their errors and warnings.
std::vector<Finding> RunPreflight(const PreflightSubject& subject);

// Returns "error hugepages: PROBLEM; mend: COMMAND".
std::string FormatFinding(const Finding& finding);

// Checks by subject; each appends its findings.
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
