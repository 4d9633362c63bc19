// SPDX-License-Identifier: Apache-2.0
// Methods that list the endpoint's parts and clients' queues, give commands that capture a port's
// frames, and list and rotate keys of sealing instances. No answer contains a secret.
#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/port_admin.h"

namespace suede {
namespace {

constexpr Member kInstancesResult[] = {ListOf<InstanceView>("instances")};
constexpr Member kPortsResult[] = {ListOf<PortView>("ports")};
constexpr Member kCapabilitiesResult[] = {ListOf<CapabilityView>("capabilities")};
constexpr Member kPeersResult[] = {ListOf<PeerView>("peers")};
constexpr Member kDevicesResult[] = {ListOf<DeviceView>("devices")};
constexpr Member kCablesResult[] = {ListOf<CableView>("cables")};
constexpr Member kClientsResult[] = {ListOf<ClientView>("clients")};
constexpr Member kWindowsResult[] = {ListOf<WindowView>("windows")};
constexpr Method kEndpointMethods[] = {
    RowsMethod<&EndpointView::Instances, kInstancesResult>("instances.list", "Own instances."),
    RowsMethod<&EndpointView::Ports, kPortsResult>(
        "ports.list", "Network ports, their links and their frame pools."),
    RowsMethod<&EndpointView::Capabilities, kCapabilitiesResult>(
        "ports.capabilities",
        "Capabilities of the ports' devices and drivers, and their consequences (dpdk.md)."),
    RowsMethod<&EndpointView::Peers, kPeersResult>(
        "peers.list", "Addresses of peers: one entry for each port that reaches one."),
    RowsMethod<&EndpointView::Devices, kDevicesResult>(
        "devices.list", "Routing tables of the devices of a mesh (mesh.md)."),
    RowsMethod<&EndpointView::Cables, kCablesResult>(
        "cables.list", "Ends of cables at own devices, and the neighbours found there."),
    RowsMethod<&EndpointView::Clients, kClientsResult>("clients.list", "Client processes."),
    RowsMethod<&EndpointView::Windows, kWindowsResult>(
        "windows.list", "Windows of memory of clients whose targets the lcores serve."),
};

// ---- Ports and queues.

constexpr Param kHint[] = {port_admin::kPort};

Answer Hint(Call& call) {
  const std::string& name = call.arguments.Text("port");
  for (const PortView& port : call.endpoint().Ports()) {
    if (port.name != name) continue;
    const std::string prefix = call.endpoint().FilePrefix();
    return Json{{"capture", StrCat("suedectl --endpoint ", call.endpoint().Version().name,
                                   " capture start ", name, " --file ", name, ".pcapng")},
                {"dumpcap", prefix.empty() || !port.id
                                ? Json()
                                : Json(StrCat("dpdk-dumpcap --file-prefix=", prefix, " -i ",
                                              *port.id, " -w ", name, ".pcapng"))}};
  }
  return absl::NotFoundError(StrCat("there is no port ", name, "; ports.list names them"));
}

constexpr Member kHintsResult[] = {
    Member::Text("capture"),
    Member::Text("dumpcap").OrNull("EAL's memory is of this process alone, or the port is a memif"),
};
constexpr Member kQueuesResult[] = {ListOf<QueueView>("queues")};
constexpr Method kAdminMethods[] = {
    port_admin::Row("Takes a port out of service or puts it back: while it is down nothing leaves, "
                    "received frames are dropped, PDUs in flight wait."),
    {"ports.hint", "Command lines that show a port's frames.", kHintsResult, Hint, kHint},
    RowsMethod<&EndpointView::Queues, kQueuesResult>("queues.list",
                                                     "Clients' queues, as their lcores see them."),
};

// ---- Keys.

// Returns the answer {name: count}.
Answer CountOf(std::string_view name, const absl::StatusOr<uint32_t>& count) {
  return count.ok() ? Answer(Json{{name, *count}}) : count.status();
}

constexpr Member kKeysResult[] = {ListOf<SealedPeerView>("keys")};
constexpr Member kRotateResult[] = {Member::Integer("peers", "that seal now")};
constexpr Member kReloadResult[] = {
    Member::Integer("secrets", "that the file has, of any partition and time")};
constexpr Method kKeyMethods[] = {
    RowsMethod<&EndpointView::SealedPeers, kKeysResult>(
        "keys.list",
        "Peers of instances that seal their PDUs: which secret and epoch their keys have."),
    {"keys.rotate",
     "Begins another epoch with every peer, as soon as it has confirmed the present one.",
     kRotateResult,
     [](Call& call) { return CountOf("peers", call.endpoint().RotateKeys()); },
     {},
     /*changes=*/true},
    {"keys.reload",
     "Reads the files of secrets and of sealing.tls again; one that cannot be used changes "
     "nothing.",
     kReloadResult,
     [](Call& call) { return CountOf("secrets", call.endpoint().ReloadSecrets()); },
     {},
     /*changes=*/true},
};

}  // namespace

std::span<const Method> EndpointMethods() { return kEndpointMethods; }
std::span<const Method> AdminMethods() { return kAdminMethods; }
std::span<const Method> KeyMethods() { return kKeyMethods; }

}  // namespace suede
