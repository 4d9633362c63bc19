// SPDX-License-Identifier: Apache-2.0
#include "link/link_hello.h"

#include <utility>

namespace suede {

LinkHello::LinkHello(const LinkOffer& offer, const SecretKey& secret, Duration interval)
    : offer_(offer), interval_(interval), numbers_(secret), nonce_(numbers_.Next()) {}

uint16_t LinkHello::TagOf(uint64_t from, uint64_t to) {
  return static_cast<uint16_t>(SipHash({from, to}, 0) & 0xfff);
}

LinkHello::Outcome LinkHello::OnHello(const LinkHelloBody& hello, Time now) {
  if (!has_session() || hello.nonce != peer_) return OnOtherNonce(hello, now);
  if (hello.echo == nonce_) {
    if (!hello.hears) Answer(now);
    Take(hello, now);
    return Outcome::kTaken;
  }
  if (hello.echo != 0) return Outcome::kStale;
  Answer(now);
  return Outcome::kTaken;
}

// Handles a HELLO with another nonce. Only a neighbour that echoes a nonce of this handshake is
// proved to be present; all other HELLOs may be old copies.
LinkHello::Outcome LinkHello::OnOtherNonce(const LinkHelloBody& hello, Time now) {
  const uint64_t expected = has_session() ? fresh_ : nonce_;
  if (hello.echo != 0 && hello.echo == expected) {
    Adopt(hello, now);
    return Outcome::kBegun;
  }
  if (hello.echo != 0) return Outcome::kStale;
  if (hello.nonce != candidate_ || (has_session() && fresh_ == 0)) {
    candidate_ = hello.nonce;
    if (has_session()) fresh_ = numbers_.Next();
  }
  answers_candidate_ = true;
  Answer(now);
  return Outcome::kTaken;
}

void LinkHello::Adopt(const LinkHelloBody& hello, Time now) {
  if (has_session()) nonce_ = fresh_;
  peer_ = hello.nonce;
  candidate_ = fresh_ = 0;
  answers_candidate_ = false;
  speaks_ = false;
  tx_tag_ = TagOf(nonce_, peer_);
  rx_tag_ = TagOf(peer_, nonce_);
  Take(hello, now);
  Answer(now);
}

void LinkHello::Take(const LinkHelloBody& hello, Time now) {
  peer_offer_ = hello.offer;
  peer_place_ = hello.place;
  speaks_ |= hello.hears;
  received_at_ = now;
}

void LinkHello::BeginAnew(Time now) {
  nonce_ = numbers_.Next();
  peer_ = candidate_ = fresh_ = 0;
  peer_place_.reset();
  answers_candidate_ = false;
  speaks_ = false;
  Answer(now);
}

LinkHelloBody LinkHello::Next(Time now) {
  sent_at_ = now;
  due_ = now + (speaks_ ? interval_ : interval_ / kHurry);
  LinkHelloBody hello{.nonce = nonce_, .echo = peer_, .hears = has_session(), .offer = offer_};
  if (std::exchange(answers_candidate_, false) && has_session()) {
    hello = {.nonce = fresh_, .echo = candidate_, .hears = false, .offer = offer_};
  } else if (!has_session()) {
    hello.echo = candidate_;
  }
  return hello;
}

}  // namespace suede
