// SPDX-License-Identifier: Apache-2.0
// A port's control thread functions: link, reconnection, statistics, closing.
#include <dirent.h>
#include <rte_alarm.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "dpdk/dpdk_port.h"
#include "dpdk/eal_log.h"
#include "dpdk/memif_watch.h"
#include "dpdk/port_opener.h"
#include "dpdk/port_registry.h"

namespace suede {
namespace {

std::vector<DpdkPort*>& OpenPorts() {
  static std::vector<DpdkPort*>* const ports = new std::vector<DpdkPort*>;
  return *ports;
}

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Returns the number of this process's Unix sockets that are connected to `path`.
uint32_t ConnectionsTo(const std::string& path) {
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  uint32_t count = 0;
  while (const dirent* entry = readdir(directory)) {
    sockaddr_un peer{};
    socklen_t length = sizeof peer;
    if (getpeername(std::atoi(entry->d_name), reinterpret_cast<sockaddr*>(&peer), &length) != 0) {
      continue;
    }
    const char* const name = peer.sun_path;
    // A name in the abstract namespace begins with a zero byte.
    if (peer.sun_family == AF_UNIX && length > offsetof(sockaddr_un, sun_path) &&
        path == (name[0] != '\0' ? name : name + 1)) {
      ++count;
    }
  }
  closedir(directory);
  return count;
}

// Adds the growth of a counter. memif reports 0 while disconnected, and restarts from 0 when its
// queues are created again.
void Advance(uint64_t raw, uint64_t* last, uint64_t* base) {
  if (raw == 0) return;
  if (raw < *last) *base += *last;
  *last = raw;
}

}  // namespace

namespace internal {

void RegisterPort(DpdkPort* port) { OpenPorts().push_back(port); }
void UnregisterPort(DpdkPort* port) { std::erase(OpenPorts(), port); }
void CloseAllPorts() {
  while (!OpenPorts().empty()) OpenPorts().back()->Close();
}

}  // namespace internal

DpdkPort::~DpdkPort() { Close(); }

LinkState DpdkPort::link() const {
  const uint64_t word = link_.load(std::memory_order_relaxed);
  constexpr uint64_t kUp = uint64_t{1} << 63;
  return {(word & kUp) != 0, (word & ~kUp) * 1'000'000};
}

void DpdkPort::CloseGates() {
  for (const auto& pair : pairs_) pair->gate().Close();
}

void DpdkPort::OpenGates() {
  for (const auto& pair : pairs_) pair->gate().Open();
}

void DpdkPort::ReadLink() {
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) != 0) return;
  const bool up = link.link_status == RTE_ETH_LINK_UP && started_.load(std::memory_order_acquire);
  const uint64_t speed = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
  link_.store((uint64_t{up} << 63) | speed, std::memory_order_relaxed);
}

// Restarts a memif client until its server is there, as it connects only when started. The restart
// runs on the interrupt thread, where the driver does its other work on the connection.
void DpdkPort::RefreshLink() {
  if (!open_) return;
  ReadLink();
  if (!is_memif_client_ || held_down_.load(std::memory_order_relaxed) == !link().up ||
      restart_pending_.load(std::memory_order_acquire)) {
    return;
  }
  constexpr int64_t kRetryNs = 100'000'000;
  constexpr int64_t kHandshakeNs = 30'000'000'000;
  const int64_t now = NowNs();
  if (now - last_restart_ns_ < kRetryNs) return;
  // A connected client is still in its handshake, however long a busy server takes: a server
  // crashes if it accepts a connection that the client has already closed (DPDK 22.11).
  if (now - last_restart_ns_ < kHandshakeNs && IsInHandshake()) return;
  last_restart_ns_ = now;
  restart_pending_.store(true, std::memory_order_release);
  if (rte_eal_alarm_set(1, OnAlarm, this) != 0) {
    restart_pending_.store(false, std::memory_order_release);
  }
}

// Whether this memif client, or another to the same socket, has a connection to its server but no
// link yet. Counts connections first: if one ends meanwhile, the result is to wait.
bool DpdkPort::IsInHandshake() const {
  const uint32_t connections = ConnectionsTo(memif_socket_);
  uint32_t up = 0;
  for (DpdkPort* const port : OpenPorts()) {
    if (!port->is_memif_client_ || port->memif_socket_ != memif_socket_) continue;
    port->ReadLink();
    up += port->link().up ? 1 : 0;
  }
  return connections > up;
}

void DpdkPort::OnAlarm(void* port) { static_cast<DpdkPort*>(port)->Restart(); }

void DpdkPort::Restart() {
  const internal::QuietEalLog quiet;  // a missing server is not an error
  rte_eth_link link{};
  const bool up = rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
  const bool wanted = !held_down_.load(std::memory_order_relaxed);
  if (!wanted || !up || !started_.load(std::memory_order_relaxed)) {
    if (started_.load(std::memory_order_relaxed)) {
      CloseGates();
      started_.store(false, std::memory_order_release);
      rte_eth_dev_stop(id_);
    }
    if (wanted && rte_eth_dev_start(id_) == 0) {
      started_.store(true, std::memory_order_release);
      OpenGates();
    }
  }
  restart_pending_.store(false, std::memory_order_release);
}

bool DpdkPort::SetLink(bool up) {
  if (!open_) return false;
  if (is_memif_client_) {
    // A memif client's link is its connection, which the next calls of RefreshLink close or open.
    held_down_.store(!up, std::memory_order_relaxed);
    last_restart_ns_ = 0;
    return true;
  }
  int result = 0;
  WithoutBursts([&] {
    result = up ? rte_eth_dev_set_link_up(id_) : rte_eth_dev_set_link_down(id_);
  });
  ReadLink();
  return result == 0;
}

PortStats DpdkPort::Stats() {
  PortStats total;
  rte_eth_stats raw{};
  if (open_ && rte_eth_stats_get(id_, &raw) == 0) {
    Advance(raw.ipackets, &stats_last_.rx_frames, &stats_base_.rx_frames);
    Advance(raw.ibytes, &stats_last_.rx_bytes, &stats_base_.rx_bytes);
    Advance(raw.opackets, &stats_last_.tx_frames, &stats_base_.tx_frames);
    Advance(raw.obytes, &stats_last_.tx_bytes, &stats_base_.tx_bytes);
    Advance(raw.imissed, &stats_last_.rx_missed, &stats_base_.rx_missed);
    Advance(raw.ierrors, &stats_last_.rx_errors, &stats_base_.rx_errors);
    Advance(raw.rx_nombuf, &stats_last_.rx_no_buffer, &stats_base_.rx_no_buffer);
    Advance(raw.oerrors, &stats_last_.tx_errors, &stats_base_.tx_errors);
  }
  total.rx_frames = stats_base_.rx_frames + stats_last_.rx_frames;
  total.rx_bytes = stats_base_.rx_bytes + stats_last_.rx_bytes;
  total.tx_frames = stats_base_.tx_frames + stats_last_.tx_frames;
  total.tx_bytes = stats_base_.tx_bytes + stats_last_.tx_bytes;
  total.rx_missed = stats_base_.rx_missed + stats_last_.rx_missed;
  total.rx_errors = stats_base_.rx_errors + stats_last_.rx_errors;
  total.rx_no_buffer = stats_base_.rx_no_buffer + stats_last_.rx_no_buffer;
  total.tx_errors = stats_base_.tx_errors + stats_last_.tx_errors;
  for (const auto& pair : pairs_) {
    total.rx_oversize += pair->oversize();
    total.rx_copied += pair->copied();
    total.rx_no_copy += pair->no_copy();
    total.tx_kept += pair->kept();
  }
  return total;
}

void DpdkPort::ReceiveGroups() {
  // Devices without such a filter, like memif, receive everything anyway.
  if (open_) rte_eth_allmulticast_enable(id_);
}

const std::vector<DeviceCounter>& DpdkPort::ReadDevice() {
  if (!device_counters_) {
    device_counters_ = open_ ? FindDeviceCounters(id_) : std::vector<DeviceCounter>();
  }
  if (open_) ReadDeviceCounters(id_, &*device_counters_);
  return *device_counters_;
}

uint32_t DpdkPort::FreeFrames() const { return open_ ? rte_mempool_avail_count(pool_) : 0; }

void DpdkPort::Close() {
  if (!open_) return;
  open_ = false;
  internal::UnregisterPort(this);
  rte_eal_alarm_cancel(OnAlarm, this);  // waits for a running one
  for (const auto& pair : pairs_) {
    if (is_memif_) internal::UnwatchMemifGate(&pair->gate());
    pair->gate().Close();  // permanently
  }
  if (link_events_) PortOpener::StopLinkEvents(id_, this);
  link_.store(0, std::memory_order_relaxed);
  // Closes a memif port on the interrupt thread: its driver may be handling a hang-up there,
  // without a lock.
  if (!is_memif_ || rte_eal_alarm_set(1, OnCloseAlarm, this) != 0) {
    EndDevice();
    return;
  }
  const timespec pause{0, 100'000};
  while (!ended_.load(std::memory_order_acquire)) nanosleep(&pause, nullptr);
}

void DpdkPort::OnCloseAlarm(void* port) { static_cast<DpdkPort*>(port)->EndDevice(); }

// Keeps the pool until EAL ends: a frame may still be in another device's ring (net_ring).
void DpdkPort::EndDevice() {
  if (started_.exchange(false)) rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
  ended_.store(true, std::memory_order_release);
}

}  // namespace suede
