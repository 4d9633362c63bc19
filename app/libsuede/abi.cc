// SPDX-License-Identifier: Apache-2.0
// The functions of suede.h for connections, queues, receiving and registers.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "client.h"

using suede::Fail;
using suede::FailGone;
using suede::FailNull;
namespace protocol = suede::protocol;

namespace {

constexpr char kConnect[] = "suede_connect";
constexpr char kGetQueue[] = "suede_get_queue";

int FailParams(const suede_open_params& params) {
  if (params.queue_count > SUEDE_MAX_QUEUES) {
    return Fail(-EINVAL, "cannot connect: queue_count is %u; use 1 to %u", params.queue_count,
                SUEDE_MAX_QUEUES);
  }
  if (params.timeout_ms > INT_MAX) {
    return Fail(-EINVAL, "cannot connect: timeout_ms is %u; use at most %d", params.timeout_ms,
                INT_MAX);
  }
  return Fail(-EINVAL, "cannot connect: instance_count is %u; use 0, 1 or queue_count",
              params.instance_count);
}

int CheckParams(const suede_open_params* params, suede_open_params* out) {
  if (params != nullptr) {
    if (params->size != sizeof *params) {
      return Fail(-EINVAL, "suede_open_params.size is not set, or another version's");
    }
    *out = *params;
  }
  if (out->queue_count == 0) out->queue_count = 1;
  if (out->queue_count > SUEDE_MAX_QUEUES || out->timeout_ms > INT_MAX ||
      (out->instance_count > 1 && out->instance_count != out->queue_count)) {
    return FailParams(*out);
  }
  return 0;
}

int CheckWait(const suede_client* client, const suede_wait_set* want) {
  if (client == nullptr) return FailNull("wait", "client", kConnect);
  if (want == nullptr) return FailNull("wait", "want", "a suede_wait_set of your own");
  const uint32_t queues = (1u << client->params.queue_count) - 1;
  const uint32_t any = want->credit_queues | want->completion_queues | want->rx_vcs;
  if (any == 0 || ((want->credit_queues | want->completion_queues) & ~queues) != 0 ||
      (want->rx_vcs & ~SUEDE_WAIT_EVENTS) >= 1u << SUEDE_VCS) {
    return Fail(-EINVAL, "a wait set names queues and VCs that there are, and at least one");
  }
  return 0;
}

int ChangeClaim(suede_client* client, protocol::Type type, uint16_t xpuid, uint8_t instance,
                uint32_t vc_mask) {
  if (client == nullptr) return FailNull("claim", "client", kConnect);
  if (vc_mask == 0 || vc_mask >= 1u << SUEDE_VCS) {
    return Fail(-EINVAL, "cannot claim: vc_mask is 0x%x; use 1 to 15", vc_mask);
  }
  protocol::Claim claim;
  claim.head.type = type;
  claim.instance = {.xpuid = xpuid, .instance = instance};
  claim.vc_mask = vc_mask;
  if (const int result = client->Call(&claim); result != 0) return result;
  const std::lock_guard<std::mutex> lock(client->mutex);
  auto known =
      std::find_if(client->claims.begin(), client->claims.end(), [&](const protocol::Claim& other) {
        return other.instance.xpuid == xpuid && other.instance.instance == instance;
      });
  if (type == protocol::Type::kUnclaim) {
    if (known == client->claims.end()) return 0;
    known->vc_mask &= ~vc_mask;
    if (known->vc_mask == 0) client->claims.erase(known);
  } else if (known == client->claims.end()) {
    client->claims.push_back(claim);
  } else {
    known->vc_mask |= vc_mask;
  }
  return 0;
}

int AccessRegister(suede_client* client, protocol::Register access, uint32_t width_bits,
                   uint64_t* value) {
  if (client == nullptr) return FailNull("access a register", "client", kConnect);
  if (width_bits != 32 && width_bits != 64) {
    return Fail(-EINVAL, "cannot access a register: width_bits is %u; use 32 or 64", width_bits);
  }
  access.width_bits = static_cast<uint16_t>(width_bits);
  return client->Call(&access, value);
}

}  // namespace

extern "C" {

uint32_t suede_abi_version(void) { return SUEDE_ABI_VERSION; }

const char* suede_error_text(void) { return suede::ErrorText(); }

const char* suede_status_text(uint32_t status) {
  switch (status) {
    case SUEDE_STATUS_OK:
      return "delivered: the far side has acknowledged it";
    case SUEDE_STATUS_UNREACHABLE:
      return "not delivered: there is no path to the XPU";
    case SUEDE_STATUS_UNKNOWN_XPU:
      return "not delivered: the endpoint has no such peer; see `peers` in its configuration";
    case SUEDE_STATUS_ERROR_MARK:
      return "discarded: the command carried the error mark";
    case SUEDE_STATUS_MALFORMED:
      return "discarded: not a command, or on a VC that clients.rules forbids";
    case SUEDE_STATUS_NO_CREDIT:
      return "discarded: sent without credit for the destination and VC";
    case SUEDE_STATUS_PEER_RESET:
      return "in doubt: the remote endpoint restarted before it acknowledged the command";
    case SUEDE_STATUS_RESET:
      return "in doubt: the queue or its client was reset";
    case SUEDE_STATUS_IN_DOUBT:
      return "in doubt: sent and never acknowledged";
    default:
      return "no status of a completion";
  }
}

int suede_connect(const char* name_or_path, const suede_open_params* params,
                  suede_client** client) {
  if (client == nullptr) return FailNull("connect", "client", "a variable of your own");
  if (name_or_path == nullptr || *name_or_path == 0) {
    return Fail(-EINVAL, "cannot connect: no name; give an endpoint's name or its socket's path");
  }
  *client = nullptr;
  auto fresh = std::make_unique<suede_client>();
  if (const int result = CheckParams(params, &fresh->params); result != 0) return result;
  fresh->paths = suede::PathsOf(name_or_path);
  if (fresh->params.timeout_ms != 0) fresh->timeout_ms = static_cast<int>(fresh->params.timeout_ms);
  if (const int result = fresh->Connect(); result != 0) return result;
  *client = fresh.release();
  return 0;
}

int suede_reconnect(suede_client* client) {
  if (client == nullptr) return FailNull("reconnect", "client", kConnect);
  const std::lock_guard<std::mutex> lock(client->mutex);
  client->Disconnect();
  int result = client->Connect();
  if (result == 0) result = client->ClaimAgain();
  if (result != 0) client->Disconnect();
  return result;
}

void suede_close(suede_client* client) { delete client; }

int suede_status(suede_client* client) {
  if (client == nullptr) return FailNull("look at the connection", "client", kConnect);
  return client->IsGone() ? FailGone() : 0;
}

int suede_get_limits(const suede_client* client, suede_limits* limits) {
  if (client == nullptr) return FailNull("get limits", "client", kConnect);
  if (limits == nullptr || limits->size != sizeof *limits) {
    return Fail(-EINVAL, "suede_limits.size is not set, or another version's");
  }
  const protocol::Hello& hello = client->hello;
  limits->max_queues = hello.max_queues;
  limits->queue_count = client->params.queue_count;
  limits->tx_lines = hello.tx_lines;
  limits->rx_lines = hello.rx_lines;
  limits->completion_count = hello.completion_count;
  limits->credit_lines = hello.credit_lines;
  limits->aggregate_lines = hello.aggregate_lines;
  limits->pack_limit = hello.pack_limit;
  limits->instance_count = hello.instance_count;
  std::memcpy(limits->daemon_version, hello.daemon_version, sizeof limits->daemon_version);
  limits->daemon_version[sizeof limits->daemon_version - 1] = 0;
  return 0;
}

int suede_get_instance(const suede_client* client, uint32_t index, suede_instance* instance) {
  if (client == nullptr) return FailNull("get an instance", "client", kConnect);
  if (instance == nullptr) return FailNull("get an instance", "instance", "a variable of your own");
  if (index >= client->hello.instance_count || index >= protocol::kMaxHelloInstances) {
    return Fail(-EINVAL, "cannot get an instance: the index is %u; use 0 to instance_count - 1",
                index);
  }
  const protocol::Instance& from = client->hello.instances[index];
  *instance = {.xpuid = from.xpuid, .instance = from.instance, .reserved = 0};
  return 0;
}

int suede_set_lengths(uint8_t* control, uint32_t control_bytes, uint32_t data_bytes) {
  if (control == nullptr || control_bytes < 2 || control_bytes > 18 || control_bytes % 2 != 0 ||
      data_bytes > 256) {
    return Fail(-EINVAL, "a control has 2 to 18 bytes, an even number, and data at most 256");
  }
  control[0] =
      static_cast<uint8_t>((control[0] & 0xe0) | control_bytes / 2 | (data_bytes != 0 ? 0x10 : 0));
  if (data_bytes != 0) control[1] = static_cast<uint8_t>(data_bytes - 1);
  return 0;
}

suede_queue* suede_get_queue(suede_client* client, uint32_t index) {
  if (client == nullptr || index >= client->queues.size()) return nullptr;
  return &client->queues[index];
}

int suede_send(suede_queue* queue, const suede_command* command) {
  if (queue == nullptr || command == nullptr || command->control == nullptr) [[unlikely]] {
    if (queue == nullptr) return FailNull("send", "queue", kGetQueue);
    return FailNull("send", command == nullptr ? "command" : "its control", "memory of your own");
  }
  if (!queue->ring || queue->is_resetting) [[unlikely]]
    return queue->FailUnusable();
  const suede::SendResult result = queue->ring->Send({.xpuid = command->xpuid,
                                                      .vc = command->vc,
                                                      .flags = command->flags,
                                                      .tag = command->tag,
                                                      .control = command->control,
                                                      .data = command->data});
  if (result == suede::SendResult::kOk) [[likely]] {
    if (!queue->client->is_gone()) [[likely]]
      return 0;
    return FailGone();
  }
  if (result == suede::SendResult::kInvalid) {
    return suede::FailCommand({.xpuid = command->xpuid,
                               .vc = command->vc,
                               .flags = command->flags,
                               .control_units = command->control[0] & 0x0fu});
  }
  return queue->FailSend(result);
}

void suede_flush(suede_queue* queue) {
  if (queue == nullptr || !queue->ring) return;
  queue->ring->Flush();
  // Detects a dead daemon for senders that never block, and so call nothing else that checks.
  queue->client->IsGoneNowAndThen();
}

int suede_credit(suede_queue* queue, uint16_t xpuid, uint8_t vc) {
  if (queue == nullptr) return FailNull("get credit", "queue", kGetQueue);
  if (xpuid >= SUEDE_XPUS || vc >= SUEDE_VCS) {
    return Fail(-EINVAL, "cannot get credit: there is no XPU %u, VC %u; use 0 to 1023, 0 to 3",
                xpuid, vc);
  }
  return queue->ring ? static_cast<int>(queue->ring->Credit(xpuid, vc)) : 0;
}

int suede_poll_completions(suede_queue* queue, suede_completion* out, uint32_t max) {
  if (queue == nullptr) return FailNull("poll completions", "queue", kGetQueue);
  if (out == nullptr && max != 0) {
    return FailNull("poll completions", "out", "memory of your own");
  }
  if (!queue->ring) return FailGone();
  const uint32_t count = queue->ring->PollCompletions(out, std::min<uint32_t>(max, INT_MAX));
  if (count == 0 && queue->client->IsGoneNowAndThen()) return FailGone();
  return static_cast<int>(count);
}

int suede_reset_queue(suede_queue* queue) {
  if (queue == nullptr) return FailNull("reset", "queue", kGetQueue);
  if (!queue->ring) return FailGone();
  const bool was_broken = queue->ring->state() == SUEDE_QUEUE_BROKEN;
  queue->ring->Flush();
  queue->ring->Abandon();
  protocol::Reset reset;
  reset.queue = queue->index;
  const bool was_resetting = std::exchange(queue->is_resetting, true);
  if (const int result = queue->client->Call(&reset); result != 0) {
    // After a timeout the daemon may still execute the reset and move the ring's positions.
    queue->is_resetting = was_resetting || result == -ETIMEDOUT;
    return result;
  }
  queue->is_resetting = false;
  queue->ring->Restart(was_broken);
  queue->seen_state = SUEDE_QUEUE_READY;
  return 0;
}

int suede_claim(suede_client* client, uint16_t own_xpuid, uint8_t instance, uint32_t vc_mask) {
  return ChangeClaim(client, protocol::Type::kClaim, own_xpuid, instance, vc_mask);
}

int suede_unclaim(suede_client* client, uint16_t own_xpuid, uint8_t instance, uint32_t vc_mask) {
  return ChangeClaim(client, protocol::Type::kUnclaim, own_xpuid, instance, vc_mask);
}

int suede_receive(suede_client* client, uint8_t vc, suede_received* out, uint32_t max) {
  if (client == nullptr) return FailNull("receive", "client", kConnect);
  if (out == nullptr && max != 0) return FailNull("receive", "out", "memory of your own");
  if (vc >= SUEDE_VCS) return Fail(-EINVAL, "cannot receive: vc is %u; use 0 to 3", vc);
  suede_client::Receiver& receiver = client->receivers[vc];
  if (!receiver.ring) return FailGone();
  suede::ReceivedCommand commands[32];
  uint32_t count = 0;
  while (count < max) {
    const uint32_t n = receiver.ring->Poll(commands, std::min<uint32_t>(max - count, 32));
    for (uint32_t i = 0; i < n; ++i) {
      const suede::ReceivedCommand& from = commands[i];
      out[count++] = {.control = from.control,
                      .data = from.data,
                      .control_bytes = from.control_bytes,
                      .data_bytes = from.data_bytes,
                      .source_xpuid = from.source_xpuid,
                      .own_xpuid = from.own_xpuid,
                      .instance = from.instance,
                      .vc = from.vc,
                      .reserved = {}};
    }
    if (n < 32) break;
  }
  if (count == 0 && client->IsGoneNowAndThen()) return FailGone();
  return static_cast<int>(count);
}

void suede_release(suede_client* client, uint8_t vc) {
  if (client != nullptr && vc < SUEDE_VCS && client->receivers[vc].ring)
    client->receivers[vc].ring->Release();
}

int suede_wait(suede_client* client, const suede_wait_set* want, suede_wait_set* ready,
               int timeout_ms) {
  if (const int result = CheckWait(client, want); result != 0) return result;
  suede_wait_set found{};
  protocol::Wait wait;
  if (!client->MakeWait(*want, &wait)) return FailGone();
  const int64_t deadline = timeout_ms < 0 ? INT64_MAX / 2 : suede::ClockMs() + timeout_ms;
  int result = 0;
  for (;;) {
    if (client->IsReady(wait, &found)) {
      result = 1;
      break;
    }
    if (client->IsGone()) return FailGone();
    if (result < 0 || suede::ClockMs() >= deadline) break;
    result = client->WaitOnce(wait, deadline);
  }
  // Records the states, so that each change ends only one wait.
  for (uint32_t vc = 0; vc < SUEDE_VCS; ++vc) {
    if ((want->rx_vcs & 1u << vc) != 0) client->receivers[vc].seen_state = client->ReceiveState(vc);
  }
  if (ready != nullptr) *ready = found;
  return result;
}

int suede_queue_state(suede_queue* queue) {
  if (queue == nullptr) return FailNull("get a state", "queue", kGetQueue);
  if (!queue->ring || queue->client->IsGoneNowAndThen()) return FailGone();
  queue->seen_state = queue->ring->state();
  return static_cast<int>(queue->seen_state);
}

int suede_receive_state(suede_client* client, uint8_t vc) {
  if (client == nullptr) return FailNull("get a state", "client", kConnect);
  if (vc >= SUEDE_VCS) return Fail(-EINVAL, "cannot get a state: vc is %u; use 0 to 3", vc);
  if (client->segment == nullptr || client->IsGoneNowAndThen()) return FailGone();
  client->receivers[vc].seen_state = client->ReceiveState(vc);
  return static_cast<int>(client->receivers[vc].seen_state);
}

int suede_arm(suede_client* client, const suede_wait_set* want) {
  if (const int result = CheckWait(client, want); result != 0) return result;
  suede_wait_set found{};
  protocol::Wait wait;
  if (!client->MakeWait(*want, &wait) || client->IsGone()) return FailGone();
  if (client->IsReady(wait, &found)) return 1;
  const std::lock_guard<std::mutex> lock(client->mutex);
  return client->channel.TrySend(&wait, sizeof wait) ? 0 : FailGone();
}

int suede_register_read(suede_client* client, uint32_t address, uint32_t width_bits,
                        uint64_t* value) {
  if (value == nullptr) return FailNull("read a register", "value", "a variable of your own");
  return AccessRegister(client, {.address = address}, width_bits, value);
}

int suede_register_write(suede_client* client, uint32_t address, uint32_t width_bits,
                         uint64_t value) {
  return AccessRegister(client, {.address = address, .is_write = 1, .value = value}, width_bits,
                        nullptr);
}

int suede_eventfd(const suede_client* client) { return client == nullptr ? -1 : client->eventfd; }

}  // extern "C"
