// SPDX-License-Identifier: Apache-2.0
// The functions of suede.h that send and receive in batches.
#include <algorithm>
#include <cerrno>
#include <climits>

#include "client.h"

using suede::Fail;
using suede::FailGone;
using suede::FailNull;

namespace {

// Bits 7:5 of a control's byte 0, which the caller defines.
constexpr uint32_t kTypeBits = 0xe0;

int CheckBatch(const suede_queue* queue, const suede_batch* batch) {
  if (queue == nullptr) return FailNull("send", "queue", "suede_get_queue");
  if (batch == nullptr || batch->size != sizeof *batch) {
    return Fail(-EINVAL, "suede_batch.size is not set, or another version's");
  }
  if (batch->control == nullptr) return FailNull("send", "its control", "memory of your own");
  if ((batch->control[0] & 0x10) != 0 && batch->data == nullptr) {
    return Fail(-EINVAL, "the control says that data follow, and there are none");
  }
  return 0;
}

int CheckShape(const suede_queue* queue, const suede_shape* shape) {
  if (queue == nullptr) return FailNull("reserve", "queue", "suede_get_queue");
  if (shape == nullptr || shape->size != sizeof *shape) {
    return Fail(-EINVAL, "suede_shape.size is not set, or another version's");
  }
  if (shape->control_bytes < 2 || shape->control_bytes > 18 || shape->control_bytes % 2 != 0 ||
      shape->data_bytes > 256) {
    return Fail(-EINVAL, "a control has 2 to 18 bytes, an even number, and data at most 256");
  }
  if ((shape->type & ~kTypeBits) != 0 ||
      std::any_of(shape->reserved, std::end(shape->reserved), [](uint8_t byte) { return byte; })) {
    return Fail(-EINVAL, "suede_shape.type has bits 7 to 5 only, and what is reserved is 0");
  }
  return 0;
}

// Limits a count to the range of int, which exceeds the size of any ring.
uint32_t Bounded(uint32_t count) { return std::min<uint32_t>(count, INT_MAX); }

}  // namespace

extern "C" {

int suede_send_batch(suede_queue* queue, const suede_batch* batch, uint32_t count) {
  if (const int result = CheckBatch(queue, batch); result != 0) return result;
  if (!queue->ring || queue->is_resetting) [[unlikely]]
    return queue->FailUnusable();
  const suede::ClientRun run{.first = {.xpuid = batch->xpuid,
                                       .vc = batch->vc,
                                       .flags = batch->flags,
                                       .tag = batch->tag,
                                       .control = batch->control,
                                       .data = batch->data},
                             .control_stride = batch->control_stride,
                             .data_stride = batch->data_stride};
  uint32_t sent = 0;
  const suede::SendResult result = queue->ring->SendRun(run, Bounded(count), &sent);
  if (result != suede::SendResult::kOk) {
    if (result == suede::SendResult::kInvalid) {
      return suede::FailCommand({.xpuid = batch->xpuid,
                                 .vc = batch->vc,
                                 .flags = batch->flags,
                                 .control_units = batch->control[0] & 0x0fu});
    }
    const int error = queue->FailSend(result);
    if (error != -EAGAIN) return error;
  }
  if (queue->client->is_gone()) [[unlikely]]
    return FailGone();
  return static_cast<int>(sent);
}

int suede_reserve(suede_queue* queue, const suede_shape* shape, uint32_t count, suede_span* span) {
  if (span == nullptr) return FailNull("reserve", "span", "a variable of your own");
  *span = {};
  if (const int result = CheckShape(queue, shape); result != 0) return result;
  if (!queue->ring || queue->is_resetting) [[unlikely]]
    return queue->FailUnusable();
  const uint32_t data_bytes = shape->data_bytes;
  const suede::ClientShape command{
      .xpuid = shape->xpuid,
      .vc = shape->vc,
      .flags = shape->flags,
      .type = static_cast<uint8_t>(shape->type | shape->control_bytes / 2 |
                                   (data_bytes != 0 ? 0x10 : 0)),
      .length = static_cast<uint8_t>(data_bytes != 0 ? data_bytes - 1 : 0),
      .tag = shape->tag};
  suede::CommandSpan reserved;
  const suede::SendResult result = queue->ring->Reserve(command, Bounded(count), &reserved);
  if (result != suede::SendResult::kOk) {
    if (result == suede::SendResult::kInvalid) {
      return suede::FailCommand({.xpuid = shape->xpuid,
                                 .vc = shape->vc,
                                 .flags = shape->flags,
                                 .control_units = shape->control_bytes / 2u});
    }
    const int error = queue->FailSend(result);
    return error == -EAGAIN ? 0 : error;
  }
  if (queue->client->is_gone()) [[unlikely]]
    return FailGone();
  *span = {.control = reserved.control,
           .data = reserved.data,
           .stride = reserved.stride,
           .count = reserved.count};
  return static_cast<int>(reserved.count);
}

int suede_commit(suede_queue* queue, uint32_t count) {
  if (queue == nullptr) return FailNull("commit", "queue", "suede_get_queue");
  if (!queue->ring || queue->is_resetting) [[unlikely]]
    return queue->FailUnusable();
  if (queue->client->is_gone()) [[unlikely]]
    return FailGone();
  const suede::SendResult result = queue->ring->Commit(count);
  if (result == suede::SendResult::kInvalid) {
    return Fail(-EINVAL, "so many commands are not reserved, or the reservation is void");
  }
  return result == suede::SendResult::kOk ? static_cast<int>(count) : queue->FailSend(result);
}

int suede_receive_span(suede_client* client, uint8_t vc, suede_received_span* span, uint32_t max) {
  if (client == nullptr) return FailNull("receive", "client", "suede_connect");
  if (span == nullptr) return FailNull("receive", "span", "a variable of your own");
  if (vc >= SUEDE_VCS) return Fail(-EINVAL, "cannot receive: vc is %u; use 0 to 3", vc);
  if (max == 0) return Fail(-EINVAL, "cannot receive: max is 0; use 1 or more");
  *span = {};
  suede_client::Receiver& receiver = client->receivers[vc];
  if (!receiver.ring) return FailGone();
  suede::ReceivedSpan found;
  const uint32_t count = receiver.ring->PollRun(&found, Bounded(max));
  if (count == 0) return client->IsGoneNowAndThen() ? FailGone() : 0;
  *span = {.control = found.control,
           .data = found.data,
           .stride = found.stride,
           .count = count,
           .control_bytes = found.control_bytes,
           .data_bytes = found.data_bytes,
           .source_xpuid = found.source_xpuid,
           .own_xpuid = found.own_xpuid,
           .instance = found.instance,
           .vc = found.vc,
           .reserved = {}};
  return static_cast<int>(count);
}

}  // extern "C"
