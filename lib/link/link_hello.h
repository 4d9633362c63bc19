// SPDX-License-Identifier: Apache-2.0
// The handshake between the ends of a link (docs/link.md, "Session"). No I/O: takes HELLOs and the
// time, returns HELLOs.
#ifndef SUEDE_LINK_LINK_HELLO_H_
#define SUEDE_LINK_LINK_HELLO_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/secret_numbers.h"
#include "base/time.h"
#include "wire/link_frame.h"

namespace suede {

class LinkHello {
 public:
  LinkHello(const LinkOffer& offer, const SecretKey& secret, Duration interval);

  // ---- Received frames.

  enum class Outcome : uint8_t {
    kStale,  // ignored
    kTaken,
    kBegun,  // a session has begun: the former session is over
  };
  Outcome OnHello(const LinkHelloBody& hello, Time now);
  // A frame of the session was received.
  void OnFrame(Time now) { received_at_ = now; }

  // ---- Time.

  // Whether no frame of the session was received for too long; the caller then calls BeginAnew.
  bool IsSilent(Time now) const {
    return has_session() && now - received_at_ > kSilentIntervals * interval_;
  }
  // Forgets the neighbour, and takes another nonce.
  void BeginAnew(Time now);
  // Whether a HELLO is due, which Next returns.
  bool IsDue(Time now) const { return now >= due_; }
  LinkHelloBody Next(Time now);
  Time deadline() const {
    return has_session() ? std::min(due_, received_at_ + kSilentIntervals * interval_ + Duration(1))
                         : due_;
  }

  // ---- The session.

  bool has_session() const { return peer_ != 0; }
  // Whether the neighbour hears this end, too.
  bool speaks() const { return speaks_; }
  const LinkOffer& offer() const { return offer_; }
  // Offers credit from now on, or no longer.
  void SetOffersCredit(bool offers, Time now) {
    if (offer_.cbfc == offers) return;
    offer_.cbfc = offers;
    Answer(now);
  }
  // The neighbour's offer, while `has_session()`.
  const LinkOffer& peer_offer() const { return peer_offer_; }
  // The neighbour's place by its last HELLO of the session; nullopt: no session, or no place.
  const std::optional<LinkPlace>& peer_place() const { return peer_place_; }
  uint16_t tx_tag() const { return tx_tag_; }
  uint16_t rx_tag() const { return rx_tag_; }
  // The tag of frames from the end with the nonce `from` to the end with the nonce `to`
  // (docs/link.md).
  static uint16_t TagOf(uint64_t from, uint64_t to);

 private:
  static constexpr int kSilentIntervals = 8;
  static constexpr int kHurry = 10;
  static constexpr int kMaxAnswers = 100;  // in an interval
  // Makes a HELLO due soon, but no more than kMaxAnswers in an interval.
  void Answer(Time now) {
    due_ = std::min(due_, std::max(now, sent_at_ + interval_ / kMaxAnswers));
  }
  Outcome OnOtherNonce(const LinkHelloBody& hello, Time now);
  void Adopt(const LinkHelloBody& hello, Time now);
  void Take(const LinkHelloBody& hello, Time now);

  LinkOffer offer_;
  const Duration interval_;
  SecretNumbers numbers_;
  uint64_t nonce_;
  uint64_t peer_ = 0;               // the neighbour's nonce in the session; 0: no session
  uint64_t candidate_ = 0;          // another nonce of the neighbour, not proved yet
  uint64_t fresh_ = 0;              // own nonce in answers to `candidate_`
  bool answers_candidate_ = false;  // the next HELLO answers `candidate_`
  bool speaks_ = false;
  uint16_t tx_tag_ = 0;
  uint16_t rx_tag_ = 0;
  LinkOffer peer_offer_;
  std::optional<LinkPlace> peer_place_;
  Time received_at_{};
  Time sent_at_{};
  Time due_{};  // initially at once
};

}  // namespace suede

#endif  // SUEDE_LINK_LINK_HELLO_H_
