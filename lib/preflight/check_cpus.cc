// SPDX-License-Identifier: Apache-2.0
// Checks of lcores' CPUs.
#include "base/text.h"
#include "preflight/preflight.h"

namespace suede {

void CheckCpus(const PreflightSubject& s, std::vector<Finding>& findings) {
  for (size_t i = 0; i < s.config.lcores.size(); ++i) {
    const uint32_t cpu = s.config.lcores[i].cpu;
    const CpuFacts facts = s.machine.Cpu(cpu);
    const std::string key = StrCat("lcores[", i, "].cpu: CPU ", cpu);
    if (!facts.online) {
      findings.push_back({.problem = key + " is offline",
                          .mend = StrCat("echo 1 > /sys/devices/system/cpu/cpu", cpu, "/online")});
    } else if (!facts.allowed) {
      findings.push_back(
          {.problem = key + " is not one that this process may use",
           .mend = StrCat("taskset -pc ", cpu, " $$ (in a unit: AllowedCPUs=, CPUAffinity=)")});
    }
  }
}

void CheckIsolation(const PreflightSubject& s, std::vector<Finding>& findings) {
  for (size_t i = 0; i < s.config.lcores.size(); ++i) {
    const LcoreConfig& lcore = s.config.lcores[i];
    const CpuFacts facts = s.machine.Cpu(lcore.cpu);
    if (lcore.idle != LcoreConfig::Idle::kSpin || !facts.online || facts.isolated) continue;
    findings.push_back(
        {.severity = Finding::Severity::kWarning,
         .problem = StrCat("lcores[", i, "].idle: the lcore spins on CPU ", lcore.cpu,
                           ", where the kernel schedules other programs too"),
         .mend = StrCat("boot with isolcpus=", lcore.cpu, " nohz_full=", lcore.cpu,
                        ", or set idle: yield")});
  }
}

void CheckScheduler(const PreflightSubject& s, std::vector<Finding>& findings) {
  if (!s.machine.SharesBySession()) return;
  for (size_t i = 0; i < s.config.lcores.size(); ++i) {
    const LcoreConfig& lcore = s.config.lcores[i];
    if (lcore.idle == LcoreConfig::Idle::kSpin || s.machine.Cpu(lcore.cpu).isolated) continue;
    findings.push_back({.severity = Finding::Severity::kWarning,
                        .problem = StrCat("lcores[", i, "].idle: the lcore leaves CPU ", lcore.cpu,
                                          " to others, and kernel.sched_autogroup_enabled lets "
                                          "some kernels starve it, or them, for seconds"),
                        .mend = "sysctl -w kernel.sched_autogroup_enabled=0"});
    return;  // one setting of the whole machine
  }
}

}  // namespace suede
