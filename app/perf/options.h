// SPDX-License-Identifier: Apache-2.0
// The parsed command line of suede-perf.
#ifndef SUEDE_APP_PERF_OPTIONS_H_
#define SUEDE_APP_PERF_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "perf/names.h"
#include "perf/rank_plan.h"
#include "perf/run_plan.h"
#include "suede/load.h"

namespace suede::perf {

enum class Mode : uint8_t {
  kServer,
  kBandwidth,
  kLatency,
  kPeer,
  kWorkload,
  kPut,
  kGet,
  kAtomic,
  kMessage,
  kAxi
};
inline constexpr Named<Mode> kModes[] = {
    {Mode::kServer, "server"}, {Mode::kBandwidth, "bandwidth"}, {Mode::kLatency, "latency"},
    {Mode::kPeer, "peer"},     {Mode::kWorkload, "workload"},   {Mode::kPut, "put"},
    {Mode::kGet, "get"},       {Mode::kAtomic, "atomic"},       {Mode::kMessage, "message"},
    {Mode::kAxi, "axi"}};

// Treatment of received commands by a server.
enum class Reaction : uint8_t { kSink, kEcho, kMemory, kMessage, kAxi };
inline constexpr Named<Reaction> kReactions[] = {{Reaction::kSink, "sink"},
                                                 {Reaction::kEcho, "echo"},
                                                 {Reaction::kMemory, "memory"},
                                                 {Reaction::kMessage, "message"},
                                                 {Reaction::kAxi, "axi"}};

// Operation of Mode::kAtomic.
enum class Atomic : uint8_t { kFetchAdd, kCompareSwap, kSwap, kIncrement, kReadIncrement };
inline constexpr Named<Atomic> kAtomics[] = {{Atomic::kFetchAdd, "fetch_add"},
                                             {Atomic::kCompareSwap, "compare_swap"},
                                             {Atomic::kSwap, "swap"},
                                             {Atomic::kIncrement, "increment"},
                                             {Atomic::kReadIncrement, "read_increment"}};

// Transactions of Mode::kAxi.
enum class AxiAccess : uint8_t { kWrite, kRead };
inline constexpr Named<AxiAccess> kAxiAccesses[] = {{AxiAccess::kWrite, "write"},
                                                    {AxiAccess::kRead, "read"}};

inline constexpr Named<uint32_t> kBalances[] = {{SUEDE_BALANCE_ROUND_ROBIN, "round_robin"},
                                                {SUEDE_BALANCE_LEAST_LOADED, "least_loaded"},
                                                {SUEDE_BALANCE_HASH, "hash"}};

// Unit of data rates in tables. kAuto: bits per second with a prefix, as the times have one then.
enum class Units : uint8_t { kGigabits, kMegabits, kGigabytes, kMegabytes, kMebibytes, kAuto };
inline constexpr Named<Units> kUnits[] = {{Units::kGigabits, "Gb/s"},   {Units::kMegabits, "Mb/s"},
                                          {Units::kGigabytes, "GB/s"},  {Units::kMegabytes, "MB/s"},
                                          {Units::kMebibytes, "MiB/s"}, {Units::kAuto, "auto"}};

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitVerdict = 3;
inline constexpr int kExitUnreachable = 4;
inline constexpr int kExitPreflight = 5;

// Limits of Mode::kAxi.
inline constexpr uint32_t kMaxAxiInflight = 1024;

struct Options {
  Mode mode = Mode::kBandwidth;
  Reaction reaction = Reaction::kSink;  // server

  std::string endpoint;  // name or socket path of the daemon
  bool embed = false;
  std::string config;               // with embed
  std::vector<std::string> eal;     // with embed: arguments behind "--"
  int32_t xpuid = -1;               // own; -1: the endpoint's only one
  uint32_t instance = 0;
  std::vector<uint8_t> instances;  // several, in place of `instance`
  uint32_t balance = 0;            // policy over `instances`: SUEDE_BALANCE_…; 0: none
  uint32_t queues = 1;
  std::vector<uint32_t> cpus;       // one per queue; empty: not pinned

  std::vector<uint32_t> sizes = {64};
  uint32_t control_bytes = 8;
  std::vector<uint8_t> vcs = {0};
  std::vector<uint16_t> destinations;
  double rate = 0;  // commands per second of all queues; 0: full speed
  uint64_t count = 0;
  double duration_s = 1;
  double warmup_s = 0;
  double drain_s = 0;
  double connect_s = 0;
  uint32_t inflight = 1;                  // of a step; else the maximum of `inflights`
  std::vector<uint32_t> inflights = {1};  // of the sweep
  uint32_t completions = 0;
  uint32_t pack = 0;
  bool check = false;
  bool spin = false;
  bool bidirectional = false;
  bool unordered = false;
  bool send_only = false;     // no server takes part
  bool receive_only = false;  // server: answers nothing
  bool wide = false;          // no limit on the width of tables
  bool brief = false;         // a line for each run, without heads
  bool histogram = false;
  Units units = Units::kGigabits;

  std::vector<uint32_t> cacheline_cpus;  // two; empty: no probe
  std::string json;
  std::string why;  // "auto", "off" or the management socket
  std::string csv;
  std::string histogram_csv;
  std::string samples;
  uint64_t max_samples = 0;  // of a run
  double min_rate = 0;
  double min_gbps = 0;
  double max_p99_us = 0;
  double interval_s = 0;  // of progress lines; 0: none
  std::string interval_json;
  double log_interval_s = 1;  // of interval_json
  double take_rate = 0;       // maximum commands per second of a server; 0: none

  // Memory operations: Mode::kPut, kGet, kAtomic, and Reaction::kMemory.
  Atomic atomic = Atomic::kFetchAdd;
  uint64_t window_bytes = 0;  // of the server
  bool by_lcore = false;      // the endpoint's lcore serves the window
  // Mode::kMessage: the server echoes messages.
  bool pingpong = false;

  // Mode::kAxi, and Reaction::kAxi, which has window_bytes as well.
  AxiAccess access = AxiAccess::kWrite;
  uint32_t bus_bits = 256;

  // Mode::kWorkload.
  TrafficParams traffic;
  std::vector<uint16_t> ranks;  // XPUs, indexed by rank
  std::vector<uint16_t> own;    // XPUs of this process
  bool barrier = true;
  uint64_t iterations = 0;
  uint64_t response_bytes = 256;
  double think_us = 0;
  std::string trace;
  double stall_s = 0;
  uint32_t threads = 1;
  double max_iteration_ms = 0;
  double min_fairness = 0;

  bool Serves() const { return mode == Mode::kServer || mode == Mode::kPeer; }
  bool echo() const { return reaction == Reaction::kEcho; }
  // Whether the mode starts memory operations.
  bool UsesMemory() const {
    return mode == Mode::kPut || mode == Mode::kGet || mode == Mode::kAtomic;
  }
  // Whether the load consists of operations: memory operations, messages, or AXI4 transactions.
  bool UsesOperations() const {
    return UsesMemory() || mode == Mode::kMessage || mode == Mode::kAxi;
  }
  // Whether `inflight` limits the load of the mode.
  bool LimitsInflight() const { return mode == Mode::kLatency || UsesOperations(); }
  // Whether runs measure latencies.
  bool HasLatencies() const { return LimitsInflight() || completions > 0; }
  bool ServesAxi() const { return mode == Mode::kServer && reaction == Reaction::kAxi; }
  bool ServesMessages() const { return mode == Mode::kServer && reaction == Reaction::kMessage; }
  bool ServesMemory() const { return mode == Mode::kServer && reaction == Reaction::kMemory; }
};

// Description of a flag, for --help, the manual page and completion.
struct FlagText {
  std::string name;
  char letter = 0;   // its short form; 0: none
  std::string type;  // type name of gflags
  std::string default_value;
  std::string description;
};
std::vector<FlagText> FlagTexts();
inline constexpr char kExitCodesText[] =
    "Exit codes: 0 done, 1 failure, 2 usage, 3 verification or threshold failed,\n"
    "4 daemon or peer unreachable, 5 preflight failed (--embed).";

// Parses the command line. Returns false if there is nothing to run (--help, --version, an error):
// prints the text and stores the exit code in *exit_code. `version`: output of --version.
bool ParseCommandLine(int argc, char** argv, const std::string& version, Options* options,
                      int* exit_code);

// Checks that the options are consistent. An error's message names the flag and the remedy.
absl::Status Validate(const Options& options);

// Parses a list of numbers and ranges, as "0,3,8-11". Rejects duplicates, and numbers not below
// `limit`.
absl::StatusOr<std::vector<uint32_t>> ParseNumbers(absl::string_view text, uint32_t limit);
// Parses "sweep", or a list of sizes in bytes. Commands: 1, 2, 4, … 256, or sizes up to 256. Puts,
// gets and messages: 8, 16, … 2^22, or 1 to 2^30. Atomics: 4 and 8.
absl::StatusOr<std::vector<uint32_t>> ParseSizes(absl::string_view text,
                                                 Mode mode = Mode::kBandwidth);

inline uint32_t MaskOf(const std::vector<uint8_t>& vcs) {
  uint32_t mask = 0;
  for (const uint8_t vc : vcs) mask |= 1u << vc;
  return mask;
}

// Parses "sweep", or a list of numbers in flight.
absl::StatusOr<std::vector<uint32_t>> ParseInflights(absl::string_view text);

// Returns the streams of each queue: all destinations on all VCs.
std::vector<StreamId> StreamsOf(const Options& options);
// Returns the plan of one worker's run.
RunPlan PlanOf(const Options& options, uint32_t data_bytes);
// Returns the plan of one of the own ranks.
RankPlan RankPlanOf(const Options& options, uint32_t rank);
// Returns the VCs whose receive rings a worker serves.
std::vector<uint8_t> VcsOfWorker(const Options& options, uint32_t worker);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_OPTIONS_H_
