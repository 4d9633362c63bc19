// SPDX-License-Identifier: Apache-2.0
// The functions of load.h.
#include "suede/load.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "client.h"
#include "client/balancer.h"

using suede::Fail;

namespace {

// Returns 0 if the queue has a load area, otherwise a negative errno.
int CheckArea(const suede_queue* queue) {
  if (queue == nullptr) return suede::FailNull("get load", "queue", "suede_get_queue");
  if (!queue->load) return Fail(-ECONNRESET, "the client is not connected");
  if (!queue->load->has_area()) {
    return Fail(-ENOTSUP, "the daemon does not show how loaded its instances are");
  }
  return 0;
}

// Returns the slot of a watched destination; SUEDE_WISHES: not watched.
uint32_t SlotOf(const suede_queue* queue, uint16_t xpuid) {
  const auto* end = queue->wishes + SUEDE_WISHES;
  return static_cast<uint32_t>(std::find_if(queue->wishes, end,
                                            [xpuid](uint32_t wish) {
                                              return (wish & SUEDE_WISH_VALID) != 0 &&
                                                     static_cast<uint16_t>(wish) == xpuid;
                                            }) -
                               queue->wishes);
}

int CheckDestination(const suede_queue* queue, uint16_t xpuid) {
  if (queue == nullptr) return suede::FailNull("watch an XPU", "queue", "suede_get_queue");
  if (xpuid >= SUEDE_XPUS) {
    return Fail(-EINVAL, "cannot watch an XPU: xpuid is %u; use 0 to 1023", xpuid);
  }
  return 0;
}

int FailUnwatched() { return Fail(-ENOENT, "the destination is not watched"); }

suede::BalancePolicy PolicyOf(uint32_t policy) {
  switch (policy) {
    case SUEDE_BALANCE_ROUND_ROBIN: return suede::BalancePolicy::kRoundRobin;
    case SUEDE_BALANCE_LEAST_LOADED:
      return suede::BalancePolicy::kLeastLoaded;
    default: return suede::BalancePolicy::kDestinationHash;
  }
}

std::vector<suede::BalancedQueue> ToBalanced(const std::vector<suede_queue*>& queues) {
  std::vector<suede::BalancedQueue> balanced;
  for (const suede_queue* queue : queues) {
    balanced.push_back({.ring = &queue->ring, .load = &queue->load});
  }
  return balanced;
}

}  // namespace

struct suede_balancer {
  suede_balancer(std::vector<suede_queue*> all, uint32_t policy)
      : queues(std::move(all)), rule(PolicyOf(policy), ToBalanced(queues)) {}

  const std::vector<suede_queue*> queues;
  suede::Balancer rule;
  uint64_t unflushed = 0;  // mask of queues with unflushed commands
};

extern "C" {

int suede_get_load(const suede_queue* queue, suede_load* load) {
  if (load == nullptr || load->size != sizeof *load) {
    return Fail(-EINVAL, "suede_load.size is not set, or another version's");
  }
  if (const int result = CheckArea(queue); result != 0) return result;
  suede::LoadState state;
  if (!queue->load->Read(&state, &load->updates)) return -EAGAIN;
  load->is_down = (state.flags & SUEDE_LOAD_DOWN) != 0 ? 1 : 0;
  load->load = state.load;
  load->queued_pdus = state.queued_pdus;
  load->inflight_pdus = state.inflight_pdus;
  load->inflight_bytes = state.inflight_bytes;
  load->credit_lines = state.credit_lines;
  load->paused_destinations = state.paused;
  load->unreachable_destinations = state.unreachable;
  return 0;
}

int suede_watch_destination(suede_queue* queue, uint16_t xpuid) {
  if (const int result = CheckDestination(queue, xpuid); result != 0) return result;
  if (const int result = CheckArea(queue); result != 0) return result;
  if (SlotOf(queue, xpuid) != SUEDE_WISHES) return 0;
  uint32_t slot = 0;
  while (slot < SUEDE_WISHES && queue->wishes[slot] != 0) ++slot;
  if (slot == SUEDE_WISHES) return Fail(-ENOSPC, "a queue watches up to 16 destinations");
  // Adds a serial number, so that a stale answer in the slot does not match.
  queue->wish_serial = (queue->wish_serial + 1) & 0x7fff;
  queue->wishes[slot] = SUEDE_WISH_VALID | queue->wish_serial << 16 | xpuid;
  queue->load->SetWish(slot, queue->wishes[slot]);
  return 0;
}

int suede_unwatch_destination(suede_queue* queue, uint16_t xpuid) {
  if (const int result = CheckDestination(queue, xpuid); result != 0) return result;
  const uint32_t slot = SlotOf(queue, xpuid);
  if (slot == SUEDE_WISHES) return FailUnwatched();
  queue->wishes[slot] = 0;
  if (queue->load && queue->load->has_area()) queue->load->SetWish(slot, 0);
  return 0;
}

int suede_get_destination(const suede_queue* queue, uint16_t xpuid,
                          suede_destination* destination) {
  if (destination == nullptr || destination->size != sizeof *destination) {
    return Fail(-EINVAL, "suede_destination.size is not set, or another version's");
  }
  if (const int result = CheckDestination(queue, xpuid); result != 0) return result;
  if (const int result = CheckArea(queue); result != 0) return result;
  const uint32_t slot = SlotOf(queue, xpuid);
  if (slot == SUEDE_WISHES) return FailUnwatched();
  suede::DestinationState state;
  if (!queue->load->ReadAnswer(slot, queue->wishes[slot], &state, &destination->updates)) {
    return -EAGAIN;
  }
  destination->is_known = (state.flags & SUEDE_DESTINATION_KNOWN) != 0 ? 1 : 0;
  destination->is_paused = (state.flags & SUEDE_DESTINATION_PAUSED) != 0 ? 1 : 0;
  destination->is_unreachable = (state.flags & SUEDE_DESTINATION_UNREACHABLE) != 0 ? 1 : 0;
  destination->queued_lines = state.queued_lines;
  destination->inflight_pdus = state.inflight_pdus;
  destination->inflight_bytes = state.inflight_bytes;
  return 0;
}

int suede_balancer_create(suede_queue* const* queues, uint32_t queue_count, uint32_t policy,
                          suede_balancer** balancer) {
  if (balancer == nullptr) return Fail(-EINVAL, "balancer is NULL");
  *balancer = nullptr;
  if (queues == nullptr || queue_count < 1 || queue_count > SUEDE_MAX_BALANCED ||
      std::find(queues, queues + queue_count, nullptr) != queues + queue_count) {
    return Fail(-EINVAL, "cannot make a balancer: it takes 1 to %u queues, and none may be NULL",
                SUEDE_MAX_BALANCED);
  }
  if (policy < SUEDE_BALANCE_ROUND_ROBIN || policy > SUEDE_BALANCE_HASH) {
    return Fail(-EINVAL, "policy is one of SUEDE_BALANCE_…");
  }
  *balancer = new (std::nothrow)
      suede_balancer(std::vector<suede_queue*>(queues, queues + queue_count), policy);
  return *balancer != nullptr ? 0 : Fail(-ENOMEM, "no memory for a balancer");
}

void suede_balancer_destroy(suede_balancer* balancer) { delete balancer; }

int suede_balancer_choose(suede_balancer* balancer, uint16_t xpuid) {
  if (balancer == nullptr) {
    return suede::FailNull("choose a queue", "balancer", "suede_balancer_create");
  }
  if (xpuid >= SUEDE_XPUS) {
    return Fail(-EINVAL, "cannot choose a queue: xpuid is %u; use 0 to 1023", xpuid);
  }
  return static_cast<int>(balancer->rule.Choose(xpuid));
}

int suede_balancer_send(suede_balancer* balancer, const suede_command* command) {
  if (balancer == nullptr) return suede::FailNull("send", "balancer", "suede_balancer_create");
  if (command == nullptr) return suede::FailNull("send", "command", "memory of your own");
  const size_t count = balancer->queues.size();
  const size_t tries = balancer->rule.MayTryOthers() ? count : 1;
  uint64_t tried = 0;
  int first_error = 0;
  bool would_block = false;
  for (size_t i = 0; i < tries; ++i) {
    const uint32_t chosen = balancer->rule.Choose(command->xpuid, tried);
    const int result = suede_send(balancer->queues[chosen], command);
    if (result == 0) [[likely]] {
      balancer->unflushed |= uint64_t{1} << chosen;
      return static_cast<int>(chosen);
    }
    if (result == -EINVAL) return result;
    would_block |= result == -EAGAIN;
    if (i == 0) first_error = result;
    tried |= uint64_t{1} << chosen;
  }
  return would_block ? -EAGAIN : first_error;
}

void suede_balancer_flush(suede_balancer* balancer) {
  if (balancer == nullptr) return;
  for (; balancer->unflushed != 0; balancer->unflushed &= balancer->unflushed - 1) {
    suede_flush(balancer->queues[static_cast<size_t>(std::countr_zero(balancer->unflushed))]);
  }
}

}  // extern "C"
