// SPDX-License-Identifier: Apache-2.0
// Accounting of the load that a rank received: loss, duplication, order and content; the
// outstanding load of a step; the rate of each flow.
#ifndef SUEDE_APP_PERF_RANK_LEDGER_H_
#define SUEDE_APP_PERF_RANK_LEDGER_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {

// Times at which the load of each source was complete at a rank, by iteration.
struct FlowLog {
  struct Entry {
    uint64_t iteration = 0;
    uint32_t source = 0;  // rank
    uint64_t bytes = 0;
    Time last{};  // arrival of the last command
  };
  std::vector<Entry> flows;
  std::vector<Time> begins;  // begin of each iteration of the rank
};

// The load of one run. Other ranks' load may arrive before this rank knows that the run has begun.
class RankLedger {
 public:
  explicit RankLedger(uint32_t ranks) : flows_(ranks), table_(/*from_zero=*/true) {}

  // Counts a command from rank `source`. Returns false for a duplicate.
  bool OnLoad(uint32_t source, const ReceivedCommand& command, Time now) {
    if (!table_.Count(command, OpcodeOf(command.control))) return false;
    Flow& flow = flows_[source];
    if (flow.bytes == flow.mark) flow.first = now;
    ++flow.commands;
    flow.bytes += command.data_bytes;
    flow.last = now;
    if (flow.commands == flow.wanted) --missing_;
    return true;
  }

  // Expects `commands` further commands from `source`.
  void Want(uint32_t source, uint64_t commands) {
    if (commands == 0) return;
    Flow& flow = flows_[source];
    const bool had_all = flow.commands >= flow.wanted;
    flow.wanted += commands;
    if (had_all && flow.commands < flow.wanted) ++missing_;
  }
  bool HasAll() const { return missing_ == 0; }
  // Returns the number of outstanding commands from `source`.
  uint64_t MissingFrom(uint32_t source) const {
    const Flow& flow = flows_[source];
    return flow.wanted > flow.commands ? flow.wanted - flow.commands : 0;
  }

  // Begins an iteration at this rank. Load of ranks that began earlier may have arrived already.
  void Begin(Time now) { begin_ = now; }
  // Ends the iteration. Adds the bytes and times of its flows if `measured`.
  void End(bool measured) {
    for (Flow& flow : flows_) {
      if (measured && flow.bytes != flow.mark) {
        flow.measured_bytes += flow.bytes - flow.mark;
        flow.measured +=
            std::max(std::max(flow.last, begin_) - std::min(flow.first, begin_), Duration(1));
      }
      flow.mark = flow.bytes;
    }
  }

  // Logs the load of the current iteration by source. To be called before End.
  void AddTo(FlowLog& log, uint64_t iteration) const {
    for (uint32_t source = 0; source < flows_.size(); ++source) {
      const Flow& flow = flows_[source];
      if (flow.bytes == flow.mark) continue;
      log.flows.push_back({.iteration = iteration,
                           .source = source,
                           .bytes = flow.bytes - flow.mark,
                           .last = flow.last});
    }
  }

  Account ToAccount() const {
    Account account{.counts = table_.Total()};
    for (const Flow& flow : flows_) {
      if (flow.measured.count() <= 0) continue;
      const double x = static_cast<double>(flow.measured_bytes) * 1e9 /
                       static_cast<double>(flow.measured.count());
      ++account.flows;
      account.sum_x += x;
      account.sum_x2 += x * x;
    }
    return account;
  }

 private:
  // Counts of one source.
  struct Flow {
    uint64_t commands = 0;
    uint64_t wanted = 0;
    uint64_t bytes = 0;
    Time first{};  // first command of the iteration
    Time last{};
    uint64_t mark = 0;  // `bytes` at the end of the previous iteration
    uint64_t measured_bytes = 0;
    Duration measured{};
  };

  std::vector<Flow> flows_;
  uint32_t missing_ = 0;  // number of sources with outstanding commands
  Time begin_{};
  RxTable table_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_LEDGER_H_
