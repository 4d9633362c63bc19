// SPDX-License-Identifier: Apache-2.0
// The start and the end of DPDK's environment in this process. Control thread only.
//
// The control thread becomes the main lcore and floats over the CPUs that no worker has; every
// worker lcore is pinned to its CPU.
#ifndef SUEDE_DPDK_EAL_H_
#define SUEDE_DPDK_EAL_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace suede {

enum class EalLogLevel : uint8_t { kError, kWarning, kInfo, kDebug };

// Gets each line of EAL's log, without newline; called from any thread, an lcore's included.
using EalLogSink = std::function<void(EalLogLevel, std::string_view line)>;

struct EalOptions {
  std::string file_prefix = "suede";  // distinct for each process on the machine
  bool no_huge = false;
  uint32_t memory_mb = 0;      // with no_huge the whole heap (0: 512); else the part taken at start
  std::vector<unsigned> cpus;  // of the worker lcores
  std::vector<std::string> vdevs;  // as after --vdev
  // Modes of the sockets of memif servers, as vdevs; 0600 for those beyond its end.
  std::vector<uint32_t> socket_modes;
  std::vector<std::string> pci;    // the PCI addresses that are used; others are left alone
  std::vector<std::string> extra;  // further arguments, last, so that they win
  EalLogSink log;                  // empty: stderr
};

// The arguments that `options` mean; fails where they cannot be had on this machine (a CPU that
// is not there, too many of them).
absl::StatusOr<std::vector<std::string>> EalArguments(const EalOptions& options);

// The arguments in one line, for a log.
std::string JoinArguments(const std::vector<std::string>& arguments);

// Once in a process. Checks hugepages first and removes files of a dead run of the same prefix.
absl::Status StartEal(const EalOptions& options);

// Stops and closes every port, then ends EAL. Harmless when it is not running. To be called on
// every exit path, with the worker bodies returned; where one still runs after two seconds, EAL's
// memory is left to the kernel and false is returned.
bool StopEal();

// The process that runs with the file prefix, 0 if none does. EAL need not run.
pid_t EalPrefixHolder(const std::string& file_prefix);

// Whether another process (dpdk-dumpcap) can attach to this one's memory and find its ports.
bool EalTakesSecondProcesses();

// "DPDK 22.11.11".
std::string DpdkVersion();  // "DPDK 22.11.11"

// The free bytes of EAL's heap, all NUMA nodes.
uint64_t EalHeapFree();

}  // namespace suede

#endif  // SUEDE_DPDK_EAL_H_
