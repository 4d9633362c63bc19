// SPDX-License-Identifier: Apache-2.0
// The steps of DpdkPort::Open(). Private to drivers/dpdk.
#ifndef SUEDE_DPDK_PORT_OPENER_H_
#define SUEDE_DPDK_PORT_OPENER_H_

#include <rte_ethdev.h>

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "dpdk/dpdk_port.h"

namespace suede {

class PortOpener {
 public:
  PortOpener(const PortOptions& options, DpdkPort* port) : options_(options), port_(port) {}
  absl::Status Run();

  static void StopLinkEvents(uint16_t id, DpdkPort* port);

 private:
  static int OnLinkEvent(uint16_t id, rte_eth_event_type event, void* port, void* result);

  absl::Status OpenMemif();
  void SetMemifMac();
  absl::Status Find();
  absl::Status CheckFrameBytes() const;
  absl::Status CheckMtu();
  absl::Status CheckAfPacket() const;
  absl::Status CheckQueues() const;
  absl::Status Configure();
  int ConfigureDevice(rte_eth_conf* conf);
  absl::Status MakePool();
  std::string PoolName() const;
  absl::Status CheckSharedPool(uint64_t room) const;
  absl::Status SetupQueues();
  void MakePairs();
  absl::Status SetMtu();
  absl::Status SetPfc();
  absl::Status SetFec();
  absl::Status Start();
  void SetMac();
  bool AddAddresses();
  void ReceiveAll();
  void ReceiveGroups();
  void TakeMacControl();
  void ReceiveTagged();
  void ReadFilterFacts();
  void ReadFacts();
  void SetMemifFacts();
  uint16_t OfferedQueues(uint16_t reported) const;
  void Steer();

  // Returns the value of KEY=VALUE in the vdev string, or "".
  std::string Argument(std::string_view key) const;
  uint64_t NumberArgument(std::string_view key, uint64_t otherwise) const;
  bool Is(absl::string_view driver) const { return port_->driver_ == driver; }
  absl::Status Failed(absl::string_view what, int error) const;
  std::string Prefix() const;

  const PortOptions& options_;
  DpdkPort* port_;
  rte_eth_dev_info info_{};
  uint16_t rx_descriptors_ = 0;
  uint16_t tx_descriptors_ = 0;
  uint32_t offered_ = 1;  // a bit for each TxOffload
  bool device_checks_mtu_ = true;
  bool filters_vlans_ = false;
  bool spreads_ = false;  // the device distributes frames over its queues by RSS
};

}  // namespace suede

#endif  // SUEDE_DPDK_PORT_OPENER_H_
