// SPDX-License-Identifier: Apache-2.0
// The LLDP agent of one port (IEEE 802.1AB): when frames leave, which neighbours are known, and how
// their configuration differs. Frames, facts and the time in; frames and reports out. No I/O.
#ifndef SUEDE_LLDP_AGENT_H_
#define SUEDE_LLDP_AGENT_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/token_bucket.h"
#include "lldp/assignment.h"
#include "lldp/comparison.h"
#include "lldp/lldpdu.h"
#include "stats/lldp_counters.h"

namespace suede::lldp {

struct AgentParams {
  Duration interval = std::chrono::seconds(30);
  Duration fast_interval = std::chrono::seconds(1);
  uint32_t fast_frames = 4;  // after the link came up, and after a new neighbour
  uint32_t hold = 4;         // intervals that the neighbour keeps a frame: its TTL
  uint32_t rx_frames_per_second = 10;
  uint32_t max_neighbours = 4;
  AddressPolicy addresses;
};

struct Neighbour {
  Lldpdu pdu;
  Time heard{};    // the last frame
  Time expires{};  // `heard` and its TTL
  std::vector<Difference> differences;
  AddressVerdict address = AddressVerdict::kNone;  // that it assigns
};

// A change of the neighbours.
struct Report {
  enum class Change : uint8_t { kNew, kChanged, kGone };
  Change change = Change::kNew;
  std::string_view reason;           // of kGone: ttl, shutdown or link; static storage
  Neighbour neighbour;               // as it is, or was
  std::vector<Difference> appeared;  // of its differences: those that were not there before
  bool assigns = false;              // another address than before
};
std::string_view NameOf(Report::Change change);

class Agent {
 public:
  static constexpr uint32_t kMaxReports = 64;  // further ones are dropped until some are taken

  // `own`: content of sent frames; its TTL follows from `params`. `counters` outlives this object.
  Agent(Lldpdu own, const Mac& source, const AgentParams& params, LldpCounters* counters);

  // ---- Facts. The time never decreases.

  // The link is up, or down: then all neighbours are forgotten. It is down at first.
  void OnLink(bool up, Time now);
  // Takes any received frame that IsLldp.
  void OnFrame(std::span<const uint8_t> frame, Time now);
  // Forgets neighbours whose time is over.
  void Poll(Time now);

  // ---- Decisions.

  // Returns the frame to be sent now; empty: none is due. It counts as sent.
  std::span<const uint8_t> TakeFrame(Time now);
  // Returns a frame that ends this agent at its neighbours: to be sent last.
  std::vector<uint8_t> LastFrame() const;
  // Returns the next change of the neighbours.
  std::optional<Report> TakeReport();
  // When Poll or TakeFrame has something to do; kNever: never.
  Time deadline() const;

  const Lldpdu& own() const { return own_; }
  const std::vector<Neighbour>& neighbours() const { return neighbours_; }
  bool link_up() const { return link_up_; }
  LldpCounters& counters() { return *counters_; }
  const LldpCounters& counters() const { return *counters_; }

 private:
  void Hurry(Time now);
  bool IsOwn(const Lldpdu& pdu) const;
  AddressVerdict VerdictOf(const Lldpdu& pdu) const;
  std::vector<Neighbour>::iterator Find(const Lldpdu& pdu);
  void Add(Lldpdu pdu, Time now);
  void Update(Neighbour& neighbour, Lldpdu pdu, Time now);
  void Remove(std::vector<Neighbour>::iterator at, std::string_view reason);
  void Emit(Report report);
  void ShowGauges();

  const AgentParams params_;
  Lldpdu own_;
  const Mac source_;
  const std::vector<uint8_t> frame_;
  LldpCounters* const counters_;
  TokenBucket bucket_;
  bool link_up_ = false;
  Time next_tx_ = kNever;
  uint32_t fast_left_ = 0;
  std::vector<Neighbour> neighbours_;
  std::deque<Report> reports_;
};

}  // namespace suede::lldp

#endif  // SUEDE_LLDP_AGENT_H_
