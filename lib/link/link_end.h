// SPDX-License-Identifier: Apache-2.0
// One end of a link (docs/link.md): the handshake with the neighbour and link-level retry, for an
// endpoint's and a switch's port. No I/O: takes frames and the time, returns frames.
//
// The owner calls `Pass` for each frame that it has to send, and sends the frames of `ToSend`.
#ifndef SUEDE_LINK_LINK_END_H_
#define SUEDE_LINK_LINK_END_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"
#include "link/link_hello.h"
#include "link/link_params.h"
#include "link/retry_receiver.h"
#include "link/retry_sender.h"
#include "port/frame.h"
#include "stats/link_counters.h"

namespace suede {

class LinkEnd {
 public:
  explicit LinkEnd(const LinkParams& params);
  LinkEnd(const LinkEnd&) = delete;
  LinkEnd& operator=(const LinkEnd&) = delete;

  // ---- Received frames.

  enum class Fate : uint8_t {
    kUp,    // the frame is passed up, without shim: of link frames, only those of credit-based flow
            // control
    kOver,  // the frame was the link's, or is dropped and counted
  };
  Fate OnFrame(Frame& frame, Time now);
  // Whether the link has no part in the frame, received or to be sent: it passes as kUp or kBypass,
  // and nothing is counted.
  bool Ignores(const Frame& frame) const {
    return !sender_.numbers() && !HasLinkType(frame.data, frame.length, params_.ether_type);
  }

  // ---- Frames to send.

  // Whether frames are numbered now.
  bool numbers() const { return sender_.numbers(); }
  // Called before the first frame of a burst: while taken frames wait, no more are taken.
  void BeginBurst() { takes_ = sender_.takes(); }
  // Takes no more frames of the burst: the device has enough.
  void EndBurst() { takes_ = false; }
  enum class Passage : uint8_t {
    kNumbered,  // the frame is held from now on, and ToSend will return it
    kBypass,    // the caller sends the frame unchanged: frames of the link and of MAC control, and
                // all frames while frames are not numbered
    kPlain,     // the caller sends the frame unchanged, and then calls OnPlainSent: the frame has
                // no number although others have
    kHeld,      // the frame is held already: the link delivers it
    kStale,     // the frame cannot be sent: a device may read it, and its shim is no longer valid
    kFull,      // the window has no room: try later
  };
  // `is_busy`: a device, or the link, may still read the frame, so it is not written to.
  Passage Pass(Frame& frame, bool is_busy, uint32_t max_frame_bytes);
  // The numbered frame to send now, `ahead` places behind the first; null: none. The caller then
  // calls OnSent.
  Frame* ToSend(uint32_t ahead) const { return sender_.ToSend(ahead); }
  void OnSent(uint32_t count, Time now);
  void OnPlainSent() { counters_.Add(LinkCounter::kLlrTxPlain); }
  // Frames that are no longer held, for the owner to release before ClearEnded.
  std::span<Frame* const> ended() const { return sender_.ended(); }
  void ClearEnded() { sender_.ClearEnded(); }
  // Whether a link frame is due. Next writes the frame, and returns its length: up to
  // kMaxLinkFrameBytes.
  bool HasNext(Time now) const { return receiver_.HasAnswer(now) || hello_.IsDue(now); }
  uint32_t Next(uint8_t* at, Time now);

  // ---- Time.

  // Handles expired timers. Called once in a poll iteration, before the rest.
  void Poll(Time now);
  Time deadline() const {
    return std::min({hello_.deadline(), sender_.deadline(), receiver_.deadline()});
  }

  // ---- The neighbour.

  // The place that the neighbour has announced (docs/mesh.md, "Discovery"); nullopt: none, or there
  // is no session.
  const std::optional<LinkPlace>& neighbour_place() const { return hello_.peer_place(); }

  // ---- For credit-based flow control (another layer).

  const LinkHello& session() const { return hello_; }
  // Offers credit from now on, or no longer.
  void SetOffersCredit(bool offers, Time now) { hello_.SetOffersCredit(offers, now); }
  // Number of sessions that have begun: credits restart with each.
  uint32_t sessions() const { return sessions_; }
  // Starts a link frame of the session: kMinLinkFrameBytes bytes.
  void Begin(LinkKind kind, uint16_t sequence, uint8_t* frame) const {
    BeginLinkFrame(params_.ether_type, params_.mac,
                   {.kind = kind, .tag = hello_.tx_tag(), .sequence = sequence}, frame);
  }
  // Whether the frame is the link's own: not numbered, and without credit.
  bool IsLinkFrame(const Frame& frame) const {
    return HasLinkType(frame.data, frame.length, params_.ether_type) && IsToNeighbour(frame.data);
  }

  const LinkParams& params() const { return params_; }
  const RetrySender& sender() const { return sender_; }
  const RetryReceiver& receiver() const { return receiver_; }
  LinkCounters& counters() { return counters_; }
  const LinkCounters& counters() const { return counters_; }
  // Publishes the gauges.
  void Show();

 private:
  Fate OnPlain(const Frame& frame);
  Fate OnLinkFrame(const Frame& frame, const LinkWord& word, Time now);
  Fate OnData(Frame& frame, const LinkWord& word, Time now);
  void OnHello(const Frame& frame, Time now);
  void OnAck(Psn last_good, bool is_nack, Time now);
  void BeginSession();
  void SetSpeaking();
  void GiveUp(RetrySender::State to);
  void Fail(LinkCounter reason, Time now);
  Fate Over(LinkCounter reason) {
    counters_.Add(reason);
    return Fate::kOver;
  }

  const LinkParams params_;
  LinkHello hello_;
  RetrySender sender_;
  RetryReceiver receiver_;
  LinkCounters counters_;
  uint32_t sessions_ = 0;
  bool takes_ = false;
};

}  // namespace suede

#endif  // SUEDE_LINK_LINK_END_H_
