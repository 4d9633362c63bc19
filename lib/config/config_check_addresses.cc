// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bitset>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_encapsulation.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;

using InstanceNumbers = std::bitset<kMaxInstances>;
using PortAddress = std::pair<uint32_t, NetAddress>;

// Returns the own instance numbers on each port.
std::vector<InstanceNumbers> NumbersOnPorts(const Config& config) {
  std::vector<InstanceNumbers> numbers(config.ports.size());
  for (const InstanceConfig& instance : config.instances) {
    for (const InstancePort& at : instance.ports) numbers[at.port].set(instance.instance);
  }
  return numbers;
}

// Returns the key that gives an entry's address, or the entry if none does.
std::string AddressKey(const ConfigDraft& draft, const std::string& entry) {
  for (const char* key : {".ip", ".ip_base", ".forwarding_address", ".forwarding_base"}) {
    if (std::string path = entry + key; draft.Has(path)) return path;
  }
  return entry;
}

class AddressCheck {
 public:
  explicit AddressCheck(const ConfigDraft& draft)
      : draft_(draft), config_(draft.config), numbers_(NumbersOnPorts(draft.config)) {}

  Status Check() {
    if (Status s = CheckInstances(); !s.ok()) return s;
    if (Status s = CheckIds(); !s.ok()) return s;
    if (Status s = CheckGivenAddresses(); !s.ok()) return s;
    return CheckOwnAgainstDefaults();
  }

 private:
  Status CheckInstances() {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
    for (size_t i = 0; i < config_.instances.size(); ++i) {
      const InstanceConfig& instance = config_.instances[i];
      const uint32_t entry = draft_.instance_entries[i];
      const std::string path = Entry("instances", entry);
      const auto [number, is_new] =
          numbers.emplace(std::pair(instance.xpu, instance.instance), entry);
      if (!is_new) {
        return draft_.Error(path, StrCat("instance ", instance.instance, " of XPU ", instance.xpu,
                                         " is ", Entry("instances", number->second),
                                         " already; give it another instance number"));
      }
      for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
        const InstancePort& port = instance.ports[plane];
        const std::string port_path = Entry(path + ".ports", plane);
        const auto [at, is_free] =
            own_.emplace(PortAddress(port.port, port.address), static_cast<uint32_t>(i));
        if (is_free) continue;
        if (port.assigned) return FailAssignedTwice(port, port_path, at->second);
        return draft_.Error(AddressKey(draft_, port_path),
                            StrCat(Shown(port.port, port.address), " is the address of ",
                                   Entry("instances", draft_.instance_entries[at->second]),
                                   " (XPU ", config_.instances[at->second].xpu,
                                   ") already; choose another"));
      }
    }
    return OkStatus();
  }

  // `other`: index of the instance that has the assigned address.
  Status FailAssignedTwice(const InstancePort& port, const std::string& path,
                           uint32_t other) const {
    return draft_.Error(path, StrCat("the neighbour of port ", config_.ports[port.port].name,
                                     " assigns one address, which is that of ",
                                     Entry("instances", draft_.instance_entries[other]), " (XPU ",
                                     config_.instances[other].xpu, "); give this entry an ip"));
  }

  // Checks that each peer occurs once.
  Status CheckIds() {
    std::map<uint32_t, uint32_t> entries;
    for (size_t i = 0; i < config_.peers.size(); ++i) {
      const PeerConfig& peer = config_.peers[i];
      const uint32_t entry = draft_.peer_entries[i];
      if (const auto [at, is_new] = entries.emplace(peer.xpu, entry); !is_new) {
        return draft_.Error(Entry("peers", entry),
                            StrCat("XPU ", peer.xpu, " is in ", Entry("peers", at->second),
                                   " already; name each peer once, with all its ports"));
      }
      peers_[peer.xpu] = &peer;
    }
    return OkStatus();
  }

  Status CheckGivenAddresses() {
    std::map<PortAddress, uint32_t> given;  // value: the peer's XPU id
    for (size_t i = 0; i < config_.peers.size(); ++i) {
      const PeerConfig& peer = config_.peers[i];
      for (size_t j = 0; j < peer.ports.size(); ++j) {
        const PeerPort& port = peer.ports[j];
        if (!port.address) continue;
        const std::string problem = ProblemOf(peer.xpu, port.port, *port.address, given);
        if (problem.empty()) continue;
        const std::string path = Entry("peers", draft_.peer_entries[i]) + ".ports";
        return draft_.Error(AddressKey(draft_, Entry(path, j)),
                            StrCat(Shown(port.port, *port.address), problem));
      }
    }
    return OkStatus();
  }

  // Returns the reason why the peer `xpu` cannot have the address on the port; empty: it can.
  std::string ProblemOf(uint32_t xpu, uint32_t port, const NetAddress& address,
                        std::map<PortAddress, uint32_t>& given) const {
    constexpr std::string_view kMend = "; give each peer an address of its own";
    const auto [at, is_new] = given.emplace(PortAddress(port, address), xpu);
    if (at->second != xpu) {
      return StrCat(" is for XPU ", xpu, " and for XPU ", at->second, kMend);
    }
    if (!is_new) return {};
    const std::optional<uint32_t> other = OwnerByDefault(port, address);
    if (other && *other != xpu) {
      return StrCat(" is for XPU ", xpu, " and by the default rule for XPU ", *other, kMend);
    }
    const auto mine = own_.find(PortAddress(port, address));
    if (mine == own_.end() || config_.instances[mine->second].xpu == xpu) return {};
    return StrCat(" is for peer ", xpu, " and for the own XPU ",
                  config_.instances[mine->second].xpu, "; give the peer its own address");
  }

  Status CheckOwnAgainstDefaults() const {
    for (size_t i = 0; i < config_.instances.size(); ++i) {
      const InstanceConfig& instance = config_.instances[i];
      const std::string path = Entry("instances", draft_.instance_entries[i]) + ".ports";
      for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
        const InstancePort& port = instance.ports[plane];
        const std::optional<uint32_t> peer = OwnerByDefault(port.port, port.address);
        if (!peer || *peer == instance.xpu) continue;
        return draft_.Error(AddressKey(draft_, Entry(path, plane)),
                            StrCat(Shown(port.port, port.address), " is for the own XPU ",
                                   instance.xpu, " and by the default rule for peer ", *peer,
                                   "; choose another, or give the peer its own address"));
      }
    }
    return OkStatus();
  }

  // Returns the peer that has the address on the port by the default rule. The address determines
  // the only candidate, and no two default addresses are equal, so those of 1024 peers for 64
  // instances need not be listed.
  std::optional<uint32_t> OwnerByDefault(uint32_t port, const NetAddress& address) const {
    const uint64_t xpu = address.low % kMaxXpus;
    const uint64_t instance = address.low / kMaxXpus;
    if (!kForwarded.Has(config_.ports[port].encapsulation) || instance >= kMaxInstances ||
        !numbers_[port].test(instance) || peers_[xpu] == nullptr) {
      return std::nullopt;
    }
    const PeerPort* at = FindPeerPort(*peers_[xpu], port, static_cast<uint32_t>(instance));
    if (at == nullptr || at->address) return std::nullopt;
    return static_cast<uint32_t>(xpu);
  }

  std::string Shown(uint32_t port, const NetAddress& address) const {
    const PortConfig& config = config_.ports[port];
    return StrCat(FormatAddress(config.encapsulation, address), " on port ", config.name);
  }

  const ConfigDraft& draft_;
  const Config& config_;
  const std::vector<InstanceNumbers> numbers_;
  std::map<PortAddress, uint32_t> own_;  // value: index of the instance
  std::array<const PeerConfig*, kMaxXpus> peers_{};
};

// Warns of each port, or instance number on it, from which no peer is reachable.
void WarnOfUnreached(ConfigDraft& draft, const std::vector<InstanceNumbers>& reached) {
  const Config& config = draft.config;
  std::vector<InstanceNumbers> warned(config.ports.size());
  for (size_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    const uint32_t number = instance.instance;
    const std::string ports = Entry("instances", draft.instance_entries[i]) + ".ports";
    for (size_t plane = 0; plane < instance.ports.size(); ++plane) {
      const uint32_t port = instance.ports[plane].port;
      if (reached[port].test(number) || warned[port].test(number)) continue;
      const std::string path = Entry(ports, plane) + ".port";
      const std::string& name = config.ports[port].name;
      if (reached[port].none()) {
        warned[port].set();
        Warn(draft, path,
             StrCat("no peer is reached through port ", name, "; add the port to the peers"));
      } else {
        warned[port].set(number);
        Warn(draft, path,
             StrCat("no peer is reached by instance ", number, " through port ", name,
                    "; add the port to the peers with this instance, or without instance"));
      }
    }
  }
}

// Returns the instance's ports that lead to other peers but not to this one. Empty if no port leads
// to it, as it is then not a peer of the instance.
std::vector<std::string> MissingPlanes(const Config& config, const InstanceConfig& instance,
                                       const PeerConfig& peer,
                                       const std::vector<InstanceNumbers>& reached) {
  std::vector<std::string> missing;
  bool is_peer = false;
  for (const InstancePort& at : instance.ports) {
    const bool leads_there = FindPeerPort(peer, at.port, instance.instance) != nullptr;
    is_peer |= leads_there;
    // A port that leads to no peer has its own warning already.
    if (leads_there || !reached[at.port].test(instance.instance)) continue;
    missing.push_back(config.ports[at.port].name);
  }
  if (!is_peer) missing.clear();
  return missing;
}

// Warns of each peer entry to which not all planes of an instance lead.
void WarnOfPartlyReached(ConfigDraft& draft, const std::vector<InstanceNumbers>& reached) {
  const Config& config = draft.config;
  std::set<std::string> looked_at;  // one of all instances with equal ports and number is checked
  std::set<uint32_t> warned;        // an entry with a range is many peers
  for (const InstanceConfig& instance : config.instances) {
    if (instance.ports.size() == 1) continue;
    std::string kind = StrCat(instance.instance);
    for (const InstancePort& at : instance.ports) StrAppend(&kind, " ", at.port);
    if (!looked_at.insert(kind).second) continue;
    for (size_t i = 0; i < config.peers.size(); ++i) {
      const std::vector<std::string> missing =
          MissingPlanes(config, instance, config.peers[i], reached);
      const uint32_t entry = draft.peer_entries[i];
      if (missing.empty() || !warned.insert(entry).second) continue;
      Warn(draft, Entry("peers", entry) + ".ports",
           StrCat("instance ", instance.instance, " of XPU ", instance.xpu,
                  " does not reach the peer through ", StrJoin(missing, ", "),
                  ", so that fewer planes lead there; add the port"));
    }
  }
}

}  // namespace

Status CheckAddresses(const ConfigDraft& draft) { return AddressCheck(draft).Check(); }

void WarnOfPeers(ConfigDraft& draft) {
  const Config& config = draft.config;
  if (config.peers.empty()) {
    Warn(draft, "peers", "there are no peers, so nothing can be sent or received; add some");
    return;
  }
  const std::vector<InstanceNumbers> numbers = NumbersOnPorts(config);
  std::vector<InstanceNumbers> reached(config.ports.size());
  std::set<std::string> warned;  // an entry with a range is many peers
  for (size_t i = 0; i < config.peers.size(); ++i) {
    for (size_t j = 0; j < config.peers[i].ports.size(); ++j) {
      const PeerPort& at = config.peers[i].ports[j];
      if (!at.instance) {
        reached[at.port].set();
        continue;
      }
      reached[at.port].set(*at.instance);
      if (numbers[at.port].test(*at.instance)) continue;
      const std::string ports = Entry("peers", draft.peer_entries[i]) + ".ports";
      const std::string path = Entry(ports, j) + ".instance";
      if (!warned.insert(path).second) continue;
      Warn(draft, path,
           StrCat("no own instance with the number ", *at.instance, " is on port ",
                  config.ports[at.port].name, ", so the entry is not used; remove it"));
    }
  }
  WarnOfUnreached(draft, reached);
  WarnOfPartlyReached(draft, reached);
}

}  // namespace suede
