// SPDX-License-Identifier: Apache-2.0
// The measurements of suedectl path, as the experiments fill them and the judge reads them
// (docs/path.md).
#ifndef SUEDE_APP_SUEDECTL_PATH_RESULTS_H_
#define SUEDE_APP_SUEDECTL_PATH_RESULTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suedectl/path_run.h"

namespace suede::ctl {

// A class of traffic as the own configuration has it.
struct PathClass {
  uint32_t number = 0;  // of the first VC with these marks; 4: PDUs without commands
  std::string name;     // "VC 0-3", "ack"
  uint32_t ecn = 0;
};
inline constexpr uint32_t kPathAckClass = 4;

enum class PathCongestion : uint8_t { kFixed, kRccc, kNscc };

// A plane that leads to the peer, and the expectations of the own configuration.
struct PathPlan {
  uint32_t plane = 0;
  std::string port;
  std::string encapsulation;
  uint32_t max_bytes = 0;     // of a frame by the port's MTU, without FCS
  bool has_sessions = false;  // the header has a field for the session
  bool is_lossless = false;   // the port has PFC or CBFC
  bool has_pfc = false;       // the port has PFC
  bool sends_pauses = false;  // by pfc: software
  bool trims = false;         // the port recognizes trimmed frames
  PathCongestion congestion = PathCongestion::kFixed;
  std::vector<PathClass> classes;
};

// Largest frames that passed; nullopt: not measured, 0: none.
struct PathLengths {
  std::optional<uint32_t> out;
  std::optional<uint32_t> back;
};

// A burst of full frames by all senders at the same time.
struct BurstRow {
  uint32_t count = 0;  // frames of each sender
  uint32_t sent = 0;   // by all
  uint32_t lost_out = 0;
  uint32_t marked = 0;  // CE at the peer
  uint64_t trimmed = 0;
  uint64_t pfc = 0;        // PFC frames at the own ports
  uint64_t paused_ns = 0;  // of the own ports
  uint64_t credit_waits = 0;
  std::optional<int64_t> first_mark_ns;  // delay of the first marked frame above the smallest one
  int64_t max_delay_ns = 0;              // above the smallest one
  std::optional<uint64_t> rate_bps;      // at which the frames arrived
};

// Probes of another class during a burst of this one.
struct IsolationResult {
  std::string other;       // its name
  ProbeFigures alone;      // without the burst
  ProbeFigures beside;     // during it
  uint64_t paused_ns = 0;  // of the burst's sender
};

// Reports of the first half of the probes, during a pause of their class that the own port
// requests.
struct PauseResult {
  uint32_t answered = 0;
  uint32_t early = 0;  // reports that came before the end of the pause
};

struct ClassResult {
  PathClass of;
  ProbeFigures figures;  // of small probes
  // If nothing was answered: probes of the class that arrived all the same; nullopt: not known.
  std::optional<uint32_t> arrived;
  PathLengths lengths;
  std::vector<MarkRow> marks;
  std::vector<BurstRow> bursts;
  std::optional<IsolationResult> isolation;
  std::optional<PauseResult> pause;
};

struct FlowResult {
  ProbeFigures figures;
  std::map<uint32_t, SessionRow> sessions;
};

// Frames that nobody should receive; nullopt: not measured.
struct StrangerResult {
  uint32_t sent = 0;
  std::optional<uint64_t> address;     // frames to an address of nobody that the peer got
  std::optional<uint64_t> ether_type;  // frames of an unknown EtherType
};

// Another endpoint (--with) while probes went to the peer.
struct BystanderResult {
  std::string socket;
  uint64_t foreign = 0;  // frames for other addresses that it got
  uint32_t sent = 0;     // probes
};

struct PlaneResult {
  PathPlan plan;
  std::string state;  // as of peers.probe_path
  std::optional<uint64_t> rate_bps;
  std::vector<ClassResult> classes;
  std::vector<MarkRow> hops;  // of probes with several hop limits
  std::optional<FlowResult> flows;
  StrangerResult strangers;
  std::vector<BystanderResult> bystanders;
  bool was_cut = false;  // time or frames ran out before the last experiment
};

struct PathResult {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t peer = 0;
  std::string peer_text;  // number and name
  bool disruptive = false;
  uint32_t senders = 1;  // of bursts
  uint64_t frames = 0;   // sent
  uint64_t bytes = 0;
  double seconds = 0;
  std::vector<PlaneResult> planes;
};

}  // namespace suede::ctl

#endif  // SUEDE_APP_SUEDECTL_PATH_RESULTS_H_
