// SPDX-License-Identifier: Apache-2.0
// The configuration of both directions of a connection (wire profile §6).
#ifndef SUEDE_TRANSPORT_PARAMS_H_
#define SUEDE_TRANSPORT_PARAMS_H_

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "base/transport_defaults.h"

namespace suede {

// The scope of a connection: {instance, port, remote XPU}, or the same and the VC.
enum class PsnScope : uint8_t { kPort = 0, kVc = 1 };

struct TransportParams {
  PsnScope psn_scope = PsnScope::kPort;
  uint32_t window_pdus = transport_defaults::kWindowPdus;    // 1 to kMaxWindowPdus
  uint32_t window_bytes = transport_defaults::kWindowBytes;  // bytes of commands in flight
  // PDUs without an acknowledgement, or time, after which a stand-alone ACK leaves; under load,
  // after ack_bound() at the latest.
  uint32_t ack_every_pdus = transport_defaults::kAckEveryPdus;
  Duration ack_delay = transport_defaults::kAckDelay;
  Duration nack_timeout = transport_defaults::kNackTimeout;
  // Data may arrive this much later than a PDU that announces it in another class, and later if
  // longer delays were measured; see ReceiveHalf::ReorderAllowance.
  Duration reorder_allowance = transport_defaults::kReorderAllowance;
  Duration rto_initial = transport_defaults::kRtoInitial;  // before the first RTT is known
  Duration rto_min = transport_defaults::kRtoMin;
  Duration rto_max = transport_defaults::kRtoMax;
  uint32_t max_tries = transport_defaults::kMaxTries;  // timeouts in a row, after which the peer is
                                                       // unreachable
  Duration not_ready_backoff = transport_defaults::kNotReadyBackoff;
  // Time for which silence does not count while the own device lets no frame leave; 0: it counts.
  Duration pause_limit = transport_defaults::kPauseLimit;
  Duration hello_timeout = transport_defaults::kHelloTimeout;
  uint32_t hello_tries = transport_defaults::kHelloTries;

  // Max wait of an acknowledgement that covers several PDUs: far below the time after which the
  // sender takes its PDU for lost.
  Duration ack_bound() const { return std::max(ack_delay, std::min(16 * ack_delay, rto_min / 4)); }
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_PARAMS_H_
