/* SPDX-License-Identifier: Apache-2.0 */
/* A client of suede in C: claims what arrives at its XPU, sends commands to a peer and prints what
 * arrives and what completes.
 *
 *   hello NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--receive N] [--instance I] [--seconds S]
 *
 * It ends with 0 once all COUNT commands are acknowledged and N commands have arrived; with 1 after
 * S seconds (default 10), 2 on wrong usage, 3 where a command failed, 4 where the daemon is not
 * reachable or goes away. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suede/suede.h"

struct run {
  suede_client* client;
  suede_queue* queue;
  uint16_t own;
  uint16_t peer;
  uint8_t instance;
  long count;  /* to send */
  long expect; /* to receive */
  long sent;
  long completed;
  long failed;
  long received;
};

static int fail(int error) {
  fprintf(stderr, "hello: %s\n", suede_error_text());
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

/* Sends until all are sent or the queue would block: one command in turn on each VC. */
static int send_some(struct run* run) {
  while (run->sent < run->count) {
    uint8_t control[8] = {0};
    char text[64];
    const int length = snprintf(text, sizeof text, "hello %ld from XPU %u", run->sent, run->own);
    suede_set_lengths(control, sizeof control, (uint32_t)length);
    const suede_command command = {
        .xpuid = run->peer,
        .vc = (uint8_t)(run->sent % 4),
        .flags = SUEDE_RECORD_COMPLETION,
        .tag = (uint64_t)run->sent,
        .control = control,
        .data = (const uint8_t*)text,
    };
    const int error = suede_send(run->queue, &command);
    if (error == -EAGAIN || error == -EBUSY) break; /* try again after a wait */
    if (error != 0) return error;
    ++run->sent;
  }
  suede_flush(run->queue);
  return 0;
}

static int take_completions(struct run* run) {
  struct suede_completion completions[32];
  int n;
  while ((n = suede_poll_completions(run->queue, completions, 32)) > 0) {
    for (int i = 0; i < n; ++i) {
      const struct suede_completion* c = &completions[i];
      printf("completed tag %" PRIu64 " to XPU %u VC %u: status %u\n", c->tag, c->xpuid, c->vc,
             c->status);
      if (c->status != SUEDE_STATUS_OK) ++run->failed;
    }
    run->completed += n;
  }
  return n;
}

static int take_commands(struct run* run) {
  suede_received commands[32];
  for (uint8_t vc = 0; vc < 4; ++vc) {
    int n;
    while ((n = suede_receive(run->client, vc, commands, 32)) > 0) {
      for (int i = 0; i < n; ++i) {
        const suede_received* r = &commands[i];
        printf("received from XPU %u VC %u: %.*s\n", r->source_xpuid, r->vc, (int)r->data_bytes,
               r->data != NULL ? (const char*)r->data : "");
      }
      run->received += n;
      suede_release(run->client, vc); /* only now may the ring's room be used again */
    }
    if (n < 0) return n;
  }
  return 0;
}

static int run_until(struct run* run, time_t deadline) {
  for (;;) {
    int error = send_some(run);
    if (error == 0) error = take_completions(run);
    if (error == 0) error = take_commands(run);
    if (error != 0) return fail(error);
    if (run->completed >= run->count && run->received >= run->expect) break;
    if (time(NULL) >= deadline) {
      fprintf(stderr, "hello: time is up: %ld of %ld completed, %ld of %ld received\n",
              run->completed, run->count, run->received, run->expect);
      return 1;
    }
    const suede_wait_set want = {
        .credit_queues = run->sent < run->count ? 1 : 0,
        .completion_queues = 1,
        .rx_vcs = 0xf,
    };
    error = suede_wait(run->client, &want, NULL, 200);
    if (error < 0 && error != -EINTR) return fail(error);
  }
  printf("sent %ld, completed %ld, received %ld\n", run->sent, run->completed, run->received);
  return run->failed == 0 ? 0 : 3;
}

static int usage(void) {
  fprintf(stderr,
          "usage: hello NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--receive N] [--instance I]"
          " [--seconds S]\n");
  return 2;
}

int main(int argc, char** argv) {
  if (argc < 5 || argc % 2 == 0) return usage();
  struct run run = {0};
  long seconds = 10;
  run.own = (uint16_t)atoi(argv[2]);
  run.peer = (uint16_t)atoi(argv[3]);
  run.count = atol(argv[4]);
  for (int i = 5; i < argc; i += 2) {
    const long value = atol(argv[i + 1]);
    if (strcmp(argv[i], "--receive") == 0) {
      run.expect = value;
    } else if (strcmp(argv[i], "--instance") == 0) {
      run.instance = (uint8_t)value;
    } else if (strcmp(argv[i], "--seconds") == 0) {
      seconds = value;
    } else {
      return usage();
    }
  }
  suede_open_params params = {.size = sizeof params, .queue_count = 1, .instance_count = 1};
  params.instances[0].xpuid = run.own;
  params.instances[0].instance = run.instance;
  int error = suede_connect(argv[1], &params, &run.client);
  if (error != 0) return fail(error);
  run.queue = suede_get_queue(run.client, 0);
  error = suede_claim(run.client, run.own, run.instance, 0xf);
  const int result = error != 0 ? fail(error) : run_until(&run, time(NULL) + seconds);
  suede_close(run.client);
  return result;
}
