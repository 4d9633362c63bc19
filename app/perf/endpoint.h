// SPDX-License-Identifier: Apache-2.0
// The functions that suede-perf needs of the endpoint that it drives.
//
// A concept and not a base class: the engine (workload.h) is a template, so that a send or a
// receive is inlined into its loops. ClientEndpoint reaches a running daemon, EmbedEndpoint the
// endpoint hosted in this process, and the tests have a loopback.
#ifndef SUEDE_APP_PERF_ENDPOINT_H_
#define SUEDE_APP_PERF_ENDPOINT_H_

#include <concepts>
#include <cstdint>

#include "base/sue.h"
#include "base/time.h"
#include "client/client_queue.h"

namespace suede::perf {

// One thread's view: one or several queues to send on, its lanes, and the receive rings of the VCs
// it serves. Lanes are of different instances of the own XPU; each is a flow of its own.
template <class E>
concept PerfEndpoint = requires(E endpoint, const ClientCommand& command, const ClientShape& shape,
                                CommandSpan* span, suede_completion* completions,
                                ReceivedSpan* received, uint32_t max, uint32_t vc, uint16_t xpuid,
                                uint32_t lane) {
  { endpoint.lanes() } -> std::convertible_to<uint32_t>;
  // The lane for the next command to `xpuid`; on attempt 1 and later another one for the same
  // command, which those before did not take. Negative: there is none.
  { endpoint.Pick(xpuid, uint32_t{0}) } -> std::same_as<int32_t>;
  // Not visible to the other side before Flush.
  { endpoint.Send(command, lane) } -> std::same_as<SendResult>;
  // Commands whose content the caller writes, up to `max` of them: as ClientQueue has them.
  { endpoint.Reserve(shape, max, span, lane) } -> std::same_as<SendResult>;
  { endpoint.Commit(max, lane) } -> std::same_as<SendResult>;
  { endpoint.Flush() };
  { endpoint.PollCompletions(completions, max) } -> std::same_as<uint32_t>;
  // The next command and those like it, up to `max`. Received commands stay valid until
  // Release(vc), which returns the credit of all of them.
  { endpoint.Receive(vc, received, max) } -> std::same_as<uint32_t>;
  { endpoint.Release(vc) };
  // The clock that the Time given to the engine's Turn comes from.
  { endpoint.Now() } -> std::same_as<Time>;
  // How many commands with a completion tag may be outstanding.
  { endpoint.completion_limit() } -> std::convertible_to<uint32_t>;
  // Bytes of commands that share a PDU.
  { endpoint.pack_limit() } -> std::convertible_to<uint32_t>;
  // True once the endpoint is lost (the daemon has gone, the queue was broken).
  { endpoint.lost() } -> std::same_as<bool>;
};

// The lanes of an endpoint with one queue.
struct SingleLane {
  static constexpr uint32_t lanes() { return 1; }
  static constexpr int32_t Pick(uint16_t, uint32_t attempt) { return attempt == 0 ? 0 : -1; }
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_ENDPOINT_H_
