// SPDX-License-Identifier: Apache-2.0
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/device_string.h"
#include "base/secrets.h"
#include "dpdk/eal.h"
#include "dpdk/eal_log.h"
#include "dpdk/link_settings.h"
#include "dpdk/mbuf_frame.h"
#include "dpdk/port_opener.h"
#include "dpdk/port_registry.h"

namespace suede {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kCacheFrames = 512;

// Returns ethdev's name of the device: the text before the first comma, with a full PCI address.
std::string DeviceName(const std::string& device) {
  return IsVdev(device) ? std::string(DeviceHead(device)) : PciAddress(device);
}

bool IsPciAddress(const std::string& name) {
  return name.size() == 12 && name[4] == ':' && name[7] == ':' && name[10] == '.';
}

// Returns the reason why a PCI device has no port, and the mend.
std::string PciMend(const std::string& address) {
  const fs::path device = fs::path("/sys/bus/pci/devices") / address;
  std::error_code error;
  if (!fs::exists(device, error))
    return "no such PCI device: see `dpdk-devbind.py --status-dev net`";
  const std::string driver = fs::read_symlink(device / "driver", error).filename();
  if (driver == "vfio-pci") {
    return "it is bound to vfio-pci but could not be opened: its IOMMU group's file under "
           "/dev/vfio "
           "must be this user's, and ulimit -l large enough";
  }
  return absl::StrCat("it is bound to ", driver.empty() ? "no driver" : driver,
                      ": dpdk-devbind.py --bind=vfio-pci ", address);
}

// Whether this process may open packet sockets.
bool HasNetRaw() {
  const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno != EPERM && errno != EACCES;
  close(fd);
  return true;
}

void MakeFrame(rte_mempool* /*pool*/, void* /*argument*/, void* object, unsigned /*index*/) {
  auto* mbuf = static_cast<rte_mbuf*>(object);
  Frame* frame = new (internal::FrameOf(mbuf)) Frame;
  frame->buffer = static_cast<uint8_t*>(mbuf->buf_addr);
  frame->data = frame->buffer + Frame::kCommandOffset;
  frame->capacity = mbuf->buf_len;
}

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Returns the bytes of a buffer behind the headroom, where the device writes; NICs count them in
// units of up to 1024. `device_view`: the min that the device accepts.
uint64_t ViewOf(const PortOptions& options, uint64_t device_view) {
  uint64_t view =
      std::max(options.frame_bytes, options.pool_frame_bytes) + uint64_t{Frame::kSlackBytes};
  view = std::max<uint64_t>(view, options.mtu + RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN +
                                      RTE_ETHER_CRC_LEN + Frame::kSlackBytes);
  view = std::max(view, device_view);
  return RoundUp(view, IsPciAddress(DeviceName(options.device)) ? 1024 : RTE_CACHE_LINE_SIZE);
}

uint32_t PoolFrames(const PortOptions& options, uint32_t rx_descriptors, uint32_t tx_descriptors) {
  if (!options.pool.empty()) return options.pool_frames;
  return options.pool_frames + options.queue_pairs * (rx_descriptors + tx_descriptors) +
         CachedFrames(options.lcores);
}

// Returns the pool memory of one frame, in bytes.
uint64_t FrameMemory(uint64_t room) {
  return sizeof(rte_mbuf) + sizeof(Frame) + room + 2 * RTE_CACHE_LINE_SIZE;
}

}  // namespace

uint32_t CachedFrames(uint32_t lcores) { return lcores * kCacheFrames * 3 / 2; }

uint64_t PoolBytes(const PortOptions& options) {
  return PoolFrames(options, options.rx_descriptors, options.tx_descriptors) *
         FrameMemory(RTE_PKTMBUF_HEADROOM + ViewOf(options, 0));
}

absl::StatusOr<std::unique_ptr<DpdkPort>> DpdkPort::Open(const PortOptions& options) {
  std::unique_ptr<DpdkPort> port(new DpdkPort);
  PortOpener opener(options, port.get());
  if (absl::Status status = opener.Run(); !status.ok()) return status;
  return port;
}

std::string PortOpener::Prefix() const {
  return absl::StrCat("port ", options_.name, " (", HideSecrets(options_.device), "): ");
}

std::string PortOpener::Argument(std::string_view key) const {
  return std::string(DeviceArgument(options_.device, key));
}

uint64_t PortOpener::NumberArgument(std::string_view key, uint64_t otherwise) const {
  uint64_t value = 0;
  return absl::SimpleAtoi(Argument(key), &value) ? value : otherwise;
}

absl::Status PortOpener::Failed(absl::string_view what, int error) const {
  const std::string said = internal::TakeEalErrors();
  return absl::FailedPreconditionError(
      absl::StrCat(Prefix(), what, " failed: ", rte_strerror(error < 0 ? -error : error),
                   said.empty() ? "" : "; driver log: ", said));
}

absl::Status PortOpener::Run() {
  port_->name_ = options_.name;
  port_->reports_speed_ = ReportsSpeed(options_.device);
  port_->frame_bytes_ = options_.frame_bytes;
  if (IsMemif(options_.device)) return OpenMemif();
  if (absl::Status status = Find(); !status.ok()) return status;
  internal::TakeEalErrors();
  for (const auto step : {&PortOpener::CheckMtu, &PortOpener::Configure, &PortOpener::MakePool,
                          &PortOpener::SetupQueues, &PortOpener::SetMtu, &PortOpener::SetPfc,
                          &PortOpener::SetFec, &PortOpener::Start}) {
    if (absl::Status status = (this->*step)(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PortOpener::Find() {
  const std::string device = DeviceName(options_.device);
  if (rte_eth_dev_get_port_by_name(device.c_str(), &port_->id_) != 0) {
    std::string mend = "the driver made no port of it";
    if (IsPciAddress(device)) {
      mend = PciMend(device);
    } else if (const std::string iface = Argument("iface"); !iface.empty()) {
      std::error_code error;
      if (!fs::exists("/sys/class/net/" + iface, error)) {
        mend = absl::StrCat("there is no network interface ", iface, ": see `ip link`");
      } else {
        // The driver's own message follows.
        mend = absl::StrCat("the driver has not opened interface ", iface,
                            HasNetRaw() ? "" : ": CAP_NET_RAW is needed; run it by its unit, or as root");
      }
    }
    const std::string said = internal::TakeEalErrors();
    return absl::NotFoundError(
        absl::StrCat(Prefix(), mend, said.empty() ? "" : "; EAL log: ", said));
  }
  if (const int error = rte_eth_dev_info_get(port_->id_, &info_); error != 0) {
    return Failed("rte_eth_dev_info_get", error);
  }
  port_->driver_ = info_.driver_name;
  port_->numa_node_ = rte_eth_dev_socket_id(port_->id_);
  return absl::OkStatus();
}

absl::Status PortOpener::CheckFrameBytes() const {
  constexpr uint32_t kTaggedHeader = RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;
  if (options_.frame_bytes <= options_.mtu + kTaggedHeader) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(Prefix(), "frames of ", options_.frame_bytes,
                                                 " bytes do not fit an MTU of ", options_.mtu,
                                                 ": raise mtu_bytes or lower packing.limit_bytes"));
}

absl::Status PortOpener::CheckMtu() {
  if (absl::Status status = CheckFrameBytes(); !status.ok()) return status;
  // This driver reports the limit of standard Ethernet but does not enforce it.
  device_checks_mtu_ = !Is("net_af_packet");
  if (!device_checks_mtu_) return CheckAfPacket();
  const uint32_t overhead = info_.max_mtu != UINT16_MAX && info_.max_rx_pktlen > info_.max_mtu
                                ? info_.max_rx_pktlen - info_.max_mtu
                                : RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  const uint32_t largest = std::min<uint32_t>(info_.max_mtu, info_.max_rx_pktlen - overhead);
  if (options_.mtu < info_.min_mtu || options_.mtu > largest) {
    return absl::InvalidArgumentError(absl::StrCat(
        Prefix(), "MTU ", options_.mtu, " is outside this ", port_->driver_, " device's limits ",
        info_.min_mtu, " to ", largest, ": change mtu_bytes, and packing.limit_bytes with it"));
  }
  return absl::OkStatus();
}

absl::Status PortOpener::CheckAfPacket() const {
  constexpr uint32_t kRingHeader = 66;  // of a TPACKET2 slot, rounded up
  const uint64_t slot = NumberArgument("framesz", 2048);
  if (slot < options_.frame_bytes + kRingHeader) {
    const uint64_t needed = RoundUp(options_.frame_bytes + kRingHeader, 4096);
    return absl::InvalidArgumentError(absl::StrCat(Prefix(), "frames of ", options_.frame_bytes,
                                                   " bytes do not fit its ring slots of ", slot,
                                                   ": add framesz=", needed, ",blocksz=", needed));
  }
  const std::string iface = Argument("iface");
  std::ifstream file("/sys/class/net/" + iface + "/mtu");
  uint32_t mtu = 0;
  if (file >> mtu; file && mtu < options_.mtu) {
    return absl::FailedPreconditionError(
        absl::StrCat(Prefix(), "the interface's MTU is ", mtu, ", ", options_.mtu,
                     " needed: ip link set dev ", iface, " mtu ", options_.mtu));
  }
  return absl::OkStatus();
}

absl::Status PortOpener::Configure() {
  if (absl::Status status = CheckQueues(); !status.ok()) return status;
  port_->queues_ = options_.queue_pairs;
  rte_eth_conf conf{};
  if (device_checks_mtu_) conf.rxmode.mtu = options_.mtu;
  constexpr uint64_t kRxChecksums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
  if ((info_.rx_offload_capa & kRxChecksums) == kRxChecksums) conf.rxmode.offloads |= kRxChecksums;
  filters_vlans_ =
      options_.vid.has_value() && (info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
  if (filters_vlans_) conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
  // With any checksum offload, some drivers transmit by slower functions. Excludes net_tap, which
  // computes checksums in software too; since DPDK 24.11 it strips the headers off the frame for
  // that, and a frame may be retransmitted.
  if (options_.sends_udp6 && !Is("net_tap") &&
      (info_.tx_offload_capa & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0) {
    conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
    offered_ |= 1u << static_cast<uint32_t>(TxOffload::kUdp6Checksum);
  }
  // For NICs RefreshLink queries the link instead: some interrupts are lost, and DPDK does not
  // update the link without one.
  port_->link_events_ = (*info_.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 &&
                        !IsPciAddress(DeviceName(options_.device));
  conf.intr_conf.lsc = port_->link_events_ ? 1 : 0;
  const auto speeds = internal::LinkSpeedBits(options_, info_.speed_capa);
  if (!speeds.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(Prefix(), speeds.status().message()));
  }
  conf.link_speeds = *speeds;
  if (const int error = ConfigureDevice(&conf); error != 0) {
    return Failed("rte_eth_dev_configure", error);
  }
  rx_descriptors_ = options_.rx_descriptors;
  tx_descriptors_ = options_.tx_descriptors;
  const int error =
      rte_eth_dev_adjust_nb_rx_tx_desc(port_->id_, &rx_descriptors_, &tx_descriptors_);
  if (error != 0) return Failed("rte_eth_dev_adjust_nb_rx_tx_desc", error);
  if (rx_descriptors_ != options_.rx_descriptors || tx_descriptors_ != options_.tx_descriptors) {
    port_->warnings_.push_back(absl::StrCat(Prefix(), "descriptors adjusted to rx ",
                                            rx_descriptors_, ", tx ", tx_descriptors_));
  }
  return absl::OkStatus();
}

absl::Status PortOpener::MakePool() {
  const uint64_t device_view = std::max<uint64_t>(
      info_.min_rx_bufsize, Is("net_af_packet") ? NumberArgument("framesz", 2048) : 0);
  uint64_t view = ViewOf(options_, device_view);
  // An e1000 counts buffers in powers of two, and puts the rest of a frame into another buffer.
  if (Is("net_e1000_em")) view = std::bit_ceil(view);
  const uint64_t room = RTE_PKTMBUF_HEADROOM + view;
  if (room > UINT16_MAX) {
    return absl::InvalidArgumentError(absl::StrCat(Prefix(), "frames of ", options_.frame_bytes,
                                                   " bytes are beyond DPDK's buffers"));
  }
  port_->pool_frames_ = PoolFrames(options_, rx_descriptors_, tx_descriptors_);
  if (!options_.pool.empty()) {
    port_->pool_ = rte_mempool_lookup(options_.pool.c_str());
    if (port_->pool_ != nullptr) return CheckSharedPool(room);
  }
  const int node = options_.numa_node >= 0 ? options_.numa_node : port_->numa_node_;
  const std::string name = options_.pool.empty() ? PoolName() : options_.pool;
  port_->pool_ = rte_pktmbuf_pool_create(name.c_str(), port_->pool_frames_, kCacheFrames,
                                         sizeof(Frame), static_cast<uint16_t>(room), node);
  if (port_->pool_ == nullptr && rte_errno == EINVAL) {
    // The parameters are valid, so EINVAL means that the mempool driver was not found.
    return absl::FailedPreconditionError(absl::StrCat(Prefix(), "DPDK has no mempool driver ",
                                                      rte_mbuf_best_mempool_ops(),
                                                      ": apt-get install librte-meta-mempool"));
  }
  if (port_->pool_ == nullptr) {
    const uint64_t each = FrameMemory(room);
    const uint64_t need_mib = port_->pool_frames_ * each / (1 << 20) + 1;
    return absl::ResourceExhaustedError(absl::StrCat(
        Prefix(), "no memory for ", port_->pool_frames_, " frames of ", each, " bytes (", need_mib,
        " MiB; ", EalHeapFree() >> 20, " MiB free, ", rte_strerror(rte_errno),
        "): lower transport.inflight_pdus, or raise eal.memory_mb (hugepages off), or reserve ",
        need_mib / 2 + 1, " more hugepages of 2 MiB: sysctl vm.nr_hugepages"));
  }
  rte_mempool_obj_iter(port_->pool_, MakeFrame, nullptr);
  return absl::OkStatus();
}

std::string PortOpener::PoolName() const {
  if (port_->memif_ == nullptr) return absl::StrCat("frames_", port_->id_);
  static uint32_t memifs = 0;
  return absl::StrCat("frames_memif_", memifs++);
}

// Checks a pool shared with other ports, which the first of them has created.
absl::Status PortOpener::CheckSharedPool(uint64_t room) const {
  const uint16_t has = rte_pktmbuf_data_room_size(port_->pool_);
  if (has >= room) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(Prefix(), "its device wants buffers of ", room,
                                                 " bytes, and those of the ports before it have ",
                                                 has, ": put this port first"));
}

absl::Status PortOpener::SetupQueues() {
  const auto node = static_cast<unsigned>(port_->numa_node_);
  rte_eth_rxconf rx = info_.default_rxconf;
  rx.offloads = 0;
  rte_eth_txconf tx = info_.default_txconf;
  // Never sets MBUF_FAST_FREE: a transmitted frame is still referenced after the device frees it.
  tx.offloads = 0;
  for (uint16_t queue = 0; queue < port_->queues_; ++queue) {
    int error = rte_eth_rx_queue_setup(port_->id_, queue, rx_descriptors_, node, &rx, port_->pool_);
    if (error != 0) return Failed("rte_eth_rx_queue_setup", error);
    error = rte_eth_tx_queue_setup(port_->id_, queue, tx_descriptors_, node, &tx);
    if (error != 0) return Failed("rte_eth_tx_queue_setup", error);
  }
  MakePairs();
  return absl::OkStatus();
}

absl::Status PortOpener::SetMtu() {
  if (!device_checks_mtu_) return absl::OkStatus();
  const int error = rte_eth_dev_set_mtu(port_->id_, options_.mtu);
  return error == 0 || error == -ENOTSUP ? absl::OkStatus() : Failed("setting the MTU", error);
}

void PortOpener::SetMac() {
  rte_ether_addr address{};
  if (options_.mac) {
    std::memcpy(address.addr_bytes, options_.mac->data(), sizeof(address.addr_bytes));
    const internal::QuietEalLog quiet;
    if (rte_eth_dev_default_mac_addr_set(port_->id_, &address) != 0) {
      // Enables promiscuous mode, the only way left to receive frames to the configured address.
      const bool all =
          rte_eth_promiscuous_get(port_->id_) == 1 || rte_eth_promiscuous_enable(port_->id_) == 0;
      port_->warnings_.push_back(
          absl::StrCat(Prefix(), "the device does not take the MAC address of the configuration",
                       all ? "" : ", nor promiscuous mode: it may not receive frames to it"));
    }
    port_->mac_ = *options_.mac;
  } else if (rte_eth_macaddr_get(port_->id_, &address) == 0) {
    std::memcpy(port_->mac_.data(), address.addr_bytes, port_->mac_.size());
  }
}

// Whether the device now filters for all further addresses.
bool PortOpener::AddAddresses() {
  const internal::QuietEalLog quiet;
  for (const auto& bytes : options_.addresses) {
    rte_ether_addr address{};
    std::memcpy(address.addr_bytes, bytes.data(), sizeof(address.addr_bytes));
    if (rte_eth_dev_mac_addr_add(port_->id_, &address, 0) != 0) return false;
  }
  return true;
}

void PortOpener::ReceiveAll() {
  const internal::QuietEalLog quiet;
  if (rte_eth_promiscuous_get(port_->id_) == 1 || rte_eth_promiscuous_enable(port_->id_) == 0) {
    return;
  }
  port_->warnings_.push_back(
      absl::StrCat(Prefix(),
                   "the device has no promiscuous mode: it may receive only frames to its MAC "
                   "address, which no AFH frame has"));
}

// To be called after the device's start, which clears the filter of some devices.
void PortOpener::ReceiveGroups() {
  if (options_.groups.empty()) return;
  const internal::QuietEalLog quiet;
  std::vector<rte_ether_addr> groups;
  for (const auto& bytes : options_.groups) {
    std::memcpy(groups.emplace_back().addr_bytes, bytes.data(), bytes.size());
  }
  const auto count = static_cast<uint32_t>(groups.size());
  if (rte_eth_promiscuous_get(port_->id_) == 1 ||
      rte_eth_dev_set_mc_addr_list(port_->id_, groups.data(), count) == 0 ||
      rte_eth_allmulticast_enable(port_->id_) == 0 ||
      rte_eth_promiscuous_enable(port_->id_) == 0) {
    return;
  }
  port_->warnings_.push_back(absl::StrCat(
      Prefix(), "cannot receive multicast frames: the driver has no filter for them, no "
                "allmulticast and no promiscuous mode; set ports[].llr and ports[].cbfc to off and "
                "ports[].pfc to device or off if the neighbour is not heard"));
}

void PortOpener::ReceiveTagged() {
  if (!filters_vlans_ || rte_eth_dev_vlan_filter(port_->id_, *options_.vid, 1) == 0) return;
  port_->warnings_.push_back(absl::StrCat(Prefix(), "the device's filter does not take VLAN ",
                                          *options_.vid,
                                          ": it may not receive frames with that tag"));
}

absl::Status PortOpener::Start() {
  // The port is open from here, so that Close() cleans up after any failure.
  port_->open_ = true;
  internal::RegisterPort(port_);
  if (port_->link_events_) {
    rte_eth_dev_callback_register(port_->id_, RTE_ETH_EVENT_INTR_LSC, OnLinkEvent, port_);
  }
  SetMac();
  if (options_.promiscuous || !AddAddresses()) ReceiveAll();
  ReadFilterFacts();
  if (const int error = rte_eth_dev_start(port_->id_); error != 0) {
    return Failed("rte_eth_dev_start", error);
  }
  ReadFacts();
  ReceiveTagged();
  ReceiveGroups();
  TakeMacControl();
  Steer();
  port_->facts_.steering = port_->steering_;
  port_->started_.store(true, std::memory_order_release);
  port_->OpenGates();
  port_->RefreshLink();
  return absl::OkStatus();
}

int PortOpener::OnLinkEvent(uint16_t /*id*/, rte_eth_event_type /*event*/, void* port,
                            void* /*result*/) {
  static_cast<DpdkPort*>(port)->ReadLink();
  return 0;
}

void PortOpener::StopLinkEvents(uint16_t id, DpdkPort* port) {
  rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_LSC, OnLinkEvent, port);
}

}  // namespace suede
