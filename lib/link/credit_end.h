// SPDX-License-Identifier: Apache-2.0
// Credit-based flow control of one end of a link (docs/link.md), for an endpoint's and a switch's
// port: both directions' credit, begun and ended by the session of a LinkEnd. No I/O: takes frames
// and the time, returns frames.
#ifndef SUEDE_LINK_CREDIT_END_H_
#define SUEDE_LINK_CREDIT_END_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "link/credit_receiver.h"
#include "link/credit_sender.h"
#include "link/link_end.h"
#include "port/frame.h"

namespace suede {

// The grant of an offer; invalid (CreditGrant::Permits) if the offer is.
CreditGrant GrantOf(const LinkOffer& offer);
// The offer of a grant.
LinkOffer OfferOf(const CreditGrant& grant);

class CreditEnd {
 public:
  // `params`: with credit. `largest_octets`: of the frames that this end sends.
  CreditEnd(const LinkParams& params, uint32_t largest_octets);

  // Follows the session: begins credit when both ends offer it and hear each other, and ends it
  // otherwise. Returns whether credit has begun or ended.
  bool Follow(LinkEnd& link, Time now) {
    if (link.sessions() == session_ && IsAgreed(link) == agreed_) [[likely]]
      return false;
    Change(link, now);
    return true;
  }
  bool is_on() const { return sender_.is_on(); }

  // ---- Received frames that LinkEnd passes up.

  // Returns whether the frame is an update, and consumes it. `opened`: a link VC has more credit.
  bool TakeUpdate(LinkEnd& link, const Frame& frame, bool& opened, Time now);

  // ---- Frames to send.

  bool HasUpdate(Time now) const {
    return now >= sender_.deadline() || now >= receiver_.deadline();
  }
  // Writes the due update of freed or consumed credit, and returns its length, up to
  // kMaxLinkFrameBytes; 0: none is due. The caller calls Unsent* if the update could not be sent.
  uint32_t NextFreed(LinkEnd& link, uint8_t* at, Time now);
  void UnsentFreed(Time now) { receiver_.Unsent(freed_, now); }
  uint32_t NextConsumed(LinkEnd& link, uint8_t* at, Time now);
  void UnsentConsumed(Time now) { sender_.Unsent(now); }

  Time deadline() const { return std::min(sender_.deadline(), receiver_.deadline()); }
  CreditSender& sender() { return sender_; }
  CreditReceiver& receiver() { return receiver_; }
  const CreditSender& sender() const { return sender_; }
  const CreditReceiver& receiver() const { return receiver_; }
  // Publishes the gauges; with levels those of a class, for all its levels.
  void Show(LinkCounters& counters) {
    const LinkVcMask changed = sender_.TakeChanged() | receiver_.TakeChanged();
    if (changed != 0) ShowChanged(changed, counters);
  }

 private:
  static bool IsAgreed(const LinkEnd& link) {
    return link.session().speaks() && link.session().peer_offer().cbfc;
  }
  void Change(LinkEnd& link, Time now);
  void ShowChanged(LinkVcMask changed, LinkCounters& counters) const;
  static uint32_t Write(const LinkEnd& link, LinkKind kind, const CreditUpdate& update,
                        uint8_t* at);

  const uint32_t largest_octets_;
  const uint32_t level_bits_;  // of a link VC
  CreditSender sender_;
  CreditReceiver receiver_;
  CreditUpdate freed_;  // the last CF_Update sent
  uint32_t session_ = 0;
  bool agreed_ = false;
};

}  // namespace suede

#endif  // SUEDE_LINK_CREDIT_END_H_
