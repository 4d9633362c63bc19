/* SPDX-License-Identifier: Apache-2.0 */
/* Several instances for one XPU: the load of each of them, and a balancer that chooses.
 *
 * Part of libsuede since 1.2. Errors and threads are as in suede.h: a queue is used by one thread
 * at a time. docs/shared-memory.md, "Load", says where the numbers come from and how fresh
 * they are.
 *
 * All queues of a client are of instances that one lcore of the daemon serves. A program that uses
 * instances on several lcores connects once for each lcore; a balancer takes queues of any number
 * of clients. What arrives at an instance is claimed over the client of that lcore, as ever.
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
 * Of the whole instance, with the commands of all clients; counts stop at 2^32 - 1. What this
 * client has put into its ring and the daemon has not taken yet is in none of them. Lines are of 64
 * bytes, as a command takes them in a ring. */

typedef struct suede_load {
  uint32_t size;            /* set by the caller: sizeof(suede_load) */
  uint32_t updates;         /* times that the daemon has written the state, modulo 2^31: 15,000 a
                               second under load, 100 without; one that stands still is stale */
  uint32_t is_down;         /* 1: taken out of service, or its port is; nothing leaves */
  uint32_t load;            /* what is before a new command, in lines: credit_lines and
                               inflight_bytes / 64 */
  uint32_t queued_pdus;     /* packed or being packed, not sent yet */
  uint32_t inflight_pdus;   /* sent and not acknowledged */
  uint32_t inflight_bytes;  /* of commands, in those */
  uint32_t credit_lines;    /* lines taken from rings whose credit has not come back */
  uint32_t paused_destinations;      /* XPUs that are not ready on at least one VC, 0 to 1023 */
  uint32_t unreachable_destinations; /* XPUs that are unreachable on at least one VC */
} suede_load;

/* Reads it; costs a miss of the cache or two, and no system call. Any thread. 0; -EINVAL; -ENOTSUP
 * the daemon shows none; -EAGAIN it is being written; -ECONNRESET the client is not connected. */
SUEDE_API int suede_get_load(const suede_queue* queue, suede_load* load);

/* Asks to be told of a destination, 0 to 1023, from now on and after a suede_reconnect, too. At
 * most 16 of each queue. Asking again changes nothing. 0; -ENOSPC 16 are watched; -EINVAL,
 * -ENOTSUP, -ECONNRESET. */
SUEDE_API int suede_watch_destination(suede_queue* queue, uint16_t xpuid);
/* No longer. 0; -ENOENT it is not watched; -EINVAL. */
SUEDE_API int suede_unwatch_destination(suede_queue* queue, uint16_t xpuid);

typedef struct suede_destination {
  uint32_t size;            /* set by the caller: sizeof(suede_destination) */
  uint32_t updates;         /* times that this was written, modulo 2^31 */
  uint32_t is_known;        /* 0: no peer of the instance; the rest is 0 then */
  uint32_t is_paused;       /* 1: not ready, on at least one VC */
  uint32_t is_unreachable;  /* 1: on at least one VC; commands to it are discarded there */
  uint32_t queued_lines;    /* of this queue's commands to it, taken and not sent yet */
  uint32_t inflight_pdus;   /* sent to it and not acknowledged, of all clients */
  uint32_t inflight_bytes;  /* of commands, in those */
} suede_destination;

/* Reads what the daemon has told last of a destination that is watched: one after the other, one
 * with each update of the queue's state. 0; -ENOENT it is not watched; -EAGAIN nothing was told
 * yet; -EINVAL, -ENOTSUP, -ECONNRESET. */
SUEDE_API int suede_get_destination(const suede_queue* queue, uint16_t xpuid,
                                    suede_destination* destination);

/* ---- Balancer ---- */

typedef struct suede_balancer suede_balancer; /* chooses among queues, each of another instance */

/* Policies, and what becomes of the order of commands. A queue keeps the order of each
 * {destination, VC}, as ever. Of one instance the queues keep the order in which the daemon takes
 * their commands, which is not told; commands that went by different instances have none between
 * them.
 *   ROUND_ROBIN      takes turns, whatever the state of the queues
 *   LEAST_LOADED  the queue with the lowest load, with what of its own the daemon may not have
 *                    counted yet added; equals take turns. An instance on which the destination is
 *                    paused is chosen only before those on which it is unreachable or that are out
 *                    of service, and a queue that is not served comes last
 *   HASH             all commands to a destination take the same queue, whatever its state, as long
 *                    as the number of queues is the same: the order of each {destination, VC} is
 *                    kept */
#define SUEDE_BALANCE_ROUND_ROBIN 1u
#define SUEDE_BALANCE_LEAST_LOADED 2u
#define SUEDE_BALANCE_HASH 3u

#define SUEDE_MAX_BALANCED 64u /* queues of a balancer */

/* Of 1 to 64 queues of one or several clients, which have to outlive it; they may be used beside
 * it. A balancer is used by one thread at a time, and uses its queues as that thread. 0 and
 * *balancer; -EINVAL; -ENOMEM. */
SUEDE_API int suede_balancer_create(suede_queue* const* queues, uint32_t queue_count,
                                    uint32_t policy, suede_balancer** balancer);
/* NULL is permitted. What was sent and not flushed stays in the queues. */
SUEDE_API void suede_balancer_destroy(suede_balancer* balancer);

/* The number, from 0, of the queue that the next command to `xpuid` should take. Sends nothing, but
 * the next choice takes it for sent where the policy takes turns. -EINVAL. */
SUEDE_API int suede_balancer_choose(suede_balancer* balancer, uint16_t xpuid);

/* Sends on the queue that it chooses, as suede_send. Where that does not take the command,
 * ROUND_ROBIN and LEAST_LOADED try all others. The number of the queue that took it, on which
 * its completion comes; -EAGAIN where one of those tried would block; -EINVAL; otherwise the error
 * of the first. */
SUEDE_API int suede_balancer_send(suede_balancer* balancer, const suede_command* command);

/* Shows the daemons what was sent: suede_flush of each queue that has sent since the last time. */
SUEDE_API void suede_balancer_flush(suede_balancer* balancer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_LOAD_H_ */
