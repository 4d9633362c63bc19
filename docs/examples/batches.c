/* SPDX-License-Identifier: Apache-2.0 */
/* A client of suede in C that sends and receives in batches.
 *
 *   batches NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--seconds S]
 *
 * Sends COUNT commands to the peer on VC 0, numbers and squares, alternately by suede_send_batch,
 * from arrays of its own, and by suede_reserve and suede_commit, written in place; receives COUNT
 * commands as spans, and checks each of them. The peer is the program itself, or runs the same
 * program.
 *
 * It ends with 0 once COUNT commands are acknowledged and COUNT have arrived as they were sent;
 * with 1 after S seconds (default 10), 2 on wrong usage, 3 where a command failed or was wrong, 4
 * where the daemon is not reachable or goes away. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suede/suede.h"

#define VC 0
#define BATCH 32
#define CONTROL_BYTES 6 /* two of lengths, then the command's number */
#define DATA_BYTES 8    /* the number's square */

struct run {
  suede_client* client;
  suede_queue* queue;
  uint16_t peer;
  uint32_t count;
  uint32_t sent;
  uint32_t completed;
  uint32_t received;
  uint32_t failed;
  int in_place; /* how the next batch is sent */
};

static int fail(int error) {
  fprintf(stderr, "batches: %s\n", suede_error_text());
  switch (error) {
    case -ENOENT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -ETIMEDOUT:
      return 4;
    default:
      return 1;
  }
}

/* The content of a command: `control` and `data` may lie in the ring, where nothing is aligned. */
static void write_command(uint8_t* control, uint8_t* data, uint32_t number) {
  const uint64_t square = (uint64_t)number * number;
  memcpy(control + 2, &number, sizeof number);
  memcpy(data, &square, sizeof square);
}

/* Both send up to `count` commands and return how many, 0 where the queue would block, or an error.
 */

static int send_copies(struct run* run, uint32_t count) {
  uint8_t control[BATCH][CONTROL_BYTES];
  uint8_t data[BATCH][DATA_BYTES];
  for (uint32_t i = 0; i < count; ++i) write_command(control[i], data[i], run->sent + i);
  suede_set_lengths(control[0], CONTROL_BYTES, DATA_BYTES); /* the first one's are those of all */
  for (uint32_t i = 1; i < count; ++i) memcpy(control[i], control[0], 2);
  const suede_batch batch = {
      .size = sizeof batch,
      .xpuid = run->peer,
      .vc = VC,
      .flags = SUEDE_RECORD_COMPLETION,
      .tag = run->sent, /* the next command's is one more */
      .control = control[0],
      .data = data[0],
      .control_stride = CONTROL_BYTES,
      .data_stride = DATA_BYTES,
  };
  return suede_send_batch(run->queue, &batch, count);
}

static int send_in_place(struct run* run, uint32_t count) {
  const suede_shape shape = {
      .size = sizeof shape,
      .xpuid = run->peer,
      .vc = VC,
      .flags = SUEDE_RECORD_COMPLETION,
      .tag = run->sent,
      .control_bytes = CONTROL_BYTES,
      .data_bytes = DATA_BYTES,
  };
  suede_span span;
  const int n = suede_reserve(run->queue, &shape, count, &span);
  for (int i = 0; i < n; ++i) {
    const size_t at = (size_t)i * span.stride;
    write_command(span.control + at, span.data + at, run->sent + (uint32_t)i);
  }
  return n > 0 ? suede_commit(run->queue, (uint32_t)n) : n;
}

static int send_some(struct run* run) {
  while (run->sent < run->count) {
    const uint32_t left = run->count - run->sent;
    const uint32_t count = left < BATCH ? left : BATCH;
    const int n = run->in_place ? send_in_place(run, count) : send_copies(run, count);
    if (n == 0 || n == -EBUSY) break; /* try again after a wait */
    if (n < 0) return n;
    run->sent += (uint32_t)n;
    run->in_place = !run->in_place;
  }
  suede_flush(run->queue);
  return 0;
}

static int take_completions(struct run* run) {
  struct suede_completion completions[BATCH];
  int n;
  while ((n = suede_poll_completions(run->queue, completions, BATCH)) > 0) {
    for (int i = 0; i < n; ++i) run->failed += completions[i].status != SUEDE_STATUS_OK;
    run->completed += (uint32_t)n;
  }
  return n;
}

static int take_commands(struct run* run) {
  suede_received_span span;
  int n;
  while ((n = suede_receive_span(run->client, VC, &span, BATCH)) > 0) {
    for (uint32_t i = 0; i < span.count; ++i) {
      const size_t at = (size_t)i * span.stride;
      uint32_t number = 0;
      uint64_t square = 0;
      if (span.control_bytes == CONTROL_BYTES && span.data_bytes == DATA_BYTES) {
        memcpy(&number, span.control + at + 2, sizeof number);
        memcpy(&square, span.data + at, sizeof square);
      }
      run->failed += number != run->received + i || square != (uint64_t)number * number;
    }
    run->received += span.count;
    suede_release(run->client, VC);
  }
  return n;
}

static int run_until(struct run* run, time_t deadline) {
  while (run->completed < run->count || run->received < run->count) {
    int error = send_some(run);
    if (error == 0) error = take_completions(run);
    if (error == 0) error = take_commands(run);
    if (error != 0) return fail(error);
    if (run->failed != 0) break;
    if (time(NULL) >= deadline) {
      fprintf(stderr, "batches: time is up: %" PRIu32 " completed, %" PRIu32 " received\n",
              run->completed, run->received);
      return 1;
    }
    const suede_wait_set want = {
        .credit_queues = run->sent < run->count ? 1 : 0, .completion_queues = 1, .rx_vcs = 1 << VC};
    error = suede_wait(run->client, &want, NULL, 200);
    if (error < 0 && error != -EINTR) return fail(error);
  }
  printf("sent %" PRIu32 ", completed %" PRIu32 ", received %" PRIu32 ", failed or wrong %" PRIu32
         "\n",
         run->sent, run->completed, run->received, run->failed);
  return run->failed == 0 ? 0 : 3;
}

int main(int argc, char** argv) {
  long seconds = 10;
  if (argc == 7 && strcmp(argv[5], "--seconds") == 0) {
    seconds = atol(argv[6]);
  } else if (argc != 5) {
    fprintf(stderr, "usage: batches NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--seconds S]\n");
    return 2;
  }
  struct run run = {.peer = (uint16_t)atoi(argv[3]), .count = (uint32_t)atol(argv[4])};
  suede_open_params params = {.size = sizeof params, .queue_count = 1, .instance_count = 1};
  params.instances[0].xpuid = (uint16_t)atoi(argv[2]);
  int error = suede_connect(argv[1], &params, &run.client);
  if (error != 0) return fail(error);
  run.queue = suede_get_queue(run.client, 0);
  error = suede_claim(run.client, params.instances[0].xpuid, 0, 1 << VC);
  const int result = error != 0 ? fail(error) : run_until(&run, time(NULL) + seconds);
  suede_close(run.client);
  return result;
}
