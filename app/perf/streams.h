// SPDX-License-Identifier: Apache-2.0
// Accounting of a stream at both ends: the commands of one sender's queue (flow) to one {XPU, VC}.
#ifndef SUEDE_APP_PERF_STREAMS_H_
#define SUEDE_APP_PERF_STREAMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "client/client_queue.h"
#include "perf/payload.h"
#include "perf/protocol.h"

namespace suede::perf {

struct StreamId {
  uint16_t xpuid = 0;
  uint8_t vc = 0;
  friend bool operator==(const StreamId&, const StreamId&) = default;
};

struct TxStream {
  StreamId to;
  uint32_t next = 0;  // sequence number of the next command
};

// The receiver's counts of one run of a stream.
class RxStream {
 public:
  void Start(uint32_t run) {
    *this = RxStream();
    run_ = run;
    started_ = true;
  }
  // Counts a command with a trustworthy sequence number. Returns false for a duplicate.
  bool OnSequenced(uint32_t sequence, uint32_t data_bytes) {
    if (!started_) {  // the sender started before this receiver: counts from here
      started_ = true;
      next_ = sequence;
    }
    if (sequence == next_) [[likely]] {
      OnRun(1, data_bytes);
      return true;
    }
    if (!OnUnexpected(static_cast<int32_t>(sequence - next_))) return false;
    OnCounted(data_bytes);
    return true;
  }
  bool Expects(uint32_t sequence) const { return started_ && sequence == next_; }
  // Counts commands with consecutive trustworthy sequence numbers, of which it expects the first.
  void OnRun(uint32_t commands, uint32_t data_bytes) {
    next_ += commands;
    passed_ += commands;
    OnCounted(data_bytes, commands);
  }
  // Counts a command with wrong content. Its sequence number may be wrong, too, so assumes the
  // expected one.
  bool OnWrong(uint32_t data_bytes) {
    ++counts_.wrong;
    return OnSequenced(next_, data_bytes);
  }
  // Counts commands by their number alone, `data_bytes` bytes of data in each.
  void OnCounted(uint32_t data_bytes, uint32_t commands = 1) {
    counts_.received += commands;
    counts_.data_bytes += uint64_t{commands} * data_bytes;
  }

  const StreamCounts& counts() const { return counts_; }
  uint32_t run() const { return run_; }

 private:
  // Maximum of recorded gaps. A late command of a dropped gap counts as a duplicate.
  static constexpr size_t kMaxGaps = 65536;

  // Processes a command `ahead` positions from the expected one. Returns false for a duplicate.
  bool OnUnexpected(int32_t ahead);
  // Removes a position from the gaps. Returns false if it was in none.
  bool Fill(uint64_t place);

  uint32_t next_ = 0;
  uint32_t run_ = 0;
  bool started_ = false;
  uint64_t passed_ = 0;                // position of next_, counted from the start
  std::map<uint64_t, uint64_t> gaps_;  // positions of missing commands: first to end
  StreamCounts counts_;
};

// The streams of a receiver, by {XPU, VC, flow}. Allocates memory on first use.
class RxTable {
 public:
  // `from_zero`: streams begin with sequence number 0, even if a later command is received first.
  explicit RxTable(bool from_zero = false)
      : from_zero_(from_zero), flows_(size_t{kMaxXpus} * kVcCount) {}

  RxStream& At(StreamId id, uint8_t flow) {
    auto& flows = flows_[(id.xpuid & (kMaxXpus - 1)) * kVcCount + (id.vc & (kVcCount - 1))];
    if (flows == nullptr) flows = NewFlows();
    return (*flows)[flow & (kMaxFlows - 1)];
  }

  // Counts a command of load or an echo. Returns false for a duplicate.
  bool Count(const ReceivedCommand& command, Opcode opcode) {
    const StreamId id{command.source_xpuid, command.vc};
    if (command.control_bytes < kSequencedControlBytes) {
      At(id, 0).OnCounted(command.data_bytes);
      return true;
    }
    const uint8_t flow = command.control[2] & (kMaxFlows - 1);
    const uint32_t sequence = LoadBe32(command.control + 4);
    RxStream& stream = At(id, flow);
    if (IsChecked(opcode) && !IsRight(command, opcode, flow, sequence)) {
      return stream.OnWrong(command.data_bytes);
    }
    return stream.OnSequenced(sequence, command.data_bytes);
  }

  // Counts the successive commands of unchecked load of one flow, if they are the expected ones,
  // from the span's command `at` on. Returns their number.
  uint32_t CountRun(const ReceivedSpan& span, uint32_t at) {
    const uint8_t* control = span.control + size_t{at} * span.stride;
    if (span.control_bytes < kSequencedControlBytes) return 0;
    if (OpcodeOf(control) != Opcode::kLoad) return 0;
    const uint32_t first = LoadBe32(control + 4);
    RxStream& stream = At({span.source_xpuid, span.vc}, control[2]);
    if (!stream.Expects(first)) return 0;
    const uint8_t* next = control + span.stride;
    uint32_t count = 1;
    while (at + count < span.count && std::memcmp(next, control, 4) == 0 &&
           LoadBe32(next + 4) == first + count) {
      next += span.stride;
      ++count;
    }
    stream.OnRun(count, span.data_bytes);
    return count;
  }

  // Returns the sum over all streams.
  StreamCounts Total() const;

 private:
  using Flows = std::array<RxStream, kMaxFlows>;

  std::unique_ptr<Flows> NewFlows() const;
  static bool IsRight(const ReceivedCommand& command, Opcode opcode, uint8_t flow,
                      uint32_t sequence);

  const bool from_zero_;
  std::vector<std::unique_ptr<Flows>> flows_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_STREAMS_H_
