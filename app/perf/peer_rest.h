// SPDX-License-Identifier: Apache-2.0
// Last phase of a peer, after its own runs: serves the other peers until their runs are complete.
#ifndef SUEDE_APP_PERF_PEER_REST_H_
#define SUEDE_APP_PERF_PEER_REST_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/endpoint.h"
#include "perf/message_tags.h"
#include "perf/server.h"

namespace suede::perf {

// The last phase of one worker. Owned by the thread that calls Turn.
template <PerfEndpoint E>
class PeerLinger {
 public:
  // Waits until each of `peers` has completed `runs` runs on each of `vcs`, or nothing was received
  // for `patience`.
  PeerLinger(E& endpoint, ServerWorkload<E>& server, const std::vector<uint16_t>& peers,
             const std::vector<uint8_t>& vcs, size_t runs, Duration patience)
      : endpoint_(endpoint),
        server_(server),
        receiver_(endpoint, vcs),
        peers_(peers),
        vcs_(vcs),
        runs_(runs),
        patience_(patience),
        since_(endpoint.Now()) {}

  bool Turn(Time now) {
    bool worked = receiver_.Poll([this](const ReceivedCommand& command) {
      return !server_.IsForServer(command) || server_.OnCommand(command);
    });
    worked |= server_.Turn(now);
    if (PollCompletions() || worked) since_ = now;
    done_ = now - since_ > patience_ || (server_.IsQuiet() && HaveAll());
    return worked;
  }

  bool done() const { return done_; }

 private:
  bool PollCompletions() {
    suede_completion done[16];
    const uint32_t count = endpoint_.PollCompletions(done, 16);
    for (uint32_t i = 0; i < count; ++i) {
      if (done[i].tag == MessageTags::kTag) server_.tags().OnCompletion();
    }
    return count > 0;
  }
  bool HaveAll() const {
    return std::all_of(vcs_.begin(), vcs_.end(), [&](uint8_t vc) {
      return std::all_of(peers_.begin(), peers_.end(), [&](uint16_t xpuid) {
        return server_.HasServed({xpuid, vc}, runs_);
      });
    });
  }

  E& endpoint_;
  ServerWorkload<E>& server_;
  BatchReceiver<E> receiver_;
  const std::vector<uint16_t> peers_;
  const std::vector<uint8_t> vcs_;
  const size_t runs_;
  const Duration patience_;
  Time since_;
  bool done_ = false;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_PEER_REST_H_
