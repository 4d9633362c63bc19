// SPDX-License-Identifier: Apache-2.0
// Configuration of an endpoint process, as a value: filled from a YAML file and overrides, checked
// once, and then never changed in place: config_change.h makes new values. docs/configuration.md
// lists every key.
//
// The defaults below are the defaults of the file's keys; unit, range and sentence of each key
// are in config_fields*.cc.
#ifndef SUEDE_CONFIG_CONFIG_H_
#define SUEDE_CONFIG_CONFIG_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/client_rules.h"
#include "base/sue.h"
#include "base/time.h"
#include "config/daemon_config.h"
#include "config/mesh_config.h"
#include "congestion/params.h"
#include "path/params.h"
#include "transport/params.h"
#include "wire/encap/header.h"

namespace suede {

using ConfigMacPrefix = std::array<uint8_t, 4>;

struct PortConfig {
  using Encapsulation = Encap;                        // declared by rows of lib/wire
  enum class Queues : uint8_t { kLcore, kInstance };  // owner of a queue pair
  enum class Pfc : uint8_t { kOff, kSoftware, kDevice };
  enum class PfcClass : uint8_t { kDscp, kPcp };
  enum class Fec : uint8_t { kDevice, kOff, kAuto, kBaser, kRs };
  std::string name;
  std::string device;             // vdev string or PCI address, or kMeshDevice
  std::optional<uint32_t> plane;  // of the mesh; set if the device is kMeshDevice
  uint32_t socket_mode = 0600;    // of the socket that a memif server creates
  std::optional<MacAddress> mac;  // nullopt: the device's
  uint32_t mtu_bytes = 0;         // L3; never 0 in a loaded configuration
  Encapsulation encapsulation = Encapsulation::kUdp4;
  uint16_t udp_port = 3333;  // udp4, udp6
  uint16_t session = 0;
  uint16_t ether_type = 0;                             // never 0 once loaded, except over IP
  ConfigMacPrefix mac_prefix{0x02, 0x53, 0x55, 0x45};  // if MAC addresses are prefixed
  uint8_t hop_limit = kDefaultHopLimit;                // of sent frames
  std::optional<uint16_t> vid;                         // nullopt: untagged; 0: a priority tag
  uint32_t rx_descriptors = 1024;
  uint32_t tx_descriptors = 1024;
  Queues queues = Queues::kLcore;
  std::optional<std::string> tap;          // name of its TAP device
  std::optional<uint32_t> tap_prefix;      // prefix length of its addresses; nullopt: none assigned
  std::vector<uint32_t> link_speeds_gbps;  // offered to the neighbour; empty: the device's
  OnOff autoneg = OnOff::kOn;              // off: the one of link_speeds_gbps
  Fec fec = Fec::kDevice;                  // kDevice: as the device has it
  std::optional<uint32_t> bandwidth_gbps;  // weight of its planes; nullopt: the link's speed
  Pfc pfc = Pfc::kOff;                     // docs/pfc.md
  PfcClass pfc_class = PfcClass::kDscp;    // of frames with a DSCP and a PCP
  std::optional<uint32_t> receive_mbps;    // docs/congestion.md; nullopt: just below its rate
  std::optional<uint8_t> trimmed_dscp;     // of frames trimmed by switches; nullopt: no trimming
  OnOff llr = OnOff::kOff;                 // docs/link.md
  OnOff cbfc = OnOff::kOff;                // docs/link.md
  uint16_t link_ether_type = 0xfe50;       // of shims and link frames
  OnOff lldp = OnOff::kOff;                // docs/lldp.md
  OnOff lldp_addresses = OnOff::kOff;      // the neighbour may assign the port's address
  uint32_t lldp_wait_s = 60;               // for it, at the start
  friend bool operator==(const PortConfig&, const PortConfig&) = default;
};

// Address of an instance on a port.
struct InstancePort {
  uint32_t port = 0;      // index into Config::ports
  NetAddress address;     // given, by the default rule, or assigned
  bool assigned = false;  // by the neighbour, with LLDP; the address is 0 until it is known
  // An assigned address is no setting.
  friend bool operator==(const InstancePort& a, const InstancePort& b) {
    return a.port == b.port && a.assigned == b.assigned && (a.assigned || a.address == b.address);
  }
};

struct InstanceConfig {
  enum class Sealing : uint8_t { kOff, kPreferred, kRequired };  // docs/sealing.md
  uint32_t xpu = 0;
  uint32_t instance = 0;  // instance number of the XPU
  uint32_t lcore = 0;     // index into Config::lcores
  Ordering ordering = Ordering::kStrict;
  CongestionControl congestion = CongestionControl::kFixed;
  Sealing sealing = Sealing::kOff;
  std::optional<uint32_t> partition;  // nullopt: Config::partition
  std::vector<InstancePort> ports;  // its planes: 1, 2 or 4, on different ports
  friend bool operator==(const InstanceConfig&, const InstanceConfig&) = default;
};

// Addresses of a peer on one of the own ports.
struct PeerPort {
  uint32_t port = 0;                  // index into Config::ports
  std::optional<uint32_t> instance;   // own instance number that uses it; nullopt: all others
  std::optional<NetAddress> address;  // nullopt: the default rule of forwarding addresses
  MacAddress mac{};                   // udp4, udp6; 0: learnt from the kernel's neighbours
  friend bool operator==(const PeerPort&, const PeerPort&) = default;
};

struct PeerConfig {
  enum class Hello : uint8_t { kAuto, kNever };
  uint32_t xpu = 0;
  std::string name;  // for people; empty: none
  Hello hello = Hello::kAuto;
  std::string control;  // address and port of its sealing.tls.listen; empty: the peer must connect
  std::vector<PeerPort> ports;  // at least one, each {port, instance} at most once
  friend bool operator==(const PeerConfig&, const PeerConfig&) = default;
};

struct ConfigVcClass : TrafficClass {
  // Fill levels of the receive ring at which a pause begins, and ends.
  uint8_t xoff_percent = 75;
  uint8_t xon_percent = 50;
  friend bool operator==(const ConfigVcClass&, const ConfigVcClass&) = default;
};

struct ClassesConfig {
  std::array<ConfigVcClass, kVcCount> vc{};
  TrafficClass ack{.pcp = 6, .dscp = 48, .ecn = 0};
  friend bool operator==(const ClassesConfig&, const ClassesConfig&) = default;
};

struct PackingConfig {
  uint32_t limit_bytes = kDefaultPackBytes;  // commands of one PDU
  uint32_t packed_pdus = 8192;               // of an lcore on a port, not yet sent
  friend bool operator==(const PackingConfig&, const PackingConfig&) = default;
};

struct TransportConfig : TransportParams {
  uint32_t inflight_pdus = 4096;  // of one instance, over all peers
  uint32_t path_probes_per_s = 10000;  // of one instance
  friend bool operator==(const TransportConfig&, const TransportConfig&) = default;
};

// docs/planes.md. An instance has its own ordering, and the sessions are those below.
using PlanesConfig = PathParams;

// docs/sessions.md.
struct SessionsConfig : SessionParams {
  uint32_t max = 1;  // of each {peer, plane}
  friend bool operator==(const SessionsConfig&, const SessionsConfig&) = default;
};

// docs/pfc.md.
struct PfcConfig {
  uint16_t quanta = 0xffff;  // of a requested pause, 512 bit times each
  Duration storm = std::chrono::milliseconds(100);
  friend bool operator==(const PfcConfig&, const PfcConfig&) = default;
};

// docs/congestion.md; for instances whose `congestion` is not fixed, and for the grants of all.
// Each instance has its own `control`.
struct CongestionConfig : CongestionParams {
  Duration slice = TargetParams{}.slice;
  uint32_t hold_bdp = TargetParams{}.hold_bdp;
  friend bool operator==(const CongestionConfig&, const CongestionConfig&) = default;
};

// docs/sealing.md. The first four are either all set or all empty.
struct SealingTlsConfig {
  std::string listen;  // address and port
  std::string certificate;
  std::string key;
  std::string ca;
  uint32_t refresh_s = 3600;
  bool enabled() const { return !listen.empty(); }
  friend bool operator==(const SealingTlsConfig&, const SealingTlsConfig&) = default;
};

// For instances with sealing: preferred or required (docs/sealing.md).
struct SealingConfig {
  enum class Cipher : uint8_t { kAes128Gcm, kAes256Gcm };
  enum class Device : uint8_t { kAuto, kIpsecMb, kAesniGcm, kAesniMb, kOpenssl };
  std::string secrets;
  Cipher cipher = Cipher::kAes128Gcm;
  Device device = Device::kAuto;
  uint32_t rotate_s = 3600;
  uint64_t rotate_pdus = uint64_t{1} << 28;
  SealingTlsConfig tls;
  friend bool operator==(const SealingConfig&, const SealingConfig&) = default;
};

struct ClientsConfig {
  std::string socket;  // never empty in a loaded configuration
  uint32_t socket_mode = 0660;
  uint32_t max_clients = 16;        // per process
  uint32_t max_queues = 4;          // per client
  uint32_t ring_lines = 4096;       // of each transmit ring, 64 bytes each
  uint32_t receive_lines = 16384;   // of each VC's receive ring
  uint32_t credit_lines = 1024;     // per {destination, VC} and queue
  uint32_t aggregate_lines = 4096;  // per queue
  uint32_t completions = 4096;      // entries of each queue's completion ring
  uint32_t unclaimed_pdus = 64;     // per {instance, VC} without a client
  enum class Registers : uint8_t { kOff, kRead, kWrite };
  Registers registers = Registers::kRead;  // register access of clients
  uint32_t register_pages = 0;             // files of registers
  std::vector<ClientRule> rules;           // empty: every user may act as every XPU
  uint32_t window_mb = 1024;               // of a client's windows that lcores serve
  uint32_t windows_total_mb = 16384;       // of all clients' windows that lcores serve
  Hugepages hugepages = Hugepages::kAuto;
  friend bool operator==(const ClientsConfig&, const ClientsConfig&) = default;
};

struct Config {
  std::string name;
  EalConfig eal;
  std::vector<LcoreConfig> lcores;  // at least one
  std::vector<PortConfig> ports;    // at least one
  uint32_t partition = 0;
  std::vector<InstanceConfig> instances;  // at least one; ranges are expanded
  std::vector<PeerConfig> peers;          // at most kMaxXpus; ranges are expanded
  std::vector<DeviceConfig> devices;      // docs/mesh.md; none: the endpoint forwards no frames
  std::vector<CableConfig> cables;
  ClassesConfig classes;
  PackingConfig packing;
  TransportConfig transport;
  PlanesConfig planes;
  SessionsConfig sessions;
  PfcConfig pfc;
  CongestionConfig congestion;
  LlrConfig llr;
  CbfcConfig cbfc;
  MeshConfig mesh;
  SealingConfig sealing;
  ClientsConfig clients;
  ManagementConfig management;
  LogConfig log;
  friend bool operator==(const Config&, const Config&) = default;
};

// Returns the default address of an XPU's instance on the port: AFH only.
NetAddress DefaultConfigAddress(const PortConfig& port, uint32_t xpu, uint32_t instance);

// Whether the port is the centre of the own devices on a plane (docs/mesh.md).
inline bool IsCentre(const PortConfig& port) { return port.device == kMeshDevice; }
// Whether ports[port] is that of a cable between devices.
bool IsOfCable(const Config& config, uint32_t port);
// Returns the number of planes of the own devices.
uint32_t MeshPlanesOf(const Config& config);

// Returns the entry by which own instances with the number `instance` reach `peer` through the
// port: the entry for that number, else that for all numbers, else nullptr.
const PeerPort* FindPeerPort(const PeerConfig& peer, uint32_t port, uint32_t instance);

// Returns the address of `peer` in that entry, for own instances with the number `instance`.
NetAddress PeerAddress(const Config& config, const PeerConfig& peer, const PeerPort& at,
                       uint32_t instance);

// Returns the partition of an own instance.
inline uint32_t PartitionOf(const Config& config, const InstanceConfig& instance) {
  return instance.partition.value_or(config.partition);
}

// Returns the plane whose address the neighbour of the port assigns; null: none.
InstancePort* AssignedPlane(Config& config, uint32_t port);
const InstancePort* AssignedPlane(const Config& config, uint32_t port);

// Whether MAC addresses of peers on the port can be learnt.
bool LearnsNeighbours(const PortConfig& port);

// Read and check a configuration. Later overrides win. Messages have the form "FILE:LINE:COLUMN:
// key.path: PROBLEM; MEND". `warnings`, if not null, receives warnings of valid but suspicious
// values, in the same form.
absl::StatusOr<Config> LoadConfig(const std::string& path, const MachineFacts& machine,
                                  const std::vector<ConfigOverride>& overrides = {},
                                  std::vector<std::string>* warnings = nullptr);
absl::StatusOr<Config> ParseConfig(std::string_view text, std::string_view file_name,
                                   const MachineFacts& machine,
                                   const std::vector<ConfigOverride>& overrides = {},
                                   std::vector<std::string>* warnings = nullptr);

// Returns the effective configuration as a file that loads to the same value.
std::string DumpConfig(const Config& config);

}  // namespace suede

#endif  // SUEDE_CONFIG_CONFIG_H_
