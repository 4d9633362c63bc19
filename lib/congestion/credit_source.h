// SPDX-License-Identifier: Apache-2.0
// The source's side of RCCC: when it asks its target for credit, and for how much. Holds no credit:
// sent octets and the limit are its owner's (CongestionContext).
#ifndef SUEDE_CONGESTION_CREDIT_SOURCE_H_
#define SUEDE_CONGESTION_CREDIT_SOURCE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "congestion/credit.h"
#include "congestion/params.h"

namespace suede {

class CreditSource {
 public:
  CreditSource(const CongestionParams& params, const PathLimits& path);

  // The limit to begin with: what may be sent without a grant. Also the reserve of an idle source.
  int64_t reserve() const { return reserve_; }

  // The limit after a grant of `credit`, where it was `limit`.
  int64_t OnGrant(Credit24 credit, int64_t limit, Time now);
  // No grant came for so long that the source sends one PDU without. Returns the new limit.
  int64_t OnTimer(int64_t sent, int64_t limit, const CongestionParams& params, Time now);
  std::optional<CreditRequest> Poll(uint64_t backlog, int64_t sent, int64_t limit,
                                    const CongestionParams& params, Duration base_rtt, Time now);
  // When OnTimer or Poll wants to be called.
  Time deadline() const;

  std::string_view state_name(int64_t sent, int64_t limit) const;

 private:
  // Whether what was asked for is so far from `target` that it is worth a request.
  bool WantsMore(int64_t target, uint64_t backlog, int64_t sent, int64_t limit) const;

  int64_t asked_;  // the largest limit that was asked for, or had without asking
  int64_t ask_;    // the most to ask for beyond what was sent
  uint32_t reserve_;
  uint32_t largest_;
  Time repeat_due_ = kNever;     // while what was asked for is not granted
  Time next_request_{};          // none before this time
  Time wanted_ = kNever;         // a request that next_request_ holds up
  Time speculate_due_ = kNever;  // while there is a backlog and no grant comes
  Duration wait_{};              // of the last request for its answer
  uint8_t unanswered_ = 0;       // requests since the last grant
  uint8_t speculations_ = 0;     // PDUs sent without credit since the last grant
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_CREDIT_SOURCE_H_
