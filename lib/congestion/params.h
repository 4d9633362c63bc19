// SPDX-License-Identifier: Apache-2.0
// The configuration of congestion control (docs/congestion.md).
#ifndef SUEDE_CONGESTION_PARAMS_H_
#define SUEDE_CONGESTION_PARAMS_H_

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

// The law by which a source bounds its octets in flight to a destination.
enum class CongestionControl : uint8_t {
  kFixed = 0,  // the transport's window alone
  kRccc = 1,   // credit that the destination grants
  kNscc = 2,   // a window that follows round trips, ECN marks and losses
};

// The parameters of an instance.
struct CongestionParams {
  CongestionControl control = CongestionControl::kFixed;

  // The round trip through an empty network, as far as known: min 1 ns. The bandwidth-delay product
  // (BDP) of a plane is its rate * base_rtt. NSCC replaces it by its measurement.
  Duration base_rtt = std::chrono::microseconds(10);

  // ---- RCCC.

  // Credit that a source has without a request, in percent of the BDP, 1 to 1000; min one largest
  // PDU. Also the reserve that an idle source restores.
  uint32_t initial_percent = 25;
  // Max request of a source beyond its sent octets, in BDPs: 1 to 64.
  uint32_t ask_bdp = 8;
  // An unanswered request is repeated after `repeat`, then after twice that, and so on up to
  // `repeat_max`. 0: 4 * base_rtt. `repeat_max` is at least `repeat`.
  Duration repeat{};
  Duration repeat_max = std::chrono::milliseconds(1);

  // ---- NSCC. Percentages are of the values in their names; defaults from uet-htsim.

  // Queueing delay at which a source begins to yield, in percent of the base RTT, 10 to 1000. If
  // switches trim, queues are shorter, and 75 fits better.
  uint32_t target_percent = 100;
  // Largest window, in percent of the BDP, 100 to 1000; at least one largest PDU.
  uint32_t window_max_percent = 150;
  // Smallest window, in thousandths of a largest PDU, 1 to 1000. With a window of less than one
  // PDU, one PDU leaves once in several round trips.
  uint32_t window_min_permille = 50;
  // Decrease, in percent of the relative excess of delay, 1 to 100; never below half at once.
  uint32_t decrease_percent = 80;
  // Gains, in percent of uet-htsim's, 1 to 1000: of the increase in proportion to the remaining
  // delay up to the target; of the fair increase, for delay without a mark; of the constant
  // increase per round trip (eta).
  uint32_t proportional_percent = 100;
  uint32_t fair_percent = 100;
  uint32_t eta_percent = 100;
  // The measured base RTT is the smallest round trip of the last two periods of this length; 0: of
  // all times.
  Duration base_rtt_period = std::chrono::seconds(1);
  friend bool operator==(const CongestionParams&, const CongestionParams&) = default;
};

// The parameters that differ between the planes of an instance.
struct PathLimits {
  uint64_t rate_bps = 0;        // of the own port: 1 Mbit/s to 10 Tbit/s
  uint32_t largest_octets = 0;  // wire octets of the largest PDU: 64 to 2^16
};

// The parameters of the receiver's side of RCCC, one set for each queue pair.
struct TargetParams {
  // The granted rate: just under the port's, 99.5 % by default, so that a queue before the port
  // drains. 1 Mbit/s to 10 Tbit/s.
  uint64_t rate_bps = 0;
  // The turn of a sender: the octets that the port receives in this time, but min two largest PDUs.
  Duration slice = std::chrono::microseconds(1);
  // The sources' values; if these differ, the largest.
  Duration base_rtt = std::chrono::microseconds(10);
  uint32_t initial_percent = 25;
  // Max granted credit of a sender that has not arrived, in BDPs, 1 to 64: credit that a source
  // does not use, because it sends elsewhere, is lost to others.
  uint32_t hold_bdp = 4;
  // The credit of a sender that is silent for between one and two such times is written off; min
  // kMinRepeats times the sources' `repeat_max`.
  static constexpr int kMinRepeats = 16;
  Duration age = std::chrono::milliseconds(20);
  uint32_t largest_octets = 0;  // wire octets of the largest PDU: 64 to 2^16
};

}  // namespace suede

#endif  // SUEDE_CONGESTION_PARAMS_H_
