// SPDX-License-Identifier: Apache-2.0
// The columns of recordings (docs/record.md): one row each, from which the header of the CSV and
// the page's table derive.
#ifndef SUEDE_MGMT_RECORD_COLUMNS_H_
#define SUEDE_MGMT_RECORD_COLUMNS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace suede {

// Rows of a recording that have a column.
enum class RecordScope : uint8_t {
  kPath,      // of a plane and VC
  kPlane,     // of a plane
  kVc,        // of a VC, over all planes
  kInstance,  // of an instance
};

// id, name, unit, scope, whether the value is of the interval (else at its end), sentence.
#define SUEDE_RECORD_COLUMNS(X)                                                                   \
  X(TxPdus, "tx_pdus", "PDUs", Path, true, "Sequenced PDUs sent for the first time")              \
  X(TxBytes, "tx_bytes", "bytes", Path, true, "Commands in those PDUs")                           \
  X(Retransmissions, "retransmissions", "PDUs", Path, true, "Sequenced PDUs sent again")          \
  X(RxPdus, "rx_pdus", "PDUs", Path, true, "Sequenced PDUs accepted")                             \
  X(RxBytes, "rx_bytes", "bytes", Path, true,                                                     \
    "Commands in those PDUs; without PDUs that waited for a client to claim their VC")            \
  X(EcnMarked, "ecn_marked", "PDUs", Path, true, "Sequenced PDUs received with an ECN mark (CE)") \
  X(Trimmed, "trimmed", "PDUs", Path, true, "PDUs received that a switch has trimmed")            \
  X(InflightPdus, "inflight_pdus", "PDUs", Path, false, "Sequenced PDUs sent and unacknowledged") \
  X(InflightBytes, "inflight_bytes", "bytes", Path, false, "Commands in those PDUs")              \
  X(PausedUs, "paused_us", "µs", Path, true,                                                      \
    "Time for which the neighbour paused the VC; empty without `pfc: software`")                  \
  X(WindowOctets, "window_octets", "octets", Plane, false,                                        \
    "Congestion windows (NSCC), or remaining credit (RCCC), of all peers")                        \
  X(GrantBps, "grant_bps", "bit/s", Plane, false,                                                 \
    "Rate at which the plane grants peers credit (RCCC); empty: none requests any")               \
  X(GrantedOctets, "granted_octets", "octets", Plane, false,                                      \
    "Octets that peers were granted (RCCC) and that have not arrived")                            \
  X(QueuedOctets, "queued_octets", "octets", Vc, false, "Frames of PDUs that wait to be sent")    \
  X(CreditLines, "credit_lines", "lines", Vc, false, "Receive credit of peers that is left")      \
  X(PromisedLines, "promised_lines", "lines", Vc, false, "Receive credit that peers hold here")   \
  X(RxRingLines, "rx_ring_lines", "lines", Vc, false,                                             \
    "Filled lines of the receive ring; empty: no client has claimed the VC")                      \
  X(UnclaimedPdus, "unclaimed_pdus", "PDUs", Vc, false, "PDUs that wait for a client")            \
  X(QueuedPdus, "queued_pdus", "PDUs", Instance, false, "PDUs packed or being packed, not sent")  \
  X(TxRingLines, "tx_ring_lines", "lines", Instance, false,                                       \
    "Lines of clients' transmit rings that the lcore has not taken")                              \
  X(WaitsCredit, "waits_credit", "waits", Instance, true, "Waits of queues for receive credit")   \
  X(WaitsCongestion, "waits_congestion", "waits", Instance, true,                                 \
    "Waits of queues for congestion control")

enum class RecordColumn : uint8_t {
#define SUEDE_RECORD_COLUMN_ID(id, ...) k##id,
  SUEDE_RECORD_COLUMNS(SUEDE_RECORD_COLUMN_ID)
#undef SUEDE_RECORD_COLUMN_ID
      kCount
};
inline constexpr size_t kRecordColumnCount = static_cast<size_t>(RecordColumn::kCount);

struct RecordColumnRow {
  std::string_view name;
  std::string_view unit;
  RecordScope scope;
  bool is_of_interval;
  std::string_view sentence;
};
inline constexpr RecordColumnRow kRecordColumns[kRecordColumnCount] = {
#define SUEDE_RECORD_COLUMN_ROW(id, name, unit, scope, of_interval, sentence) \
  {name, unit, RecordScope::k##scope, of_interval, sentence},
    SUEDE_RECORD_COLUMNS(SUEDE_RECORD_COLUMN_ROW)
#undef SUEDE_RECORD_COLUMN_ROW
};

// The first line of the CSV, without its newline.
std::string RecordHeader();
// The table of docs/record.md.
std::string RecordColumnsTable();

}  // namespace suede

#endif  // SUEDE_MGMT_RECORD_COLUMNS_H_
