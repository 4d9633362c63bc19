// SPDX-License-Identifier: Apache-2.0
// One plane to one peer, as both ends agree on it (docs/planes.md, docs/control-pdus.md PLANE,
// FENCE, FENCED): whether it lives, each direction's generation of PSNs, and the fence around a
// generation that died with PDUs in doubt.
//
// Takes facts and the time, returns verdicts and a deadline; sends nothing, reads no clock. Owned
// by one lcore.
#ifndef SUEDE_PATH_PLANE_SESSION_H_
#define SUEDE_PATH_PLANE_SESSION_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "path/params.h"
#include "wire/control_pdu.h"

namespace suede {

// Why a plane went down.
enum class PlaneDownReason : uint8_t {
  kSilence,      // PLANEs unanswered, while another plane to the peer is alive
  kTimeouts,     // the transport's tries were used up
  kLink,         // no link, or the port was set down
  kPeer,         // the other end reports the plane down
  kFence,        // the other end has fenced it
  kAdmin,        // an operator set it down
  kUnreachable,  // all planes to the peer were silent for too long
  kPaused,       // the device of the plane's port has let no frame leave for too long
};

class PlaneSession {
 public:
  static constexpr uint8_t kUnknownPlane = 0xff;

  PlaneState state() const { return state_; }
  bool up() const { return state_ == PlaneState::kUp; }
  // Whether the session was begun. No PLANE requests a reply on a session that was not begun.
  bool begun() const { return begun_; }
  // Whether our FENCE has no answer yet.
  bool fencing() const { return fencing_; }
  uint16_t tx_generation() const { return tx_generation_; }
  uint16_t rx_generation() const { return rx_generation_; }
  // The other end's number of the plane.
  uint8_t peer_plane() const { return peer_plane_; }
  // Whether peer_plane() is fixed, and no PLANE of another plane is accepted here, as long as the
  // association lasts.
  bool paired() const { return paired_; }
  Time last_received() const { return last_received_; }
  Time held_until() const { return held_until_; }
  uint32_t deaths() const { return deaths_; }
  // Unanswered PLANEs in a row.
  uint32_t missed() const { return missed_; }
  // The last time at which the peer was heard, or the plane checked for silence (OnTimer).
  Time silent_since() const { return std::max(last_received_, checked_at_); }

  // ---- Our sending direction.

  // A PDU waits, or the peer has begun. The caller has begun a generation.
  void Begin(Time now);
  // The plane is found dead. `in_doubt`: PDUs of the generation are without an acknowledgement.
  void GoDown(bool in_doubt, bool hold, Time now, const PathParams& params);
  // Whether a FENCED for the generation answers our FENCE. EndFence begins the next one.
  bool IsFenced(uint16_t generation) const { return fencing_ && generation == tx_generation_; }
  void EndFence(Time now);
  // A FENCED was impossible. Returns true if that has happened twice in a row.
  bool OnImpossible() { return ++impossible_ >= 2; }
  // Counts a FENCE; returns the number of FENCEs of this generation, including it.
  uint32_t TakeFenceTurn() { return ++fences_; }
  // Skips 0, which is the static generation.
  void NextGeneration() {
    if (++tx_generation_ == 0) tx_generation_ = 1;
  }

  // ---- Time.

  Time deadline() const { return deadline_; }
  struct Facts {
    bool port_up = false;        // the port can send
    bool held = false;           // by an operator: stays down
    bool in_flight = false;      // PDUs without an acknowledgement
    bool sibling_alive = false;  // another plane to the peer was heard since silent_since()
    bool held_up = false;        // no frame leaves our device, or the other end's, now,
    bool held_too_long = false;  // and no frame has left ours for longer than is tolerated
    Time check_at = kNever;      // while the plane is not up: the latest time of the next OnTimer
  };
  enum class Want : uint8_t { kNothing, kPlane, kFence, kGoDown, kHeldUp };
  Want OnTimer(Time now, const Facts& facts, const PathParams& params);
  // PDUs were put in flight: checks soon whether they arrive. Returns whether the deadline moved.
  bool OnTraffic(Time now, const PathParams& params);
  // Requests a reply, even if no PDU is in flight: at `when` at the latest, but an interval after
  // the peer was heard.
  void RequestReply(Time when) {
    wants_reply_ = true;
    deadline_ = std::min(deadline_, when);
  }
  // A sent PLANE was acknowledged.
  void OnProgress(Time now) {
    last_received_ = now;
    missed_ = silent_ = 0;
  }
  // The lcore was stopped for `time` until now: the wait for the answer to a PLANE does not include
  // the first such time, and is long enough to read the frames that have arrived meanwhile.
  void OnStandstill(Time now, Duration time, const PathParams& params);
  // The other end reports, on another plane, that no frame leaves its device on this plane. The
  // report is valid for `span`.
  void OnHeldUp(Time now, Duration span);
  // Whether a report of OnHeldUp excuses silence: for at most `limit` in total.
  bool IsExcused(Time now, Duration limit) const {
    return now < excused_until_ && now - excused_since_ < limit;
  }
  // The link of the port came up.
  void OnLinkUp(Time now);
  // The parameters were changed: no wait that has begun lasts longer than they permit.
  void OnNewParams(Time now, const PathParams& params);

  // ---- PLANE.

  struct OnPlaneResult {
    bool stale = false;  // a straggler: the other members are meaningless
    bool adopt = false;  // a new generation of the peer: accept it from its first PSNs on
    bool came_up = false;
    bool proved = false;       // the path works in both directions
    bool peer_down = false;    // the other end reports that its plane is down, and ours is not
    bool wants_reply = false;  // the plane is not paired yet: our answer requests an answer, too
  };
  // `pairs_as`: our number of the plane, if frames of several planes may arrive here and the plane
  // is paired with one of them; else kUnknownPlane.
  OnPlaneResult OnPlane(const PlaneHello& hello, Time now, const PathParams& params,
                        uint8_t pairs_as = kUnknownPlane);
  // Whether the PLANE belongs to another pair than ours; `pairs_as`: our number of the plane.
  bool IsContrary(const PlaneHello& hello, uint8_t pairs_as) const {
    return (paired_ && hello.plane != peer_plane_) ||
           (hello.paired && hello.heard_plane != pairs_as + 1);
  }
  // A PLANE of another pair has arrived. Returns true if only such PLANEs have arrived for `wait`,
  // so that the pairs of this association are not those of the network.
  bool IsHopeless(Time now, Duration wait);
  // Fills in the session's state. `wants_reply`: the PLANE counts as unanswered until a reply
  // comes.
  void FillPlane(bool wants_reply, PlaneHello& hello);

  // ---- The peer's sending direction.

  // A FENCE for the generation has arrived. Returns false if it is a straggler. `known`: the
  // generation was adopted; else the caller takes its first PSNs. The caller then accepts nothing
  // more.
  bool OnFence(uint16_t generation, bool& known);

  // The peer has restarted: resets all state except our generations, which go on.
  void Reset();

 private:
  using Sequence = decltype(PlaneHello::sequence);

  void ProbeSoon(Time now);
  bool Proves(const PlaneHello& hello, const PathParams& params) const;
  void Pair(uint8_t peer_plane, Time now);

  PlaneState state_ = PlaneState::kDown;
  bool begun_ = false;
  bool fencing_ = false;
  bool has_rx_generation_ = false;
  bool has_received_ = false;
  bool wants_reply_ = false;
  bool paired_ = false;
  uint8_t peer_plane_ = kUnknownPlane;
  uint8_t heard_plane_ = 0;  // of the last PLANE received: PlaneHello::heard_plane
  uint8_t missed_ = 0;
  uint8_t silent_ = 0;  // of these, PLANEs after which another plane was heard
  uint8_t slow_ = 0;  // how often the wait between probes or fences was doubled
  uint16_t tx_generation_ = 0;
  uint16_t rx_generation_ = 0;
  Sequence sequence_ = 0;    // of the last PLANE sent
  Sequence received_ = 0;    // of the last PLANE received,
  Time received_at_{};       // and the time of it
  uint32_t unanswered_ = 0;  // PLANEs since the newest that was answered; never wraps
  uint8_t impossible_ = 0;   // FENCEDs in a row for this generation
  uint64_t questions_ = 0;   // bit i: whether the PLANE of sequence_ - i requested an answer
  uint32_t deaths_ = 0;
  uint32_t fences_ = 0;
  Duration hold_down_{};    // of the last death
  Time deadline_ = kNever;
  Time requested_at_{};  // by the last PLANE in init
  Time last_received_{};
  Time checked_at_{};
  bool was_stopped_ = false;  // the lcore, since checked_at_
  Time held_until_{};
  Time up_since_{};
  Time excused_since_{};
  Time excused_until_{};
  Time contrary_since_ = kNever;  // since when only PLANEs of another pair have arrived
};

}  // namespace suede

#endif  // SUEDE_PATH_PLANE_SESSION_H_
