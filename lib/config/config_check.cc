// SPDX-License-Identifier: Apache-2.0
// Rules that concern more than one value. Each function checks one subject and returns the first
// error.
#include <sys/un.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/device_string.h"
#include "base/psn_bits.h"
#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_draft.h"
#include "config/config_encapsulation.h"
#include "config/config_values.h"
#include "link/link_params.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;

constexpr uint32_t kUsualMtu = 1500;

// --- eal

// EAL arguments that the daemon sets itself.
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

// Returns the identity of a device: the PCI address with its domain, or the vdev's name; empty:
// invalid.
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

// Octets that sealing adds to a PDU (docs/sealing.md).
constexpr uint32_t kSealingBytes = 26;

bool Seals(const Config& config) {
  return std::any_of(config.instances.begin(), config.instances.end(), [](const InstanceConfig& i) {
    return i.sealing != InstanceConfig::Sealing::kOff;
  });
}

Status CheckMtu(ConfigDraft& draft, PortConfig& port, const std::string& path) {
  const uint32_t limit = draft.config.packing.limit_bytes;
  const uint32_t overhead =
      OverheadBytes(port.encapsulation) + (Seals(draft.config) ? kSealingBytes : 0);
  const uint32_t needed = limit + overhead;
  if (port.mtu_bytes == 0) port.mtu_bytes = std::max(kUsualMtu, needed);
  const uint32_t of_report = kMaxReportBytes + overhead;
  if (draft.config.transport.recovery == LossRecovery::kSelective && port.mtu_bytes < of_report) {
    return draft.Error(path + ".mtu_bytes",
                       StrCat(port.mtu_bytes,
                              " is too small for the reports of transport.recovery: selective; use "
                              "at least ",
                              of_report, ", or go_back_n"));
  }
  if (port.mtu_bytes >= needed) return OkStatus();
  const uint32_t largest = port.mtu_bytes - overhead;
  std::string mend = StrCat("use an MTU of at least ", needed);
  if (largest >= kMaxCommandBytes) {
    StrAppend(&mend, ", or a packing.limit_bytes of at most ", largest);
  } else {
    StrAppend(&mend, " (no pack limit fits this one: the least takes ", kMaxCommandBytes + overhead,
              ")");
  }
  return draft.Error(path + ".mtu_bytes",
                     StrCat(port.mtu_bytes, " is too small for PDUs at the pack limit of ", limit,
                            ", which take ", needed, " with their headers; ", mend));
}

// Returns the bytes of the longest frame; the kernel may use VLANs of its own on a TAP device.
uint32_t FrameBytesAt(const PortConfig& port) {
  const uint32_t tag_bytes = port.vid.has_value() || port.tap.has_value() ? 4 : 0;
  return 14 + tag_bytes + port.mtu_bytes + (port.llr == OnOff::kOn ? kLinkShimBytes : 0);
}

// EtherTypes of other protocols.
struct OtherEtherType {
  uint16_t value;
  std::string_view owner;
};
constexpr OtherEtherType kOtherEtherTypes[] = {
    {0x0800, "IPv4"}, {0x0806, "ARP"},       {0x8100, "VLAN tags"},
    {0x86DD, "IPv6"}, {0x88A8, "VLAN tags"},
};

Status CheckEtherType(const ConfigDraft& draft, PortConfig& port, const std::string& path) {
  if (!kForwarded.Has(port.encapsulation)) return OkStatus();
  const uint16_t usual = EtherTypeOf(Encapsulation::kAfh1, TraitsOf(port.encapsulation).ether_type);
  port.ether_type = EtherTypeOf(port.encapsulation, port.ether_type);
  if (port.ether_type == 0) {
    return draft.Error(path + ".encapsulation",
                       StrCat(NameOf(port.encapsulation),
                              " frames have no usual EtherType; add ether_type, such as ",
                              FormatEtherType(usual), " of experiments"));
  }
  for (const OtherEtherType& other : kOtherEtherTypes) {
    if (port.ether_type != other.value) continue;
    return draft.Error(path + ".ether_type",
                       StrCat(FormatEtherType(other.value), " is that of ", other.owner,
                              ", so that PDUs would be taken for it; use ", FormatEtherType(usual),
                              " or another for experiments"));
  }
  return OkStatus();
}

Status CheckSession(const ConfigDraft& draft, const PortConfig& port, const std::string& path) {
  const uint32_t max = MaxSession(port.encapsulation);
  if (port.session <= max) return OkStatus();
  return draft.Error(path + ".session", StrCat(port.session, " does not fit the field of ",
                                               NameOf(port.encapsulation), "; use 0 to ", max));
}

// Checks the hop limit, and fills in the largest one where the header has no room for the usual.
Status CheckHopLimit(const ConfigDraft& draft, PortConfig& port, const std::string& path) {
  const uint8_t limit = HopLimitIn(port.encapsulation, port.hop_limit);
  if (!kWithHopLimit.Has(port.encapsulation) || port.hop_limit == limit) return OkStatus();
  const bool is_given = draft.Has(path + ".hop_limit");
  const uint8_t given = std::exchange(port.hop_limit, limit);
  if (!is_given) return OkStatus();
  return draft.Error(path + ".hop_limit", StrCat(given, " does not fit the field of ",
                                                 NameOf(port.encapsulation), "; use 1 to ", limit));
}

// Checks that both ends derive the same class from a frame.
Status CheckPfcClass(const ConfigDraft& draft, const PortConfig& port, const std::string& path) {
  if (port.encapsulation != Encapsulation::kEsun || port.pfc_class != PortConfig::PfcClass::kPcp) {
    return OkStatus();
  }
  return draft.Error(path + ".pfc_class",
                     "the CoS of esun frames comes before their PCP; remove pfc_class");
}

Status CheckTag(const ConfigDraft& draft, const PortConfig& port, const std::string& path) {
  if (!port.vid || TraitsOf(port.encapsulation).can_be_tagged) return OkStatus();
  const EncapsulationSet tagged = EncapsWith(
      [](const EncapTraits& t) { return t.can_be_tagged && t.macs == MacKind::kPrefixed; });
  return draft.Error(path + ".vlan",
                     StrCat(NameOf(port.encapsulation),
                            " frames are untagged; remove vlan, or use encapsulation ",
                            JoinNames(tagged)));
}

Status CheckQueues(const ConfigDraft& draft, const PortConfig& port, const std::string& path) {
  if (port.queues == PortConfig::Queues::kLcore || !IsMemif(port.device)) {
    return OkStatus();
  }
  return draft.Error(path + ".queues",
                     "a memif has one pair of queues for all users; remove queues");
}

// Checks the settings of a NIC's link.
Status CheckLinkSettings(const ConfigDraft& draft, const PortConfig& port,
                         const std::string& path) {
  const size_t speeds = port.link_speeds_gbps.size();
  if (port.autoneg == OnOff::kOff && speeds != 1) {
    return draft.Error(path + ".autoneg",
                       StrCat("without negotiation the link has one speed, and link_speeds_gbps ",
                              speeds == 0 ? "none" : "several",
                              "; write that of the neighbour, "
                              "as in link_speeds_gbps: [100]"));
  }
  if (!IsMemif(port.device) && !IsCentre(port)) return OkStatus();
  const std::string mend = "no NIC has this link; remove ";
  if (speeds != 0) return draft.Error(path + ".link_speeds_gbps", mend + "link_speeds_gbps");
  if (port.fec != PortConfig::Fec::kDevice) return draft.Error(path + ".fec", mend + "fec");
  return OkStatus();
}

// Refuses `key` of a port that no instance uses: no lcore would carry its frames.
Status CheckServed(const ConfigDraft& draft, size_t index, std::string_view key) {
  const auto& instances = draft.config.instances;
  const auto is_on_it = [index](const InstancePort& at) { return at.port == index; };
  if (std::any_of(instances.begin(), instances.end(), [&](const InstanceConfig& instance) {
        return std::any_of(instance.ports.begin(), instance.ports.end(), is_on_it);
      })) {
    return OkStatus();
  }
  return draft.Error(StrCat(Entry("ports", index), ".", key),
                     StrCat("no lcore serves port ", draft.config.ports[index].name,
                            ", because no instance is on it; add one, or remove ", key));
}

// Checks the keys of an assigned address, and that an instance takes it.
Status CheckAssigned(const ConfigDraft& draft, size_t index) {
  const PortConfig& port = draft.config.ports[index];
  const std::string path = Entry("ports", index);
  if (port.lldp_addresses == OnOff::kOff) return OkStatus();
  if (port.lldp == OnOff::kOff) {
    return draft.Error(path + ".lldp_addresses",
                       "addresses are assigned by LLDP, which is off; add lldp: on");
  }
  if (AssignedPlane(draft.config, static_cast<uint32_t>(index)) != nullptr) return OkStatus();
  return draft.Error(path + ".lldp_addresses",
                     StrCat("every instance on port ", port.name,
                            " has an ip, so none takes an assigned address; remove the ip of "
                            "one, or set this off"));
}

Status CheckTap(const ConfigDraft& draft, size_t index, std::map<std::string, size_t>& taps) {
  const PortConfig& port = draft.config.ports[index];
  const std::string path = Entry("ports", index);
  // Ports of devices have an error of their own.
  const bool of_device = IsCentre(port) || IsOfCable(draft.config, static_cast<uint32_t>(index));
  if (port.lldp == OnOff::kOn && !of_device) {
    if (Status s = CheckServed(draft, index, "lldp"); !s.ok()) return s;
  }
  if (Status s = CheckAssigned(draft, index); !s.ok()) return s;
  if (!port.tap) {
    if (!port.tap_prefix) return OkStatus();
    return draft.Error(path + ".tap_prefix",
                       "there is no TAP device to have addresses; add tap: NAME, or remove this");
  }
  if (const auto [at, is_new] = taps.emplace(*port.tap, index); !is_new) {
    return draft.Error(path + ".tap",
                       StrCat(*port.tap, " is the TAP device of ", Entry("ports", at->second),
                              " already; choose another name"));
  }
  if (Status s = CheckServed(draft, index, "tap"); !s.ok()) return s;
  if (!port.tap_prefix) return OkStatus();
  if (port.vid.value_or(0) != 0) {
    return draft.Error(path + ".tap_prefix",
                       "the addresses of a port with a VLAN id belong to the VLAN's interface; "
                       "remove this, and set them there");
  }
  if (port.encapsulation == PortConfig::Encapsulation::kUdp4 && *port.tap_prefix > 32) {
    return draft.Error(path + ".tap_prefix",
                       StrCat(*port.tap_prefix, " is longer than an IPv4 address; use 1 to 32"));
  }
  return OkStatus();
}

// Names and devices of the previous ports.
struct PortsSeen {
  std::map<std::string, size_t> names;
  std::map<std::string, size_t> devices;
  std::map<MacAddress, size_t> macs;
};

Status CheckIdentity(const ConfigDraft& draft, size_t i, PortsSeen& seen) {
  const PortConfig& port = draft.config.ports[i];
  const std::string path = Entry("ports", i);
  if (const auto [at, is_new] = seen.names.emplace(port.name, i); !is_new) {
    return draft.Error(path + ".name",
                       StrCat(port.name, " is the name of ", Entry("ports", at->second),
                              " already; choose another"));
  }
  if (IsCentre(port) && port.plane) return OkStatus();
  const std::string device = DeviceIdentity(port.device);
  if (device.empty()) {
    return draft.Error(path + ".device",
                       StrCat(Quoted(port.device),
                              " is no device; write a PCI address such as 0000:03:00.0, or a "
                              "vdev such as net_memif0,role=server"));
  }
  if (Status s = CheckDevice(draft, i); !s.ok()) return s;
  if (const auto [at, is_new] = seen.devices.emplace(device, i); !is_new) {
    return draft.Error(path + ".device",
                       StrCat(device, " is the device of ", Entry("ports", at->second),
                              " already; use another, or number the vdev (net_memif1)"));
  }
  if (!port.mac) return OkStatus();
  if (const auto [at, is_new] = seen.macs.emplace(*port.mac, i); !is_new) {
    return draft.Error(path + ".mac",
                       StrCat(FormatMac(*port.mac), " is the MAC address of ",
                              Entry("ports", at->second), " already; choose another"));
  }
  return OkStatus();
}

Status CheckPorts(ConfigDraft& draft) {
  PortsSeen seen;
  std::map<std::string, size_t> taps;
  for (size_t i = 0; i < draft.config.ports.size(); ++i) {
    PortConfig& port = draft.config.ports[i];
    const std::string path = Entry("ports", i);
    if (IsCentre(port) && !port.plane) {
      return draft.Error(path + ".plane", "missing; a port with device: mesh leads to one plane");
    }
    if (Status s = CheckIdentity(draft, i, seen); !s.ok()) return s;
    if (Status s = CheckMtu(draft, port, path); !s.ok()) return s;
    if (Status s = CheckFrameRoom(draft, i, FrameBytesAt(port)); !s.ok()) return s;
    if (Status s = CheckEtherType(draft, port, path); !s.ok()) return s;
    if (Status s = CheckSession(draft, port, path); !s.ok()) return s;
    if (Status s = CheckHopLimit(draft, port, path); !s.ok()) return s;
    if (Status s = CheckPfcClass(draft, port, path); !s.ok()) return s;
    if (Status s = CheckTag(draft, port, path); !s.ok()) return s;
    if (Status s = CheckQueues(draft, port, path); !s.ok()) return s;
    if (Status s = CheckLinkSettings(draft, port, path); !s.ok()) return s;
    if (Status s = CheckTap(draft, i, taps); !s.ok()) return s;
  }
  return OkStatus();
}

// --- PFC

Status CheckPfc(ConfigDraft& draft) {
  const ClassesConfig classes = draft.config.classes;
  for (size_t vc = 0; vc < classes.vc.size(); ++vc) {
    if (classes.vc[vc].xon_percent < classes.vc[vc].xoff_percent) continue;
    return draft.Error(StrCat(Entry("classes.vc", vc), ".xon_percent"),
                       StrCat(classes.vc[vc].xon_percent, " is not less than xoff_percent, ",
                              classes.vc[vc].xoff_percent, "; lower it"));
  }
  for (size_t p = 0; p < draft.config.ports.size(); ++p) {
    const PortConfig& port = draft.config.ports[p];
    if (port.pfc == PortConfig::Pfc::kOff) continue;
    if (port.pfc == PortConfig::Pfc::kDevice &&
        DeviceIdentity(port.device).find(':') == std::string::npos) {
      return draft.Error(StrCat(Entry("ports", p), ".pfc"),
                         "a virtual device does not pause classes itself; use software, or off");
    }
  }
  return OkStatus();
}

// --- clients and management

// Fills in a missing path: `name` in the endpoint's runtime directory.
Status CheckSocket(const MachineFacts& machine, const ConfigDraft& draft, std::string_view key,
                   std::string_view name, std::string& socket) {
  constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;
  const bool computed = socket.empty();
  if (computed && !machine.runtime_directory.empty()) {
    socket = StrCat(machine.runtime_directory, "/", name);
  } else if (computed) {
    socket = StrCat(machine.runtime_root, "/", draft.config.name, "/", name);
  }
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
  // A command of two bytes occupies a whole line of the ring.
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

Status CheckDaemonConfig(const MachineFacts& machine, ConfigDraft& draft) {
  if (Status s = CheckEal(draft); !s.ok()) return s;
  if (Status s = CheckLcores(machine, draft); !s.ok()) return s;
  PortsSeen seen;
  for (size_t i = 0; i < draft.config.ports.size(); ++i) {
    if (Status s = CheckIdentity(draft, i, seen); !s.ok()) return s;
  }
  return CheckManagement(machine, draft);
}

Status CheckConfig(const MachineFacts& machine, ConfigDraft& draft) {
  if (Status s = CheckEal(draft); !s.ok()) return s;
  if (Status s = CheckLcores(machine, draft); !s.ok()) return s;
  if (Status s = CheckPorts(draft); !s.ok()) return s;
  FillPsnScope(draft);
  FillClasses(draft);
  if (Status s = CheckAddresses(draft); !s.ok()) return s;
  if (Status s = CheckTransport(draft); !s.ok()) return s;
  if (Status s = CheckPlanes(draft); !s.ok()) return s;
  if (Status s = CheckSessions(draft); !s.ok()) return s;
  if (Status s = CheckClients(machine, draft); !s.ok()) return s;
  if (Status s = CheckManagement(machine, draft); !s.ok()) return s;
  if (Status s = CheckPfc(draft); !s.ok()) return s;
  if (Status s = CheckCongestion(draft); !s.ok()) return s;
  if (Status s = CheckSealing(draft); !s.ok()) return s;
  if (Status s = CheckMesh(draft); !s.ok()) return s;
  if (Status s = CheckLinks(draft); !s.ok()) return s;
  if (Status s = CheckRates(draft); !s.ok()) return s;
  WarnOfPeers(draft);
  WarnOfClasses(draft);
  return OkStatus();
}

}  // namespace suede
