// SPDX-License-Identifier: Apache-2.0
// Interface through which preflight checks query the machine. Tests implement it for other
// machines.
#ifndef SUEDE_PREFLIGHT_MACHINE_H_
#define SUEDE_PREFLIGHT_MACHINE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/listen_address.h"
#include "config/config.h"

namespace suede {

struct HugepagePool {
  int node = 0;
  uint64_t page_bytes = 0;
  uint64_t total = 0;
  uint64_t free = 0;
  std::string directory;  // of the pool's files in sysfs
};

struct CpuFacts {
  bool online = false;
  bool allowed = false;   // for this process
  bool isolated = false;  // from the kernel's scheduler
};

struct PciFacts {
  std::string driver;  // empty: none
  std::optional<int> iommu_group;
  int numa_node = -1;  // -1: unknown
};

struct InterfaceFacts {
  uint32_t mtu = 0;
  bool up = false;
  bool is_tap = false;  // or TUN
};

// Properties of a path with the permissions of this process.
struct FileFacts {
  enum class Kind : uint8_t { kAbsent, kDirectory, kSocket, kOther };
  Kind kind = Kind::kAbsent;
  bool readable = false;
  bool writable = false;
};

enum class Capability : uint8_t { kNetAdmin, kNetRaw, kIpcLock };

class Machine {
 public:
  virtual ~Machine() = default;

  // Returns the user that this process runs as, for use in commands.
  virtual std::string User() const = 0;
  virtual bool Has(Capability capability) const = 0;
  virtual uint64_t MemlockLimit() const = 0;  // UINT64_MAX: unlimited
  virtual uint64_t AvailableMemory() const = 0;
  virtual std::vector<HugepagePool> Hugepages() const = 0;
  // Returns the mount points of hugetlbfs.
  virtual std::vector<std::string> HugetlbfsMounts() const = 0;
  virtual CpuFacts Cpu(uint32_t cpu) const = 0;
  // Whether the fair scheduler is EEVDF (Linux 6.6 and later) and gives each session its own share
  // of a CPU (kernel.sched_autogroup_enabled).
  virtual bool SharesBySession() const = 0;
  // `address`: in full, as 0000:03:00.0.
  virtual std::optional<PciFacts> Pci(const std::string& address) const = 0;
  virtual std::optional<InterfaceFacts> Interface(const std::string& name) const = 0;
  virtual FileFacts File(const std::string& path) const = 0;
  // Whether a program has, or may have, bound the Unix socket at the path. Does not connect: a
  // connection would crash a process of DPDK that serves a memif there.
  virtual bool IsServed(const std::string& socket_path) const = 0;
  // Whether a program of this network namespace has bound a socket to the abstract name.
  virtual bool IsAbstractNameHeld(const std::string& name) const = 0;
  // Returns the reason why a server cannot listen at the TCP address; empty: it can.
  virtual std::string ListenError(const ListenAddress& address) const = 0;
  // Returns the faults of the files of secrets and certificates, each with its mend, if any, behind
  // the last "; ". Called only if an instance seals.
  virtual std::vector<std::string> SealingFaults(const SealingConfig& sealing) const = 0;
  virtual uint64_t DescriptorLimit() const = 0;
  // Returns the process that runs with the EAL file prefix; 0: none.
  virtual pid_t PrefixHolder(const std::string& prefix) const = 0;
  // Returns the names of DPDK's drivers for virtual devices, as net_memif.
  virtual std::vector<std::string> VdevDrivers() const = 0;
};

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_MACHINE_H_
