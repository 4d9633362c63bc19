// SPDX-License-Identifier: Apache-2.0
// Results of a run: curves, events, the depths of queues, counters at the end (docs/lab.md).
#ifndef SUEDE_TESTS_LABSIM_LAB_WATCH_H_
#define SUEDE_TESTS_LABSIM_LAB_WATCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lab_curves.h"
#include "lab_run.h"
#include "lab_stalls.h"
#include "lab_switches.h"
#include "mgmt/json.h"

namespace suede::lab {

class LabWatch {
 public:
  explicit LabWatch(LabRun& run);

  // When the next sample is due.
  Time next() const { return std::min({next_point_, next_depth_, stalls_.next()}); }
  void Sample();
  // Depths of queues and stalls count until then.
  void EndOfLoads() {
    loads_are_over_ = true;
    stalls_.EndOfLoads();
  }

  // An event of the lab itself; its number, for EndOf.
  size_t Say(const char* severity, const char* name, const std::string& text);
  void EndOf(size_t event);

  // ---- Parts of the report.
  Json Series() const;
  const Json& events() const { return events_; }
  Json Final() const;
  Json Stalls() const { return stalls_.ToJson(); }
  Json Queues() const;
  Json Flows() const;
  Json Iterations() const;

 private:
  // Time of the flow of one source to one rank in one iteration.
  struct FlowTime {
    const LabProcess* process;
    uint64_t iteration;
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
    Time begin;
    Time end;
  };
  void Point();
  void PointOf(const LabEndpoint& endpoint);
  void PointOf(const SwitchNode& node);
  void PointOfLoads();
  void PointOfLatencies();
  void AddDrops(const std::string& node, const std::string& counter, uint64_t value);
  void Depths();
  void HearAll();
  void HearStorms();
  void HearDrops();
  void Add(const std::string& source, const std::string& node, const char* severity,
           const std::string& name, const std::string& text);
  Json FinalOf(const LabEndpoint& endpoint) const;
  Json FinalOf(const LabSwitch& at, const SwitchNode& node) const;
  std::vector<FlowTime> FlowTimes() const;
  double RateOf(const LabProcess& process, uint32_t rank) const;

  LabRun& run_;
  const std::vector<SwitchNode> nodes_;  // with switches
  std::vector<DropWatch> drops_;         // of each
  std::vector<uint16_t> xpus_;  // all
  std::map<const LabEndpoint*, std::map<uint32_t, std::vector<uint32_t>>> planes_;  // ports
  Curves curves_;
  LabStalls stalls_;
  Duration gap_;  // between points
  Time next_point_{};
  Time next_depth_{};
  bool loads_are_over_ = false;
  Json events_ = Json::array();
  // Nanoseconds for which each depth was seen, by node, port and class.
  std::map<std::tuple<size_t, uint32_t, uint32_t>, std::map<uint32_t, uint64_t>> depths_;
  uint64_t depth_ns_ = 0;                                   // in all
  std::map<std::pair<size_t, uint32_t>, uint8_t> stormy_;   // by switch and port
  std::map<std::string, std::vector<uint64_t>> latencies_;  // by load: buckets, so far
};

}  // namespace suede::lab

#endif  // SUEDE_TESTS_LABSIM_LAB_WATCH_H_
