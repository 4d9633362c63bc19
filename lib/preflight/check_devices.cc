// SPDX-License-Identifier: Apache-2.0
// Checks of the devices behind ports.
#include <algorithm>

#include "base/device_string.h"
#include "base/text.h"
#include "preflight/check_files.h"
#include "preflight/preflight.h"

namespace suede {
namespace {

// Kernel drivers that DPDK can share a device with.
constexpr std::string_view kSharedDrivers[] = {"mlx4_core", "mlx5_core", "mana"};
constexpr std::string_view kVfioDriver = "vfio-pci";
constexpr std::string_view kUioDrivers[] = {"igb_uio", "uio_pci_generic"};
constexpr std::string_view kMemifDefaultSocket = "/run/memif.sock";

template <class List>
bool Contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::string Key(size_t port, const PortConfig& config) {
  return StrCat("ports[", port, "].device: ", DeviceHead(config.device));
}

// Calls `visit(index, port)` for the ports of a vdev driver.
template <class Visit>
void ForDriver(const Config& config, std::string_view driver, Visit&& visit) {
  for (size_t i = 0; i < config.ports.size(); ++i) {
    if (VdevDriver(config.ports[i].device) == driver) visit(i, config.ports[i]);
  }
}

void CheckGroup(const PreflightSubject& s, const std::string& key, const std::string& address,
                const PciFacts& pci, std::vector<Finding>& findings) {
  if (!pci.iommu_group) {
    findings.push_back(
        {.problem = key + " is in no IOMMU group",
         .mend = "boot with intel_iommu=on or amd_iommu=on, or: echo 1 > "
                 "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode and bind it again"});
    return;
  }
  const std::string group = StrCat("/dev/vfio/", *pci.iommu_group);
  const FileFacts file = s.machine.File(group);
  if (file.kind == FileFacts::Kind::kAbsent) {
    findings.push_back({.problem = StrCat(key, ": ", group, " is not there"),
                        .mend = StrCat("dpdk-devbind.py --bind=vfio-pci ", address,
                                       ", with every other device of the group")});
  } else if (!file.readable || !file.writable) {
    findings.push_back({.problem = StrCat(key, ": ", s.machine.User(), " may not open ", group),
                        .mend = StrCat("chown ", s.machine.User(), " ", group)});
  }
}

}  // namespace

void CheckVdevDrivers(const PreflightSubject& s, std::vector<Finding>& findings) {
  const std::vector<std::string> drivers = s.machine.VdevDrivers();
  for (size_t i = 0; i < s.config.ports.size(); ++i) {
    const PortConfig& port = s.config.ports[i];
    if (!IsVdev(port.device)) continue;
    const std::string_view head = DeviceHead(port.device);
    // virtio_user is an alias, which DPDK's libraries do not list.
    if (head.starts_with("virtio_user") || IsMemif(head)) continue;
    // Matches a prefix of the name, as EAL does.
    const bool known = std::any_of(drivers.begin(), drivers.end(), [&](const std::string& driver) {
      return head.starts_with(driver);
    });
    if (known) continue;
    std::vector<std::string_view> of_networks;
    for (const std::string& driver : drivers) {
      if (driver.starts_with("net_")) of_networks.push_back(driver);
    }
    findings.push_back(
        {.problem = StrCat(Key(i, port), ": DPDK has no driver ", VdevDriver(port.device)),
         .mend = StrCat("apt-get install librte-meta-net, or take one of ",
                        StrJoin(of_networks, ", "))});
  }
}

void CheckPciDevices(const PreflightSubject& s, std::vector<Finding>& findings) {
  for (size_t i = 0; i < s.config.ports.size(); ++i) {
    const PortConfig& port = s.config.ports[i];
    if (IsVdev(port.device)) continue;
    const std::string address = PciAddress(port.device);
    const auto pci = s.machine.Pci(address);
    if (!pci) {
      findings.push_back({.problem = Key(i, port) + ": there is no such PCI device",
                          .mend = "take one that is listed by: dpdk-devbind.py --status-dev net"});
      continue;
    }
    const std::string& driver = pci->driver;
    if (driver == kVfioDriver || Contains(kUioDrivers, driver) ||
        Contains(kSharedDrivers, driver)) {
      continue;
    }
    findings.push_back(
        {.problem = StrCat(Key(i, port), " is bound to ", driver.empty() ? "no driver" : driver),
         .mend = StrCat("modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci ", address)});
  }
}

void CheckVfio(const PreflightSubject& s, std::vector<Finding>& findings) {
  constexpr std::string_view kContainer = "/dev/vfio/vfio";
  bool container_checked = false;
  for (size_t i = 0; i < s.config.ports.size(); ++i) {
    const PortConfig& port = s.config.ports[i];
    if (IsVdev(port.device)) continue;
    const std::string address = PciAddress(port.device);
    const auto pci = s.machine.Pci(address);
    if (!pci || pci->driver != kVfioDriver) continue;
    const FileFacts container = s.machine.File(std::string(kContainer));
    if (!container_checked && container.kind == FileFacts::Kind::kAbsent) {
      findings.push_back({.problem = StrCat(Key(i, port), ": ", kContainer, " is not there"),
                          .mend = "modprobe vfio-pci"});
    } else if (!container_checked && (!container.readable || !container.writable)) {
      findings.push_back(
          {.problem = StrCat(Key(i, port), ": ", s.machine.User(), " may not open ", kContainer),
           .mend = StrCat("chmod 666 ", kContainer)});
    }
    container_checked = true;
    CheckGroup(s, Key(i, port), address, *pci, findings);
  }
}

void CheckInterfaces(const PreflightSubject& s, std::vector<Finding>& findings) {
  bool any = false;
  ForDriver(s.config, "net_af_packet", [&](size_t i, const PortConfig& port) {
    any = true;
    const std::string name(DeviceArgument(port.device, "iface"));
    const std::string key = StrCat(Key(i, port), ",iface=", name);
    const auto interface = s.machine.Interface(name);
    if (!interface) {
      findings.push_back({.problem = key + ": there is no such interface",
                          .mend = "take one that is listed by: ip -brief link"});
      return;
    }
    if (interface->mtu < port.mtu_bytes) {
      findings.push_back({.problem = StrCat(key, ": its MTU is ", interface->mtu, ", and ",
                                            port.mtu_bytes, " is needed"),
                          .mend = StrCat("ip link set dev ", name, " mtu ", port.mtu_bytes)});
    }
    if (!interface->up) {
      findings.push_back(
          {.problem = key + ": it is down", .mend = StrCat("ip link set dev ", name, " up")});
    }
  });
  if (!any || s.machine.Has(Capability::kNetRaw)) return;
  findings.push_back({.problem = "ports[].device: af_packet takes CAP_NET_RAW",
                      .mend = "run it by its unit (AmbientCapabilities=CAP_NET_RAW), or as root"});
}

void CheckTaps(const PreflightSubject& s, std::vector<Finding>& findings) {
  std::string key;  // the first key that requires a TAP
  for (size_t i = 0; i < s.config.ports.size(); ++i) {
    const PortConfig& port = s.config.ports[i];
    const bool is_device = VdevDriver(port.device) == "net_tap";
    if (!is_device && !port.tap) continue;
    if (key.empty()) key = StrCat("ports[", i, is_device ? "].device" : "].tap");
    if (!port.tap) continue;
    const auto interface = s.machine.Interface(*port.tap);
    if (!interface || interface->is_tap) continue;
    findings.push_back(
        {.problem = StrCat("ports[", i, "].tap: another kind of interface is called ", *port.tap),
         .mend = StrCat("choose another name, or: ip link del ", *port.tap)});
  }
  if (key.empty()) return;
  constexpr std::string_view kNode = "/dev/net/tun";
  const FileFacts node = s.machine.File(std::string(kNode));
  if (node.kind == FileFacts::Kind::kAbsent) {
    findings.push_back(
        {.problem = StrCat(key, ": ", kNode, " is not there"), .mend = "modprobe tun"});
  } else if (!node.readable || !node.writable) {
    findings.push_back({.problem = StrCat(key, ": ", s.machine.User(), " may not open ", kNode),
                        .mend = StrCat("chmod 666 ", kNode)});
  }
  if (s.machine.Has(Capability::kNetAdmin)) return;
  findings.push_back(
      {.problem = key + ": a TAP takes CAP_NET_ADMIN",
       .mend = "run it by its unit (AmbientCapabilities=CAP_NET_ADMIN), or as root"});
}

void CheckMemifSockets(const PreflightSubject& s, std::vector<Finding>& findings) {
  ForDriver(s.config, "net_memif", [&](size_t i, const PortConfig& port) {
    if (!IsMemifServer(port.device)) return;  // a client waits for the server's socket
    const std::string key = Key(i, port);
    if (DeviceArgument(port.device, "socket-abstract") != "no") {
      const std::string_view given = DeviceArgument(port.device, "socket");
      const std::string name(given.empty() ? kMemifDefaultSocket : given);
      if (s.machine.IsAbstractNameHeld(name)) {
        findings.push_back(
            {.problem = StrCat(key, ": a program of this network namespace has bound the abstract ",
                               "socket ", name),
             .mend = "stop it, or add socket=/run/suede/NAME.sock,socket-abstract=no"});
      }
      if (!DeviceArgument(port.device, "secret").empty()) return;
      findings.push_back(
          {.severity = Finding::Severity::kWarning,
           .problem = key + ": any process of this network namespace may connect to its socket, "
                            "which has no file, and take the place of its peer",
           .mend =
               "add socket=/run/suede/NAME.sock,socket-abstract=no (or secret=, at both ends)"});
      return;
    }
    const std::string path(DeviceArgument(port.device, "socket"));
    // The server creates no directories.
    CheckDirectoryOf(s.machine, key, path, false, findings);
    CheckPlaceOfSocket(s.machine, key, path, findings);
  });
}

}  // namespace suede
