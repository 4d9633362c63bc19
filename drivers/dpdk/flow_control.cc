// SPDX-License-Identifier: Apache-2.0
#include "dpdk/flow_control.h"

#include "absl/strings/str_cat.h"
#include "dpdk/eal_log.h"
#include "dpdk/port_opener.h"

namespace suede {
namespace internal {

std::vector<rte_eth_pfc_conf> PfcRequests(const DevicePfc& pfc, const rte_eth_fc_conf& present) {
  std::vector<rte_eth_pfc_conf> requests;
  for (uint8_t priority = 0; priority < 8; ++priority) {
    if ((pfc.classes >> priority & 1) == 0) continue;
    rte_eth_pfc_conf request{.fc = present, .priority = priority};
    request.fc.pause_time = pfc.quanta;
    request.fc.send_xon = 1;
    request.fc.mode = RTE_ETH_FC_FULL;
    request.fc.mac_ctrl_frame_fwd = 0;
    requests.push_back(request);
  }
  return requests;
}

bool PausesQueuesOnly(uint16_t port) {
  rte_eth_pfc_queue_info info{};
  return rte_eth_dev_priority_flow_ctrl_queue_info_get(port, &info) == 0;
}

}  // namespace internal

absl::Status PortOpener::SetPfc() {
  if (!options_.pfc) return absl::OkStatus();
  rte_eth_fc_conf present{};
  // Ignores an error: a driver that cannot report its flow control may still accept the requests.
  rte_eth_dev_flow_ctrl_get(port_->id_, &present);
  for (rte_eth_pfc_conf& request : internal::PfcRequests(*options_.pfc, present)) {
    const int error = rte_eth_dev_priority_flow_ctrl_set(port_->id_, &request);
    if (error == 0) continue;
    const absl::Status failed = Failed(absl::StrCat("pfc: device, priority flow control of class ",
                                                    static_cast<uint32_t>(request.priority)),
                                       error);
    const bool queues = error == -ENOTSUP && internal::PausesQueuesOnly(port_->id_);
    return absl::FailedPreconditionError(
        absl::StrCat(failed.message(), "; ",
                     queues ? "the driver pauses queues, each of which carries all VCs: " : "",
                     "set ports[].pfc to software or off"));
  }
  return absl::OkStatus();
}

// Skips drivers without flow control, whose MAC does not consume these frames.
void PortOpener::TakeMacControl() {
  rte_eth_fc_conf conf{};
  const internal::QuietEalLog quiet;
  if (!options_.takes_mac_control || rte_eth_dev_flow_ctrl_get(port_->id_, &conf) != 0) return;
  conf.mac_ctrl_frame_fwd = 1;
  const int error = rte_eth_dev_flow_ctrl_set(port_->id_, &conf);
  if (error == 0) return;
  port_->warnings_.push_back(
      absl::StrCat(Failed("pfc: software, forwarding of MAC control frames", error).message(),
                   "; set ports[].pfc to device or off if pauses have no effect"));
}

}  // namespace suede
