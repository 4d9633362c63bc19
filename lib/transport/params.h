// SPDX-License-Identifier: Apache-2.0
// The configuration of both directions of a connection (wire profile §6).
#ifndef SUEDE_TRANSPORT_PARAMS_H_
#define SUEDE_TRANSPORT_PARAMS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

// The scope of a connection: {instance, port, remote XPU}, or the same and the VC.
enum class PsnScope : uint8_t { kPort = 0, kVc = 1 };

// Repetition of lost PDUs: of all from the first on, or of the lost ones where the peer agrees
// (docs/repair.md).
enum class LossRecovery : uint8_t { kGoBackN = 0, kSelective = 1 };

struct TransportParams {
  PsnScope psn_scope = PsnScope::kPort;
  LossRecovery recovery = LossRecovery::kGoBackN;
  uint32_t window_pdus = 512;        // 1 to kMaxWindowPdus
  uint32_t window_bytes = 1u << 20;  // bytes of commands in flight
  // PDUs without an acknowledgement, or time, after which a stand-alone ACK leaves; under load,
  // after ack_bound() at the latest.
  uint32_t ack_every_pdus = 32;
  Duration ack_delay = std::chrono::microseconds(20);
  Duration nack_timeout = std::chrono::microseconds(500);
  // Data may arrive this much later than a PDU that announces it in another class, and later if
  // longer delays were measured; see ReceiveHalf::ReorderAllowance.
  Duration reorder_allowance = std::chrono::microseconds(20);
  Duration rto_initial = std::chrono::milliseconds(5);  // before the first RTT is known
  Duration rto_min = std::chrono::milliseconds(1);
  Duration rto_max = std::chrono::milliseconds(200);
  uint32_t max_tries = 10;  // timeouts in a row, after which the peer is
                            // unreachable
  Duration not_ready_backoff = std::chrono::microseconds(100);
  // Time for which silence does not count while the own device lets no frame leave; 0: it counts.
  Duration pause_limit = std::chrono::milliseconds(100);
  Duration hello_timeout = std::chrono::milliseconds(2);
  uint32_t hello_tries = 5;

  // Max wait of an acknowledgement that covers several PDUs: below the time after which the sender
  // takes its PDU for lost, which includes the waits that the sender has measured.
  Duration ack_bound() const { return std::max(ack_delay, std::min(16 * ack_delay, rto_min / 2)); }
  friend bool operator==(const TransportParams&, const TransportParams&) = default;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_PARAMS_H_
