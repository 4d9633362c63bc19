// What concerns more than one value. Each function checks one subject and stops at the first error.
#include <sys/un.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "control/config_draft.h"
#include "control/config_text.h"
#include "control/config_values.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;

std::string Entry(std::string_view list, size_t index) { return StrCat(list, "[", index, "]"); }

constexpr uint32_t kPduOverhead = 8 + 4 + 28;  // RH, R-CRC, IPv4 and UDP headers
constexpr uint32_t kUsualMtu = 1500;

void Warn(ConfigDraft& draft, std::string_view path, std::string_view problem) {
  draft.warnings.emplace_back(draft.Error(path, problem).message());
}

// --- eal

// Arguments of the EAL that the daemon gives itself.
struct OwnArgument {
  std::string_view name;
  std::string_view key;
};
constexpr OwnArgument kOwnArguments[] = {
    {"--lcores", "lcores[].cpu"},     {"--main-lcore", "lcores[].cpu"},
    {"--file-prefix", "name"},        {"--no-huge", "eal.hugepages: off"},
    {"--vdev", "ports[].device"},     {"--allow", "ports[].device"},
    {"--block", "ports[].device"},    {"--proc-type", "name"},
    {"--in-memory", "eal.hugepages"},
};
constexpr OwnArgument kOwnShortArguments[] = {
    {"-l", "lcores[].cpu"},   {"-c", "lcores[].cpu"},   {"-m", "eal.memory_mb"},
    {"-a", "ports[].device"}, {"-b", "ports[].device"},
};

Status CheckEal(const ConfigDraft& draft) {
  for (const std::string& arg : draft.config.eal.args) {
    const std::string_view name = std::string_view(arg).substr(0, arg.find('='));
    for (const OwnArgument& own : kOwnArguments) {
      if (name != own.name) continue;
      return draft.Error("eal.args", StrCat(name, " is set by another key; use ", own.key));
    }
    for (const OwnArgument& own : kOwnShortArguments) {
      if (!arg.starts_with(own.name)) continue;
      return draft.Error("eal.args", StrCat(own.name, " is set by another key; use ", own.key));
    }
  }
  return OkStatus();
}

// --- lcores

Status CheckLcores(const MachineFacts& machine, const ConfigDraft& draft) {
  std::map<uint32_t, size_t> seen;
  for (size_t i = 0; i < draft.config.lcores.size(); ++i) {
    const uint32_t cpu = draft.config.lcores[i].cpu;
    const std::string path = Entry("lcores", i) + ".cpu";
    if (cpu >= machine.cpu_count) {
      return draft.Error(path, StrCat("there is no CPU ", cpu, " on this machine; use 0 to ",
                                      machine.cpu_count - 1));
    }
    if (const auto [at, is_new] = seen.emplace(cpu, i); !is_new) {
      return draft.Error(path, StrCat("CPU ", cpu, " is that of ", Entry("lcores", at->second),
                                      " already; one lcore serves any number of instances, so "
                                      "remove this one or take another CPU"));
    }
  }
  return OkStatus();
}

// --- ports

bool IsHex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// What tells devices apart: the PCI address with its domain, or the vdev's name. Empty: neither.
std::string DeviceIdentity(std::string_view device) {
  std::string name(device.substr(0, device.find(',')));
  if (name.starts_with("net_") || name.starts_with("virtio_user")) return name;
  absl::AsciiStrToLower(&name);
  if (name.size() == sizeof("03:00.0") - 1) name.insert(0, "0000:");
  const std::string_view pci = name;
  const bool good = pci.size() == sizeof("0000:03:00.0") - 1 && IsHex(pci.substr(0, 4)) &&
                    pci[4] == ':' && IsHex(pci.substr(5, 2)) && pci[7] == ':' &&
                    IsHex(pci.substr(8, 2)) && pci[10] == '.' && pci[11] >= '0' && pci[11] <= '7';
  return good ? name : std::string();
}

Status CheckMtu(ConfigDraft& draft, PortConfig& port, const std::string& path) {
  const uint32_t limit = draft.config.packing.limit_bytes;
  const uint32_t needed = limit + kPduOverhead;
  if (port.mtu_bytes == 0) port.mtu_bytes = std::max(kUsualMtu, needed);
  if (port.mtu_bytes >= needed) return OkStatus();
  const uint32_t largest = port.mtu_bytes - kPduOverhead;
  std::string mend = StrCat("use an MTU of at least ", needed);
  if (largest >= kMaxCommandBytes) {
    StrAppend(&mend, ", or a packing.limit_bytes of at most ", largest);
  } else {
    StrAppend(&mend, " (no pack limit fits this one: the least takes ",
              kMaxCommandBytes + kPduOverhead, ")");
  }
  return draft.Error(path + ".mtu_bytes",
                     StrCat(port.mtu_bytes, " is too small for PDUs at the pack limit of ", limit,
                            ", which take ", needed, " with their headers; ", mend));
}

Status CheckPorts(ConfigDraft& draft) {
  std::map<std::string, size_t> names;
  std::map<std::string, size_t> devices;
  std::map<ConfigMac, size_t> macs;
  for (size_t i = 0; i < draft.config.ports.size(); ++i) {
    PortConfig& port = draft.config.ports[i];
    const std::string path = Entry("ports", i);
    if (const auto [at, is_new] = names.emplace(port.name, i); !is_new) {
      return draft.Error(path + ".name",
                         StrCat(port.name, " is the name of ", Entry("ports", at->second),
                                " already; choose another"));
    }
    const std::string device = DeviceIdentity(port.device);
    if (device.empty()) {
      return draft.Error(path + ".device",
                         StrCat(Quoted(port.device),
                                " is no device; write a PCI address such as 0000:03:00.0, or a "
                                "vdev such as net_memif0,role=server"));
    }
    if (const auto [at, is_new] = devices.emplace(device, i); !is_new) {
      return draft.Error(path + ".device",
                         StrCat(device, " is the device of ", Entry("ports", at->second),
                                " already; use another, or number the vdev (net_memif1)"));
    }
    if (port.mac) {
      if (const auto [at, is_new] = macs.emplace(*port.mac, i); !is_new) {
        return draft.Error(path + ".mac",
                           StrCat(FormatMac(*port.mac), " is the MAC address of ",
                                  Entry("ports", at->second), " already; choose another"));
      }
    }
    if (Status s = CheckMtu(draft, port, path); !s.ok()) return s;
  }
  return OkStatus();
}

// --- instances and peers

// The key that gives an entry's address.
std::string IpKey(const ConfigDraft& draft, const std::string& entry) {
  std::string base = entry + ".ip_base";
  return draft.Has(base) ? base : entry + ".ip";
}

using PortAddress = std::pair<uint32_t, ConfigIp>;

Status CheckPortOwner(const ConfigDraft& draft, const std::string& path,
                      const InstanceConfig& instance, std::map<uint32_t, uint32_t>& owners) {
  const Config& config = draft.config;
  const uint32_t port = instance.ports[0].port;
  const auto [owner, is_new] = owners.emplace(port, instance.lcore);
  if (is_new || owner->second == instance.lcore) return OkStatus();
  return draft.Error(
      path + ".ports[0].port",
      StrCat("port ", config.ports[port].name, " is served by the lcore on CPU ",
             config.lcores[owner->second].cpu, ", and this instance is on CPU ",
             config.lcores[instance.lcore].cpu,
             "; a port's pair of queues belongs to one lcore: put its instances on the same lcore, "
             "or give each lcore a port of its own"));
}

Status CheckInstances(const ConfigDraft& draft, std::map<PortAddress, uint32_t>& addresses) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
  std::map<uint32_t, uint32_t> port_owners;
  const Config& config = draft.config;
  for (size_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    const uint32_t entry = draft.instance_entries[i];
    const std::string path = Entry("instances", entry);
    const auto [number, is_new] =
        numbers.emplace(std::pair(instance.xpu, instance.instance), entry);
    if (!is_new) {
      return draft.Error(path, StrCat("instance ", instance.instance, " of XPU ", instance.xpu,
                                      " is ", Entry("instances", number->second),
                                      " already; give it another instance number"));
    }
    if (Status s = CheckPortOwner(draft, path, instance, port_owners); !s.ok()) return s;
    const InstancePort& port = instance.ports[0];
    const auto [at, is_free] =
        addresses.emplace(PortAddress(port.port, port.ip), static_cast<uint32_t>(i));
    if (!is_free) {
      return draft.Error(
          path + ".ports[0].ip",
          StrCat(FormatIp(port.ip), " on port ", config.ports[port.port].name,
                 " is the address of ", Entry("instances", draft.instance_entries[at->second]),
                 " (XPU ", config.instances[at->second].xpu, ") already; choose another"));
    }
  }
  return OkStatus();
}

Status CheckPeers(const ConfigDraft& draft, const std::map<PortAddress, uint32_t>& own) {
  std::map<uint32_t, uint32_t> ids;
  std::map<PortAddress, uint32_t> addresses;  // to the peer's XPU id
  const Config& config = draft.config;
  for (size_t i = 0; i < config.peers.size(); ++i) {
    const PeerConfig& peer = config.peers[i];
    const uint32_t entry = draft.peer_entries[i];
    const std::string path = Entry("peers", entry);
    if (const auto [at, is_new] = ids.emplace(peer.xpu, entry); !is_new) {
      return draft.Error(path, StrCat("XPU ", peer.xpu, " is in ", Entry("peers", at->second),
                                      " already; name each peer once, with all its ports"));
    }
    for (size_t j = 0; j < peer.ports.size(); ++j) {
      const PeerPort& port = peer.ports[j];
      const std::string where = IpKey(draft, Entry(path + ".ports", j));
      const std::string shown =
          StrCat(FormatIp(port.ip), " on port ", config.ports[port.port].name);
      const PortAddress address(port.port, port.ip);
      if (const auto [at, is_new] = addresses.emplace(address, peer.xpu); !is_new) {
        return draft.Error(where, StrCat(shown, " is for XPU ", peer.xpu, " and for XPU ",
                                         at->second, "; give each peer an address of its own"));
      }
      const auto mine = own.find(address);
      if (mine == own.end() || config.instances[mine->second].xpu == peer.xpu) continue;
      return draft.Error(
          where, StrCat(shown, " is for peer ", peer.xpu, " and for the own XPU ",
                        config.instances[mine->second].xpu, "; give the peer its own address"));
    }
  }
  return OkStatus();
}

void WarnOfPeers(ConfigDraft& draft) {
  const Config& config = draft.config;
  if (config.peers.empty()) {
    Warn(draft, "peers", "there are no peers, so nothing can be sent or received; add some");
    return;
  }
  std::set<uint32_t> reached;
  for (const PeerConfig& peer : config.peers) {
    for (const PeerPort& port : peer.ports) reached.insert(port.port);
  }
  std::set<uint32_t> warned;
  for (size_t i = 0; i < config.instances.size(); ++i) {
    const uint32_t port = config.instances[i].ports[0].port;
    if (reached.contains(port) || !warned.insert(port).second) continue;
    Warn(draft, Entry("instances", draft.instance_entries[i]) + ".ports[0].port",
         StrCat("no peer is reached through port ", config.ports[port].name,
                "; add the port to the peers"));
  }
}

void WarnOfClasses(ConfigDraft& draft) {
  const ClassesConfig defaults;
  const Config& config = draft.config;
  const bool tagged = std::any_of(config.ports.begin(), config.ports.end(),
                                  [](const PortConfig& port) { return port.vid.has_value(); });
  if (tagged) return;
  constexpr std::string_view kProblem =
      "no port is tagged, so the PCP is not sent; add vlan: {vid: 0} to the port, or remove it";
  for (size_t vc = 0; vc < config.classes.vc.size(); ++vc) {
    if (config.classes.vc[vc].pcp == 0) continue;
    Warn(draft, Entry("classes.vc", vc) + ".pcp", kProblem);
  }
  if (config.classes.ack.pcp != defaults.ack.pcp) Warn(draft, "classes.ack.pcp", kProblem);
}

// --- transport and clients

int64_t Us(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

Status CheckTransport(const ConfigDraft& draft) {
  const TransportConfig& t = draft.config.transport;
  const uint32_t limit = draft.config.packing.limit_bytes;
  if (t.window_bytes < limit) {
    return draft.Error("transport.window_bytes",
                       StrCat(t.window_bytes, " is less than one PDU at packing.limit_bytes; use ",
                              limit, " or more"));
  }
  if (t.ack_every_pdus > t.window_pdus) {
    return draft.Error("transport.ack_every_pdus",
                       StrCat(t.ack_every_pdus,
                              " is more than the window, so that the peer would "
                              "always wait for ack_delay_us; use at most ",
                              t.window_pdus));
  }
  if (t.inflight_pdus < t.window_pdus) {
    return draft.Error("transport.inflight_pdus",
                       StrCat(t.inflight_pdus, " is less than the window of one connection; use ",
                              t.window_pdus, " or more, or lower transport.window_pdus"));
  }
  if (t.rto_min > t.rto_max) {
    return draft.Error(
        "transport.rto_min_us",
        StrCat(Us(t.rto_min), " is more than rto_max_us; use at most ", Us(t.rto_max)));
  }
  if (t.rto_initial < t.rto_min || t.rto_initial > t.rto_max) {
    return draft.Error("transport.rto_initial_us",
                       StrCat(Us(t.rto_initial), " is not between rto_min_us and rto_max_us; use ",
                              Us(t.rto_min), " to ", Us(t.rto_max)));
  }
  if (t.ack_delay >= t.rto_min) {
    return draft.Error("transport.ack_delay_us",
                       StrCat(Us(t.ack_delay),
                              " is not less than rto_min_us, so that peers would "
                              "retransmit what has arrived; use less than ",
                              Us(t.rto_min)));
  }
  return OkStatus();
}

// Fills in the path where none is given: `name` in the endpoint's runtime directory.
Status CheckSocket(const MachineFacts& machine, const ConfigDraft& draft, std::string_view key,
                   std::string_view name, std::string& socket) {
  constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
  const bool computed = socket.empty();
  if (computed) socket = StrCat(machine.runtime_root, "/", draft.config.name, "/", name);
  if (socket.size() <= kMaxSocketPath) return OkStatus();
  return draft.Error(
      computed ? "name" : key,
      StrCat("the socket's path ", Quoted(socket), " has ", socket.size(),
             " characters, and a Unix socket's has at most ", kMaxSocketPath, "; ",
             computed ? StrCat("use a shorter name, or set ", key) : "use a shorter path"));
}

Status CheckManagement(const MachineFacts& machine, ConfigDraft& draft) {
  std::string& socket = draft.config.management.socket;
  if (Status s = CheckSocket(machine, draft, "management.socket", "management.sock", socket);
      !s.ok()) {
    return s;
  }
  if (socket != draft.config.clients.socket) return OkStatus();
  return draft.Error("management.socket",
                     "is the path of clients.socket too; use another for one of them");
}

Status CheckClients(const MachineFacts& machine, ConfigDraft& draft) {
  ClientsConfig& clients = draft.config.clients;
  if (Status s = CheckSocket(machine, draft, "clients.socket", "xpu.sock", clients.socket);
      !s.ok()) {
    return s;
  }
  // A command of two octets takes a line of its own in the ring.
  const uint32_t needed = draft.config.packing.limit_bytes / 2;
  if (clients.receive_lines < needed) {
    uint32_t mend = clients.receive_lines;
    while (mend < needed) mend *= 2;
    return draft.Error(
        "clients.receive_lines",
        StrCat(clients.receive_lines,
               " cannot hold a PDU at the pack limit, which "
               "can be ",
               needed, " commands of a line each; use ", mend,
               " or more, or a packing.limit_bytes of at most ", clients.receive_lines * 2));
  }
  if (clients.aggregate_lines > clients.ring_lines) {
    return draft.Error("clients.aggregate_lines",
                       StrCat(clients.aggregate_lines, " is more than the ring holds; use at most ",
                              clients.ring_lines, ", or raise clients.ring_lines"));
  }
  return OkStatus();
}

}  // namespace

Status CheckConfig(const MachineFacts& machine, ConfigDraft& draft) {
  std::map<PortAddress, uint32_t> own;  // to the index of the instance
  if (Status s = CheckEal(draft); !s.ok()) return s;
  if (Status s = CheckLcores(machine, draft); !s.ok()) return s;
  if (Status s = CheckPorts(draft); !s.ok()) return s;
  if (Status s = CheckInstances(draft, own); !s.ok()) return s;
  if (Status s = CheckPeers(draft, own); !s.ok()) return s;
  if (Status s = CheckTransport(draft); !s.ok()) return s;
  if (Status s = CheckClients(machine, draft); !s.ok()) return s;
  if (Status s = CheckManagement(machine, draft); !s.ok()) return s;
  WarnOfPeers(draft);
  WarnOfClasses(draft);
  return OkStatus();
}

}  // namespace suede
