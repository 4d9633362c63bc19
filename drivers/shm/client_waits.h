// SPDX-License-Identifier: Apache-2.0
// The waits of a ShmServer's clients: on the boards of lcores, and checked when a timer expires.
//
// Control thread only.
#ifndef SUEDE_SHM_CLIENT_WAITS_H_
#define SUEDE_SHM_CLIENT_WAITS_H_

#include <memory>
#include <vector>

#include "local/fd.h"
#include "shm/protocol.h"
#include "shm/wait_board.h"

namespace suede {

struct ShmClient;
struct ShmServerCounters;

class ClientWaits {
 public:
  // The references outlive this object. `timer`: a timerfd.
  ClientWaits(const std::vector<std::unique_ptr<ShmClient>>& clients,
              const std::vector<WaitBoard*>& boards, ShmServerCounters& counters, Fd timer)
      : clients_(clients), boards_(boards), counters_(counters), timer_(std::move(timer)) {}

  void StartTimer() { SetTimer(false); }
  // Called when the timer has expired.
  void OnTimer();
  // Called when a board is readable.
  void OnBoard();

  // Replaces the client's wait by the requested one.
  void Begin(ShmClient& client, const protocol::Wait& request);
  // Publishes to all clients whether the register event.summary is 1, for which they may wait.
  void SetEventSummary(bool is_set);
  bool event_summary() const { return event_summary_; }

 private:
  void Wake();
  static bool PutUp(ShmClient& client);
  void SetTimer(bool is_fast);

  const std::vector<std::unique_ptr<ShmClient>>& clients_;
  const std::vector<WaitBoard*>& boards_;
  ShmServerCounters& counters_;
  const Fd timer_;
  bool timer_is_fast_ = true;
  bool event_summary_ = false;
};

}  // namespace suede

#endif  // SUEDE_SHM_CLIENT_WAITS_H_
