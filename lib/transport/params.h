// What both directions of a connection are configured with (wire profile §6).
#ifndef SUEDE_TRANSPORT_PARAMS_H_
#define SUEDE_TRANSPORT_PARAMS_H_

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace suede {

// What a connection is: {instance, port, remote XPU}, or the same and the VC.
enum class PsnScope : uint8_t { kPort = 0, kVc = 1 };

struct TransportParams {
  PsnScope psn_scope = PsnScope::kPort;
  uint32_t window_pdus = 512;         // 1 to kMaxWindowPdus
  uint32_t window_bytes = 1u << 20;   // octets of commands in flight
  uint32_t ack_every_pdus = 32;       // a stand-alone ACK after this many PDUs without one
  Duration ack_delay = std::chrono::microseconds(20);     // or after this long
  Duration nack_timeout = std::chrono::microseconds(500);
  Duration rto_initial = std::chrono::milliseconds(5);    // before the first RTT is known
  Duration rto_min = std::chrono::milliseconds(1);
  Duration rto_max = std::chrono::milliseconds(200);
  uint32_t max_tries = 10;             // timeouts in a row before the plane is unreachable
  Duration not_ready_backoff = std::chrono::microseconds(100);
  Duration hello_timeout = std::chrono::milliseconds(2);
  uint32_t hello_tries = 5;
};

}  // namespace suede

#endif  // SUEDE_TRANSPORT_PARAMS_H_
