// SPDX-License-Identifier: Apache-2.0
// Gauges of an instance: one row each, like counters. A GaugeBlock has one writer (an lcore, which
// updates it periodically, not with every change) and any number of readers.
#ifndef SUEDE_STATS_GAUGES_H_
#define SUEDE_STATS_GAUGES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace suede {

// id, name (Prometheus: suede_NAME), sentence.
#define SUEDE_GAUGES(X)                                                                        \
  X(InflightPdus, "inflight_pdus", "Sequenced PDUs sent and not acknowledged")                 \
  X(InflightBytes, "inflight_bytes", "Bytes of commands in those PDUs")                        \
  X(QueuedPdus, "queued_pdus", "PDUs packed or being packed that were not sent yet")           \
  X(CreditLines, "credit_lines", "Ring lines of commands whose credit was not returned")       \
  X(UnclaimedPdus, "unclaimed_pdus", "PDUs accepted that wait for a client to claim their VC") \
  X(ConnectionsNew, "connections_new", "Connections on which nothing was ever exchanged")      \
  X(ConnectionsOpen, "connections_open", "Connections that can send")                          \
  X(ConnectionsPaused, "connections_paused", "Connections whose far side is not ready")        \
  X(ConnectionsRetransmitting, "connections_retransmitting", "Connections that go back")       \
  X(ConnectionsFrozen, "connections_frozen",                                                   \
    "Connections of a plane that died with PDUs in doubt")                                     \
  X(ConnectionsLost, "connections_lost", "Connections whose far side is unreachable")          \
  X(PromisedLines, "promised_lines", "Lines of receive rings that peers may still use")        \
  X(CongestionSenders, "congestion_senders", "Peers that want more sending credit (RCCC)")     \
  X(CongestionGranted, "congestion_granted_octets",                                            \
    "Octets that peers were granted (RCCC) and that have not arrived")                         \
  X(CongestionWindow, "congestion_window_octets",                                              \
    "Congestion windows, or remaining credit (RCCC), of all peers and planes")                 \
  X(ReorderPdus, "reorder_pdus", "PDUs kept until those before them have come (selective repair)")

enum class Gauge : uint8_t {
#define SUEDE_GAUGE_ID(id, name, sentence) k##id,
  SUEDE_GAUGES(SUEDE_GAUGE_ID)
#undef SUEDE_GAUGE_ID
      kCount
};
inline constexpr size_t kGaugeCount = static_cast<size_t>(Gauge::kCount);

struct GaugeRow {
  std::string_view name;
  std::string_view sentence;
};

// Returns the rows, indexed by Gauge.
std::span<const GaugeRow, kGaugeCount> GaugeRows();

// The gauges of one owner.
class GaugeBlock {
 public:
  // Writer's thread only.
  void Set(Gauge gauge, uint64_t value) {
    cells_[static_cast<size_t>(gauge)].store(value, std::memory_order_relaxed);
  }
  // Any thread.
  uint64_t Get(Gauge gauge) const { return Cell(gauge).load(std::memory_order_relaxed); }
  const std::atomic<uint64_t>& Cell(Gauge gauge) const {
    return cells_[static_cast<size_t>(gauge)];
  }

 private:
  std::array<std::atomic<uint64_t>, kGaugeCount> cells_{};
};

}  // namespace suede

#endif  // SUEDE_STATS_GAUGES_H_
