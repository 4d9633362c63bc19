// SPDX-License-Identifier: Apache-2.0
// The interface of the endpoints that suede-perf drives.
//
// A concept, not a base class: the engine (stream_load.h) is a template, so sends and receives are
// inlined into its loops. ClientEndpoint connects to a running daemon, EmbedEndpoint uses an
// endpoint in this process, and the tests have a loopback.
#ifndef SUEDE_APP_PERF_ENDPOINT_H_
#define SUEDE_APP_PERF_ENDPOINT_H_

#include <concepts>
#include <cstdint>

#include "base/sue.h"
#include "base/time.h"
#include "client/client_queue.h"

namespace suede::perf {

// The endpoint of one thread: its lanes, which are queues of different instances of the own XPU,
// and the receive rings of its VCs. Each lane is a flow.
template <class E>
concept PerfEndpoint = requires(E endpoint, const ClientCommand& command, const ClientShape& shape,
                                CommandSpan* span, suede_completion* completions,
                                ReceivedSpan* received, uint32_t max, uint32_t vc, uint16_t xpuid,
                                uint32_t lane) {
  { endpoint.lanes() } -> std::convertible_to<uint32_t>;
  // Returns the lane for the next command to `xpuid`. Attempt 1 and later: an alternative lane
  // after the earlier ones rejected the command; negative: none left.
  { endpoint.Pick(xpuid, uint32_t{0}) } -> std::same_as<int32_t>;
  // Sends a command; it may stay queued until Flush.
  { endpoint.Send(command, lane) } -> std::same_as<SendResult>;
  // Reserve up to `max` commands to be written in place, and commit them, as ClientQueue.
  { endpoint.Reserve(shape, max, span, lane) } -> std::same_as<SendResult>;
  { endpoint.Commit(max, lane) } -> std::same_as<SendResult>;
  { endpoint.Flush() };
  { endpoint.PollCompletions(completions, max) } -> std::same_as<uint32_t>;
  // Receives up to `max` consecutive commands of one shape. They stay valid until Release(vc),
  // which returns their credit.
  { endpoint.Receive(vc, received, max) } -> std::same_as<uint32_t>;
  { endpoint.Release(vc) };
  // Returns the time of the clock whose times the engine's Poll gets.
  { endpoint.Now() } -> std::same_as<Time>;
  // Maximum of outstanding commands with a completion tag.
  { endpoint.completion_limit() } -> std::convertible_to<uint32_t>;
  // Maximum bytes of commands packed into a PDU.
  { endpoint.pack_limit() } -> std::convertible_to<uint32_t>;
  // Whether the endpoint is lost: the daemon has gone, or the queue is broken.
  { endpoint.lost() } -> std::same_as<bool>;
};

// Lane functions of an endpoint with one queue.
struct SingleLane {
  static constexpr uint32_t lanes() { return 1; }
  static constexpr int32_t Pick(uint16_t, uint32_t attempt) { return attempt == 0 ? 0 : -1; }
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_ENDPOINT_H_
