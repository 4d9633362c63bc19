// SPDX-License-Identifier: Apache-2.0
// Counters of a switch: one row each, per port or per port and class.
//
// A block has one writer (the lcore of the port) and any number of readers.
#ifndef SUEDE_STATS_SWITCH_COUNTERS_H_
#define SUEDE_STATS_SWITCH_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "stats/counters.h"

namespace suede {

// id, name (Prometheus: suede_switch_NAME), severity, sentence.
#define SUEDE_SWITCH_PORT_COUNTERS(X)                                                          \
  X(RxFrames, "rx_frames_total", Info, "Frames received")                                      \
  X(RxFrameBytes, "rx_frame_bytes_total", Info, "Bytes of those frames, without FCS")          \
  X(RxDown, "rx_drop_down_total", Drop, "Frames received while the port was set down")         \
  X(RxRunt, "rx_drop_runt_total", Drop, "Frames that end before their headers do")             \
  X(RxForeign, "rx_drop_foreign_total", Drop, "Frames that the switch has no way to forward")  \
  X(RxRevision, "rx_drop_revision_total", Drop,                                                \
    "Frames whose ESUN header is of an unsupported revision")                                  \
  X(RxLinkLocal, "rx_drop_link_local_total", Drop, "Frames to a link-local group address")     \
  X(RxVlan, "rx_drop_vlan_total", Drop, "Frames of a VLAN that the port is not in")            \
  X(RxHopLimit, "rx_drop_hop_limit_total", Drop, "Frames whose hop limit was used up")         \
  X(RxUnknown, "rx_drop_unknown_destination_total", Drop,                                      \
    "Frames to an unknown destination, where these are not flooded")                           \
  X(RxHairpin, "rx_drop_hairpin_total", Drop, "Frames to a destination behind their own port") \
  X(RxIsolated, "rx_drop_isolated_total", Drop,                                                \
    "Frames to a port that is isolated from their own")                                        \
  X(RxNoMember, "rx_drop_no_member_total", Drop,                                               \
    "Frames to a group of ports of which none may send")                                       \
  X(RxPlane, "rx_drop_plane_total", Drop, "Frames to another plane of a mesh than their own")  \
  X(RxNoRoute, "rx_drop_no_route_total", Drop, "Frames to a device of a mesh without a route") \
  X(RxRefused, "rx_drop_refused_total", Drop, "Frames from an end of a cable that is refused") \
  X(RxFlooded, "rx_flooded_total", Info, "Frames that were flooded")                           \
  X(RxNoPort, "rx_drop_no_port_total", Drop, "Flooded frames with no other port to leave by")  \
  X(RxNoCopy, "rx_drop_no_copy_total", Error, "Copies of flooded frames without a free frame") \
  X(RxLearnt, "rx_learnt_total", Info, "Source addresses learnt")                              \
  X(RxMoved, "rx_moved_total", Info, "Source addresses that moved from another port")          \
  X(RxNotLearnt, "rx_not_learnt_total", Error,                                                 \
    "Frames whose source was not learnt: port or table full")                                  \
  X(RxPfc, "rx_pfc_total", Info, "PFC frames received")                                        \
  X(TxPfc, "tx_pfc_total", Info, "PFC frames sent")                                            \
  X(TxPfcNoFrame, "tx_pfc_no_frame_total", Error, "PFC frames delayed for lack of a frame")    \
  X(TxFrames, "tx_frames_total", Info, "Frames sent")                                          \
  X(TxFrameBytes, "tx_frame_bytes_total", Info, "Bytes of those frames, without FCS")          \
  X(TxDown, "tx_drop_down_total", Drop,                                                        \
    "Frames, counted as sent, that the device had not taken when the port went down")          \
  X(ImpairLoss, "impair_loss_total", Info, "Frames lost by impairment, at random")             \
  X(ImpairBurst, "impair_burst_loss_total", Info, "Frames lost by impairment, in a burst")     \
  X(ImpairLong, "impair_long_total", Info, "Frames lost for being longer than the link takes") \
  X(ImpairDown, "impair_down_total", Info, "Frames lost by a direction that is down")          \
  X(ImpairHole, "impair_hole_total", Info, "Frames lost in a black hole")                      \
  X(ImpairBadFcs, "impair_bad_fcs_total", Info, "Frames dropped as by a bad FCS")              \
  X(ImpairFlipped, "impair_flipped_total", Info, "Frames delivered with a bit flipped")        \
  X(ImpairDuplicated, "impair_duplicated_total", Info, "Frames delivered twice")               \
  X(ImpairReordered, "impair_reordered_total", Info, "Frames held back behind later ones")     \
  X(ImpairRewritten, "impair_rewritten_total", Info,                                           \
    "Frames delivered with a field rewritten, or without their tag")                           \
  X(ImpairFull, "impair_full_total", Error, "Frames lost: the cable is full")

#define SUEDE_SWITCH_CLASS_COUNTERS(X)                                                             \
  X(Frames, "class_frames_total", Info, "Frames of the class sent")                                \
  X(FrameBytes, "class_frame_bytes_total", Info, "Bytes of those frames, without FCS")             \
  X(Marked, "class_ecn_marked_total", Info, "Frames marked by ECN")                                \
  X(Trimmed, "class_trimmed_total", Info, "Frames trimmed instead of dropped")                     \
  X(TailDrop, "class_drop_tail_total", Drop, "Frames of a lossy class without room to wait")       \
  X(TrimDrop, "class_drop_trim_total", Drop, "Trimmed frames without room to wait")                \
  X(HeadroomDrop, "class_drop_headroom_total", Error,                                              \
    "Frames of a lossless class beyond its headroom")                                              \
  X(CreditDrop, "class_drop_credit_total", Error, "Frames beyond the credit of their link VC")     \
  X(DownDrop, "class_drop_down_total", Drop, "Frames for a port that is down")                     \
  X(RefusedDrop, "class_drop_refused_total", Drop, "Frames for an end of a cable that is refused") \
  X(AgeDrop, "class_drop_age_total", Drop, "Frames that have waited for too long")                 \
  X(StormDrop, "class_drop_storm_total", Error, "Frames dropped while a PFC storm lasted")

#define SUEDE_SWITCH_ID(id, ...) k##id,
enum class SwitchPortCounter : uint8_t { SUEDE_SWITCH_PORT_COUNTERS(SUEDE_SWITCH_ID) kCount };
enum class SwitchClassCounter : uint8_t { SUEDE_SWITCH_CLASS_COUNTERS(SUEDE_SWITCH_ID) kCount };
#undef SUEDE_SWITCH_ID

// Return the rows, indexed by counter.
std::span<const CounterRow, static_cast<size_t>(SwitchPortCounter::kCount)> SwitchPortRows();
std::span<const CounterRow, static_cast<size_t>(SwitchClassCounter::kCount)> SwitchClassRows();

template <class Id>
class alignas(64) SwitchCounters {
 public:
  // Writer's thread only.
  void Add(Id id, uint64_t n = 1) {
    std::atomic<uint64_t>& cell = cells_[static_cast<size_t>(id)];
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  // Any thread.
  uint64_t Get(Id id) const {
    return cells_[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  }
  const std::atomic<uint64_t>& Cell(Id id) const { return cells_[static_cast<size_t>(id)]; }

 private:
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Id::kCount)> cells_{};
};

using SwitchPortCounters = SwitchCounters<SwitchPortCounter>;
using SwitchClassCounters = SwitchCounters<SwitchClassCounter>;

}  // namespace suede

#endif  // SUEDE_STATS_SWITCH_COUNTERS_H_
