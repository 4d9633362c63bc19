/* SPDX-License-Identifier: Apache-2.0 */
/* Several instances for one XPU: the load of each of them, and a balancer that chooses among them.
 *
 * Part of libsuede since 1.2. Errors and threads are as in suede.h: one thread at a time uses a
 * queue. docs/shared-memory.md, "Load", describes the source of the numbers and their age.
 *
 * One lcore of the daemon serves the instances of all queues of a client. A program that uses
 * instances on several lcores connects once for each lcore; a balancer takes queues of any number
 * of clients. A program claims the commands that arrive at an instance over the client of that
 * instance's lcore, as usual.
 */
#ifndef SUEDE_LOAD_H_
#define SUEDE_LOAD_H_

#include <stdint.h>

#include "suede.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Load state of the instance that a queue is bound to ----
 *
 * The counts are those of the whole instance, with the commands of all clients; they stop at
 * 2^32 - 1. No count includes commands that this client has put into its ring and the daemon has
 * not taken yet. Lines are of 64 bytes, as a command takes them in a ring. */

typedef struct suede_load {
  uint32_t size;            /* set by the caller: sizeof(suede_load) */
  uint32_t updates;         /* times that the daemon has written the state, modulo 2^31: 15,000 a
                               second under load, 100 without; a state whose count does not change
                               is stale */
  uint32_t is_down;         /* 1: the instance or its port is out of service; nothing leaves */
  uint32_t load;            /* lines before a new command: credit_lines and
                               inflight_bytes / 64 */
  uint32_t queued_pdus;     /* packed or being packed, not sent yet */
  uint32_t inflight_pdus;   /* sent and not acknowledged */
  uint32_t inflight_bytes;  /* of commands, in those */
  uint32_t credit_lines;    /* lines taken from rings whose credit was not returned */
  uint32_t paused_destinations;      /* XPUs that are not ready on at least one VC, 0 to 1023 */
  uint32_t unreachable_destinations; /* XPUs that are unreachable on at least one VC */
} suede_load;

/* Reads the load state; costs one or two cache misses, and no system call. Any thread may call it.
 * 0; -EINVAL; -ENOTSUP the daemon writes no load state; -EAGAIN the daemon is writing it;
 * -ECONNRESET the client is not connected. */
SUEDE_API int suede_get_load(const suede_queue* queue, suede_load* load);

/* Watches a destination, 0 to 1023, from now on and after a suede_reconnect, too. A queue watches
 * at most 16 destinations. Watching a destination again changes nothing. 0; -ENOSPC 16 are watched;
 * -EINVAL, -ENOTSUP, -ECONNRESET. */
SUEDE_API int suede_watch_destination(suede_queue* queue, uint16_t xpuid);
/* Ends the watch. 0; -ENOENT the destination is not watched; -EINVAL. */
SUEDE_API int suede_unwatch_destination(suede_queue* queue, uint16_t xpuid);

typedef struct suede_destination {
  uint32_t size;            /* set by the caller: sizeof(suede_destination) */
  uint32_t updates;         /* times that the daemon has written this, modulo 2^31 */
  uint32_t is_known;        /* 0: no peer of the instance; the other fields are 0 then */
  uint32_t is_paused;       /* 1: not ready, on at least one VC */
  uint32_t is_unreachable;  /* 1: on at least one VC; the daemon discards commands to it there */
  uint32_t queued_lines;    /* of this queue's commands to it, taken and not sent yet */
  uint32_t inflight_pdus;   /* sent to it and not acknowledged, of all clients */
  uint32_t inflight_bytes;  /* of commands, in those */
} suede_destination;

/* Reads the last state of a watched destination that the daemon has written; the daemon writes the
 * states of watched destinations one after the other, one with each update of the queue's load
 * state. 0; -ENOENT the destination is not watched; -EAGAIN the daemon has not written its state
 * yet; -EINVAL, -ENOTSUP, -ECONNRESET. */
SUEDE_API int suede_get_destination(const suede_queue* queue, uint16_t xpuid,
                                    suede_destination* destination);

/* ---- Balancer ---- */

typedef struct suede_balancer suede_balancer; /* chooses among queues, each of another instance */

/* Policies, and their effect on the order of commands. A queue keeps the order of each
 * {destination, VC}, as usual. The queues of one instance keep the order in which the daemon takes
 * their commands, which the daemon does not report; commands that took different instances have no
 * order between them.
 *   ROUND_ROBIN      queues take turns, in any state
 *   LEAST_LOADED     the balancer chooses the queue with the lowest load, to which it adds the
 *                    queue's own commands that the daemon may not have counted yet; queues with
 *                    equal load take turns. The balancer chooses an instance on which the
 *                    destination is paused only before those on which it is unreachable or that are
 *                    out of service, and a queue that is not served last
 *   HASH             all commands to a destination take the same queue, in any state, as long as
 *                    the number of queues is the same: the order of each {destination, VC} is
 *                    kept */
#define SUEDE_BALANCE_ROUND_ROBIN 1u
#define SUEDE_BALANCE_LEAST_LOADED 2u
#define SUEDE_BALANCE_HASH 3u

#define SUEDE_MAX_BALANCED 64u /* queues of a balancer */

/* Creates a balancer of 1 to 64 queues of one or several clients. The clients have to outlive the
 * balancer; the program may also use the queues directly. One thread at a time uses a balancer, and
 * the balancer uses its queues as that thread. 0 and *balancer; -EINVAL; -ENOMEM. */
SUEDE_API int suede_balancer_create(suede_queue* const* queues, uint32_t queue_count,
                                    uint32_t policy, suede_balancer** balancer);
/* NULL is permitted. Commands that were sent and not flushed stay in the queues. */
SUEDE_API void suede_balancer_destroy(suede_balancer* balancer);

/* Returns the number, from 0, of the queue that the next command to `xpuid` should take. Sends
 * nothing, but where the policy takes turns the next choice treats the command as sent. -EINVAL. */
SUEDE_API int suede_balancer_choose(suede_balancer* balancer, uint16_t xpuid);

/* Sends on the queue that the balancer chooses, as suede_send. If that queue does not take the
 * command, ROUND_ROBIN and LEAST_LOADED try all other queues. Returns the number of the queue that
 * took the command, on which its completion arrives; -EAGAIN if one of the tried queues would
 * block; -EINVAL; otherwise the error of the first queue. */
SUEDE_API int suede_balancer_send(suede_balancer* balancer, const suede_command* command);

/* Publishes the sent commands to the daemons: calls suede_flush of each queue that has sent since
 * the last flush. */
SUEDE_API void suede_balancer_flush(suede_balancer* balancer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_LOAD_H_ */
