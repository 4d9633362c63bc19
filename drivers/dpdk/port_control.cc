// SPDX-License-Identifier: Apache-2.0
// A port's control thread functions: link, statistics, closing.
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <time.h>

#include <algorithm>

#include "dpdk/dpdk_port.h"
#include "dpdk/port_opener.h"
#include "dpdk/port_registry.h"
#include "memif/device.h"

namespace suede {
namespace {

constexpr uint64_t kUp = uint64_t{1} << 63;

std::vector<DpdkPort*>& OpenPorts() {
  static std::vector<DpdkPort*>* const ports = new std::vector<DpdkPort*>;
  return *ports;
}

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Adds the growth of a counter, which a driver may restart from 0.
void Advance(uint64_t raw, uint64_t* last, uint64_t* base) {
  if (raw == 0) return;
  if (raw < *last) *base += *last;
  *last = raw;
}

void AddMemifStats(const memif::Device& device, PortStats& total) {
  using memif::QueueCounters;
  total.rx_frames += device.Sum(&QueueCounters::rx_frames);
  total.rx_bytes += device.Sum(&QueueCounters::rx_bytes);
  total.tx_frames += device.Sum(&QueueCounters::tx_frames);
  total.tx_bytes += device.Sum(&QueueCounters::tx_bytes);
  total.rx_errors += device.Sum(&QueueCounters::rx_bad_region) +
                     device.Sum(&QueueCounters::rx_bad_length) +
                     device.Sum(&QueueCounters::rx_bad_chain);
  total.rx_no_buffer += device.Sum(&QueueCounters::rx_no_frame);
  total.tx_errors += device.Sum(&QueueCounters::tx_oversize);
  total.rx_oversize += device.Sum(&QueueCounters::rx_oversize);
}

}  // namespace

namespace internal {

void RegisterPort(DpdkPort* port) { OpenPorts().push_back(port); }
void UnregisterPort(DpdkPort* port) { std::erase(OpenPorts(), port); }
void CloseAllPorts() {
  while (!OpenPorts().empty()) OpenPorts().back()->Close();
}

}  // namespace internal

DpdkPort::DpdkPort() = default;
DpdkPort::~DpdkPort() { Close(); }

LinkState DpdkPort::link() const {
  const uint64_t word = link_.load(std::memory_order_relaxed);
  return {(word & kUp) != 0, (word & ~kUp) * 1'000'000};
}

void DpdkPort::CloseGates() {
  for (const auto& pair : pairs_) pair->gate().Close();
}

void DpdkPort::OpenGates() {
  for (const auto& pair : pairs_) pair->gate().Open();
}

void DpdkPort::SetTap(FrameTap* tap) {
  WithoutBursts([&] {
    for (const auto& pair : pairs_) pair->SetTap(tap);
  });
  is_tapped_ = tap != nullptr;
}

void DpdkPort::ReadLink() {
  if (memif_ != nullptr) {
    link_.store(memif_->up() ? kUp : 0, std::memory_order_relaxed);
    return;
  }
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) != 0) return;
  const bool up = link.link_status == RTE_ETH_LINK_UP && started_.load(std::memory_order_acquire);
  const bool known = reports_speed_ && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
  const uint64_t speed = known ? link.link_speed : 0;
  link_.store((up ? kUp : 0) | speed, std::memory_order_relaxed);
}

void DpdkPort::RefreshLink() {
  if (!open_) return;
  if (memif_ != nullptr) memif_->Poll(NowNs());
  ReadLink();
  // Asks the device's firmware, so only where the link has changed.
  const uint64_t link = link_.load(std::memory_order_relaxed);
  if (memif_ == nullptr && (link & kUp) != 0 && link != link_of_fec_) ReadFec();
  link_of_fec_ = link;
}

bool DpdkPort::SetLink(bool up) {
  if (!open_) return false;
  if (memif_ != nullptr) {
    if (memif_->is_server()) return false;
    memif_->SetLink(up);
    ReadLink();
    return true;
  }
  int result = 0;
  WithoutBursts([&] {
    result = up ? rte_eth_dev_set_link_up(id_) : rte_eth_dev_set_link_down(id_);
  });
  ReadLink();
  return result == 0;
}

void DpdkPort::AddDeviceStats() {
  rte_eth_stats raw{};
  if (!open_ || memif_ != nullptr || rte_eth_stats_get(id_, &raw) != 0) return;
  Advance(raw.ipackets, &stats_last_.rx_frames, &stats_base_.rx_frames);
  Advance(raw.ibytes, &stats_last_.rx_bytes, &stats_base_.rx_bytes);
  Advance(raw.opackets, &stats_last_.tx_frames, &stats_base_.tx_frames);
  Advance(raw.obytes, &stats_last_.tx_bytes, &stats_base_.tx_bytes);
  Advance(raw.imissed, &stats_last_.rx_missed, &stats_base_.rx_missed);
  Advance(raw.ierrors, &stats_last_.rx_errors, &stats_base_.rx_errors);
  Advance(raw.rx_nombuf, &stats_last_.rx_no_buffer, &stats_base_.rx_no_buffer);
  Advance(raw.oerrors, &stats_last_.tx_errors, &stats_base_.tx_errors);
}

PortStats DpdkPort::Stats() {
  AddDeviceStats();
  PortStats total;
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
  if (memif_ != nullptr) AddMemifStats(*memif_, total);
  return total;
}

void DpdkPort::ReceiveGroups() {
  // Devices without such a filter, like memif, receive everything anyway.
  if (open_ && memif_ == nullptr) rte_eth_allmulticast_enable(id_);
}

const std::vector<DeviceCounter>& DpdkPort::ReadDevice() {
  const bool has_counters = open_ && memif_ == nullptr;
  if (!device_counters_) {
    device_counters_ = has_counters ? FindDeviceCounters(id_) : std::vector<DeviceCounter>();
  }
  if (has_counters) ReadDeviceCounters(id_, &*device_counters_);
  return *device_counters_;
}

uint32_t DpdkPort::FreeFrames() const { return open_ ? rte_mempool_avail_count(pool_) : 0; }

// Keeps the pool until EAL ends: a frame may still be in another device's ring (net_ring).
void DpdkPort::Close() {
  if (!open_) return;
  open_ = false;
  internal::UnregisterPort(this);
  CloseGates();  // permanently
  link_.store(0, std::memory_order_relaxed);
  if (memif_ != nullptr) {
    // Its memory stays mapped if an lcore has not left its burst.
    memif_->SetLink(false);
    return;
  }
  if (link_events_) PortOpener::StopLinkEvents(id_, this);
  if (started_.exchange(false)) rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
}

}  // namespace suede
