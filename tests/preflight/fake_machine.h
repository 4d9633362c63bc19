// SPDX-License-Identifier: Apache-2.0
// A machine on which all is well, until a test takes something away.
#ifndef SUEDE_TESTS_PREFLIGHT_FAKE_MACHINE_H_
#define SUEDE_TESTS_PREFLIGHT_FAKE_MACHINE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "preflight/machine.h"

namespace suede {

class FakeMachine final : public Machine {
 public:
  static constexpr FileFacts kDirectory{FileFacts::Kind::kDirectory, true, true};
  static constexpr FileFacts kNode{FileFacts::Kind::kOther, true, true};

  std::set<Capability> capabilities = {Capability::kNetAdmin, Capability::kNetRaw};
  uint64_t memlock = UINT64_MAX;
  uint64_t memory = uint64_t{8} << 30;
  std::vector<HugepagePool> pools = {
      {.node = 0, .page_bytes = 2 << 20, .total = 512, .free = 512, .directory = "/n0/2M"},
      {.node = 1, .page_bytes = 2 << 20, .total = 512, .free = 512, .directory = "/n1/2M"}};
  std::vector<std::string> mounts = {"/dev/hugepages"};
  std::map<uint32_t, CpuFacts> cpus = {{0, {true, true, true}}, {1, {true, true, true}}};
  bool shares_by_session = false;
  std::map<std::string, PciFacts> pci = {
      {"0000:03:00.0", {.driver = "vfio-pci", .iommu_group = 7, .numa_node = 1}}};
  std::map<std::string, InterfaceFacts> interfaces = {{"eth0", {.mtu = 9000, .up = true}}};
  std::map<std::string, FileFacts> files = {
      {"/", kDirectory},          {"/run", kDirectory},
      {"/run/suede", kDirectory}, {"/dev/hugepages", kDirectory},
      {"/dev/net/tun", kNode},    {"/dev/vfio/vfio", kNode},
      {"/dev/vfio/7", kNode}};
  std::set<std::string> served;
  std::set<std::string> held;                   // abstract names
  std::map<std::string, std::string> listened;  // why not
  std::vector<std::string> sealing;             // its faults
  uint64_t descriptors = 1024;
  std::map<std::string, pid_t> holders;
  std::vector<std::string> drivers = {"crypto_null", "net_af_packet", "net_memif", "net_tap"};

  std::string User() const override { return "suede"; }
  bool Has(Capability capability) const override { return capabilities.contains(capability); }
  uint64_t MemlockLimit() const override { return memlock; }
  uint64_t AvailableMemory() const override { return memory; }
  std::vector<HugepagePool> Hugepages() const override { return pools; }
  std::vector<std::string> HugetlbfsMounts() const override { return mounts; }
  CpuFacts Cpu(uint32_t cpu) const override { return Find(cpus, cpu); }
  bool SharesBySession() const override { return shares_by_session; }
  std::optional<PciFacts> Pci(const std::string& address) const override {
    const auto at = pci.find(address);
    return at == pci.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<InterfaceFacts> Interface(const std::string& name) const override {
    const auto at = interfaces.find(name);
    return at == interfaces.end() ? std::nullopt : std::optional(at->second);
  }
  FileFacts File(const std::string& path) const override { return Find(files, path); }
  bool IsServed(const std::string& path) const override { return served.contains(path); }
  bool IsAbstractNameHeld(const std::string& name) const override { return held.contains(name); }
  std::string ListenError(const ListenAddress& address) const override {
    return Find(listened, address.text());
  }
  std::vector<std::string> SealingFaults(const SealingConfig&) const override { return sealing; }
  uint64_t DescriptorLimit() const override { return descriptors; }
  pid_t PrefixHolder(const std::string& prefix) const override { return Find(holders, prefix); }
  std::vector<std::string> VdevDrivers() const override { return drivers; }

 private:
  template <class Map>
  static typename Map::mapped_type Find(const Map& map, const typename Map::key_type& key) {
    const auto at = map.find(key);
    return at == map.end() ? typename Map::mapped_type{} : at->second;
  }
};

}  // namespace suede

#endif  // SUEDE_TESTS_PREFLIGHT_FAKE_MACHINE_H_
