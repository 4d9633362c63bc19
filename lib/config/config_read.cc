// SPDX-License-Identifier: Apache-2.0
// Reads the tree into a draft: one function for each section, ranges expanded.
#include "base/text.h"
#include "config/config_addresses.h"
#include "config/config_draft.h"
#include "config/config_reader.h"
#include "config/config_references.h"

namespace suede {
namespace {

constexpr size_t kMaxLcores = 128;
constexpr size_t kMaxPorts = 64;
constexpr size_t kMaxOwnInstances = 1024;
constexpr size_t kMaxPeerAddresses = 8192;
constexpr size_t kMaxPeerPorts = kMaxPorts * (kMaxInstances + 1);

class SectionReader {
 public:
  explicit SectionReader(ConfigDraft& draft)
      : draft_(draft), config_(draft.config), reader_(draft), refs_(reader_, draft.config) {}

  absl::Status Read(const ConfigNode& root) {
    if (ReadRoot(root) && reader_.ReadSection(root, "eal", config_.eal) &&
        reader_.ReadList(root, "", "lcores", 1, kMaxLcores, config_.lcores) && ReadPorts(root) &&
        ReadInstances(root) && ReadPeers(root) && ReadDevices(reader_, refs_, root, config_) &&
        ReadCables(reader_, refs_, root, config_) && ReadClasses(root)) {
      VisitSections([&](std::string_view path, std::string_view,
                        auto& section) { reader_.ok() && ReadSection(root, path, section); },
                    config_);
    }
    return reader_.status();
  }

 private:
  bool ReadRoot(const ConfigNode& root) {
    RootEntry entry;
    if (!reader_.CheckVersion(root)) return false;
    if (!reader_.ReadFields(
            root, "",
            {"eal",     "lcores",  "ports",     "instances", "peers",    "devices",    "cables",
             "classes", "packing", "transport", "planes",    "sessions", "pfc",        "congestion",
             "llr",     "cbfc",    "mesh",      "sealing",   "clients",  "management", "log"},
            entry)) {
      return false;
    }
    config_.name = entry.name;
    config_.partition = entry.partition;
    return true;
  }

  // Reads a section, or one of `sealing`.
  template <class S>
  bool ReadSection(const ConfigNode& root, std::string_view path, S& out) {
    const ConfigNode* const sealing = ConfigReader::Find(root, "sealing");
    if (path == "sealing" && sealing != nullptr) {
      return reader_.ReadFields(*sealing, "sealing", {"tls"}, out);
    }
    const bool is_nested = path == "sealing.tls" && sealing != nullptr;
    return reader_.ReadSection(is_nested ? *sealing : root, path, out);
  }

  bool ReadPorts(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "ports", 1, kMaxPorts)) {
      const std::string path = Entry("ports", i++);
      PortConfig& port = config_.ports.emplace_back();
      if (!reader_.ReadFields(item, path, {"vlan"}, port) ||
          !reader_.CheckEncapsulation<PortConfig>(item, path, port.encapsulation)) {
        return false;
      }
      if (const ConfigNode* node = ConfigReader::Find(item, "vlan"); node != nullptr) {
        VlanEntry vlan;
        if (!reader_.ReadFields(*node, path + ".vlan", {}, vlan)) return false;
        port.vid = vlan.vid;
      }
    }
    return reader_.ok();
  }

  // Sets `out` to the XPU ids of an entry with xpu or xpus.
  bool ReadIds(const ConfigNode& item, const std::string& path, const std::optional<uint32_t>& xpu,
               const std::optional<XpuRange>& xpus, XpuRange& out) {
    if (xpu && xpus) {
      return reader_.Fail(item, path, "both xpu and xpus are given; keep one of them");
    }
    if (!xpu && !xpus) {
      return reader_.Fail(item, path, "no XPU id; add xpu: ID, or xpus: FIRST-LAST");
    }
    out = xpus ? *xpus : XpuRange{*xpu, *xpu};
    return true;
  }

  bool ReadInstances(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "instances", 1, kMaxOwnInstances)) {
      const size_t index = i++;
      if (!ReadInstance(item, Entry("instances", index), index)) return false;
    }
    return reader_.ok();
  }

  bool ReadInstance(const ConfigNode& item, const std::string& path, size_t entry_index) {
    InstanceEntry entry;
    XpuRange ids;
    InstanceConfig instance;
    if (!reader_.ReadFields(item, path, {"ports"}, entry) ||
        !ReadIds(item, path, entry.xpu, entry.xpus, ids) ||
        !refs_.FindLcore(item, path, entry.lcore, instance.lcore)) {
      return false;
    }
    if (config_.instances.size() + (ids.last - ids.first + 1) > kMaxOwnInstances) {
      return reader_.Fail(item, path,
                          StrCat("with this entry there are more than ", kMaxOwnInstances,
                                 " instances; spread them over several processes"));
    }
    std::vector<PlaneRule> planes;
    if (!ReadPlanes(item, path, ids, planes)) return false;
    instance.instance = entry.instance;
    instance.ordering = entry.ordering;
    instance.congestion = entry.congestion;
    instance.sealing = entry.sealing;
    instance.partition = entry.partition;
    for (uint32_t id = ids.first; id <= ids.last; ++id) {
      instance.xpu = id;
      instance.ports.clear();
      for (const PlaneRule& plane : planes) {
        const NetAddress usual =
            plane.address.assigned
                ? NetAddress{}
                : DefaultConfigAddress(config_.ports[plane.port], id, entry.instance);
        instance.ports.push_back({.port = plane.port,
                                  .address = plane.address.Of(id).value_or(usual),
                                  .assigned = plane.address.assigned});
      }
      config_.instances.push_back(instance);
      draft_.instance_entries.push_back(static_cast<uint32_t>(entry_index));
    }
    return true;
  }

  // A port of an entry's instances.
  struct PlaneRule {
    uint32_t port = 0;  // index into Config::ports
    AddressRule address;
  };

  bool ReadPlanes(const ConfigNode& item, const std::string& path, const XpuRange& ids,
                  std::vector<PlaneRule>& planes) {
    const std::span<const ConfigNode> ports = reader_.Items(item, path, "ports", 1, kMaxPlanes);
    if (!reader_.ok()) return false;
    if (ports.size() == 3) {
      return reader_.Fail(ports[2], path + ".ports",
                          "3 ports; an instance has 1, 2 or 4: remove one, or add another");
    }
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string port_path = Entry(path + ".ports", i);
      InstancePortEntry address;
      PlaneRule& plane = planes.emplace_back();
      if (!reader_.ReadFields(ports[i], port_path, {}, address) ||
          !refs_.FindPort(ports[i], port_path, address.port, plane.port)) {
        return false;
      }
      for (size_t other = 0; other < i; ++other) {
        if (planes[other].port != plane.port) continue;
        return reader_.Fail(*ConfigReader::Find(ports[i], "port"), port_path + ".port",
                            StrCat("port ", address.port, " is that of plane ", other,
                                   " already; each plane of an instance has a port of its own"));
      }
      AddressReader reader(reader_, ports[i], port_path, config_.ports[plane.port], ids);
      if (!reader.Read(address, plane.address)) return false;
    }
    return true;
  }

  bool ReadPeers(const ConfigNode& root) {
    size_t i = 0;
    for (const ConfigNode& item : reader_.Items(root, "", "peers", 0, kMaxXpus)) {
      const size_t index = i++;
      if (!ReadPeer(item, Entry("peers", index), index)) return false;
    }
    return reader_.ok();
  }

  bool ReadPeer(const ConfigNode& item, const std::string& path, size_t entry_index) {
    PeerEntry entry;
    XpuRange ids;
    if (!reader_.ReadFields(item, path, {"ports"}, entry) ||
        !ReadIds(item, path, entry.xpu, entry.xpus, ids)) {
      return false;
    }
    if (!ReadPeerName(item, path, entry)) return false;
    const size_t count = ids.last - ids.first + 1;
    const size_t first = config_.peers.size();
    if (first + count > kMaxXpus) {
      return reader_.Fail(item, path,
                          StrCat("with this entry there are more than ", kMaxXpus,
                                 " peers; name each XPU id once"));
    }
    const std::span<const ConfigNode> ports = reader_.Items(item, path, "ports", 1, kMaxPeerPorts);
    if (!reader_.ok()) return false;
    peer_addresses_ += ports.size() * count;
    if (peer_addresses_ > kMaxPeerAddresses) {
      return reader_.Fail(item, path + ".ports",
                          StrCat("with this entry the peers have more than ", kMaxPeerAddresses,
                                 " addresses; use fewer ports"));
    }
    for (uint32_t id = ids.first; id <= ids.last; ++id) {
      config_.peers.push_back({.xpu = id,
                               .name = entry.name.value_or(""),
                               .hello = entry.hello,
                               .control = entry.control.value_or(""),
                               .ports = {}});
      draft_.peer_entries.push_back(static_cast<uint32_t>(entry_index));
    }
    for (size_t i = 0; i < ports.size(); ++i) {
      if (!ReadPeerPort(ports[i], Entry(path + ".ports", i), ids, first)) return false;
    }
    return true;
  }

  // Checks that the name is that of one XPU.
  bool ReadPeerName(const ConfigNode& item, const std::string& path, const PeerEntry& entry) {
    if (!entry.name) return true;
    if (entry.xpus) {
      return reader_.Fail(item, path + ".name",
                          "a name is that of one XPU; give xpu: ID instead of xpus, or no name");
    }
    for (const PeerConfig& other : config_.peers) {
      if (other.name != *entry.name || other.xpu == *entry.xpu) continue;
      return reader_.Fail(item, path + ".name",
                          StrCat(*entry.name, " is the name of XPU ", other.xpu,
                                 " already; give each XPU a name of its own"));
    }
    return true;
  }

  // Adds a port to the peers from index `first` on, which have the XPU ids `ids`.
  bool ReadPeerPort(const ConfigNode& item, const std::string& path, const XpuRange& ids,
                    size_t first) {
    PeerPortEntry address;
    PeerPort port;
    if (!reader_.ReadFields(item, path, {}, address) ||
        !refs_.FindPort(item, path, address.port, port.port)) {
      return false;
    }
    AddressRule rule;
    MacRule mac;
    AddressReader reader(reader_, item, path, config_.ports[port.port], ids);
    if (!reader.Read(address, rule) || !reader.ReadMac(address.mac, address.mac_base, mac)) {
      return false;
    }
    port.instance = address.instance;
    for (uint32_t id = ids.first; id <= ids.last; ++id) {
      PeerConfig& peer = config_.peers[first + (id - ids.first)];
      for (const PeerPort& other : peer.ports) {
        if (other.port != port.port || other.instance != port.instance) continue;
        return FailTwice(item, path, address);
      }
      port.address = rule.Of(id);
      port.mac = mac.Of(id);
      peer.ports.push_back(port);
    }
    return true;
  }

  bool FailTwice(const ConfigNode& item, const std::string& path, const PeerPortEntry& entry) {
    if (entry.instance) {
      return reader_.Fail(item, path + ".instance",
                          StrCat("port ", entry.port, " is there twice for instance ",
                                 *entry.instance, "; remove one, or give it another instance"));
    }
    return reader_.Fail(item, path + ".port",
                        StrCat("port ", entry.port,
                               " is there twice for this peer; remove one, or say with instance: N "
                               "which own instances it is for"));
  }

  bool ReadClasses(const ConfigNode& root) {
    const ConfigNode* node = ConfigReader::Find(root, "classes");
    if (node == nullptr) return true;
    if (!reader_.ReadNested(*node, "classes", {"vc", "ack"})) return false;
    if (const ConfigNode* vc = ConfigReader::Find(*node, "vc"); vc != nullptr) {
      auto& classes = config_.classes.vc;
      if (vc->kind == ConfigNode::Kind::kList && vc->items.size() != classes.size()) {
        return reader_.Fail(*vc, "classes.vc",
                            StrCat(vc->items.size(), " classes; write exactly 4, for VC 0 to 3"));
      }
      size_t i = 0;
      for (const ConfigNode& item : reader_.Items(*node, "classes", "vc", 4, 4)) {
        if (!reader_.ReadFields(item, Entry("classes.vc", i), {}, classes[i])) return false;
        ++i;
      }
      if (!reader_.ok()) return false;
    }
    return reader_.ReadSection(*node, "classes.ack", config_.classes.ack);
  }

  ConfigDraft& draft_;
  Config& config_;
  ConfigReader reader_;
  const ConfigReferences refs_;
  size_t peer_addresses_ = 0;
};

}  // namespace

absl::Status ReadConfig(const ConfigNode& root, ConfigDraft& draft) {
  return SectionReader(draft).Read(root);
}

}  // namespace suede
