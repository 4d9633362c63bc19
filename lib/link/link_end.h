// SPDX-License-Identifier: Apache-2.0
// One end of a link (docs/link.md): the handshake with the neighbour and link-level retry, as an
// endpoint's port and a switch's have it. No I/O: frames and the time go in, frames come out.
//
// The owner asks `Pass` about each frame that it wants to send, and sends the frames of `ToSend`.
#ifndef SUEDE_LINK_LINK_END_H_
#define SUEDE_LINK_LINK_END_H_

#include <algorithm>
#include <cstdint>
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

  // ---- Frames that have come.

  enum class Fate : uint8_t {
    kUp,    // the frame goes up, without shim: a link frame only of credit-based flow control
    kOver,  // the frame was the link's, or is dropped, and counted
  };
  Fate OnFrame(Frame& frame, Time now);

  // ---- Frames to send.

  // Whether frames are numbered now.
  bool numbers() const { return sender_.numbers(); }
  // Before the first frame of a burst: while frames that were taken wait, no more are taken.
  void BeginBurst() { takes_ = sender_.takes(); }
  // Takes no more frames of the burst: the device has enough.
  void EndBurst() { takes_ = false; }
  enum class Passage : uint8_t {
    kNumbered,  // it is held from now on, and ToSend will give it
    kBypass,    // the caller sends it unchanged: the link's frames, those of MAC control, and all
                // frames while frames are not numbered
    kPlain,     // the caller sends it unchanged, and then calls OnPlainSent: it has no number
                // although others have
    kHeld,      // it is held already: the link delivers it
    kStale,     // it cannot be sent: a device may read it, and its shim is of no use any more
    kFull,      // the window has no room: later
  };
  // `is_busy`: a device, or the link, may still read the frame: it is not written to.
  Passage Pass(Frame& frame, bool is_busy, uint32_t max_frame_bytes);
  // The numbered frame to send now, `ahead` places behind the first; null: none. The caller then
  // calls OnSent.
  Frame* ToSend(uint32_t ahead) const { return sender_.ToSend(ahead); }
  void OnSent(uint32_t count, Time now);
  void OnPlainSent() { counters_.Add(LinkCounter::kLlrTxPlain); }
  // Frames that are held no longer, for the owner to release; then ClearEnded.
  std::span<Frame* const> ended() const { return sender_.ended(); }
  void ClearEnded() { sender_.ClearEnded(); }
  // Whether a link frame is due; then Next writes it, and returns its length: up to
  // kMaxLinkFrameBytes.
  bool HasNext(Time now) const { return receiver_.HasAnswer(now) || hello_.IsDue(now); }
  uint32_t Next(uint8_t* at, Time now);

  // ---- Time.

  // Does what is due. To be called once in a turn, before the rest.
  void Poll(Time now);
  Time deadline() const {
    return std::min({hello_.deadline(), sender_.deadline(), receiver_.deadline()});
  }

  // ---- For credit-based flow control (another layer).

  const LinkHello& session() const { return hello_; }
  // How many sessions have begun: credits begin anew with each.
  uint32_t sessions() const { return sessions_; }
  // Starts a link frame of the session: kMinLinkFrameBytes bytes.
  void Begin(LinkKind kind, uint16_t sequence, uint8_t* frame) const {
    BeginLinkFrame(params_.ether_type, params_.mac,
                   {.kind = kind, .tag = hello_.tx_tag(), .sequence = sequence}, frame);
  }
  // Whether the frame is a frame of the link: not numbered, and without credit.
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
