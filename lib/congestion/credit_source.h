// SPDX-License-Identifier: Apache-2.0
// The source's side of RCCC: when it requests credit from its target, and how much. Its owner
// (CongestionContext) keeps the octets sent and the limit.
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

  // The initial limit: octets that may be sent without a grant. Also the reserve that an idle
  // source keeps.
  int64_t reserve() const { return reserve_; }

  // PDUs are larger from now on. The reserve, on which the target relies, is unchanged.
  void RaiseLargest(uint32_t octets);

  // The plane has another rate, and so another max request. The reserve is unchanged, too.
  void SetRate(const CongestionParams& params, uint64_t rate_bps);

  // Returns the limit after a grant of `credit`; `limit`: the limit before.
  int64_t OnGrant(Credit24 credit, int64_t limit, const CongestionParams& params, Duration base_rtt,
                  Time now);
  // Returns the limit at time `now`: larger than `limit` if no grant has arrived for so long that
  // one PDU is sent without.
  int64_t Speculate(int64_t sent, int64_t limit, const CongestionParams& params, Time now);
  // The request that is due, if any.
  std::optional<CreditRequest> Poll(uint64_t backlog, int64_t sent, int64_t limit,
                                    const CongestionParams& params, Duration base_rtt, Time now);
  // When Speculate and Poll are due.
  Time deadline() const { return std::min(repeat_due_, wanted_); }

  std::string_view state_name(int64_t sent, int64_t limit) const;

 private:
  // The numbers of a request, in octets since the beginning.
  struct Numbers {
    int64_t target;
    int64_t sent;
    int64_t limit;
  };
  // Whether the target differs enough from the last request's to be worth a request.
  bool IsNews(const Numbers& numbers) const;
  CreditRequest MakeRequest(const Numbers& numbers, const CongestionParams& params,
                            Duration base_rtt, Time now);
  Duration FirstWait(const CongestionParams& params, Duration base_rtt) const;

  int64_t target_;   // of the last request; before the first, the reserve
  int64_t highest_;  // of all requests
  uint32_t ask_;     // max octets to request beyond those sent and the reserve
  uint32_t reserve_;
  uint32_t largest_;
  uint8_t unanswered_ = 0;    // requests since the target last answered
  uint8_t speculations_ = 0;  // PDUs sent without credit since the last grant
  bool starved_ = false;      // there is a backlog, and not enough credit for it
  Time repeat_due_ = kNever;  // while requested credit is not granted
  Time next_request_{};       // no request before this time,
  Time wanted_ = kNever;      // next_request_ while a request waits for it
  Time granted_at_;           // the last grant, or the start
  Time speculate_due_{};      // no PDU without credit before this time
  Time asked_at_{};           // when the source began to wait for credit
  Duration wait_{};           // of the last request, for its answer
  Duration interval_{};       // between the last two grants, while a request was pending
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CREDIT_SOURCE_H_
