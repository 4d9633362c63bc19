// SPDX-License-Identifier: Apache-2.0
// Probes of the path to a peer (docs/path.md): a run of them that an operator has asked for, and an
// instance's state of both roles, sender and reporter.
#ifndef SUEDE_LCORE_PATH_PROBE_H_
#define SUEDE_LCORE_PATH_PROBE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/coordinates.h"
#include "base/time.h"
#include "base/token_bucket.h"
#include "wire/control_pdu.h"

namespace suede {

// Destination of the probes of a run, except its first and its last one, which go to the peer.
enum class PathTarget : uint8_t {
  kPeer,
  kStranger,   // an address that nobody has
  kEtherType,  // the peer's address, with an EtherType that nobody knows
};

enum class PathState : uint8_t {
  kRunning,
  kDone,
  kDown,  // an operator has set the port or the instance down
  kNoLink,
  kNoMac,  // the peer's MAC address is not known yet
  kNoAssociation,
  kNoConsent,  // the peer answers no probes
  kNoField,    // headers of the encapsulation have no EtherType
  kNoPfc,      // the port or the class cannot request a pause
};

// A run of probes, and its outcome. The control thread writes `spec` and the size of `rows`; from
// request::ProbePath on it belongs to the lcore, until `state` is not kRunning.
struct PathRun {
  struct Spec {
    PeerIndex peer = 0;
    PlaneIndex plane = 0;
    uint32_t traffic_class = 0;  // below Path::kClasses
    uint32_t bytes = 0;          // of a frame, without FCS; 0: as few as possible
    bool long_reply = false;     // reports have the length of the probes
    uint32_t sessions = 1;       // probe i has the session first_session + i modulo this
    uint32_t first_session = 0;
    std::optional<uint8_t> dscp;  // nullopt: that of the class
    std::optional<uint8_t> ecn;
    std::optional<uint8_t> hop_limit;  // nullopt: that of the port
    PathTarget to = PathTarget::kPeer;
    bool pause = false;   // the neighbour is asked to pause the class for count * interval
    Duration interval{};  // between probes; 0: as fast as the port takes them
    Duration timeout{};   // from the last probe to the last report
  };
  struct Row {
    uint16_t session = 0;
    bool lost_here = false;  // the port had no room
    uint32_t copies = 0;     // reports that arrived; the fields below are those of the first
    Time sent{};
    Time returned{};
    uint32_t reply_bytes = 0;
    FrameMarks here;  // of the report as it arrived
    Path report;
  };

  Spec spec;
  std::vector<Row> rows;                           // one for each probe
  FrameMarks sent;                                 // of a probe as it leaves
  uint32_t credit_waits = 0;                       // probes that waited for credit of the link
  uint64_t rate_bps = 0;                           // of the port; 0: not known
  std::atomic<PathState> state{PathState::kDone};  // stored last, with release
};

// An instance's part.
struct PathProbes {
  // ---- As sender.
  PathRun* run = nullptr;  // null: none goes on
  uint32_t first = 0;      // number of the run's first probe: numbers differ between runs
  uint32_t next = 0;       // index of the next probe
  Time due{};              // of the next probe, or the end of the run
  Time pause_end{};        // of the pause that the run requests, until it is over
  bool pauses = false;
  bool lacks_credit = false;  // the next probe waits for it

  // ---- As reporter.
  std::optional<TokenBucket> rate;             // of reports; nullopt: no consent
  std::array<uint32_t, kMaxPlanes> arrived{};  // probes, by plane
};

}  // namespace suede

#endif  // SUEDE_LCORE_PATH_PROBE_H_
