// SPDX-License-Identifier: Apache-2.0
#include "config/config_fields.h"

#include "config/config_key.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::Extra;
using config_key::Hex;
using config_key::kAtOnce;
using config_key::kAtOnceUpToStart;
using config_key::Key;
using config_key::kNoDefault;
using config_key::kRequired;
using config_key::Name;
using config_key::PowerOfTwo;

constexpr ValueLimits kXpuId = Between(0, kMaxXpus - 1);
constexpr uint64_t kMaxRing = 1u << 20;

constexpr ConfigField<RootEntry> kRoot[] = {
    Key<&RootEntry::version>("version", "", Between(1, 1), "Version of the file's format.",
                             kRequired),
    Key<&RootEntry::name>("name", "", Name(64),
                          "Name of the endpoint, of its runtime files in /run/suede/NAME and of "
                          "its EAL file prefix suede_NAME.",
                          kRequired),
    Key<&RootEntry::partition>(
        "partition", "", Between(0, kMaxPartition),
        "Partition of own instances without one of their own. PDUs of another are dropped.",
        kAtOnce),
};

constexpr ConfigField<EalConfig> kEal[] = {
    Key<&EalConfig::hugepages>("hugepages", "", {},
                               "Hugepages for frames: auto takes them where enough are free, else "
                               "warns; off is --no-huge."),
    Key<&EalConfig::memory_mb>(
        "memory_mb", "MiB", Between(0, 1u << 20),
        "Memory to take where hugepages are off. 0: computed from the pools' "
        "sizes."),
    Key<&EalConfig::args>(
        "args", "", Between(1, 256),
        "Further arguments of DPDK's EAL. Arguments that other keys set are refused."),
};

constexpr ConfigField<LcoreConfig> kLcore[] = {
    Key<&LcoreConfig::cpu>("cpu", "", Between(0, 4095),
                           "CPU that runs the pipeline, and the lcore's name for other keys.",
                           kRequired),
    Key<&LcoreConfig::idle>("idle", "", {},
                            "Without work: spin keeps the CPU; yield lets other threads of the CPU "
                            "run; sleep does so for 50 µs, then sleeps for an eighth of the time "
                            "without work, at most for "
                            "1 ms."),
};

constexpr ConfigField<PortConfig> kPort[] = {
    Key<&PortConfig::name>("name", "", Name(32), "Name of the port for other keys and counters.",
                           kRequired),
    Key<&PortConfig::device>("device", "", Between(1, 512),
                             "PCI address (0000:03:00.0) or DPDK vdev with its arguments "
                             "(net_memif0,role=server,...). mesh: none, but the way of the own "
                             "devices' instances into a plane of their mesh (mesh.md).",
                             kRequired),
    Key<&PortConfig::plane>("plane", "", Between(0, mesh::kMaxPlanes - 1),
                            "Plane of the mesh. Goes with device: mesh.", kNoDefault),
    Key<&PortConfig::socket_mode>("socket_mode", "", {.max = 0777, .octal = true},
                                  "Permissions of the socket that the server of a memif makes. "
                                  "Processes that may connect can "
                                  "take the place of an absent peer (docs/security.md)."),
    Key<&PortConfig::mac>("mac", "", {}, "Own MAC address, set on the device where it allows that.",
                          {.shown_default = "the device's"}),
    Key<&PortConfig::mtu_bytes>("mtu_bytes", "bytes", Between(68, 9600),
                                "MTU: bytes behind the Ethernet header and its tag. Must hold "
                                "packing.limit_bytes + {overheads}.",
                                {.shown_default = "1500, or the pack limit's need"}),
    Key<&PortConfig::encapsulation>("encapsulation", "", {}, "Headers in front of a PDU."),
    Key<&PortConfig::udp_port>("udp_port", "", Between(1, 65535),
                               "UDP destination port of PDUs; the same at both ends.",
                               {.only = kUdp, .otherwise = "leave it out: there is no UDP header"}),
    Key<&PortConfig::session>(
        "session", "", Between(0, 65535),
        "Session of sent frames: UDP source port 49152 + session (up to 16383), {entropies}.",
        {.only = kWithSession, .otherwise = "leave it out: frames have no field for it"}),
    Key<&PortConfig::ether_type>("ether_type", "", Hex(0x0600, 0xffff),
                                 "EtherType of PDUs; the same at both ends.",
                                 {.shown_default = "{ether_types}",
                                  .only = kForwarded,
                                  .otherwise = "leave it out: the EtherType is that of IP"}),
    Key<&PortConfig::mac_prefix>(
        "mac_prefix", "", {},
        "Start of MAC addresses; the forwarding address follows. The same at both ends.",
        {.only = kPrefixed,
         .otherwise = "leave it out: MAC addresses are not made of forwarding addresses there"}),
    Key<&PortConfig::hop_limit>(
        "hop_limit", "", Between(1, 255),
        "TTL, hop limit or hop count of sent frames: one more than the switches that they may "
        "pass.",
        {.shown_default = "{hop_limits}",
         .only = kWithHopLimit,
         .otherwise = "leave it out: frames have none; for several hops use afh2"}),
    Key<&PortConfig::rx_descriptors>("rx_descriptors", "", Between(64, 32768),
                                     "Descriptors of each receive queue."),
    Key<&PortConfig::tx_descriptors>("tx_descriptors", "", Between(64, 32768),
                                     "Descriptors of each transmit queue."),
    Key<&PortConfig::queues>(
        "queues", "", {},
        "Owner of a queue pair: each lcore that serves the port, or each instance on it. The "
        "device must have as many. An instance alone on its lcore has its own either way."),
    Key<&PortConfig::tap>(
        "tap", "", Name(15),
        "Name of a TAP device for the frames on the port that are not SUE's. Needs CAP_NET_ADMIN.",
        kNoDefault),
    Key<&PortConfig::tap_prefix>("tap_prefix", "bits", Between(1, 128),
                                 "Gives the TAP device the addresses of the own instances on the "
                                 "port, with this prefix length (up to 32 with udp4). Without it "
                                 "the operator sets addresses.",
                                 {.shown_default = "none",
                                  .only = kUdp,
                                  .otherwise = "leave it out: instances have no IP addresses"}),
    Key<&PortConfig::link_speeds_gbps>(
        "link_speeds_gbps", "Gbit/s", Between(1, 400),
        "Speeds of the link that the device offers its neighbour (dpdk.md, \"Link\").",
        {.shown_default = "all that the device has"}),
    Key<&PortConfig::autoneg>("autoneg", "", {},
                              "Whether the neighbours negotiate the speed. off: it is the only one "
                              "of link_speeds_gbps, as at the other end."),
    Key<&PortConfig::fec>("fec", "", {},
                          "Forward error correction of the link; device: as the device has it."),
    Key<&PortConfig::bandwidth_gbps>(
        "bandwidth_gbps", "Gbit/s", Between(1, 65535),
        "Rate of the port: weight of its planes (planes.md), PFC's quanta (pfc.md), congestion "
        "control (congestion.md). Needed for these where the speed of the link is not known "
        "(dpdk.md, \"Rate\").",
        {.shown_default = "the link's speed"}),
    Key<&PortConfig::pfc>("pfc", "", {},
                          "Priority flow control (pfc.md). software: the endpoint obeys and sends "
                          "PFC frames; device: the NIC does."),
    Key<&PortConfig::pfc_class>("pfc_class", "", {},
                                "Field that gives the class of frames with both, as in the "
                                "neighbour: dscp (its upper three bits) or pcp."),
    Key<&PortConfig::receive_mbps>(
        "receive_mbps", "Mbit/s", Between(1, 10'000'000),
        "Rate that all senders are granted together (RCCC, congestion.md): octets on the wire.",
        {.shown_default = "99.5 % of bandwidth_gbps"}),
    Key<&PortConfig::trimmed_dscp>(
        "trimmed_dscp", "", Between(0, 63),
        "DSCP of frames that switches have trimmed; the endpoint answers with a NACK at once "
        "(congestion.md).",
        {.shown_default = "no frame is trimmed",
         .only = kTrimmable,
         .otherwise =
             "leave it out: no switch trims such frames, as their headers have no length"}),
    Key<&PortConfig::llr>("llr", "", {},
                          "Link-level retry with the neighbour, where that has it on, too "
                          "(link.md). The port has one queue pair then."),
    Key<&PortConfig::cbfc>("cbfc", "", {},
                           "Credit-based flow control with the neighbour, where that has it on, "
                           "too (link.md). The port has one queue pair then."),
    Key<&PortConfig::link_ether_type>(
        "link_ether_type", "", Hex(0x0600, 0xffff),
        "EtherType of link frames and of the shim of numbered frames; the same at both ends."),
    Key<&PortConfig::lldp>("lldp", "", {},
                           "LLDP and DCBX with the neighbour (lldp.md): both learn who the other "
                           "is, and settings that differ are reported."),
    Key<&PortConfig::lldp_addresses>(
        "lldp_addresses", "", {},
        "Whether an instance without ip on the port takes the address that the neighbour assigns "
        "by LLDP (lldp.md, \"Assigned addresses\"). The daemon is not ready before. off: such "
        "addresses are only shown.",
        {.only = kUdp, .otherwise = "leave it out: instances have no IP addresses"}),
    Key<&PortConfig::lldp_wait_s>(
        "lldp_wait_s", "s", Between(1, 3600),
        "Longest wait for that address at the start; without one the start fails.",
        {.only = kUdp, .otherwise = "leave it out: instances have no IP addresses"}),
};

constexpr ConfigField<VlanEntry> kVlan[] = {
    Key<&VlanEntry::vid>("vid", "", Between(0, 4094),
                         "VLAN id. 0 is a priority tag: it carries the PCP and no VLAN."),
};

constexpr ConfigField<InstanceEntry> kInstance[] = {
    Key<&InstanceEntry::xpu>("xpu", "", kXpuId, "XPU id of the instance.", kNoDefault),
    Key<&InstanceEntry::xpus>(
        "xpus", "", kXpuId, "Instead of xpu: one instance for each XPU id of a range.", kNoDefault),
    Key<&InstanceEntry::instance>("instance", "", Between(0, kMaxInstances - 1),
                                  "Instance number within the XPU."),
    Key<&InstanceEntry::lcore>("lcore", "", Between(0, 4095),
                               "CPU of the lcore that serves the instance.",
                               {.shown_default = "the first of lcores"}),
    Key<&InstanceEntry::ordering>(
        "ordering", "", {},
        "strict: PDUs of one flow (a destination, or with psn_scope vc a VC of it) take one plane "
        "and arrive in order on each VC; unordered: each PDU takes the plane with the most "
        "bandwidth left, in order within a PDU alone. With one port both keep the order of each "
        "VC."),
    Key<&InstanceEntry::congestion>(
        "congestion", "", {},
        "Congestion control of what the instance sends (congestion.md): fixed windows; rccc: "
        "credit of the destination; nscc: a window by round trips, marks and losses."),
    Key<&InstanceEntry::sealing>(
        "sealing", "", {},
        "Encryption and authentication of PDUs (sealing.md): required sends and accepts nothing "
        "else; preferred is plain with peers that do not seal."),
    Key<&InstanceEntry::partition>(
        "partition", "", Between(0, kMaxPartition),
        "Partition of these instances alone: a tenant of its own (security.md, \"Tenants\").",
        {.shown_default = "partition"}),
};

// Keys of addresses that instances and peers share.
constexpr Extra OfUdp(std::string_view otherwise) {
  return {.shown_default = "none", .only = kUdp, .otherwise = otherwise};
}
constexpr Extra OfAfh(std::string_view shown_default, std::string_view otherwise) {
  return {.shown_default = shown_default, .only = kForwarded, .otherwise = otherwise};
}
constexpr Extra kIp = OfUdp("use forwarding_address, or leave it out for the default rule");
constexpr Extra kIpBase = OfUdp("use forwarding_base, or leave it out for the default rule");
constexpr Extra kMac = OfUdp("leave it out: AFH has no MAC addresses but those that it makes");
constexpr Extra kForwarding = OfAfh("(instance << 10) + XPU id", "use ip");
constexpr Extra kForwardingBase = OfAfh("none", "use ip_base");
constexpr ValueLimits kForwardingLimits = Hex(0, UINT32_MAX);
constexpr std::string_view kIpBaseSentence = "Instead of ip: the address is ip_base + XPU id.";
constexpr std::string_view kForwardingBaseSentence =
    "Instead of forwarding_address: the address is forwarding_base + XPU id.";

constexpr ConfigField<InstancePortEntry> kInstancePort[] = {
    Key<&InstancePortEntry::port>("port", "", Name(32), "Name of one of ports.", kRequired),
    Key<&InstancePortEntry::ip>(
        "ip", "", {},
        "Own address on the port: IPv4 with udp4, IPv6 with udp6. Goes with xpu. On a port with "
        "lldp_addresses: on one instance leaves it out, and takes the assigned one.",
        kIp),
    Key<&InstancePortEntry::ip_base>("ip_base", "", {}, kIpBaseSentence, kIpBase),
    Key<&InstancePortEntry::forwarding_address>(
        "forwarding_address", "", kForwardingLimits,
        "Own address on the port, of {forwarding_bits}. Goes with xpu.", kForwarding),
    Key<&InstancePortEntry::forwarding_base>("forwarding_base", "", kForwardingLimits,
                                             kForwardingBaseSentence, kForwardingBase),
};

constexpr ConfigField<PeerEntry> kPeer[] = {
    Key<&PeerEntry::xpu>("xpu", "", kXpuId, "XPU id of the peer. An own one is allowed.",
                         kNoDefault),
    Key<&PeerEntry::xpus>("xpus", "", kXpuId,
                          "Instead of xpu: one peer for each XPU id of a range.", kNoDefault),
    Key<&PeerEntry::name>(
        "name", "", Name(32),
        "Name of the XPU, which suedectl shows, and takes for the number. Goes with xpu. Each name "
        "once.",
        kNoDefault),
    Key<&PeerEntry::hello>("hello", "", {},
                           "never: the peer does not speak HELLO and answers no probe; connections "
                           "begin with PSN 0, unasked; auto: its answer decides."),
    Key<&PeerEntry::control>(
        "control", "", {.min = 1, .max = 64, .rule = TextRule::kSocketAddress},
        "Address and port at which the peer agrees on secrets: its sealing.tls.listen. Without it "
        "the peer has to connect.",
        kNoDefault),
};

constexpr ConfigField<PeerPortEntry> kPeerPort[] = {
    Key<&PeerPortEntry::port>("port", "", Name(32), "Name of the own port that reaches the peer.",
                              kRequired),
    Key<&PeerPortEntry::instance>("instance", "", Between(0, kMaxInstances - 1),
                                  "Own instance number that the entry is for. Without it: all that "
                                  "have no entry of their own for the port.",
                                  {.shown_default = "all others"}),
    Key<&PeerPortEntry::ip>(
        "ip", "", {}, "Address of the peer: IPv4 with udp4, IPv6 with udp6. Goes with xpu.", kIp),
    Key<&PeerPortEntry::ip_base>("ip_base", "", {}, kIpBaseSentence, kIpBase),
    Key<&PeerPortEntry::forwarding_address>(
        "forwarding_address", "", kForwardingLimits,
        "Address of the peer, of {forwarding_bits}. Goes with xpu. The default has the own "
        "instance's number.",
        kForwarding),
    Key<&PeerPortEntry::forwarding_base>("forwarding_base", "", kForwardingLimits,
                                         kForwardingBaseSentence, kForwardingBase),
    Key<&PeerPortEntry::mac>("mac", "", {},
                             "MAC address of the peer, or of the router that leads to it. On a "
                             "port with tap it may be left out, and is learnt.",
                             kMac),
    Key<&PeerPortEntry::mac_base>("mac_base", "", {},
                                  "Instead of mac: the address is mac_base + XPU id.", kMac),
};

constexpr ConfigField<ClientsConfig> kClients[] = {
    Key<&ClientsConfig::socket>("socket", "",
                                {.min = 1, .max = 512, .rule = TextRule::kAbsolutePath},
                                "Unix socket where client processes connect; at most 107 "
                                "characters.",
                                {.shown_default = "/run/suede/NAME/xpu.sock"}),
    Key<&ClientsConfig::socket_mode>("socket_mode", "", {.max = 0777, .octal = true},
                                     "Permissions of the socket: its access control."),
    Key<&ClientsConfig::max_clients>("max_clients", "", Between(1, 1000),
                                     "Max client processes at a time.", kAtOnce),
    Key<&ClientsConfig::max_queues>("max_queues", "", Between(1, 16), "Max queues of a client."),
    Key<&ClientsConfig::ring_lines>("ring_lines", "64-byte lines", PowerOfTwo(64, kMaxRing),
                                    "Length of each queue's transmit ring."),
    Key<&ClientsConfig::receive_lines>(
        "receive_lines", "64-byte lines", PowerOfTwo(64, kMaxRing),
        "Length of each VC's receive ring; at least packing.limit_bytes / 2."),
    Key<&ClientsConfig::credit_lines>("credit_lines", "64-byte lines", Between(5, kMaxRing),
                                      "Credit of each {destination, VC}, per queue."),
    Key<&ClientsConfig::aggregate_lines>("aggregate_lines", "64-byte lines", Between(5, kMaxRing),
                                         "Credit over all destinations and VCs, per queue; at most "
                                         "clients.ring_lines."),
    Key<&ClientsConfig::completions>("completions", "entries", PowerOfTwo(64, kMaxRing),
                                     "Length of each queue's completion ring."),
    Key<&ClientsConfig::unclaimed_pdus>("unclaimed_pdus", "PDUs", Between(0, 4096),
                                        "PDUs that wait per {instance, VC} while no client serves "
                                        "it.",
                                        kAtOnceUpToStart),
    Key<&ClientsConfig::registers>("registers", "", {},
                                   "Access of clients to registers through the library; a write "
                                   "concerns the whole endpoint.",
                                   kAtOnce),
    Key<&ClientsConfig::register_pages>(
        "register_pages", "", Between(0, 16),
        "Files with the registers beside clients.socket, one for each emulator that maps registers "
        "(registers.md); clients.registers holds for them, too."),
    Key<&ClientsConfig::rules>(
        "rules", "", {},
        "Users that may be XPUs, the XPUs, and their VCs (without VCs: all): they may have queues "
        "of these, send on them and claim them. With any rule, a user in none may be no XPU, root "
        "and the daemon's own user included. Rules apply to later requests (service.md).",
        {.shown_default = "none: every user may be every XPU", .effect = Effect::kAtOnce}),
    Key<&ClientsConfig::hugepages>("hugepages", "", {},
                                   "Hugepages for the segments shared with clients."),
    Key<&ClientsConfig::window_mb>("window_mb", "MiB", Between(0, 1u << 19),
                                   "Max memory of windows that one client may have the lcores "
                                   "serve. 0: the lcores execute no memory requests.",
                                   kAtOnce),
    Key<&ClientsConfig::windows_total_mb>("windows_total_mb", "MiB", Between(0, 1u << 22),
                                          "Max memory of windows that all clients together may "
                                          "have the lcores serve.",
                                          kAtOnce),
};

constexpr ConfigField<ManagementConfig> kManagement[] = {
    Key<&ManagementConfig::socket>("socket", "",
                                   {.min = 1, .max = 512, .rule = TextRule::kAbsolutePath},
                                   "Unix socket where suedectl connects; at most 107 characters.",
                                   {.shown_default = "/run/suede/NAME/management.sock"}),
    Key<&ManagementConfig::socket_mode>("socket_mode", "", {.max = 0777, .octal = true},
                                        "Permissions of the socket: its access control."),
    Key<&ManagementConfig::max_clients>("max_clients", "", Between(1, 1000),
                                        "Max connections to the socket at a time.", kAtOnce),
    Key<&ManagementConfig::packet_burst>(
        "packet_burst", "packets", Between(1, 256),
        "Management packets of a port at once, each way; over time 10,000 a second."),
    Key<&ManagementConfig::http_address>(
        "http_address", "", {.max = 32, .rule = TextRule::kListenAddress},
        "Address of the web server (metrics.md): an IPv4 address, a colon and a port, or a port of "
        "127.0.0.1; port 0 is any free one.",
        {.shown_default = "none: not served"}),
};

constexpr ConfigField<LogConfig> kLog[] = {
    Key<&LogConfig::level>("level", "", {}, "Min severity that is logged.", kAtOnce),
    Key<&LogConfig::format>("format", "", {}, "Form of a log line."),
};

}  // namespace

std::string_view NameOf(Effect effect) {
  switch (effect) {
    case Effect::kAtOnce:
      return "at once";
    case Effect::kAtOnceUpToStart:
      return "at once, up to the value at the start";
    case Effect::kRestart:
      break;
  }
  return "after a restart";
}

SUEDE_CONFIG_SECTION(RootEntry, kRoot)
SUEDE_CONFIG_SECTION(EalConfig, kEal)
SUEDE_CONFIG_SECTION(LcoreConfig, kLcore)
SUEDE_CONFIG_SECTION(PortConfig, kPort)
SUEDE_CONFIG_SECTION(VlanEntry, kVlan)
SUEDE_CONFIG_SECTION(InstanceEntry, kInstance)
SUEDE_CONFIG_SECTION(InstancePortEntry, kInstancePort)
SUEDE_CONFIG_SECTION(PeerEntry, kPeer)
SUEDE_CONFIG_SECTION(PeerPortEntry, kPeerPort)
SUEDE_CONFIG_SECTION(ClientsConfig, kClients)
SUEDE_CONFIG_SECTION(ManagementConfig, kManagement)
SUEDE_CONFIG_SECTION(LogConfig, kLog)

}  // namespace suede
