// SPDX-License-Identifier: Apache-2.0
// An Ethernet device of DPDK, or a memif (drivers/memif): its frame pool, link, statistics and
// closing. Each lcore that serves it has a queue pair of its own (queue_pair.h). Nothing here
// includes a DPDK header.
#ifndef SUEDE_DPDK_DPDK_PORT_H_
#define SUEDE_DPDK_DPDK_PORT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dpdk/capabilities.h"
#include "dpdk/device_counters.h"
#include "dpdk/queue_pair.h"
#include "dpdk/steering.h"
#include "port/frame_tap.h"
#include "port/port.h"

struct rte_mempool;

namespace suede {

namespace memif {
class Device;
}

// Forward error correction of a device's link (IEEE 802.3).
enum class FecMode : uint8_t {
  kNone,  // no setting, or not known
  kOff,
  kAuto,   // as the two ends negotiate
  kBaser,  // clause 74
  kRs,     // clauses 91, 108, 134
};
// Returns "", "off", "auto", "baser" or "rs".
std::string_view NameOf(FecMode mode);

// Priority flow control of a device (docs/pfc.md).
struct DevicePfc {
  uint8_t classes = 0;       // mask of the paused classes
  uint16_t quanta = 0xffff;  // pause time that the device requests
};

struct PortOptions {
  std::string name;             // for messages
  std::string device;           // PCI address, the vdev string passed to EAL, or a memif's
  uint32_t socket_mode = 0600;  // of the socket of a memif server
  uint16_t mtu = 1500;          // of layer 3
  uint32_t frame_bytes = 1514;  // max frame, Ethernet header to R-CRC
  uint16_t lcores = 1;          // lcores that serve the port
  uint16_t queue_pairs = 1;     // queue pairs that they need, at least one each
  uint16_t rx_descriptors = 1024;  // of each queue
  uint16_t tx_descriptors = 1024;
  std::optional<std::array<uint8_t, 6>> mac;  // set on the device if it permits
  // Further addresses to receive: by filters if the device has enough, else by promiscuous mode.
  std::vector<std::array<uint8_t, 6>> addresses;
  bool promiscuous = false;  // receive all frames: addresses are no MAC addresses
  // Multicast addresses to receive: by a filter for each, else by a wider one.
  std::vector<std::array<uint8_t, 6>> groups;
  bool sends_udp6 = false;  // the device computes checksums of UDP over IPv6, if it can
  // The endpoint processes MAC control frames: the device must deliver them, if its driver can be
  // configured so.
  bool takes_mac_control = false;
  // The VLAN of all received frames, added to the device's VLAN filter if it has one (e.g. a virtio
  // NIC, which otherwise drops tagged frames). None: the filter remains unchanged.
  std::optional<uint16_t> vid;
  SteeringPlan steering;     // used with several queue pairs
  int numa_node = -1;        // of the pool; -1: the device's
  uint32_t pool_frames = 0;  // max frames held by callers; the device's own needs are added
  // Name of a pool shared by all ports that name it, so that a frame received on one may be sent on
  // another. A shared pool has `pool_frames` in total, the devices' own needs included, each with
  // room for `pool_frame_bytes`: the max frame of all these ports. Empty: the port has its own
  // pool.
  std::string pool{};
  uint32_t pool_frame_bytes = 0;
  std::optional<DevicePfc> pfc;  // none: the device's setting remains
  std::vector<uint32_t> link_speeds_gbps{};  // empty: all that the device has
  bool autoneg = true;                       // false: with one speed
  bool has_rate = false;                     // the configuration states the port's rate
  FecMode fec = FecMode::kNone;              // kNone: the device's setting remains
};

// Returns the max number of frames in the mempool caches of `lcores` lcores.
uint32_t CachedFrames(uint32_t lcores);

// Returns the memory of the port's frame pool, in bytes, as far as known without the device. EAL
// need not run.
uint64_t PoolBytes(const PortOptions& options);

// Totals since the port was opened: identifier, metric name, help text.
#define SUEDE_PORT_STATS(X)                                                                     \
  X(rx_frames, "port_rx_frames_total", "Frames that the device received")                       \
  X(rx_bytes, "port_rx_bytes_total", "Bytes of received frames, as the device counts them")     \
  X(tx_frames, "port_tx_frames_total", "Frames that the device sent")                           \
  X(tx_bytes, "port_tx_bytes_total", "Bytes of sent frames, as the device counts them")         \
  X(rx_missed, "port_rx_missed_total", "Frames for which the device had no descriptor")         \
  X(rx_errors, "port_rx_errors_total", "Frames that were broken on arrival")                    \
  X(rx_no_buffer, "port_rx_no_buffer_total", "Buffers that the pool could not give the device") \
  X(tx_errors, "port_tx_errors_total", "Frames that the device failed to send")                 \
  X(rx_oversize, "port_rx_oversize_total", "Frames dropped: too long, or in several buffers")   \
  X(rx_copied, "port_rx_copied_total", "Frames copied: their buffer was shared (net_ring)")     \
  X(rx_no_copy, "port_rx_no_copy_total", "Frames not copied but dropped: the pool was empty")   \
  X(tx_kept, "port_tx_kept_total",                                                              \
    "Frames that a device kept whose driver copies them; it gets references from then on")

struct PortStats {
#define SUEDE_PORT_STATS_FIELD(id, name, sentence) uint64_t id = 0;
  SUEDE_PORT_STATS(SUEDE_PORT_STATS_FIELD)
#undef SUEDE_PORT_STATS_FIELD
};

class DpdkPort final : public TappedPort {
 public:
  // Control thread, after StartEal(). Succeeds without a link.
  static absl::StatusOr<std::unique_ptr<DpdkPort>> Open(const PortOptions& options);
  ~DpdkPort() override;
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  // Returns queue pair `number`, below PortOptions::queue_pairs. Only one lcore uses a pair.
  QueuePair& pair(uint32_t number = 0) { return *pairs_[number]; }
  uint32_t max_frame_bytes() const { return frame_bytes_; }
  // Returns the link state at the last update. Any thread.
  LinkState link() const;

  // Updates link(), and serves a memif's socket. Control thread, about every 10 ms.
  void RefreshLink();
  // Control thread, like the functions below. Sets the device's link up or down. Returns false if
  // the driver cannot, or the device is the server of a memif.
  bool SetLink(bool up);
  PortStats Stats();
  // Receives all multicast frames from now on, unless the device already does.
  void ReceiveGroups();
  uint32_t FreeFrames() const;
  // Reads and returns the device's counters beyond PortStats.
  const std::vector<DeviceCounter>& ReadDevice();
  // Calls `change` while no burst runs: for settings that the device does not permit to change
  // while lcores use it.
  template <typename Change>
  void WithoutBursts(Change&& change) {
    CloseGates();
    change();
    OpenGates();
  }
  void SetTap(FrameTap* tap) override;
  bool is_tapped() const override { return is_tapped_; }
  uint32_t lcores() const override { return queues_; }
  // Stops the device. Bursts are harmless afterwards; frames must not be accessed.
  void Close();

  // Null: the device is DPDK's.
  memif::Device* memif() const { return memif_.get(); }
  // DPDK's port id; not of a memif.
  uint16_t id() const { return id_; }
  uint16_t queues() const { return queues_; }  // in each direction
  const std::string& name() const override { return name_; }
  const std::string& driver() const { return driver_; }
  std::array<uint8_t, 6> mac() const { return mac_; }
  Steering steering() const { return steering_; }
  // Returns the FEC in use since the link came up; kNone: its driver does not report it.
  FecMode fec() const { return fec_; }
  const DeviceFacts& facts() const { return facts_; }
  int numa_node() const { return numa_node_; }
  uint32_t pool_frames() const { return pool_frames_; }
  // Settings that the device rejected but that the port can do without; for the log.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class PortOpener;
  DpdkPort();
  void CloseGates();
  void OpenGates();
  void ReadLink();
  void ReadFec();
  void AddDeviceStats();

  // Constant once open.
  uint16_t id_ = 0;
  uint16_t queues_ = 1;
  uint32_t frame_bytes_ = 0;
  bool reports_speed_ = false;  // false: the driver's speed is a constant, and not used
  rte_mempool* pool_ = nullptr;
  std::unique_ptr<memif::Device> memif_;
  std::vector<std::unique_ptr<QueuePair>> pairs_;

  // Control thread.
  std::string name_;
  std::string driver_;
  std::array<uint8_t, 6> mac_{};
  DeviceFacts facts_;
  int numa_node_ = -1;
  uint32_t pool_frames_ = 0;
  std::vector<std::string> warnings_;
  Steering steering_ = Steering::kOneQueue;
  bool open_ = false;
  bool is_tapped_ = false;
  FecMode fec_ = FecMode::kNone;
  uint64_t link_of_fec_ = 0;  // link_ when fec_ was read
  bool link_events_ = false;
  PortStats stats_base_, stats_last_;
  std::optional<std::vector<DeviceCounter>> device_counters_;  // set by the first ReadDevice

  std::atomic<bool> started_{false};
  std::atomic<uint64_t> link_{0};  // speed in Mb/s, and bit 63: up
};

}  // namespace suede

#endif  // SUEDE_DPDK_DPDK_PORT_H_
