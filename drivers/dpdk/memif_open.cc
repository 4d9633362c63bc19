// SPDX-License-Identifier: Apache-2.0
// The opening of a memif, which has no device of DPDK: neither filters nor offloads, nor an MTU.
#include <rte_ether.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/device_string.h"
#include "dpdk/port_opener.h"
#include "dpdk/port_registry.h"
#include "memif/device.h"

namespace suede {

absl::Status PortOpener::OpenMemif() {
  port_->driver_ = "net_memif";
  if (absl::Status status = CheckFrameBytes(); !status.ok()) return status;
  if (options_.pfc) {
    return absl::FailedPreconditionError(absl::StrCat(
        Prefix(), "a memif has no priority flow control; set ports[].pfc to software or off"));
  }
  memif::DeviceOptions device = memif::ParseDevice(options_.device);
  device.socket_mode = options_.socket_mode;
  device.max_frame_bytes = options_.frame_bytes;
  if (options_.frame_bytes > device.buffer_bytes) {
    port_->warnings_.push_back(absl::StrCat(
        Prefix(), "frames of up to ", options_.frame_bytes,
        " bytes take several memif buffers: add bsize=", (options_.frame_bytes + 63) / 64 * 64));
  }
  if (device.queues > 1) {
    info_.max_rx_queues = info_.max_tx_queues = device.queues;
    if (absl::Status status = CheckQueues(); !status.ok()) return status;
    port_->queues_ = device.queues;
    port_->steering_ = Steering::kSoftware;
  }
  auto opened = memif::Device::Open(device);
  if (!opened.ok()) {
    return absl::Status(opened.status().code(), absl::StrCat(Prefix(), opened.status().message()));
  }
  port_->memif_ = *std::move(opened);
  rx_descriptors_ = options_.rx_descriptors;
  tx_descriptors_ = options_.tx_descriptors;
  if (absl::Status status = MakePool(); !status.ok()) return status;
  MakePairs();
  SetMemifMac();
  SetMemifFacts();
  port_->open_ = true;
  internal::RegisterPort(port_);
  port_->OpenGates();
  port_->RefreshLink();
  return absl::OkStatus();
}

// Chooses the configured address, the one of the device string, or a random one.
void PortOpener::SetMemifMac() {
  rte_ether_addr address{};
  if (options_.mac) {
    port_->mac_ = *options_.mac;
    return;
  }
  if (rte_ether_unformat_addr(Argument("mac").c_str(), &address) != 0) {
    rte_eth_random_addr(address.addr_bytes);
  }
  std::memcpy(port_->mac_.data(), address.addr_bytes, port_->mac_.size());
}

}  // namespace suede
