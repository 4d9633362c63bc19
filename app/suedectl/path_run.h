// SPDX-License-Identifier: Apache-2.0
// One run of probes of a path (peers.probe_path), and its figures. No I/O.
#ifndef SUEDE_APP_SUEDECTL_PATH_RUN_H_
#define SUEDE_APP_SUEDECTL_PATH_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mgmt/json.h"

namespace suede::ctl {

// The fields of a frame that a switch may change; nullopt: the frame has no such field.
struct PathMarks {
  std::optional<uint32_t> dscp;
  std::optional<uint32_t> ecn;
  std::optional<uint32_t> hops;
  std::optional<uint32_t> vid;
  std::optional<uint32_t> pcp;
  friend bool operator==(const PathMarks&, const PathMarks&) = default;
};

inline constexpr uint32_t kPathCe = 3;  // ECN field of a marked frame

struct PathProbe {
  uint32_t number = 0;  // position in the run
  uint32_t session = 0;
  bool lost_here = false;   // the own port had no room
  bool answered = false;    // the rest is valid if it is
  uint32_t copies = 1;      // reports that arrived
  int64_t sent_ns = 0;      // own clock
  int64_t received_ns = 0;  // the peer's clock
  int64_t returned_ns = 0;  // own clock
  uint32_t order = 0;       // probes that the peer had received before, modulo 2^32
  uint32_t bytes = 0;       // of the probe's frame as received
  uint32_t reply_bytes = 0;
  PathMarks there;       // of the probe as received
  PathMarks reply_sent;  // of the report
  PathMarks here;        // of the report as received

  int64_t rtt_ns() const { return returned_ns - sent_ns; }
  // Delays that differ from the true ones by the offset of the clocks.
  int64_t out_ns() const { return received_ns - sent_ns; }
  int64_t back_ns() const { return returned_ns - received_ns; }
};

// Growth of the peer's counters during the run.
struct PathDrops {
  uint64_t address = 0;
  uint64_t crc = 0;
  uint64_t not_sue = 0;
  uint64_t trimmed = 0;
  uint64_t pauses = 0;
};

// Growth of the own port's counters.
struct PathOwn {
  uint64_t paused_ns = 0;
  uint64_t pfc_received = 0;
  uint64_t credit_waits = 0;
};

struct ProbeRun {
  std::string state;  // "done", or the reason why nothing was sent
  std::string port;
  std::string encapsulation;
  std::optional<uint64_t> rate_bps;
  PathMarks sent;
  std::vector<PathProbe> probes;
  std::optional<PathDrops> drops;  // nullopt: nothing was answered
  PathOwn own;
};

// Reads a result of peers.probe_path, which is untrusted. UNAVAILABLE: it is none.
absl::StatusOr<ProbeRun> ParseProbeRun(const Json& result);

// Smallest, middle and almost largest of some times.
struct TimeSpread {
  int64_t min_ns = 0;
  int64_t median_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
};
// `times` must not be empty.
TimeSpread SpreadOf(std::vector<int64_t> times);

// Returns microseconds with one fraction digit.
std::string MicrosText(int64_t ns);

struct ProbeFigures {
  uint32_t sent = 0;  // probes that left
  uint32_t lost_here = 0;
  uint32_t answered = 0;
  uint32_t lost_out = 0;   // probes that did not arrive
  uint32_t lost_back = 0;  // reports that did not arrive
  uint32_t duplicates = 0;
  uint32_t reordered = 0;         // probes that arrived behind a later one of their session
  std::optional<TimeSpread> rtt;  // nullopt: nothing was answered
  int64_t jitter_out_ns = 0;      // mean difference between the delays of successive probes
  int64_t jitter_back_ns = 0;
  uint64_t crc = 0;  // corrupt frames that the peer dropped

  uint32_t lost() const { return lost_out + lost_back; }
  // Adds another run of the same class. Keeps the smaller of the smallest round trips.
  void Add(const ProbeFigures& other);
};
ProbeFigures FiguresOf(const ProbeRun& run);

// Frames of one direction that had the same marks when sent and when received.
struct MarkRow {
  bool back = false;  // reports
  PathMarks sent;
  PathMarks received;
  uint32_t count = 0;
};
// Adds the marks of a run to `rows`.
void AddMarks(const ProbeRun& run, std::vector<MarkRow>* rows);

// Probes of one session.
struct SessionRow {
  uint32_t session = 0;
  uint32_t sent = 0;
  uint32_t answered = 0;
  uint32_t reordered = 0;
  std::optional<uint32_t> hops;  // as received
  // Smallest delays with the offset of the clocks, and how far the next one is; valid if answered.
  int64_t out_min_ns = 0;
  int64_t back_min_ns = 0;
  int64_t out_next_ns = 0;
  int64_t back_next_ns = 0;
};
// Returns the sessions of runs, which are of the same sessions, by their numbers.
std::map<uint32_t, SessionRow> SessionsOf(const std::vector<ProbeRun>& runs);

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_RUN_H_
