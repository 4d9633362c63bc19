// SPDX-License-Identifier: Apache-2.0
// Counters and gauges of one end of a link (docs/link.md): one row each, for endpoints and
// switches.
//
// A block has one writer (the lcore of the port) and any number of readers.
#ifndef SUEDE_STATS_LINK_COUNTERS_H_
#define SUEDE_STATS_LINK_COUNTERS_H_

#include <array>
#include <atomic>
#include <span>

#include "stats/switch_counters.h"

namespace suede {

// id, name (Prometheus: suede_NAME of an endpoint, suede_switch_NAME), severity, sentence.
#define SUEDE_LINK_COUNTERS(X)                                                                   \
  X(TxHellos, "link_tx_hellos_total", Info, "HELLOs sent to the neighbour")                      \
  X(RxHellos, "link_rx_hellos_total", Info, "HELLOs of the neighbour that were taken")           \
  X(RxHelloStale, "link_rx_hello_stale_total", Info, "HELLOs of another session, ignored")       \
  X(RxMalformed, "link_rx_malformed_total", Error, "Link frames and shims that are ill-formed")  \
  X(RxUnknown, "link_rx_unknown_total", Error, "Link frames of a kind that is not spoken here")  \
  X(Sessions, "link_sessions_total", Info, "Sessions that began with the neighbour")             \
  X(Failures, "link_failures_total", Error,                                                      \
    "Times that the link was given up: replay count used up, or a frame too old")                \
  X(Silences, "link_silences_total", Error, "Sessions ended by a silent neighbour")              \
  X(LlrTxFrames, "llr_tx_frames_total", Info, "Numbered frames sent for the first time")         \
  X(LlrTxReplayed, "llr_tx_replayed_total", Info, "Numbered frames sent again")                  \
  X(LlrTxHeld, "llr_tx_held_total", Info,                                                        \
    "Frames that the transport repeated while the link held them")                               \
  X(LlrTxPlain, "llr_tx_plain_total", Info,                                                      \
    "Frames sent without a number in a session that numbers")                                    \
  X(LlrTxStale, "llr_tx_drop_stale_total", Drop,                                                 \
    "Frames not sent: a device still reads them with an old shim, and the pool is empty")        \
  X(LlrTxFull, "llr_tx_full_total", Info, "Bursts of which the window took only a part")         \
  X(LlrGivenUp, "llr_tx_given_up_total", Drop, "Held frames given up at the end of a session")   \
  X(LlrReplays, "llr_replays_total", Info, "Replays of the held frames")                         \
  X(LlrTimeouts, "llr_timeouts_total", Info, "Expiries of the replay timer")                     \
  X(LlrAged, "llr_aged_total", Error, "Times that the oldest held frame was too old")            \
  X(LlrTxAcks, "llr_tx_acks_total", Info, "ACK frames sent")                                     \
  X(LlrTxNacks, "llr_tx_nacks_total", Info, "NACK frames sent")                                  \
  X(LlrRxAcks, "llr_rx_acks_total", Info, "ACK frames received")                                 \
  X(LlrRxNacks, "llr_rx_nacks_total", Info, "NACK frames received")                              \
  X(LlrRxNackCopies, "llr_rx_nack_copies_total", Info,                                           \
    "NACKs for frames that are being sent again already")                                        \
  X(LlrRxFrames, "llr_rx_frames_total", Info, "Numbered frames received in order")               \
  X(LlrRxDuplicate, "llr_rx_duplicate_total", Drop, "Numbered frames that had come already")     \
  X(LlrRxGap, "llr_rx_gap_total", Drop, "Numbered frames behind one that is missing")            \
  X(LlrRxBeyond, "llr_rx_beyond_window_total", Error,                                            \
    "Numbered frames further ahead than the neighbour's window")                                 \
  X(LlrRxStale, "llr_rx_stale_total", Drop, "Frames with the tag of another session")            \
  X(LlrRxAckImplausible, "llr_rx_ack_implausible_total", Error,                                  \
    "Acknowledgements of frames that were not sent")                                             \
  X(LlrRxPlain, "llr_rx_plain_total", Info, "Frames without a number in a session that numbers") \
  X(CreditTxFreed, "cbfc_tx_cf_updates_total", Info, "CF_Updates sent")                          \
  X(CreditTxConsumed, "cbfc_tx_cc_updates_total", Info, "CC_Updates sent")                       \
  X(CreditRxFreed, "cbfc_rx_cf_updates_total", Info, "CF_Updates that were taken")               \
  X(CreditRxConsumed, "cbfc_rx_cc_updates_total", Info, "CC_Updates that were taken")            \
  X(CreditStale, "cbfc_rx_stale_total", Info,                                                    \
    "Updates of another session, or not after the last one")                                     \
  X(CreditImpossible, "cbfc_rx_impossible_total", Error,                                         \
    "Impossible counters in updates, ignored")                                                   \
  X(CreditRepaired, "cbfc_repaired_credits_total", Info,                                         \
    "Credits of lost or duplicate frames, repaired by CC_Updates")                               \
  X(CreditExceeded, "cbfc_rx_exceeded_total", Error,                                             \
    "Frames that the neighbour sent beyond its credit")                                          \
  X(CreditRefused, "cbfc_refused_total", Error,                                                  \
    "Invalid offers of credit, or too little for the largest frame")                             \
  X(CreditWaits, "cbfc_tx_waits_total", Info,                                                    \
    "Frames that waited for credit behind the scheduler")                                        \
  X(CreditStorms, "cbfc_storms_total", Error,                                                    \
    "Times that frames waited longer than pfc.storm_us for credit")

// id, name, sentence.
#define SUEDE_LINK_GAUGES(X)                                               \
  X(Up, "link_session_up", "Whether a session with the neighbour is up")   \
  X(LlrTxState, "llr_tx_state",                                            \
    "State of the sender: 0 OFF, 1 INIT, 2 ADVANCE, 3 REPLAY, 4 FLUSH")    \
  X(LlrRxState, "llr_rx_state",                                            \
    "State of the receiver: 0 OFF, 1 SEND_ACKS, 2 SEND_NACK, 3 NACK_SENT") \
  X(LlrHeldFrames, "llr_held_frames", "Frames that are held for replay")   \
  X(LlrHeldBytes, "llr_held_bytes", "Bytes of those frames")               \
  X(CreditOn, "cbfc_on", "Whether frames use credit")

#define SUEDE_LINK_ID(id, ...) k##id,
enum class LinkCounter : uint8_t { SUEDE_LINK_COUNTERS(SUEDE_LINK_ID) kCount };
enum class LinkGauge : uint8_t { SUEDE_LINK_GAUGES(SUEDE_LINK_ID) kCount };
#undef SUEDE_LINK_ID

struct LinkGaugeRow {
  std::string_view name;
  std::string_view sentence;
};

// Return the rows, indexed by counter and gauge.
std::span<const CounterRow, static_cast<size_t>(LinkCounter::kCount)> LinkCounterRows();
std::span<const LinkGaugeRow, static_cast<size_t>(LinkGauge::kCount)> LinkGaugeRows();

// Credits of one link VC.
template <typename Count>
struct LinkCreditCounts {
  Count limit{};    // granted by the neighbour
  Count free{};     // unused part of `limit`
  Count granted{};  // to the neighbour
  Count held{};     // of received frames that are still in the buffer
};
using ShownCredit = LinkCreditCounts<uint32_t>;
using LinkCreditCells = LinkCreditCounts<std::atomic<uint64_t>>;

// A metric with one value for each link VC that frames can use, for ports with credit.
struct LinkCreditRow {
  std::string_view name;
  std::string_view sentence;
  std::atomic<uint64_t> LinkCreditCells::*cell;
};
std::span<const LinkCreditRow> LinkCreditRows();

class LinkCounters : public SwitchCounters<LinkCounter> {
 public:
  static constexpr uint32_t kShownVcs = 8;  // VCs that frames can use at present

  // Writer's thread only.
  void Set(LinkGauge gauge, uint64_t value) {
    gauges_[static_cast<size_t>(gauge)].store(value, std::memory_order_relaxed);
  }
  // Any thread.
  using SwitchCounters<LinkCounter>::Get;
  uint64_t Get(LinkGauge gauge) const {
    return Cell(gauge).load(std::memory_order_relaxed);
  }
  using SwitchCounters<LinkCounter>::Cell;
  const std::atomic<uint64_t>& Cell(LinkGauge gauge) const {
    return gauges_[static_cast<size_t>(gauge)];
  }

  // Writer's thread only.
  void SetCredit(uint32_t vc, const ShownCredit& credit) {
    credits_[vc].limit.store(credit.limit, std::memory_order_relaxed);
    credits_[vc].free.store(credit.free, std::memory_order_relaxed);
    credits_[vc].granted.store(credit.granted, std::memory_order_relaxed);
    credits_[vc].held.store(credit.held, std::memory_order_relaxed);
  }
  // Any thread.
  ShownCredit credit(uint32_t vc) const {
    const auto load = [](const std::atomic<uint64_t>& cell) {
      return static_cast<uint32_t>(cell.load(std::memory_order_relaxed));
    };
    const LinkCreditCells& cells = credits_[vc];
    return {.limit = load(cells.limit),
            .free = load(cells.free),
            .granted = load(cells.granted),
            .held = load(cells.held)};
  }
  const LinkCreditCells& credit_cells(uint32_t vc) const { return credits_[vc]; }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(LinkGauge::kCount)> gauges_{};
  std::array<LinkCreditCells, kShownVcs> credits_{};
};

}  // namespace suede

#endif  // SUEDE_STATS_LINK_COUNTERS_H_
