// SPDX-License-Identifier: Apache-2.0
// suedectl why: shares of the causes for which commands wait, over samples of an endpoint
// (docs/why.md). No I/O.
#ifndef SUEDE_APP_SUEDECTL_WHY_H_
#define SUEDE_APP_SUEDECTL_WHY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "mgmt/json.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {

// A cause as waits.list names it, or one of why's own.
struct WhyCause {
  std::string_view name;
  std::string_view meaning;
  std::string_view remedy;
};
// Returns all, in the order of the page.
std::span<const WhyCause> WhyCauses();

// Commands to one {peer, VC}. Times are the largest of the samples.
struct WhyFlow {
  std::map<std::string, uint32_t> samples;  // by cause
  std::optional<uint32_t> plane;            // of the last cause
  std::optional<double> since_us;
  std::optional<double> queued_us;
  std::optional<double> inflight_us;
  uint64_t queued_bytes = 0;  // sums over the samples
  uint64_t inflight_pdus = 0;
  std::optional<uint32_t> credit_lines;  // of the last sample
  std::optional<uint32_t> first_tx;      // counts of PDUs, modulo 2^32
  uint32_t last_tx = 0;
};
using WhyFlowKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;  // xpu, instance, peer, VC

// A receive ring.
struct WhyReader {
  std::optional<uint64_t> client;
  uint64_t ring_lines = 0;    // of the last sample
  uint64_t filled_lines = 0;  // sums over the samples
  uint64_t unclaimed_pdus = 0;
};
using WhyReaderKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // xpu, instance, VC

// A client's transmit queue.
struct WhyQueue {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  std::string state;
  uint64_t ring_lines = 0;
  uint64_t credit_lines = 0;
  uint64_t waiting_lines = 0;  // sums over the samples
  uint64_t credit_used = 0;
};
using WhyQueueKey = std::tuple<uint64_t, uint64_t>;  // client, queue

// The samples of one endpoint.
class WhySamples {
 public:
  // Adds results of waits.list and queues.list, which are untrusted. Returns false if they are
  // none.
  bool Add(const Json& waits, const Json& queues);

  uint32_t count() const { return count_; }
  const std::map<WhyFlowKey, WhyFlow>& flows() const { return flows_; }
  const std::map<WhyReaderKey, WhyReader>& readers() const { return readers_; }
  const std::map<WhyQueueKey, WhyQueue>& queues() const { return queues_; }

 private:
  void AddFlow(const Json& row);
  void AddReader(const Json& row);
  void AddQueue(const Json& row);

  uint32_t count_ = 0;
  std::map<WhyFlowKey, WhyFlow> flows_;
  std::map<WhyReaderKey, WhyReader> readers_;
  std::map<WhyQueueKey, WhyQueue> queues_;
};

// Returns a conclusion: the thing, the finding about it, and what to do.
Json WhyConclusion(std::string_view of, std::string finding, std::string_view remedy);

struct WhyInput {
  const WhySamples& own;
  const WhySamples* far = nullptr;  // the other end; null: not asked
  std::optional<uint32_t> peer;     // nullopt: all
  double seconds = 0;               // from the first sample to the last
  XpuNames names{};                 // of conclusions
};
// Returns the object of --json: seconds, samples, conclusions, waits, readers, queues, far_readers.
Json WhyJson(const WhyInput& input);
// Formats it, with names in the tables.
std::string WhyText(const Json& why, size_t columns, const XpuNames& names = {});

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_WHY_H_
