// SPDX-License-Identifier: Apache-2.0
// Counters and gauges of the LLDP agent of a port (docs/lldp.md): one row each, for endpoints and
// switches. A block has one writer (the control thread) and any number of readers.
#ifndef SUEDE_STATS_LLDP_COUNTERS_H_
#define SUEDE_STATS_LLDP_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "stats/link_counters.h"

namespace suede {

// id, name (Prometheus: suede_NAME of an endpoint, suede_switch_NAME), severity, sentence.
#define SUEDE_LLDP_COUNTERS(X)                                                                 \
  X(TxFrames, "lldp_tx_frames_total", Info, "LLDP frames sent")                                \
  X(TxFull, "lldp_tx_drop_full_total", Drop,                                                   \
    "LLDP frames not sent: the queue to the lcore was full, or the frame longer than the MTU") \
  X(RxFrames, "lldp_rx_frames_total", Info, "LLDP frames of neighbours that were taken")       \
  X(RxRate, "lldp_rx_drop_rate_total", Drop, "LLDP frames beyond the rate")                    \
  X(RxOwn, "lldp_rx_drop_own_total", Drop, "LLDP frames of this port: the link is a loop")     \
  X(RxTruncated, "lldp_rx_drop_truncated_total", Error, "LLDP frames that end within a TLV")   \
  X(RxOrder, "lldp_rx_drop_order_total", Error,                                                \
    "LLDP frames that do not begin with chassis id, port id and TTL")                          \
  X(RxMandatory, "lldp_rx_drop_mandatory_total", Error,                                        \
    "LLDP frames whose chassis id, port id, TTL or end has a wrong length")                    \
  X(RxDuplicate, "lldp_rx_drop_duplicate_total", Error,                                        \
    "LLDP frames with a second chassis id, port id or TTL")                                    \
  X(RxNoEnd, "lldp_rx_drop_no_end_total", Error, "LLDP frames without the TLV of their end")   \
  X(RxNeighbours, "lldp_rx_drop_neighbours_total", Drop,                                       \
    "LLDP frames of more neighbours than a port keeps")                                        \
  X(RxTlvLength, "lldp_rx_tlv_drop_length_total", Error, "TLVs ignored for a wrong length")    \
  X(RxTlvValue, "lldp_rx_tlv_drop_value_total", Error, "TLVs ignored for an impossible value") \
  X(RxTlvDuplicate, "lldp_rx_tlv_drop_duplicate_total", Error,                                 \
    "TLVs ignored because the frame had one of the kind before")                               \
  X(RxTlvChecksum, "lldp_rx_tlv_drop_checksum_total", Error,                                   \
    "Assigned addresses ignored for a wrong checksum")                                         \
  X(RxTlvUnknown, "lldp_rx_tlv_unknown_total", Info, "TLVs skipped: of a kind not used here")  \
  X(Aged, "lldp_aged_total", Error, "Neighbours forgotten after their TTL")                    \
  X(RxAddressRefused, "lldp_rx_address_refused_total", Error,                                  \
    "LLDP frames whose assigned address the port refused, for a reason that an event names")

// id, name, sentence.
#define SUEDE_LLDP_GAUGES(X)                                   \
  X(Neighbours, "lldp_neighbours", "Neighbours known by LLDP") \
  X(Differences, "lldp_differences", "Differences between their configuration and the port's")

#define SUEDE_LLDP_ID(id, ...) k##id,
enum class LldpCounter : uint8_t { SUEDE_LLDP_COUNTERS(SUEDE_LLDP_ID) kCount };
enum class LldpGauge : uint8_t { SUEDE_LLDP_GAUGES(SUEDE_LLDP_ID) kCount };
#undef SUEDE_LLDP_ID

// Return the rows, indexed by counter and gauge.
std::span<const CounterRow, static_cast<size_t>(LldpCounter::kCount)> LldpCounterRows();
std::span<const LinkGaugeRow, static_cast<size_t>(LldpGauge::kCount)> LldpGaugeRows();

class LldpCounters : public SwitchCounters<LldpCounter> {
 public:
  // Writer's thread only.
  void Set(LldpGauge gauge, uint64_t value) {
    gauges_[static_cast<size_t>(gauge)].store(value, std::memory_order_relaxed);
  }
  // Any thread.
  using SwitchCounters<LldpCounter>::Cell;
  const std::atomic<uint64_t>& Cell(LldpGauge gauge) const {
    return gauges_[static_cast<size_t>(gauge)];
  }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(LldpGauge::kCount)> gauges_{};
};

}  // namespace suede

#endif  // SUEDE_STATS_LLDP_COUNTERS_H_
