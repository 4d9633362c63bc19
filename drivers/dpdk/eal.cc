// SPDX-License-Identifier: Apache-2.0
#include "dpdk/eal.h"

#include <fcntl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_net_crc.h>
#include <rte_pdump.h>
#include <rte_version.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/secrets.h"
#include "dpdk/crc.h"
#include "dpdk/eal_log.h"
#include "dpdk/hugepages.h"
#include "dpdk/lcores.h"
#include "dpdk/port_registry.h"

namespace suede {
namespace {

namespace fs = std::filesystem;

bool running = false;
bool pdump_started = false;
bool shares_memory = false;
std::string running_prefix;

std::vector<unsigned> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// Returns e.g. "0@(0,3),1@1": lcore ids equal CPU numbers if below RTE_MAX_LCORE; the main lcore
// has the lowest free id.
absl::StatusOr<std::string> LcoreMap(const std::vector<unsigned>& workers, unsigned* main_lcore) {
  const std::vector<unsigned> allowed = AllowedCpus();
  std::vector<unsigned> rest;  // for the main lcore
  for (unsigned cpu : allowed) {
    if (std::find(workers.begin(), workers.end(), cpu) == workers.end()) rest.push_back(cpu);
  }
  if (rest.empty()) rest = allowed;
  std::set<unsigned> ids;
  std::vector<std::string> parts;
  for (unsigned cpu : workers) {
    if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("lcores: CPU ", cpu, " is not one of those that this process may use (",
                       absl::StrJoin(allowed, ","), ")"));
    }
    if (cpu < RTE_MAX_LCORE && !ids.insert(cpu).second) {
      return absl::InvalidArgumentError(absl::StrCat("lcores: CPU ", cpu, " is named twice"));
    }
  }
  const auto take_id = [&ids] {
    unsigned id = 0;
    while (!ids.insert(id).second) ++id;
    return id;
  };
  *main_lcore = take_id();
  parts.push_back(absl::StrCat(*main_lcore, "@(", absl::StrJoin(rest, ","), ")"));
  for (unsigned cpu : workers) {
    parts.push_back(absl::StrCat(cpu < RTE_MAX_LCORE ? cpu : take_id(), "@", cpu));
  }
  if (ids.size() >= RTE_MAX_LCORE || *ids.rbegin() >= RTE_MAX_LCORE) {
    return absl::InvalidArgumentError(
        absl::StrCat("lcores: DPDK has at most ", RTE_MAX_LCORE - 1, " of them"));
  }
  return absl::StrJoin(parts, ",");
}

// Whether the user passes the argument: EAL rejects some duplicates.
bool HasArgument(const std::vector<std::string>& extra, const std::string& name) {
  return std::any_of(extra.begin(), extra.end(),
                     [&](const std::string& given) { return given.starts_with(name); });
}

// Returns the directory that EAL chooses (eal_create_runtime_dir).
fs::path RuntimeDirectory(const std::string& prefix) {
  const char* xdg = getenv("XDG_RUNTIME_DIR");
  const char* runtime = getenv("RUNTIME_DIRECTORY");
  std::string base = "/tmp";
  if (runtime != nullptr) {
    base = runtime;
  } else if (getuid() == 0) {
    base = "/var/run";
  } else if (xdg != nullptr) {
    base = xdg;
  }
  return fs::path(base) / "dpdk" / prefix;
}

// Returns the process that holds EAL's lock on a prefix, or 0 if none does.
pid_t HolderOf(const fs::path& directory) {
  const int fd = open((directory / "config").c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return 0;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool asked = fcntl(fd, F_GETLK, &lock) == 0;
  close(fd);
  return asked && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

void RemoveLeftovers(const std::string& prefix) {
  std::error_code ignored;
  fs::remove_all(RuntimeDirectory(prefix), ignored);
  const std::string mount = HugetlbfsMount();
  if (mount.empty()) return;
  for (const auto& entry : fs::directory_iterator(mount, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix + "map_")) fs::remove(entry.path(), ignored);
  }
}

// Sets a umask so that no other user can connect to the sockets that drivers create (net_vhost).
class PrivateFiles {
 public:
  PrivateFiles() : before_(umask(077)) {}
  ~PrivateFiles() { umask(before_); }
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;

 private:
  const mode_t before_;
};

// Fails if too few descriptors are left: EAL panics if it gets none for the pipes to its threads.
absl::Status CheckDescriptors(const EalOptions& options) {
  constexpr size_t kOfEal = 24;
  constexpr size_t kOfLcore = 4;  // two pipes
  constexpr size_t kOfPort = 8;
  const size_t needed = kOfEal + kOfLcore * (options.cpus.size() + 1) +
                        kOfPort * (options.vdevs.size() + options.pci.size());
  std::vector<int> taken;
  while (taken.size() < needed) {
    const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) break;
    taken.push_back(fd);
  }
  for (const int fd : taken) close(fd);
  if (taken.size() == needed) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("DPDK takes ", needed, " descriptors at its start, and this process may open ",
                   taken.size(), " more: ulimit -n 1024 (in a unit: LimitNOFILE=1024)"));
}

absl::Status CheckPrefix(const std::string& prefix) {
  if (prefix.empty() || prefix.find_first_of("/% ") != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("EAL file prefix '", prefix, "': must be a name without '/', '%' and blanks"));
  }
  if (const pid_t holder = HolderOf(RuntimeDirectory(prefix)); holder != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", holder, " runs with the EAL file prefix '", prefix,
                     "' already: stop it, or give this endpoint another name"));
  }
  return absl::OkStatus();
}

void CloseOtherPorts() {
  for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; ++port) {
    if (rte_eth_dev_is_valid_port(port) == 0) continue;
    rte_eth_dev_stop(port);
    rte_eth_dev_close(port);
  }
}

}  // namespace

absl::StatusOr<std::vector<std::string>> EalArguments(const EalOptions& options) {
  unsigned main_lcore = 0;
  absl::StatusOr<std::string> lcores = LcoreMap(options.cpus, &main_lcore);
  if (!lcores.ok()) return lcores.status();
  std::vector<std::string> arguments = {
      "suede", absl::StrCat("--file-prefix=", options.file_prefix),
      absl::StrCat("--lcores=", *lcores), absl::StrCat("--main-lcore=", main_lcore)};
  if (options.no_huge) {
    arguments.push_back("--no-huge");
    arguments.push_back(absl::StrCat("-m", options.memory_mb == 0 ? 512 : options.memory_mb));
  } else {
    if (options.memory_mb > 0) arguments.push_back(absl::StrCat("-m", options.memory_mb));
    // Without a mounted hugetlbfs, memfd provides hugepages, but then no second process
    // (dpdk-dumpcap) can attach.
    const std::string mount = HugetlbfsMount();
    if (mount.empty()) {
      arguments.push_back("--in-memory");
    } else if (geteuid() != 0 && !HasArgument(options.extra, "--huge-dir")) {
      // EAL takes the first mounted hugetlbfs, on which only root may have write permission.
      arguments.push_back("--huge-dir=" + mount);
    }
  }
  if (options.pci.empty()) arguments.push_back("--no-pci");
  for (const std::string& address : options.pci) arguments.push_back(absl::StrCat("-a", address));
  for (const std::string& vdev : options.vdevs) arguments.push_back(absl::StrCat("--vdev=", vdev));
  constexpr char kBitwidth[] = "--force-max-simd-bitwidth";
  if (!HasArgument(options.extra, kBitwidth) && HasWideCarrylessMultiply()) {
    arguments.push_back(absl::StrCat(kBitwidth, "=512"));
  }
  arguments.insert(arguments.end(), options.extra.begin(), options.extra.end());
  return arguments;
}

std::string JoinArguments(const std::vector<std::string>& arguments) {
  return HideSecrets(absl::StrJoin(arguments, " "));
}

absl::Status StartEal(const EalOptions& options) {
  if (running) return absl::FailedPreconditionError("EAL runs already in this process");
  if (absl::Status status = CheckPrefix(options.file_prefix); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> arguments = EalArguments(options);
  if (!arguments.ok()) return arguments.status();
  if (absl::Status status = CheckDescriptors(options); !status.ok()) return status;
  if (!options.no_huge) {
    if (access("/proc/meminfo", R_OK) != 0) {
      return absl::FailedPreconditionError(
          "DPDK reads the size of hugepages in /proc/meminfo, which is not there: set "
          "eal.hugepages: off, or run without ProcSubset=pid");
    }
    absl::Status status = CheckHugepages(uint64_t{std::max(options.memory_mb, 2U)} << 20);
    if (!status.ok()) return status;
  }
  RemoveLeftovers(options.file_prefix);
  if (absl::Status status = internal::OpenEalLog(options.log); !status.ok()) return status;
  // EAL keeps pointers into its arguments.
  static std::vector<std::string>* const kept = new std::vector<std::string>;
  *kept = *std::move(arguments);
  std::vector<char*> argv;
  for (std::string& argument : *kept) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int taken = 0;
  {
    const PrivateFiles mask;
    taken = rte_eal_init(static_cast<int>(kept->size()), argv.data());
  }
  if (taken < 0) {
    std::string errors = internal::TakeEalErrors();
    internal::CloseEalLog();
    return absl::FailedPreconditionError(
        absl::StrCat("EAL does not start with ", JoinArguments(*kept), ": ",
                     errors.empty() ? rte_strerror(rte_errno) : errors));
  }
  running = true;
  running_prefix = options.file_prefix;
  // Lets dpdk-dumpcap attach, if another process can share this memory at all.
  pdump_started = !options.no_huge && rte_pdump_init() == 0;
  shares_memory =
      pdump_started && std::find(kept->begin(), kept->end(), "--in-memory") == kept->end();
  // Selects the algorithm now: the library selects at the first call otherwise, which is not
  // thread-safe.
  rte_net_crc_set_alg(RTE_NET_CRC_AVX512);
  return absl::OkStatus();
}

namespace {

std::atomic<bool> interrupt_thread_parked{false};

void ParkHere(void*) {
  interrupt_thread_parked = true;
  while (true) pause();
}

// Parks EAL's interrupt thread: rte_eal_cleanup() unmaps EAL's memory but leaves that thread
// running, which reads interrupt descriptions in that memory at each wakeup, e.g. when a link
// changes. The thread therefore gets an interrupt whose handler never returns; it ends with the
// process.
void ParkInterruptThread() {
  constexpr int64_t kStepNs = 100'000;
  constexpr int kSteps = 10'000;
  rte_intr_handle* handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  const int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);  // readable from the start
  if (handle == nullptr || fd < 0 || rte_intr_fd_set(handle, fd) != 0 ||
      rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) != 0 ||
      rte_intr_callback_register(handle, ParkHere, nullptr) != 0) {
    return;
  }
  for (int step = 0; step < kSteps && !interrupt_thread_parked; ++step) SleepNs(kStepNs);
}

}  // namespace

bool StopEal() {
  if (!running) return true;
  internal::CloseAllPorts();
  constexpr int64_t kStepNs = 1'000'000;
  for (int step = 0; LcoresRunning(); ++step) {
    constexpr int kSteps = 2000;
    if (step == kSteps) return false;
    SleepNs(kStepNs);
  }
  running = false;
  WaitForLcores();
  CloseOtherPorts();
  if (pdump_started) rte_pdump_uninit();
  pdump_started = false;
  ParkInterruptThread();
  rte_eal_cleanup();
  internal::CloseEalLog();
  RemoveLeftovers(running_prefix);
  return true;
}

pid_t EalPrefixHolder(const std::string& file_prefix) {
  return HolderOf(RuntimeDirectory(file_prefix));
}
bool EalTakesSecondProcesses() { return shares_memory; }

std::string DpdkVersion() { return rte_version(); }

uint64_t EalHeapFree() {
  uint64_t free_bytes = 0;
  for (unsigned index = 0; index < rte_socket_count(); ++index) {
    rte_malloc_socket_stats stats{};
    if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(index), &stats) == 0) {
      free_bytes += stats.heap_freesz_bytes;
    }
  }
  return free_bytes;
}

}  // namespace suede
