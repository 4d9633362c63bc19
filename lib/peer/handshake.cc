// SPDX-License-Identifier: Apache-2.0
#include "peer/handshake.h"

#include <algorithm>

namespace suede {
namespace {

// From this count of tries on, the last four counts repeat, as each probes another quarter.
constexpr uint8_t kMaxTries = 250;

}  // namespace

void Handshake::Begin(SecretNumbers& numbers, bool plain) {
  own_ = numbers.Next();
  nonce_ = numbers.Next();
  open_ = plain_ = plain;
}

void Handshake::OnDemand(Time now) {
  if (open_ || greeting_) return;
  greeting_ = true;
  tries_ = 0;
  received_at_ = now;
  deadline_ = now;
}

Duration Handshake::Wait(const TransportParams& params, Duration idle) const {
  const int doublings = std::clamp(tries_ - static_cast<int>(params.hello_tries), 0, 24);
  return std::min(params.hello_timeout * (int64_t{1} << doublings),
                  std::max(idle, params.hello_timeout));
}

HandshakeTimerVerdict Handshake::OnTimer(Time now, const TransportParams& params, Duration idle,
                                         Duration patience) {
  if (now < deadline_) return {};
  if (open_ && !plain_ && !refused_) {
    deadline_ = kNever;
    return {};
  }
  if (plain_) {
    deadline_ = now + idle;
    return {.hello = true};
  }
  if (has_nack_come_) {
    has_nack_come_ = false;
    if (!speaks_hello_ && ++evidence_ >= params.hello_tries) {
      open_ = plain_ = true;
      greeting_ = false;
      deadline_ = now + idle;
      return {.plain = true};
    }
  }
  tries_ = tries_ < kMaxTries ? static_cast<uint8_t>(tries_ + 1) : kMaxTries - 3;
  const bool silent = !refused_ && now - received_at_ >= patience;
  deadline_ = now + Wait(params, refused_ || silent ? idle : std::min(params.rto_max, idle));
  return {.hello = true, .probe = tries_ > 1 && !speaks_hello_, .silent = silent};
}

void Handshake::OnNewParams(Time now, const TransportParams& params) {
  if (deadline_ != kNever) deadline_ = std::min(deadline_, now + params.hello_timeout);
}

HelloVerdict Handshake::OnHello(const Hello& hello, Time now, SecretNumbers& numbers,
                                bool is_pong) {
  HelloVerdict verdict;
  const bool known = peer_ != 0 && hello.identities.own == peer_;
  const bool answers = hello.echo == nonce_;
  verdict.verified = answers || (known && is_pong);
  // A reply to an operator's ping may be older than the peer's later HELLOs.
  verdict.stranger = !known && !answers;
  if (verdict.stranger) return verdict;
  received_at_ = now;
  if (verdict.verified) {
    // The nonce of a HELLO that awaits its reply does not change.
    if (answers) nonce_ = numbers.Next();
    speaks_hello_ = true;
    evidence_ = 0;
  }
  if (!known) {
    verdict.new_peer = true;
    // Two identities name one association, and that association is over: if the replaced boot comes
    // back, it has to notice.
    if (open_ && !plain_) own_ = numbers.Next();
    peer_ = hello.identities.own;
    open_ = plain_ = refused_ = false;
  }
  verdict.knows_us = hello.identities.peer == own_;
  return verdict;
}

bool Handshake::Agree() {
  const bool news = !open_;
  open_ = true;
  greeting_ = refused_ = false;
  tries_ = 0;
  deadline_ = kNever;
  return news;
}

void Handshake::Refuse(Time now, const TransportParams& params) {
  if (refused_) return;
  refused_ = true;
  tries_ = 0;
  deadline_ = now + params.hello_timeout;
}

void Handshake::OnNack(Time now) {
  has_nack_come_ = true;
  received_at_ = now;
}

void Handshake::StartOver(Time now, SecretNumbers& numbers) {
  own_ = numbers.Next();
  nonce_ = numbers.Next();
  open_ = greeting_ = false;
  OnDemand(now);
}

}  // namespace suede
