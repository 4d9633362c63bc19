// SPDX-License-Identifier: Apache-2.0
// Starts and stops DPDK's environment (EAL) in this process. Control thread only.
//
// The control thread becomes the main lcore, which floats over the CPUs without a worker; every
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

// Receives each line of EAL's log, without the newline. Called from any thread, lcores included.
using EalLogSink = std::function<void(EalLogLevel, std::string_view line)>;

struct EalOptions {
  std::string file_prefix = "suede";  // distinct for each process on the machine
  bool no_huge = false;
  uint32_t memory_mb = 0;  // with no_huge the whole heap (0: 512), else preallocated at the start
  std::vector<unsigned> cpus;  // of the worker lcores
  std::vector<std::string> vdevs;  // arguments of --vdev; a DpdkPort opens memifs without EAL
  std::vector<std::string> pci;    // PCI addresses to use; other devices are left alone
  std::vector<std::string> extra;  // further arguments, last, to override the others
  EalLogSink log;                  // empty: stderr
};

// Returns EAL's arguments for `options`. Fails if this machine cannot provide them (a CPU that does
// not exist, too many CPUs).
absl::StatusOr<std::vector<std::string>> EalArguments(const EalOptions& options);

// Returns the arguments in one line for the log, without secrets.
std::string JoinArguments(const std::vector<std::string>& arguments);

// Starts EAL, once per process. Checks the hugepages first, and removes files of a dead process
// with the same prefix.
absl::Status StartEal(const EalOptions& options);

// Stops and closes every port, then ends EAL. No-op if EAL does not run. To be called on every exit
// path, after the worker bodies have returned; if one still runs after two seconds, returns false
// and leaves EAL's memory to the kernel.
bool StopEal();

// Returns the process that runs with the file prefix, or 0 if none does. EAL need not run.
pid_t EalPrefixHolder(const std::string& file_prefix);

// Whether another process (dpdk-dumpcap) can attach to this process's memory and find its ports.
bool EalTakesSecondProcesses();

std::string DpdkVersion();  // "DPDK 22.11.11"

// Returns the free bytes of EAL's heap on all NUMA nodes.
uint64_t EalHeapFree();

}  // namespace suede

#endif  // SUEDE_DPDK_EAL_H_
