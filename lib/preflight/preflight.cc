// SPDX-License-Identifier: Apache-2.0
#include "preflight/preflight.h"

#include "base/text.h"

namespace suede {
namespace {

constexpr PreflightCheck kChecks[] = {
    {"hugepages",
     "Free hugepages hold the ports' frame pools, on the NUMA node of each port. Warns instead "
     "where `eal.hugepages` is auto.",
     CheckHugepageNeeds},
    {"hugetlbfs",
     "Where hugepages are used, a hugetlbfs is mounted that this user may write to. Only a "
     "warning: without it no second process (dpdk-dumpcap) can attach.",
     CheckHugetlbfs},
    {"segments",
     "With `clients.hugepages: on`, hugepages of 2 MiB are free for a client's segment.",
     CheckSegments},
    {"memory", "Where hugepages are off, the machine has the memory for the frame pools.",
     CheckMemory},
    {"memlock",
     "With ports by PCI address, this process may lock the frame pools in memory, as VFIO does.",
     CheckMemlock},
    {"cpus", "The CPU of each lcore is online, and this process may use it.", CheckCpus},
    {"isolation",
     "Warns of an lcore that spins on a CPU where the kernel schedules other programs too.",
     CheckIsolation},
    {"scheduler",
     "Warns of an lcore that yields or sleeps where the kernel gives each session a share of a "
     "CPU, "
     "by which Linux 6.18 starves threads for up to 100 s.",
     CheckScheduler},
    {"vdev", "DPDK as it is installed here has the driver of each virtual device.",
     CheckVdevDrivers},
    {"pci", "Each PCI device is there and bound to a driver that DPDK can use.", CheckPciDevices},
    {"vfio", "This user may open /dev/vfio/vfio and the IOMMU group of each device on vfio-pci.",
     CheckVfio},
    {"interface",
     "The kernel's interface under each af_packet port is there and up, its MTU is large enough, "
     "and this process has CAP_NET_RAW.",
     CheckInterfaces},
    {"tap",
     "With `ports[].tap` or net_tap ports, /dev/net/tun can be opened, this process has "
     "CAP_NET_ADMIN, and no other kind of interface has the name.",
     CheckTaps},
    {"memif",
     "The socket of each memif server has a directory that this user may write to; no program has "
     "bound the socket, and no other kind of file is there. "
     "Warns of a server whose socket has no file, so that any process may connect. Connects to "
     "none.",
     CheckMemifSockets},
    {"sockets",
     "The clients' and the management socket have a directory that this user may write to, or may "
     "make; no program listens on them, and no other kind of file is there.",
     CheckSockets},
    {"http", "The address of the web server can be listened on.", CheckHttp},
    {"sealing",
     "Where an instance seals, the file of `sealing.secrets` and the three of `sealing.tls` can be "
     "used, and their rights keep others out.",
     CheckSealing},
    {"descriptors",
     "This process may open as many files as the endpoint takes to start. Warns where they are too "
     "few for as many clients as are permitted.",
     CheckDescriptors},
    {"prefix", "No process runs with the endpoint's EAL file prefix.", CheckFilePrefix},
};

}  // namespace

std::span<const PreflightCheck> PreflightChecks() { return kChecks; }

std::vector<Finding> RunPreflight(const PreflightSubject& subject) {
  std::vector<Finding> findings;
  for (const PreflightCheck& check : kChecks) {
    const size_t before = findings.size();
    check.run(subject, findings);
    for (size_t i = before; i < findings.size(); ++i) findings[i].check = check.name;
  }
  return findings;
}

std::string FormatFinding(const Finding& finding) {
  return StrCat(finding.severity == Finding::Severity::kError ? "error " : "warning ",
                finding.check, ": ", finding.problem, "; mend: ", finding.mend);
}

}  // namespace suede
