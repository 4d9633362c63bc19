// SPDX-License-Identifier: Apache-2.0
// Keys of a switch's configuration.
#include "config/config_key.h"
#include "config/config_key_rows.h"
#include "fabric/params.h"
#include "switch/switch_config.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::Hex;
using config_key::Key;
using config_key::kNoDefault;
using config_key::kRequired;
using config_key::Microseconds;
using config_key::Name;

constexpr ValueLimits kTrafficClass = Between(0, 7);
constexpr ValueLimits kShare = Between(0, 1);
constexpr ValueLimits kGbps = Between(0, 3200);

constexpr std::string_view kForwardings[] = {"mac", "afh1", "afh2", "ip", "esun"};
constexpr std::string_view kUnknowns[] = {"flood", "drop"};
constexpr std::string_view kSpreads[] = {"flow", "round_robin", "queue"};
constexpr std::string_view kHashes[] = {"flow", "addresses"};

constexpr ConfigField<SwitchRoot> kSwitchRoot[] = {
    Key<&SwitchRoot::version>("version", "", Between(1, 1), "Version of the file's format.",
                              kRequired),
    Key<&SwitchRoot::name>(
        "name", "", Name(64),
        "Name of the switch, of its runtime files in /run/suede/NAME and of its EAL file prefix.",
        kRequired),
    Key<&SwitchRoot::seed>("seed", "", Between(0, UINT32_MAX),
                           "Seed of everything that is drawn: ECN marks and impairments."),
    Key<&SwitchRoot::forwarding>("forwarding", "", {},
                                 "The addresses by which frames are forwarded."),
    Key<&SwitchRoot::esun_ether_type>("esun_ether_type", "", Hex(0x0600, 0xffff),
                                      "EtherType of ESUN frames, with forwarding esun.",
                                      kNoDefault),
    Key<&SwitchRoot::learning>("learning", "", {},
                               "Whether sources are learnt (afh2 and esun never learn)."),
    Key<&SwitchRoot::unknown>(
        "unknown", "", {},
        "Fate of frames to an unknown destination, with esun also of those to all or to a group."),
};

constexpr ConfigField<SwitchTable> kTable[] = {
    Key<&SwitchTable::addresses>("addresses", "entries", Between(1, 1u << 20),
                                 "Entries of the forwarding table."),
    Key<&SwitchTable::of_port>("learnt_of_port", "entries", Between(1, 1u << 20),
                               "Entries that are learnt behind one port at most."),
    Key<&SwitchTable::max_age_s>("max_age_s", "s", Between(1, 86400),
                                 "Time without a frame after which a learnt entry ends."),
};

constexpr ConfigField<SwitchBuffer> kBuffer[] = {
    Key<&SwitchBuffer::bytes>("bytes", "bytes", Between(65536, 1u << 30),
                              "Bytes of frames that the switch holds in all queues."),
    Key<&SwitchBuffer::cell_bytes>("cell_bytes", "bytes", Between(64, 16384),
                                   "A frame takes whole cells of this size."),
};

constexpr ConfigField<SwitchClassesConfig> kClasses[] = {
    Key<&SwitchClassesConfig::pcp_first>("pcp_first", "", {},
                                         "The PCP gives the class of a frame with PCP and DSCP."),
    Key<&SwitchClassesConfig::other>("other", "", kTrafficClass, "Class of frames with neither."),
    Key<&SwitchClassesConfig::pcp>("pcp", "", kTrafficClass, "Classes of PCP 0 to 7."),
};

constexpr ConfigField<SwitchDscpConfig> kDscp[] = {
    Key<&SwitchDscpConfig::dscp>("dscp", "", Between(0, 63), "A DSCP.", kRequired),
    Key<&SwitchDscpConfig::traffic_class>("class", "", kTrafficClass, "Its class.", kRequired),
};

constexpr ConfigField<SwitchClassConfig> kOfClass[] = {
    Key<&SwitchClassConfig::traffic_class>("class", "", kTrafficClass, "The class.", kRequired),
    Key<&SwitchClassConfig::lossless>("lossless", "", {},
                                      "PFC keeps frames of the class from being dropped."),
    Key<&SwitchClassConfig::strict>("strict", "", {},
                                    "Served before all other classes, the higher class first."),
    Key<&SwitchClassConfig::weight>("weight", "", Between(1, 255),
                                    "Share of the rate among classes that are not strict."),
    Key<&SwitchClassConfig::reserved_bytes>(
        "reserved_bytes", "bytes", Between(0, 1u << 28),
        "Reserve of each queue of the class, or of each input if it is lossless."),
    Key<&SwitchClassConfig::alpha>("alpha", "", Between(0, 64),
                                   "Bytes that a queue, or an input, may take, as a multiple of "
                                   "the free shared bytes; in sixteenths."),
    Key<&SwitchClassConfig::cable_m>("cable_m", "m", Between(1, 100000),
                                     "Length of the cables that the headroom is computed for."),
    Key<&SwitchClassConfig::headroom_bytes>("headroom_bytes", "bytes", Between(0, 1u << 28),
                                            "Headroom of each input of a lossless class.",
                                            {.shown_default = "computed from rate and cable"}),
    Key<&SwitchClassConfig::resume_bytes>("resume_bytes", "bytes", Between(0, 1u << 28),
                                          "A pause ends this far below its threshold."),
    Key<&SwitchClassConfig::max_wait>("max_wait_us", "µs", Microseconds(0, 60000000),
                                      "Time in a queue after which a frame is dropped; 0: no "
                                      "limit."),
};

constexpr ConfigField<SwitchEcnConfig> kEcn[] = {
    Key<&SwitchEcnConfig::least_bytes>("least_bytes", "bytes", Between(0, 1u << 30),
                                       "Depth of a queue up to which no frame is marked.",
                                       kRequired),
    Key<&SwitchEcnConfig::most_bytes>("most_bytes", "bytes", Between(0, 1u << 30),
                                      "Depth from which every frame is marked.", kRequired),
    Key<&SwitchEcnConfig::probability>("probability", "", kShare,
                                       "Share of marked frames just below most_bytes."),
};

constexpr ConfigField<SwitchTrimConfig> kTrim[] = {
    Key<&SwitchTrimConfig::dscps>("dscps", "", Between(0, 63),
                                  "DSCPs whose frames are trimmed where they find no room; none: "
                                  "nothing is trimmed."),
    Key<&SwitchTrimConfig::trimmed_dscp>("trimmed_dscp", "", Between(0, 63),
                                         "DSCP of a trimmed frame."),
    Key<&SwitchTrimConfig::trimmed_class>("class", "", kTrafficClass, "Class of a trimmed frame."),
    Key<&SwitchTrimConfig::max_queue_bytes>(
        "max_queue_bytes", "bytes", Between(0, 1u << 30),
        "Depth of a queue beyond which frames are trimmed although there is room; 0: none."),
    Key<&SwitchTrimConfig::ipv4_bytes>("ipv4_bytes", "bytes", Between(46, 9600),
                                       "Length of a trimmed frame with IPv4 or a shim."),
    Key<&SwitchTrimConfig::ipv6_bytes>("ipv6_bytes", "bytes", Between(66, 9600),
                                       "Length of one with IPv6."),
};

constexpr ConfigField<SwitchPfcConfig> kPfc[] = {
    Key<&SwitchPfcConfig::quanta>("quanta", "512 bit times", Between(1, 65535),
                                  "Length of a pause that the switch asks for."),
    Key<&SwitchPfcConfig::storm>("storm_us", "µs", Microseconds(0, 60000000),
                                 "Time of a peer's pause after which its class is declared stormy "
                                 "and dropped; 0: never."),
    Key<&SwitchPfcConfig::calm>("calm_us", "µs", Microseconds(0, 60000000),
                                "Time without a pause that ends a storm."),
};

constexpr ConfigField<SwitchImpairConfig> kImpair[] = {
    Key<&SwitchImpairConfig::rate_gbps>("rate_gbps", "Gbit/s", kGbps,
                                        "Rate of this direction; 0: no limit."),
    Key<&SwitchImpairConfig::delay>("delay_us", "µs", Microseconds(0, 10000000),
                                    "Time that each frame takes more."),
    Key<&SwitchImpairConfig::jitter>("jitter_us", "µs", Microseconds(0, 10000000),
                                     "Up to so much more; frames stay in order."),
    Key<&SwitchImpairConfig::loss>("loss", "", kShare, "Share of frames that are lost."),
    Key<&SwitchImpairConfig::burst_begins>("burst_begins", "", kShare,
                                           "Chance with each frame that a burst of losses begins "
                                           "(Gilbert-Elliott)."),
    Key<&SwitchImpairConfig::burst_ends>("burst_ends", "", kShare,
                                         "Chance with each frame that it ends."),
    Key<&SwitchImpairConfig::burst_loss>("burst_loss", "", kShare, "Share that is lost in it."),
    Key<&SwitchImpairConfig::reorder>("reorder", "", kShare,
                                      "Share of frames that are held back behind later ones."),
    Key<&SwitchImpairConfig::reorder_delay>("reorder_delay_us", "µs", Microseconds(1, 10000000),
                                            "They are held back for up to so long."),
    Key<&SwitchImpairConfig::duplicate>("duplicate", "", kShare,
                                        "Share of frames that come twice."),
    Key<&SwitchImpairConfig::bad_fcs>("bad_fcs", "", kShare,
                                      "Share that is dropped as by a bad FCS."),
    Key<&SwitchImpairConfig::flip>("flip", "", kShare,
                                   "Share that has a bit flipped, which only the R-CRC finds."),
    Key<&SwitchImpairConfig::longest_bytes>("longest_bytes", "bytes", Between(0, 65535),
                                            "Longer frames are lost; 0: no limit."),
    Key<&SwitchImpairConfig::down>("down", "", {}, "No frame passes in this direction."),
    Key<&SwitchImpairConfig::hole_classes>("hole_classes", "", kTrafficClass,
                                           "Classes that disappear."),
    Key<&SwitchImpairConfig::hole_destinations>(
        "hole_destinations", "", {.min = 1, .max = 32},
        "MAC addresses or forwarding addresses whose frames disappear."),
    Key<&SwitchImpairConfig::dscp>("dscp", "", Between(0, 63),
                                   "DSCP that frames get; of ESUN its upper three bits, as CoS.",
                                   kNoDefault),
    Key<&SwitchImpairConfig::ecn>("ecn", "", Between(0, 3), "ECN that frames get.", kNoDefault),
    Key<&SwitchImpairConfig::pcp>("pcp", "", Between(0, 7), "PCP that tagged frames get.",
                                  kNoDefault),
    Key<&SwitchImpairConfig::hop_limit>("hop_limit", "", Between(0, 255),
                                        "Hop limit that frames get; of ESUN 15 at most.",
                                        kNoDefault),
    Key<&SwitchImpairConfig::strip_tag>("strip_tag", "", {}, "Frames lose their VLAN tag."),
};

constexpr ConfigField<SwitchAssignConfig> kAssign[] = {
    Key<&SwitchAssignConfig::ip>("ip", "", {}, "The address.", kRequired),
    Key<&SwitchAssignConfig::prefix>("prefix", "", Between(1, 128),
                                     "Length of its network's prefix: the mask. With IPv4 up to "
                                     "32.",
                                     kRequired),
    Key<&SwitchAssignConfig::gateway>("gateway", "", {},
                                      "The router to other networks, in the same network.",
                                      {.shown_default = "none"}),
};

constexpr ConfigField<SwitchPortConfig> kPort[] = {
    Key<&SwitchPortConfig::name>("name", "", Name(32), "Name of the port.", kRequired),
    Key<&SwitchPortConfig::device>("device", "", Between(1, 512),
                                   "PCI address or DPDK vdev with its arguments.", kRequired),
    Key<&SwitchPortConfig::socket_mode>("socket_mode", "", {.max = 0777, .octal = true},
                                        "Permissions of the socket that the server of a memif "
                                        "makes."),
    Key<&SwitchPortConfig::lcore_cpu>("lcore", "", Between(0, 4095),
                                      "CPU of the lcore that receives and transmits.",
                                      {.shown_default = "that of the first one"}),
    Key<&SwitchPortConfig::mac>("mac", "", {}, "Source address of the port's PFC frames.",
                                {.shown_default = "the device's"}),
    Key<&SwitchPortConfig::mtu_bytes>("mtu_bytes", "bytes", Between(68, 9600),
                                      "MTU: bytes behind the Ethernet header and its tag.",
                                      {.shown_default = "an endpoint's with the default packing"}),
    Key<&SwitchPortConfig::rx_descriptors>("rx_descriptors", "", Between(64, 32768),
                                           "Descriptors of the receive queue."),
    Key<&SwitchPortConfig::tx_descriptors>("tx_descriptors", "", Between(64, 32768),
                                           "Descriptors of the transmit queue."),
    Key<&SwitchPortConfig::rate_gbps>("rate_gbps", "Gbit/s", kGbps,
                                      "Frames leave at this rate; 0: as fast as the device takes "
                                      "them."),
    Key<&SwitchPortConfig::pfc>("pfc", "", {}, "The port sends and obeys PFC."),
    Key<&SwitchPortConfig::llr>(
        "llr", "", {}, "Link-level retry with the neighbour, where that has it on, too (link.md)."),
    Key<&SwitchPortConfig::cbfc>(
        "cbfc", "", {},
        "Credit-based flow control with the neighbour, where that has it on, too (link.md)."),
    Key<&SwitchPortConfig::link_ether_type>(
        "link_ether_type", "", Hex(0x0600, 0xffff),
        "EtherType of link frames and of the shim of numbered frames; the same at both ends."),
    Key<&SwitchPortConfig::lldp>("lldp", "", {},
                                 "LLDP and DCBX with the neighbour (lldp.md): both learn who the "
                                 "other is, and settings that differ are reported."),
    Key<&SwitchPortConfig::ecn>("ecn", "", {},
                                "Queues of the port mark frames, where their class has ecn."),
    Key<&SwitchPortConfig::strict_vlans>("strict_vlans", "", {},
                                         "Frames of other VLANs than these are dropped."),
    Key<&SwitchPortConfig::vlans>("vlans", "", Between(0, 4094),
                                  "VLANs of the port; 0: untagged frames."),
    Key<&SwitchPortConfig::decrements_hops>("decrements_hops", "", {},
                                            "A hop limit is one lower when the frame leaves."),
    Key<&SwitchPortConfig::hairpin>(
        "hairpin", "", {}, "Frames may leave by their own port, for several XPUs behind one port."),
};

constexpr ConfigField<SwitchGroupConfig> kGroup[] = {
    Key<&SwitchGroupConfig::name>("name", "", Name(32), "Name of the group, which no port has.",
                                  kRequired),
    Key<&SwitchGroupConfig::ports>("ports", "", {}, "Names of its ports, 1 to 64.", kRequired),
    Key<&SwitchGroupConfig::weights>("weights", "", Between(0, fabric::kMaxGroupWeight),
                                     "Shares of these ports, in their order; 0: none. Empty: 1 "
                                     "each."),
    Key<&SwitchGroupConfig::spread>("spread", "", {},
                                    "Selection of the port: by flow, in turn, or by the "
                                    "least queue by weight."),
    Key<&SwitchGroupConfig::hash>("hash", "", {},
                                  "Fields of the flow: addresses and entropy, or addresses alone."),
};

constexpr ConfigField<SwitchAddressConfig> kAddress[] = {
    Key<&SwitchAddressConfig::mac>("mac", "", {}, "A MAC address; with forwarding mac, ip or esun.",
                                   {.shown_default = "none"}),
    Key<&SwitchAddressConfig::vlan>("vlan", "", Between(0, 4094), "Its VLAN; 0: untagged."),
    Key<&SwitchAddressConfig::forwarding_address>(
        "forwarding_address", "", Between(0, UINT32_MAX),
        "A forwarding address; with forwarding afh1 or afh2.", {.shown_default = "none"}),
    Key<&SwitchAddressConfig::ip>("ip", "", Between(1, 64),
                                  "An IPv4 or IPv6 address of a host; with forwarding ip.",
                                  {.shown_default = "none"}),
    Key<&SwitchAddressConfig::port>("port", "", Name(32),
                                    "Name of the port, or the group, that leads there.", kRequired),
};

}  // namespace

std::span<const std::string_view> NamesOf(SwitchRoot::Forwarding) { return kForwardings; }
std::span<const std::string_view> NamesOf(SwitchRoot::Unknown) { return kUnknowns; }
std::span<const std::string_view> NamesOf(SwitchGroupConfig::Spread) { return kSpreads; }
std::span<const std::string_view> NamesOf(SwitchGroupConfig::Hash) { return kHashes; }

SUEDE_CONFIG_SECTION(SwitchRoot, kSwitchRoot)
SUEDE_CONFIG_SECTION(SwitchTable, kTable)
SUEDE_CONFIG_SECTION(SwitchBuffer, kBuffer)
SUEDE_CONFIG_SECTION(SwitchClassesConfig, kClasses)
SUEDE_CONFIG_SECTION(SwitchDscpConfig, kDscp)
SUEDE_CONFIG_SECTION(SwitchClassConfig, kOfClass)
SUEDE_CONFIG_SECTION(SwitchEcnConfig, kEcn)
SUEDE_CONFIG_SECTION(SwitchTrimConfig, kTrim)
SUEDE_CONFIG_SECTION(SwitchPfcConfig, kPfc)
SUEDE_CONFIG_SECTION(SwitchImpairConfig, kImpair)
SUEDE_CONFIG_SECTION(SwitchAssignConfig, kAssign)
SUEDE_CONFIG_SECTION(SwitchPortConfig, kPort)
SUEDE_CONFIG_SECTION(SwitchGroupConfig, kGroup)
SUEDE_CONFIG_SECTION(SwitchAddressConfig, kAddress)

const std::vector<ConfigKey>& SwitchConfigKeys() {
  static const std::vector<ConfigKey> kRows = [] {
    ConfigKeyRows keys;
    keys.AddFields("", SwitchRoot{});
    keys.Add("eal", "DPDK's environment.", EalConfig{});
    keys.AddList("lcores", "List of CPUs: the first one switches, the others drive ports.",
                 LcoreConfig{}, true);
    keys.Add("table", "The forwarding table.", SwitchTable{});
    keys.Add("buffer", "The shared buffer.", SwitchBuffer{});
    keys.Add("classes", "Classes of traffic.", SwitchClassesConfig{});
    keys.AddList("classes.dscp", "List of DSCPs with another class than DSCP / 8.",
                 SwitchDscpConfig{});
    keys.AddList("classes.of", "List of classes with other values than these.",
                 SwitchClassConfig{});
    keys.Add("classes.of[].ecn", "Marks of the queues of the class. Absent: none.",
             SwitchEcnConfig{});
    keys.Add("trim", "Frames that are cut instead of being dropped.", SwitchTrimConfig{});
    keys.Add("pfc", "Pauses by priority, of the ports that have pfc: on.", SwitchPfcConfig{});
    keys.Add("llr", "Link-level retry, of the ports that have llr: on.", LlrConfig{});
    keys.Add("cbfc", "Credit-based flow control, of the ports that have cbfc: on.", CbfcConfig{});
    keys.AddList("ports", "List of network ports, 2 to 32.", SwitchPortConfig{}, true);
    keys.Add("ports[].lldp_assign",
             "IP address that LLDP assigns to the port's neighbour (lldp.md). Absent: none.",
             SwitchAssignConfig{});
    keys.Add("ports[].impair_in", "Faults of the link towards the switch.", SwitchImpairConfig{});
    keys.AddSection("ports[].impair_out",
                    "Faults of the link from the switch, with the same keys.");
    keys.AddList(
        "groups",
        "List of groups of ports: each frame to an address of a group leaves by one of them.",
        SwitchGroupConfig{});
    keys.AddList("addresses", "List of configured entries of the forwarding table.",
                 SwitchAddressConfig{});
    keys.Add("management", "How the switch is monitored and controlled.", ManagementConfig{});
    keys.Add("log", "The log, on standard error.", LogConfig{});
    return keys.Take();
  }();
  return kRows;
}

}  // namespace suede
