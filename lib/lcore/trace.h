// SPDX-License-Identifier: Apache-2.0
// The trace of an instance: the times at which single PDUs reached each stage (docs/trace.md). Off:
// nothing calls it.
#ifndef SUEDE_LCORE_TRACE_H_
#define SUEDE_LCORE_TRACE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "base/coordinates.h"
#include "base/psn.h"
#include "base/time.h"
#include "lcore/params.h"
#include "path/connection_map.h"
#include "pdu/pdu_list.h"

namespace suede {

// The PDUs that a trace takes.
struct TraceSettings {
  static constexpr uint32_t kAnyPeer = ~0u;
  static constexpr uint32_t kAnyVc = ~0u;

  uint32_t peer_xpuid = kAnyPeer;
  uint32_t vc = kAnyVc;
  uint32_t stride = 1;  // PSNs are multiples of it
  uint32_t count = 16;  // of each direction, max Trace::kMaxOfDirection
};

// In the order of kTraceStageNames (app/endpoint/tracing.cc).
enum class TraceStage : uint8_t {
  kQueued,
  kStaged,
  kSent,
  kAcked,
  kReceived,
  kDelivered,
  kRead,
};
inline constexpr size_t kTraceStages = 7;

// In the order of kTraceStateNames (app/endpoint/tracing.cc).
enum class TraceState : uint8_t {
  kUnderWay,
  kAcked,
  kMoved,
  kGivenUp,
  kDelivered,
  kRead,
  kKept,
  kEarly,
  kRefused,
  kAhead,
  kDuplicate,
  kMalformed,
  kLost,
};
inline constexpr size_t kTraceStates = 13;

// The place of a PDU: its connection, with the numbers that readers know.
struct TracePath {
  ConnectionIndex connection = 0;
  uint16_t peer_xpuid = 0;
  uint8_t plane = 0;
  uint8_t session = 0;  // slot
  uint8_t vc = 0;
};

// Returns the path of PDUs of a connection of an instance with these parameters.
TracePath TracePathOf(const ConnectionMap& map, const InstanceParams& params,
                      ConnectionIndex connection, Vc vc);

struct TraceRow {
  // Returns the time of a stage; kNever: not reached.
  Time& At(TraceStage stage) { return at[static_cast<size_t>(stage)]; }
  Time At(TraceStage stage) const { return at[static_cast<size_t>(stage)]; }

  TracePath path;
  Psn psn;
  TraceState state = TraceState::kUnderWay;
  bool is_received = false;   // direction; the next three are of sent PDUs
  uint8_t transmissions = 0;  // up to 255
  uint16_t bytes = 0;         // of commands
  uint16_t commands = 0;
  std::array<Time, kTraceStages> at;
};

// The place in a receive ring behind a PDU's commands.
struct RingMark {
  uint32_t slot = 0;    // of the client in its table,
  uint32_t client = 0;  // and its number
  uint32_t head = 0;    // RxRingWriter::Mark
};

// Owned by the lcore. Allocates nothing.
class Trace {
 public:
  static constexpr uint32_t kMaxOfDirection = 64;
  static constexpr uint32_t kMaxRows = 2 * kMaxOfDirection;

  // Begins with no rows, or ends and discards them.
  void Begin(const TraceSettings& settings);
  void End() { *this = {}; }
  std::span<const TraceRow> rows() const { return {rows_.data(), count_}; }
  // Whether PDUs of the direction are still to be taken, or rows of it depend on the data path;
  // whether any row may still change.
  bool follows_sent() const { return sent_left_ + In(TraceState::kUnderWay) != 0; }
  bool follows_received() const { return received_left_ + In(TraceState::kEarly) != 0; }
  bool is_open() const {
    return follows_sent() || follows_received() || In(TraceState::kDelivered) != 0;
  }

  // `count` PDUs from `first` on have their PSNs.
  void OnStaged(const TracePath& path, const Pdu* first, uint32_t count, Time now);
  // A PDU that has left before is staged again on its connection.
  void OnStagedAgain(const Pdu* pdu);
  // PDUs end without an acknowledgement.
  void OnEnded(const PduList& pdus, TraceState state);
  // `count` PDUs from `first` on were received, with the result `state`. `mark`: of kDelivered.
  void OnReceived(const TracePath& path, Psn first, uint32_t count, TraceState state,
                  const RingMark& mark, Time now);
  // Calls `visit(row, pdu, mark)` for each row that may change, which returns its state. The PDU,
  // of rows under way, may be gone: its address is a name.
  template <typename Visit>
  void Update(Visit&& visit) {
    if (In(TraceState::kUnderWay) + In(TraceState::kEarly) + In(TraceState::kDelivered) == 0)
      return;
    for (uint32_t i = 0; i < count_; ++i) {
      const TraceState state = rows_[i].state;
      if (state == TraceState::kUnderWay || state == TraceState::kEarly ||
          state == TraceState::kDelivered) {
        Set(rows_[i], visit(rows_[i], pdus_[i], marks_[i]));
      }
    }
  }

 private:
  uint32_t In(TraceState state) const { return counts_[static_cast<size_t>(state)]; }
  void Set(TraceRow& row, TraceState state) {
    --counts_[static_cast<size_t>(row.state)];
    ++counts_[static_cast<size_t>(state)];
    row.state = state;
  }
  bool Takes(const TracePath& path, Psn psn) const;
  TraceRow& Add(const TracePath& path, Psn psn, TraceState state);
  TraceRow* RowOf(const Pdu& pdu);
  TraceRow* EarlyRowOf(ConnectionIndex connection, Psn psn);

  TraceSettings settings_;
  uint32_t sent_left_ = 0;  // PDUs still to be taken
  uint32_t received_left_ = 0;
  std::array<uint32_t, kTraceStates> counts_{};  // [state]: rows
  uint32_t count_ = 0;
  std::array<TraceRow, kMaxRows> rows_;
  std::array<const Pdu*, kMaxRows> pdus_{};  // [row]: of sent PDUs
  std::array<RingMark, kMaxRows> marks_;     // [row]: of delivered PDUs
};

// The request for a trace.
enum class TraceWish : uint8_t { kRead, kBegin, kEnd };

// Memory of the requester, which belongs to the lcore from the request until `done`.
struct TraceSnapshot {
  // Connections that one request visits: bounds its cost for the lcore.
  static constexpr uint32_t kMaxVisited = 256;

  // Asked.
  uint32_t instance = 0;  // the pipeline's number
  uint32_t first = 0;     // connection to begin with, of kBegin and kEnd
  TraceWish wish = TraceWish::kRead;
  TraceSettings settings;  // of kBegin
  // Answered.
  uint32_t next = 0;  // the connection to continue with
  bool more = false;
  Time now{};
  uint32_t count = 0;  // of kRead
  std::array<TraceRow, Trace::kMaxRows> rows;
  std::atomic<bool> done{true};  // stored by the lcore, with release
};

}  // namespace suede

#endif  // SUEDE_LCORE_TRACE_H_
