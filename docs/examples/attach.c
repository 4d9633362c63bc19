/* SPDX-License-Identifier: Apache-2.0 */
/* A bridge in C between the command FIFO of an XPU and suede: docs/attach.md.
 *
 *   attach NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--seconds S]
 *
 * The upper half is the bridge: the interfaces of Tables 1 and 2 of the SUE framework, a command at
 * a time, with the calls of libsuede behind them. The lower half is a small XPU that tries it: it
 * sends COUNT commands to the peer, of which some carry tx_err, as far as it has credit; it takes
 * the commands of the peer, which runs the same program, and checks them; it is slow now and then.
 *
 * It ends with 0 once all commands are completed, those of the peer have arrived in order, and all
 * credit is back; with 1 after S seconds (default 10), 2 on wrong usage, 3 where a command failed
 * or was wrong, 4 where the daemon is not reachable or goes away. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suede/suede.h"

#define VCS 4
#define KINDS 2 /* command only, command with data */
#define SLOTS 8 /* of each {kind, VC} */

/* tx_valid, tx_vc, xpuid, tx_control, tx_data, tx_err; or rx_valid to rx_data. */
struct command {
  uint8_t valid; /* 0 none, 1 command only, 2 command with data */
  uint8_t vc;
  uint8_t err;
  uint16_t xpuid; /* destination; of rx the source */
  uint8_t control[18];
  uint8_t data[256];
};

/* ---- The bridge ---- */

struct bridge {
  suede_client* client;
  suede_queue* queue;
  struct command slots[VCS][KINDS * SLOTS]; /* one order for both kinds */
  uint32_t head[VCS];                       /* commands that the XPU has put into the slots */
  uint32_t tail[VCS];                       /* commands that suede has taken from them */
  uint32_t tx_credit[KINDS][VCS];           /* to be given to the XPU */
  uint32_t rx_credit[KINDS][VCS];           /* of the XPU */
  suede_received waiting[VCS];              /* received, and not taken by the XPU yet */
  int has_waiting[VCS];
  uint32_t completed;
  uint32_t discarded; /* because of tx_err */
  uint32_t failed;
  int tx_reset_out;
};

/* tx_reset_in: discards the commands in the slots and those that the daemon has not packed. All
 * slots are credit again when tx_reset_out ends. */
static int reset_tx(struct bridge* bridge) {
  bridge->tx_reset_out = 1;
  memset(bridge->tx_credit, 0, sizeof bridge->tx_credit);
  memcpy(bridge->tail, bridge->head, sizeof bridge->tail);
  const int error = suede_reset_queue(bridge->queue);
  if (error == -EBUSY || error == -ETIMEDOUT) return 0; /* tried again by update_state */
  if (error != 0) return error;
  bridge->tx_reset_out = 0;
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int vc = 0; vc < VCS; ++vc) bridge->tx_credit[kind][vc] = SLOTS;
  }
  return 0;
}

/* A queue that the daemon takes out of service, or stops serving, is a reset of SUE's own. */
static int update_state(struct bridge* bridge) {
  const int state = suede_queue_state(bridge->queue);
  if (state < 0) return state;
  const int ready = state == (int)SUEDE_QUEUE_READY;
  if (ready == !bridge->tx_reset_out) return 0;
  if (state == (int)SUEDE_QUEUE_IN_RESET) {
    bridge->tx_reset_out = 1;
    return 0;
  }
  return reset_tx(bridge);
}

/* The XPU's command: it has credit for it. */
static void put_tx(struct bridge* bridge, const struct command* command) {
  bridge->slots[command->vc][bridge->head[command->vc]++ % (KINDS * SLOTS)] = *command;
}

/* The VC of tx_credit of a kind, or -1: one a cycle of each kind. */
static int take_tx_credit(struct bridge* bridge, int kind) {
  for (int vc = 0; vc < VCS && !bridge->tx_reset_out; ++vc) {
    if (bridge->tx_credit[kind][vc] == 0) continue;
    --bridge->tx_credit[kind][vc];
    return vc;
  }
  return -1;
}

/* Hands over the commands of a VC in order, up to one for which suede has no credit of
 * {destination, VC}. Each that is taken frees its slot. */
static int hand_over(struct bridge* bridge, int vc) {
  while (bridge->tail[vc] != bridge->head[vc]) {
    const struct command* command = &bridge->slots[vc][bridge->tail[vc] % (KINDS * SLOTS)];
    const suede_command send = {
        .xpuid = command->xpuid,
        .vc = command->vc,
        .flags = (uint8_t)(SUEDE_RECORD_COMPLETION | (command->err ? SUEDE_RECORD_ERROR : 0)),
        .control = command->control,
        .data = command->data,
    };
    const int error = suede_send(bridge->queue, &send);
    if (error == -EAGAIN || error == -EBUSY || error == -EIO) return 0;
    if (error != 0) return error;
    ++bridge->tail[vc];
    ++bridge->tx_credit[command->valid - 1][vc];
  }
  return 0;
}

static int take_completions(struct bridge* bridge) {
  struct suede_completion completions[32];
  int n;
  while ((n = suede_poll_completions(bridge->queue, completions, 32)) > 0) {
    for (int i = 0; i < n; ++i) {
      const uint32_t status = completions[i].status;
      bridge->discarded += status == SUEDE_STATUS_ERROR_MARK;
      bridge->failed += status != SUEDE_STATUS_OK && status != SUEDE_STATUS_ERROR_MARK;
    }
    bridge->completed += (uint32_t)n;
  }
  return n;
}

/* The next command of a VC for the XPU, if it has given credit of the command's kind. It stays in
 * the daemon's ring until then, so that a slow XPU stops its senders, on this VC alone. */
static int get_rx(struct bridge* bridge, uint8_t vc, struct command* command) {
  suede_received* received = &bridge->waiting[vc];
  if (!bridge->has_waiting[vc]) {
    const int n = suede_receive(bridge->client, vc, received, 1);
    if (n <= 0) return n;
    bridge->has_waiting[vc] = 1;
  }
  const int kind = received->data_bytes != 0;
  if (bridge->rx_credit[kind][vc] == 0) return 0;
  --bridge->rx_credit[kind][vc];
  *command =
      (struct command){.valid = (uint8_t)(kind + 1), .vc = vc, .xpuid = received->source_xpuid};
  memcpy(command->control, received->control, received->control_bytes);
  if (kind) memcpy(command->data, received->data, received->data_bytes);
  bridge->has_waiting[vc] = 0;
  suede_release(bridge->client, vc); /* the daemon grants the room to a sender again */
  return 1;
}

static int step_bridge(struct bridge* bridge) {
  int error = update_state(bridge);
  for (int vc = 0; vc < VCS && error == 0; ++vc) error = hand_over(bridge, vc);
  suede_flush(bridge->queue);
  return error != 0 ? error : take_completions(bridge);
}

/* ---- The XPU ---- */

#define RX_PLACES 3 /* of each {kind, VC} */
#define CONTROL_BYTES 8

struct xpu {
  uint16_t peer;
  uint32_t count;
  uint32_t sent;
  uint32_t received;
  uint32_t wrong;
  uint32_t next[VCS];             /* number of the next command of the peer */
  uint32_t tx_credit[KINDS][VCS]; /* of the bridge */
  uint32_t taken[KINDS][VCS];     /* commands whose place is not given back yet */
  uint32_t cycle;
};

static int has_error(uint32_t number) { return number % 50 == 49; }

/* Command `number`: VCs in turn, every other round with data. */
static struct command make(const struct xpu* xpu, uint32_t number) {
  struct command command = {.vc = (uint8_t)(number % VCS), .xpuid = xpu->peer};
  const uint32_t data_bytes = number / VCS % 2 ? number % 256 + 1 : 0;
  command.valid = data_bytes ? 2 : 1;
  command.err = (uint8_t)has_error(number);
  suede_set_lengths(command.control, CONTROL_BYTES, data_bytes);
  memcpy(command.control + 2, &number, sizeof number);
  for (uint32_t i = 0; i < data_bytes; ++i) command.data[i] = (uint8_t)(number + i);
  return command;
}

static void send_some(struct xpu* xpu, struct bridge* bridge) {
  for (int kind = 0; kind < KINDS; ++kind) {
    const int vc = take_tx_credit(bridge, kind);
    if (vc >= 0) ++xpu->tx_credit[kind][vc];
  }
  if (xpu->sent == xpu->count || bridge->tx_reset_out) return;
  const struct command command = make(xpu, xpu->sent);
  uint32_t* credit = &xpu->tx_credit[command.valid - 1][command.vc];
  if (*credit == 0) return;
  --*credit;
  put_tx(bridge, &command);
  ++xpu->sent;
}

static void check(struct xpu* xpu, const struct command* command) {
  uint32_t* number = &xpu->next[command->vc];
  if (has_error(*number)) *number += VCS;
  const struct command expected = make(xpu, *number);
  xpu->wrong += command->xpuid != xpu->peer || command->valid != expected.valid ||
                memcmp(command->control, expected.control, CONTROL_BYTES) != 0 ||
                memcmp(command->data, expected.data, sizeof expected.data) != 0;
  *number += VCS;
  ++xpu->received;
}

/* Takes a command of each VC, and gives the places of those that it took back in some cycles only.
 */
static int receive_some(struct xpu* xpu, struct bridge* bridge) {
  for (uint8_t vc = 0; vc < VCS; ++vc) {
    struct command command;
    const int n = get_rx(bridge, vc, &command);
    if (n < 0) return n;
    if (n == 0) continue;
    check(xpu, &command);
    ++xpu->taken[command.valid - 1][vc];
  }
  if (xpu->cycle++ / 8 % 2) return 0;
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int vc = 0; vc < VCS; ++vc) {
      bridge->rx_credit[kind][vc] += xpu->taken[kind][vc];
      xpu->taken[kind][vc] = 0;
    }
  }
  return 0;
}

/* ---- Both ---- */

static int fail(int error) {
  fprintf(stderr, "attach: %s\n", suede_error_text());
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

static int is_done(const struct xpu* xpu, const struct bridge* bridge) {
  uint32_t home = 0;
  for (int kind = 0; kind < KINDS; ++kind) {
    for (int vc = 0; vc < VCS; ++vc) home += xpu->tx_credit[kind][vc];
  }
  return bridge->completed == xpu->count && xpu->received == xpu->count - xpu->count / 50 &&
         home == KINDS * VCS * SLOTS;
}

static int run_until(struct xpu* xpu, struct bridge* bridge, time_t deadline) {
  int error = reset_tx(bridge); /* an XPU begins with a reset */
  for (int vc = 0; vc < VCS; ++vc) {
    xpu->next[vc] = (uint32_t)vc;
    for (int kind = 0; kind < KINDS; ++kind) xpu->taken[kind][vc] = RX_PLACES;
  }
  while (error == 0 && !is_done(xpu, bridge)) {
    const uint32_t before = xpu->sent + xpu->received + bridge->completed;
    send_some(xpu, bridge);
    error = step_bridge(bridge);
    if (error == 0) error = receive_some(xpu, bridge);
    if (time(NULL) >= deadline) {
      fprintf(stderr, "attach: time is up: %" PRIu32 " completed, %" PRIu32 " received\n",
              bridge->completed, xpu->received);
      return 1;
    }
    if (error != 0 || xpu->sent + xpu->received + bridge->completed != before) continue;
    const suede_wait_set want = {.credit_queues = 1, .completion_queues = 1, .rx_vcs = 0xf};
    error = suede_wait(bridge->client, &want, NULL, 1);
    if (error > 0 || error == -EINTR) error = 0;
  }
  if (error != 0) return fail(error);
  printf("sent %" PRIu32 ", discarded %" PRIu32 ", received %" PRIu32 ", failed or wrong %" PRIu32
         "; all credit is back\n",
         xpu->sent, bridge->discarded, xpu->received, bridge->failed + xpu->wrong);
  return bridge->failed + xpu->wrong == 0 && bridge->discarded == xpu->count / 50 ? 0 : 3;
}

int main(int argc, char** argv) {
  static struct bridge bridge;
  long seconds = 10;
  if (argc == 7 && strcmp(argv[5], "--seconds") == 0) {
    seconds = atol(argv[6]);
  } else if (argc != 5) {
    fprintf(stderr, "usage: attach NAME-OR-SOCKET OWN-XPU PEER-XPU COUNT [--seconds S]\n");
    return 2;
  }
  struct xpu xpu = {.peer = (uint16_t)atoi(argv[3]), .count = (uint32_t)atol(argv[4])};
  suede_open_params params = {.size = sizeof params, .queue_count = 1, .instance_count = 1};
  params.instances[0].xpuid = (uint16_t)atoi(argv[2]);
  int error = suede_connect(argv[1], &params, &bridge.client);
  if (error != 0) return fail(error);
  bridge.queue = suede_get_queue(bridge.client, 0);
  error = suede_claim(bridge.client, params.instances[0].xpuid, 0, 0xf);
  const int result = error != 0 ? fail(error) : run_until(&xpu, &bridge, time(NULL) + seconds);
  suede_close(bridge.client);
  return result;
}
