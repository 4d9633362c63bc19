// SPDX-License-Identifier: Apache-2.0
#include "credit/spender.h"

#include <algorithm>

namespace suede {
namespace {

// Wait before the first request for credit: PDUs in flight may cause a grant.
constexpr Duration kRequestAfter = std::chrono::microseconds(500);
constexpr uint8_t kMaxDoublings = 7;
constexpr uint8_t kMaxUnanswered = 5;  // requests

}  // namespace

Credit CreditSpender::Request(const Queue& queue) const {
  return {.vc = static_cast<uint8_t>(queue.vc),
          .reply_wanted = unanswered_ != 0 || (doubtful_ && !queue.in_flight),
          .round = round_,
          .limit = limit_,
          .sent = limit_ - queue.credit,
          .wanted = waiting() ? queue.first_lines : 0};
}

std::optional<Credit> CreditSpender::Wait(const Queue& queue, Time now) {
  tries_ = unanswered_ = 0;
  request_at_ = now + kRequestAfter;
  if (!on_demand_ && queue.in_flight) return std::nullopt;
  return Request(queue);
}

CreditSpender::Outcome CreditSpender::OnGrant(const Credit& grant, Queue queue) {
  Outcome outcome{.credit = queue.credit};
  outcome.is_void = static_cast<int16_t>(grant.round - round_) < 0;
  if (outcome.is_void) return outcome;
  const uint32_t sent = limit_ - queue.credit;
  // In a new round only this grant counts: the peer took the rest back while it could not reach us.
  if (grant.give_back || grant.round != round_) limit_ = sent;
  round_ = grant.round;
  if (grant.give_back) {
    outcome.credit = queue.credit = 0;
    outcome.message = Request(queue);
    outcome.message->give_back = true;
    return outcome;
  }
  unanswered_ = 0;
  const bool is_to_request = grant.on_demand && !on_demand_;
  on_demand_ = grant.on_demand;
  if (static_cast<int32_t>(grant.limit - limit_) > 0) limit_ = grant.limit;
  queue.credit = limit_ - sent;
  const bool is_repaired = doubtful_ && grant.sent == sent && !queue.in_flight;
  if (is_repaired) {
    // No other PDU can be in flight: lines that were not accepted never will be.
    doubtful_ = false;
    queue.credit = limit_ - grant.accepted;
  }
  outcome.credit = queue.credit;
  if (!waiting()) return outcome;
  if (queue.first_lines <= queue.credit) {
    EndWait();
    outcome.ends_wait = true;
  } else if (is_repaired || is_to_request) {
    outcome.message = Request(queue);
  }
  return outcome;
}

CreditSpender::Outcome CreditSpender::OnDeadline(const Queue& queue, Time now) {
  Outcome outcome{.credit = queue.credit};
  if (unanswered_ == kMaxUnanswered && !queue.in_flight) {
    if (queue.first_lines > queue.credit) {
      limit_ += queue.first_lines - queue.credit;
      outcome.credit = queue.first_lines;
      doubtful_ = true;
    }
    EndWait();
    outcome.ends_wait = true;
    return outcome;
  }
  unanswered_ = std::min<uint8_t>(unanswered_ + 1, kMaxUnanswered);
  outcome.message = Request(queue);
  tries_ = std::min<uint8_t>(tries_ + 1, kMaxDoublings);
  request_at_ = now + (kRequestAfter * (1u << tries_));
  return outcome;
}

}  // namespace suede
