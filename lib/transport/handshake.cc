#include "transport/handshake.h"

#include <algorithm>

namespace suede {

bool Handshake::OnTimer(Time now, const TransportParams& params) {
  if (now < deadline_) return false;
  if (open_ || tries_ >= params.hello_tries) {
    open_ = true;
    greeting_ = false;
    deadline_ = kNever;
    return false;
  }
  ++tries_;
  deadline_ = now + params.hello_timeout;
  return true;
}

void Handshake::OnNewParams(Time now, const TransportParams& params) {
  if (deadline_ != kNever) deadline_ = std::min(deadline_, now + params.hello_timeout);
}

HelloVerdict Handshake::OnHello(const HelloFacts& hello, uint32_t own_epoch, bool has_history) {
  HelloVerdict verdict;
  const bool known = peer_epoch_ != 0;
  // Epochs grow with time, compared modulo 2^32: an older one is a straggler of an earlier boot.
  if (known && static_cast<int32_t>(hello.epoch - peer_epoch_) < 0) return verdict;
  if (hello.epoch != peer_epoch_) {
    verdict.reset = known || (has_history && !hello.continuing);
    peer_epoch_ = hello.epoch;
  }
  const bool knows_us = hello.peer_epoch == own_epoch;
  if (verdict.reset && !knows_us) {
    open_ = false;
    greeting_ = false;
    tries_ = 0;
    deadline_ = kNever;
  }
  if (knows_us) OnKnown();
  verdict.reply = hello.reply_wanted;
  return verdict;
}

void Handshake::OnKnown() {
  open_ = true;
  greeting_ = false;
  deadline_ = kNever;
}

}  // namespace suede
