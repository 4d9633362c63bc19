// SPDX-License-Identifier: Apache-2.0
// A rank's account of the load that came to it: exactly once, in order, right content; how much of
// a step is yet to come; how fast each flow was.
#ifndef SUEDE_APP_PERF_RANK_LEDGER_H_
#define SUEDE_APP_PERF_RANK_LEDGER_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "perf/flow_log.h"
#include "perf/protocol.h"
#include "perf/streams.h"

namespace suede::perf {

// Load of one run. Others' load may come before this rank has heard that the run has begun.
class RankLedger {
 public:
  explicit RankLedger(uint32_t ranks) : flows_(ranks), table_(/*from_zero=*/true) {}

  // Load that has come from rank `source`. False for a duplicate.
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

  // From now on `commands` more commands are wanted from `source`.
  void Want(uint32_t source, uint64_t commands) {
    if (commands == 0) return;
    Flow& flow = flows_[source];
    const bool had_all = flow.commands >= flow.wanted;
    flow.wanted += commands;
    if (had_all && flow.commands < flow.wanted) ++missing_;
  }
  bool HasAll() const { return missing_ == 0; }
  // The number of commands that are missing from a source that has not sent all that is wanted; 0
  // for the others.
  uint64_t MissingFrom(uint32_t source) const {
    const Flow& flow = flows_[source];
    return flow.wanted > flow.commands ? flow.wanted - flow.commands : 0;
  }
  uint64_t commands() const {
    uint64_t sum = 0;
    for (const Flow& flow : flows_) sum += flow.commands;
    return sum;
  }

  // An iteration begins at this rank. Other ranks may have begun, and their load have come, before.
  void Begin(Time now) { begin_ = now; }
  // The iteration ends. Adds the bytes and times of its flows where it is measured.
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

  // Before the iteration's end: what has come in it, from each source.
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
  // The load of one source.
  struct Flow {
    uint64_t commands = 0;
    uint64_t wanted = 0;
    uint64_t bytes = 0;
    Time first{};  // of the iteration
    Time last{};
    uint64_t mark = 0;  // bytes when the iteration before had ended
    uint64_t measured_bytes = 0;
    Duration measured{};
  };

  std::vector<Flow> flows_;
  uint32_t missing_ = 0;  // sources that have not sent all that is wanted
  Time begin_{};
  RxTable table_;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_RANK_LEDGER_H_
