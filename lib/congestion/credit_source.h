// SPDX-License-Identifier: Apache-2.0
// The source's side of RCCC: when it asks its target for credit, and for how much. The octets sent
// and the limit are kept by its owner (CongestionContext).
#ifndef SUEDE_CONGESTION_CREDIT_SOURCE_H_
#define SUEDE_CONGESTION_CREDIT_SOURCE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "congestion/credit.h"
#include "congestion/params.h"

namespace suede {

class CreditSource {
 public:
  CreditSource(const CongestionParams& params, const PathLimits& path, Time now);

  // The limit to begin with: octets that may be sent without a grant. Also the reserve that an idle
  // source keeps.
  int64_t reserve() const { return reserve_; }

  // PDUs are larger from now on. The reserve, which the target counts with, stays.
  void RaiseLargest(uint32_t octets);

  // The plane has another rate, and so another most to ask for. The reserve stays as well.
  void SetRate(const CongestionParams& params, uint64_t rate_bps);

  // The limit after a grant of `credit`, where it was `limit`.
  int64_t OnGrant(Credit24 credit, int64_t limit, const CongestionParams& params, Duration base_rtt,
                  Time now);
  // The limit after a look at the time: larger than `limit` where no grant came for so long that
  // one PDU is sent without.
  int64_t Speculate(int64_t sent, int64_t limit, const CongestionParams& params, Time now);
  // The request that is due, if one is.
  std::optional<CreditRequest> Poll(uint64_t backlog, int64_t sent, int64_t limit,
                                    const CongestionParams& params, Duration base_rtt, Time now);
  // When Speculate and Poll want to be called.
  Time deadline() const { return std::min(repeat_due_, wanted_); }

  std::string_view state_name(int64_t sent, int64_t limit) const;

 private:
  // The numbers of a request, in octets since the beginning.
  struct Numbers {
    int64_t target;
    int64_t sent;
    int64_t limit;
  };
  // Whether the target differs enough from the one that was asked for to be worth a request.
  bool IsNews(const Numbers& numbers) const;
  CreditRequest Ask(const Numbers& numbers, const CongestionParams& params, Duration base_rtt,
                    Time now);
  Duration FirstWait(const CongestionParams& params, Duration base_rtt) const;

  int64_t target_;   // of the last request; before the first one, the reserve
  int64_t highest_;  // of all requests
  uint32_t ask_;     // the most to ask for beyond what was sent and the reserve
  uint32_t reserve_;
  uint32_t largest_;
  uint8_t unanswered_ = 0;    // requests since anything was heard of the target
  uint8_t speculations_ = 0;  // PDUs sent without credit since the last grant
  bool starved_ = false;      // there is a backlog, and not the credit for it
  Time repeat_due_ = kNever;  // while credit that was asked for is not granted
  Time next_request_{};       // none before this time,
  Time wanted_ = kNever;      // which is that of a request that has to wait for it
  Time granted_at_;           // the last grant, or the start
  Time speculate_due_{};      // no PDU without credit before this time
  Time asked_at_{};           // when it began to wait for credit
  Duration wait_{};           // of the last request for its answer
  Duration interval_{};       // between the last two grants, while a request was pending
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CREDIT_SOURCE_H_
