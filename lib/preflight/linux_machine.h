// SPDX-License-Identifier: Apache-2.0
// Facts of the machine on which this process runs.
#ifndef SUEDE_PREFLIGHT_LINUX_MACHINE_H_
#define SUEDE_PREFLIGHT_LINUX_MACHINE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "preflight/machine.h"

namespace suede {

class LinuxMachine final : public Machine {
 public:
  // Facts that only DPDK knows.
  struct Dpdk {
    std::function<pid_t(const std::string& prefix)> prefix_holder;
    std::function<std::vector<std::string>()> vdev_drivers;
  };
  using SealingCheck = std::function<std::vector<std::string>(const SealingConfig& sealing)>;
  // `root`: prefix of the paths of /sys and /proc, for tests. `sealing`: checks the files of
  // sealing.
  explicit LinuxMachine(Dpdk dpdk, std::string root = "", SealingCheck sealing = nullptr)
      : dpdk_(std::move(dpdk)), root_(std::move(root)), sealing_(std::move(sealing)) {}

  std::string User() const override;
  bool Has(Capability capability) const override;
  uint64_t MemlockLimit() const override;
  uint64_t AvailableMemory() const override;
  std::vector<HugepagePool> Hugepages() const override;
  std::vector<std::string> HugetlbfsMounts() const override;
  CpuFacts Cpu(uint32_t cpu) const override;
  bool SharesBySession() const override;
  std::optional<PciFacts> Pci(const std::string& address) const override;
  std::optional<InterfaceFacts> Interface(const std::string& name) const override;
  FileFacts File(const std::string& path) const override;
  bool IsServed(const std::string& socket_path) const override;
  bool IsAbstractNameHeld(const std::string& name) const override;
  std::string ListenError(const ListenAddress& address) const override;
  std::vector<std::string> SealingFaults(const SealingConfig& sealing) const override {
    return sealing_ ? sealing_(sealing) : std::vector<std::string>();
  }
  uint64_t DescriptorLimit() const override;
  pid_t PrefixHolder(const std::string& prefix) const override {
    return dpdk_.prefix_holder(prefix);
  }
  std::vector<std::string> VdevDrivers() const override { return dpdk_.vdev_drivers(); }

 private:
  const Dpdk dpdk_;
  const std::string root_;
  const SealingCheck sealing_;
};

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_LINUX_MACHINE_H_
