// SPDX-License-Identifier: Apache-2.0
#include "shm/client_waits.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "shm/client.h"
#include "shm/wait.h"

namespace suede {
namespace {

constexpr int64_t kFastNs = 100'000;
constexpr int64_t kSlowNs = 500'000'000;

}  // namespace

void ClientWaits::OnTimer() {
  uint64_t expirations;
  [[maybe_unused]] const ssize_t n = read(timer_.get(), &expirations, sizeof expirations);
  Wake();
}

void ClientWaits::OnBoard() {
  ++counters_.wait_calls;
  for (const WaitBoard* const board : boards_) board->ClearReady();
  Wake();
}

void ClientWaits::Begin(ShmClient& client, const protocol::Wait& request) {
  client.place.TakeDown();
  client.wait = request;
  const uint32_t queues = (1u << client.segment->shape().queue_count) - 1;
  client.wait.credit_queues &= queues;
  client.wait.completion_queues &= queues;
  client.wait.rx_vcs &= ((1u << SUEDE_VCS) - 1) | protocol::kWaitForEvents;
  client.is_waiting =
      (client.wait.credit_queues | client.wait.completion_queues | client.wait.rx_vcs) != 0;
  if (client.is_waiting) Wake();
}

// Wakes clients whose wait is over. Other waits are left to the lcores; those of clients without a
// slot to the timer.
void ClientWaits::Wake() {
  bool any = false;
  ++counters_.wait_checks;
  for (const std::unique_ptr<ShmClient>& client : clients_) {
    if (!client->is_waiting) continue;
    const Segment& segment = *client->segment;
    if (!FindReady(segment.base(), segment.offsets(), client->wait).any()) {
      any |= !PutUp(*client);
      continue;
    }
    client->is_waiting = false;
    client->place.TakeDown();
    ++counters_.wakeups;
    client->bell->Ring();
  }
  SetTimer(any);
}

// Puts the wait on the lcore's board. Returns false if the client has no slot, or if the lcore has
// not attached the client yet, or has already detached it.
bool ClientWaits::PutUp(ShmClient& client) {
  if (!client.place.ok() || !client.is_open) return false;
  if (!client.place.is_up()) client.place.PutUp(client.wait);
  return true;
}

void ClientWaits::SetEventSummary(bool is_set) {
  if (is_set == event_summary_) return;
  event_summary_ = is_set;
  for (const std::unique_ptr<ShmClient>& client : clients_) {
    if (!client->is_attached) continue;
    auto* const head = static_cast<suede_segment*>(client->segment->base());
    StoreRelease(head->event_summary, is_set ? 1 : 0);
  }
  if (is_set) Wake();
}

void ClientWaits::SetTimer(bool is_fast) {
  if (is_fast == timer_is_fast_) return;
  timer_is_fast_ = is_fast;
  const timespec period{.tv_sec = 0, .tv_nsec = is_fast ? kFastNs : kSlowNs};
  const itimerspec when{.it_interval = period, .it_value = period};
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace suede
