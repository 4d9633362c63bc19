// SPDX-License-Identifier: Apache-2.0
// The command line of suede-perf as a value.
#ifndef SUEDE_APP_PERF_OPTIONS_H_
#define SUEDE_APP_PERF_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "perf/rank_plan.h"
#include "perf/run_plan.h"

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
  kMessage
};

// How a server treats the commands that it receives.
enum class Reaction : uint8_t { kSink, kEcho, kMemory, kMessage };

// Mode::kAtomic: which one.
enum class Atomic : uint8_t { kFetchAdd, kCompareSwap, kSwap, kIncrement, kReadIncrement };

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitVerdict = 3;
inline constexpr int kExitUnreachable = 4;
inline constexpr int kExitPreflight = 5;

struct Options {
  Mode mode = Mode::kBandwidth;
  Reaction reaction = Reaction::kSink;  // server

  std::string endpoint;  // name or socket path of the daemon
  bool embed = false;
  std::string config;               // with embed
  std::vector<std::string> eal;     // with embed: the arguments behind "--"
  int32_t xpuid = -1;               // own; -1: the endpoint's only one
  uint32_t instance = 0;
  std::vector<uint8_t> instances;   // instead of it, several
  uint32_t balance = 0;             // over those: SUEDE_BALANCE_…; 0: not
  uint32_t queues = 1;
  std::vector<uint32_t> cpus;       // one per queue; empty: not pinned

  std::vector<uint32_t> sizes = {64};
  uint32_t control_bytes = 8;
  std::vector<uint8_t> vcs = {0};
  std::vector<uint16_t> destinations;
  double rate = 0;  // commands per second, all queues together; 0: full speed
  uint64_t count = 0;
  double duration_s = 1;
  double warmup_s = 0;
  double drain_s = 0;
  double connect_s = 0;
  uint32_t inflight = 1;
  uint32_t completions = 0;
  uint32_t pack = 0;
  bool check = false;
  bool spin = false;
  bool bidirectional = false;
  bool unordered = false;
  bool wide = false;  // lines of tables

  std::vector<uint32_t> cacheline_cpus;  // two; empty: no probe
  std::string json;
  double min_rate = 0;
  double min_gbps = 0;
  double max_p99_us = 0;
  double interval_s = 0;  // of progress lines; 0: none
  std::string interval_json;
  double log_interval_s = 1;  // of its lines
  double take_rate = 0;       // commands per second that a server takes; 0: all

  // Memory operations: Mode::kPut, kGet, kAtomic, and Reaction::kMemory.
  Atomic atomic = Atomic::kFetchAdd;
  uint64_t window_bytes = 0;  // of the server,
  bool by_lcore = false;      // and whether the endpoint's lcore serves it
  // Mode::kMessage: messages come back.
  bool pingpong = false;

  // Mode::kWorkload.
  TrafficParams traffic;
  std::vector<uint16_t> ranks;  // XPUs, in the order of their ranks
  std::vector<uint16_t> own;    // those of this process
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
  // Whether it starts memory operations.
  bool UsesMemory() const {
    return mode == Mode::kPut || mode == Mode::kGet || mode == Mode::kAtomic;
  }
  // Whether its load is operations of libsuede-mem: those, or messages.
  bool UsesOperations() const { return UsesMemory() || mode == Mode::kMessage; }
  bool ServesMessages() const { return mode == Mode::kServer && reaction == Reaction::kMessage; }
  bool ServesMemory() const { return mode == Mode::kServer && reaction == Reaction::kMemory; }
};

// A flag as texts are made from it: --help, the manual page, the completion.
struct FlagText {
  std::string name;
  std::string type;  // gflags' name of it
  std::string default_value;
  std::string description;
};
std::vector<FlagText> FlagTexts();
inline constexpr char kExitCodesText[] =
    "Exit codes: 0 done, 1 failure, 2 usage, 3 verification or threshold failed,\n"
    "4 daemon or peer unreachable, 5 preflight failed (--embed).";

// Parses the command line. Where there is nothing to run (--help, --version, a mistake), prints
// the text for the user and returns the exit code through `exit_code`, with false.
// `version` answers --version.
bool ParseCommandLine(int argc, char** argv, const std::string& version, Options* options,
                      int* exit_code);

// Whether the options make sense together; the message names the flag and the mend.
absl::Status Validate(const Options& options);

// "0,3,8-11": numbers and ranges, each below `limit`, none twice.
absl::StatusOr<std::vector<uint32_t>> ParseNumbers(absl::string_view text, uint32_t limit);
// "sweep" for 1, 2, 4, … 256, or numbers up to 256; of memory operations for 4 or 8, 8, 16, … and
// larger numbers.
absl::StatusOr<std::vector<uint32_t>> ParseSizes(absl::string_view text,
                                                 Mode mode = Mode::kBandwidth);

inline uint32_t MaskOf(const std::vector<uint8_t>& vcs) {
  uint32_t mask = 0;
  for (const uint8_t vc : vcs) mask |= 1u << vc;
  return mask;
}

// The streams of every queue: all destinations on all VCs.
std::vector<StreamId> StreamsOf(const Options& options);
// The plan of one run of one worker.
RunPlan PlanOf(const Options& options, uint32_t data_bytes);
// The plan of one of the own ranks.
RankPlan RankPlanOf(const Options& options, uint32_t rank);
// The VCs whose receive rings worker `worker` serves.
std::vector<uint8_t> VcsOfWorker(const Options& options, uint32_t worker);

const char* ModeName(Mode mode);
const char* ReactionName(Reaction reaction);
const char* AtomicName(Atomic atomic);
// The name that --balance takes; "none" for 0.
const char* BalanceName(uint32_t policy);

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_OPTIONS_H_
