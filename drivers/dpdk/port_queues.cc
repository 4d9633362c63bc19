// SPDX-License-Identifier: Apache-2.0
// The queues of a port: their number, their owners, and the steering of frames.
#include <rte_ethdev.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dpdk/eal_log.h"
#include "dpdk/flow_rules.h"
#include "dpdk/lending.h"
#include "dpdk/port_opener.h"
#include "dpdk/relayed_pair.h"
#include "memif/device.h"

namespace suede {

// Returns the usable ones of the reported queues.
uint16_t PortOpener::OfferedQueues(uint16_t reported) const {
  // DPDK 22.11.3 and later report two, which share one transmit context, and only one receives.
  return Is("net_e1000_em") ? 1 : reported;
}

// Rejects a device with fewer queue pairs than needed.
absl::Status PortOpener::CheckQueues() const {
  const uint32_t offered = OfferedQueues(std::min(info_.max_rx_queues, info_.max_tx_queues));
  const uint32_t wanted = options_.queue_pairs;
  // The kernel and a memif's peer distribute frames to all queues, even to queues that no lcore
  // reads.
  const bool is_exact = Is("net_af_packet") || Is("net_memif");
  if (is_exact ? offered == wanted : offered >= wanted) return absl::OkStatus();
  absl::string_view key;
  if (Is("net_af_packet")) key = "qpairs";
  if (Is("net_af_xdp")) key = "queue_count";
  if (Is("net_virtio_user") || Is("net_memif")) key = "queues";
  std::string mend;
  if (!key.empty()) {
    mend = absl::StrCat("give it ", key, "=", wanted, " in ports[].device, or ");
  }
  std::string users = absl::StrCat(wanted, wanted == 1 ? " lcore serves it" : " lcores serve it");
  if (wanted > options_.lcores) {
    users = absl::StrCat(wanted, " instances are to have queues of their own");
    absl::StrAppend(&mend, "leave out ports[].queues");
  } else {
    absl::StrAppend(&mend, "put its instances on ", offered, offered == 1 ? " lcore" : " lcores");
  }
  return absl::FailedPreconditionError(absl::StrCat(Prefix(), users, ", and the device has ",
                                                    offered, offered == 1 ? " pair" : " pairs",
                                                    " of queues: ", mend));
}

// Enables RSS over IP addresses and UDP ports if the device has several queues and supports it, so
// that a connection's frames stay in order. Without RSS, frames without a matching rule arrive on
// the first queue.
int PortOpener::ConfigureDevice(rte_eth_conf* conf) {
  constexpr uint64_t kHashes = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;
  const uint64_t hashes = info_.flow_type_rss_offloads & kHashes;
  if (port_->queues_ > 1 && options_.steering.udp_port != 0 && hashes != 0) {
    const internal::QuietEalLog quiet;
    conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf->rx_adv_conf.rss_conf.rss_hf = hashes;
    spreads_ = rte_eth_dev_configure(port_->id_, port_->queues_, port_->queues_, conf) == 0;
    if (spreads_) return 0;
    conf->rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
    conf->rx_adv_conf.rss_conf.rss_hf = 0;
  }
  return rte_eth_dev_configure(port_->id_, port_->queues_, port_->queues_, conf);
}

void PortOpener::MakePairs() {
  QueuePairParams params{.device = port_,
                         .id = port_->id_,
                         .queue = 0,
                         .offered = offered_,
                         .frame_bytes = port_->frame_bytes_,
                         .pool = port_->pool_};
  if (internal::CopiesFrames(port_->driver_)) {
    const internal::QuietEalLog quiet;  // without the pool, frames are referenced
    params.lending = internal::LendingPool();
  }
  RelayingPair* relaying = nullptr;
  for (uint16_t pair = 0; pair < options_.queue_pairs; ++pair) {
    if (port_->queues_ == options_.queue_pairs) {
      params.queue = pair;
      if (port_->memif_ != nullptr) params.memif = &port_->memif_->queue(pair);
      port_->pairs_.push_back(std::make_unique<QueuePair>(params));
    } else if (pair == 0) {
      params.memif = &port_->memif_->queue(0);
      auto first = std::make_unique<RelayingPair>(params);
      relaying = first.get();
      port_->pairs_.push_back(std::move(first));
    } else {
      auto other = std::make_unique<RelayedPair>(params);
      relaying->AddRelay(other->relay());
      port_->pairs_.push_back(std::move(other));
    }
  }
}

// Skips devices with one queue.
void PortOpener::Steer() {
  if (port_->queues_ < 2) return;
  if (internal::SteerByRules(options_.steering, port_->id_)) {
    port_->steering_ = Steering::kRules;
  } else {
    port_->steering_ = spreads_ ? Steering::kRss : Steering::kSoftware;
  }
}

}  // namespace suede
