/* SPDX-License-Identifier: Apache-2.0 */
/* The client library of suede: how a program that plays an XPU sends and receives commands.
 *
 * C11 and C++. libsuede.so.1 implements it; the shared memory behind it is described in
 * docs/shared-memory.md and docs/examples/hello.c is a whole program.
 *
 * Errors: functions that return int give 0 or a count, or a negative errno value; those that can
 * fail for several reasons leave a sentence that suede_error_text() returns.
 *   -EINVAL      an argument is out of its range
 *   -EAGAIN      it would block; nothing was done
 *   -ECONNRESET  the daemon has gone: suede_reconnect, or suede_close. Every suede_flush,
 *                suede_poll_completions and suede_receive that finds nothing looks, at most each
 *                10 ms; suede_send says what any of them has found. What the daemon had delivered
 *                and completed before is handed out first.
 *   -EIO         the daemon has stopped serving the queue: suede_reset_queue
 *   -EBUSY       the queue is in reset (suede_queue_state), or what is claimed belongs to another
 *                client
 *
 * Order: commands of one {source XPU, destination XPU, VC} arrive in the order in which the daemon
 * took them: those of a queue as they were sent; those of several queues, of one client or of
 * several, as the daemon happened to come to them. There is none between VCs, between destinations,
 * between instances of an XPU, nor where the instance's ordering is unordered.
 *
 * Threads: different queues of a client may be used by different threads at the same time, each
 * queue by one at a time; the same holds for the VCs of suede_receive and suede_release. Everything
 * else may be called from any thread, but for suede_reconnect and suede_close, during which no
 * other call on the client may run. No function raises a signal. A client is not usable after
 * fork().
 */
#ifndef SUEDE_SUEDE_H_
#define SUEDE_SUEDE_H_

#include <stdint.h>

#include "layout.h" /* SUEDE_STATUS_…, struct suede_completion */

#ifdef __cplusplus
extern "C" {
#endif

#define SUEDE_ABI_VERSION 1u

#if defined(__GNUC__)
#define SUEDE_API __attribute__((visibility("default")))
#else
#define SUEDE_API
#endif

typedef struct suede_client suede_client; /* a connection to a daemon */
typedef struct suede_queue suede_queue;   /* one of its send queues */

/* SUEDE_ABI_VERSION of the library that is loaded. */
SUEDE_API uint32_t suede_abi_version(void);

/* ---- Connection ---- */

typedef struct suede_instance {
  uint16_t xpuid;   /* the own XPU, 0 to 1023 */
  uint8_t instance; /* number of the instance, 0 to 63 */
  uint8_t reserved; /* 0 */
} suede_instance;

typedef struct suede_open_params {
  uint32_t size;           /* sizeof(suede_open_params) */
  uint32_t queue_count;    /* 1 to 16, and no more than the daemon's limit; 0: 1 */
  uint32_t instance_count; /* entries of instances: 0, 1 or queue_count */
  uint32_t timeout_ms;     /* for the connection and each later request; 0: 5000 */
  /* The instance that each queue sends from; one entry serves all queues. With none, it is the
   * first instance that the daemon names. */
  suede_instance instances[SUEDE_MAX_QUEUES];
} suede_open_params;

/* Connects to the daemon of an endpoint: by its name (as in its configuration), or by the path of
 * its socket, which has a '/' in it. A name stands for /run/suede/NAME/xpu.sock if the caller is
 * root, otherwise $XDG_RUNTIME_DIR/suede/NAME/xpu.sock, and where that is not there
 * /run/suede/NAME/xpu.sock. `params` may be NULL: one queue.
 * 0 and *client; -ENOENT, -ECONNREFUSED no daemon there; -EACCES to the socket, or by the daemon's
 * clients.rules to that XPU (suede_error_text says which); -EPROTO the daemon speaks another
 * version; -EUSERS it has no room for more clients; -ENOTSUP no such instance; -ETIMEDOUT; -EINVAL;
 * -ENOMEM. */
SUEDE_API int suede_connect(const char* name_or_path, const suede_open_params* params,
                            suede_client** client);

/* Connects again after -ECONNRESET, with the same parameters, and repeats the claims. Queues keep
 * their addresses. What had been sent or received before and what had not been completed is
 * forgotten. As suede_connect; on an error the client stays unconnected and may try again. */
SUEDE_API int suede_reconnect(suede_client* client);

/* Gives up the connection; what was flushed is still delivered. NULL is permitted. */
SUEDE_API void suede_close(suede_client* client);

/* 0, or -ECONNRESET. One system call. */
SUEDE_API int suede_status(suede_client* client);

/* A sentence on the last error of the calling thread; never NULL. */
SUEDE_API const char* suede_error_text(void);

typedef struct suede_limits {
  uint32_t size;             /* set by the caller: sizeof(suede_limits) */
  uint32_t max_queues;       /* of a client */
  uint32_t queue_count;      /* of this client */
  uint32_t tx_lines;         /* lines of 64 bytes of a queue's ring */
  uint32_t rx_lines;         /* lines of each VC's receive ring */
  uint32_t completion_count; /* tags that may be outstanding on a queue */
  uint32_t credit_lines;     /* per {destination, VC} and queue */
  uint32_t aggregate_lines;  /* per queue */
  uint32_t pack_limit;       /* bytes of commands that share a PDU */
  uint32_t instance_count;   /* of the daemon; suede_get_instance has them */
  char daemon_version[32];
} suede_limits;

/* What the daemon has told. 0 or -EINVAL. */
SUEDE_API int suede_get_limits(const suede_client* client, suede_limits* limits);

/* The daemon's instance `index`, 0 to instance_count - 1 (at most 255). 0 or -EINVAL. */
SUEDE_API int suede_get_instance(const suede_client* client, uint32_t index,
                                 suede_instance* instance);

/* ---- Sending ---- */

typedef struct suede_command {
  uint16_t xpuid;    /* destination, 0 to 1023 */
  uint8_t vc;        /* 0 to 3 */
  uint8_t flags;     /* SUEDE_RECORD_TRANSMIT_NOW, SUEDE_RECORD_ERROR, SUEDE_RECORD_COMPLETION */
  uint32_t reserved; /* 0 */
  uint64_t tag;      /* comes back in the completion, with SUEDE_RECORD_COMPLETION */
  /* 2 to 18 bytes. Byte 0: bits 3:0 the length of the control in units of 2 bytes, 1 to 9; bit 4
   * data follow; bits 7:5 the caller's. Byte 1: with data, their length - 1, otherwise the
   * caller's. suede_set_lengths fills them in. */
  const uint8_t* control;
  const uint8_t* data; /* 1 to 256 bytes; ignored where bit 4 is not set */
} suede_command;

/* Writes the first two bytes of `control`: its length (2 to 18, even) and the data's (0 to 256).
 * Bits 7:5 of byte 0 stay, and byte 1 where there is no data. 0 or -EINVAL. */
SUEDE_API int suede_set_lengths(uint8_t* control, uint32_t control_bytes, uint32_t data_bytes);

/* Queue 0 to queue_count - 1; NULL for any other. Lives as long as the client. */
SUEDE_API suede_queue* suede_get_queue(suede_client* client, uint32_t index);

/* Copies a command into the queue; the daemon sees it after suede_flush. 0; -EAGAIN where there is
 * no credit for {xpuid, vc}, no room in the ring, or no room for the completion of a tagged command
 * (what was sent is then flushed); -EINVAL, -EBUSY, -EIO, -ECONNRESET. */
SUEDE_API int suede_send(suede_queue* queue, const suede_command* command);

/* Shows the daemon what was sent: once per batch. */
SUEDE_API void suede_flush(suede_queue* queue);

/* Lines of 64 bytes that may be sent to {xpuid, vc} now: a command takes
 * (14 + control + data + 63) / 64. -EINVAL. */
SUEDE_API int suede_credit(suede_queue* queue, uint16_t xpuid, uint8_t vc);

/* Takes up to `max` completions. How many; -ECONNRESET where there are none and no more will come.
 */
SUEDE_API int suede_poll_completions(suede_queue* queue, struct suede_completion* out,
                                     uint32_t max);

/* SUEDE_QUEUE_READY, SUEDE_QUEUE_IN_RESET or SUEDE_QUEUE_BROKEN; -ECONNRESET, -EINVAL. A queue is
 * in reset while its instance is out of service (it, or each of its ports and planes, was set down)
 * and while the daemon drains to its end: suede_send says -EBUSY, and what was handed over before
 * stays, keeps its credit and is completed as ever. A wait for its credit ends as the state
 * changes. By the queue's thread. */
SUEDE_API int suede_queue_state(suede_queue* queue);

/* Discards what the daemon has not packed yet (completed as SUEDE_STATUS_RESET) and gives the queue
 * full credit; brings a queue back that the daemon has stopped serving. Blocks for the reply. By
 * the queue's thread. 0; -ECONNRESET, -ETIMEDOUT (try again), -EBUSY. */
SUEDE_API int suede_reset_queue(suede_queue* queue);

/* ---- Receiving ---- */

typedef struct suede_received {
  const uint8_t* control; /* its first two bytes as sent */
  const uint8_t* data;    /* NULL where there are none */
  uint16_t control_bytes; /* 2 to 18 */
  uint16_t data_bytes;    /* 0 to 256 */
  uint16_t source_xpuid;
  uint16_t own_xpuid;
  uint8_t instance;
  uint8_t vc;
  uint8_t reserved[6];
} suede_received;

/* Asks for (gives up) the commands that arrive at {own XPU, instance} on the VCs of `vc_mask` (bits
 * 0 to 3). Blocks for the reply. 0; -EBUSY another client has one of them; -ENOENT no such
 * instance; -EINVAL, -ECONNRESET, -ETIMEDOUT. */
SUEDE_API int suede_claim(suede_client* client, uint16_t own_xpuid, uint8_t instance,
                          uint32_t vc_mask);
SUEDE_API int suede_unclaim(suede_client* client, uint16_t own_xpuid, uint8_t instance,
                            uint32_t vc_mask);

/* Gives up to `max` commands of a VC. They lie in the ring and stay valid until suede_release. How
 * many; -ECONNRESET where there are none and no more will come; -EINVAL. */
SUEDE_API int suede_receive(suede_client* client, uint8_t vc, suede_received* out, uint32_t max);

/* Gives the room of all commands received so far on the VC back. */
SUEDE_API void suede_release(suede_client* client, uint8_t vc);

/* SUEDE_QUEUE_READY, or SUEDE_QUEUE_IN_RESET while each instance whose commands the client has claimed on the
 * VC is out of service: none will come. What is in the ring stays. -ECONNRESET, -EINVAL. Each
 * change ends a wait for the VC, once. By the VC's thread. */
SUEDE_API int suede_receive_state(suede_client* client, uint8_t vc);

/* ---- Waiting ---- */

typedef struct suede_wait_set {
  uint32_t credit_queues;     /* bit q: credit or room came back to queue q since its last send */
  uint32_t completion_queues; /* bit q: queue q has completions */
  uint32_t rx_vcs;            /* bit vc: commands to receive on vc; and SUEDE_WAIT_EVENTS */
} suede_wait_set;

/* In rx_vcs: an interrupt is pending, for the register event.summary is 1 (docs/registers.md). It
 * stays so until event.status is cleared of what event.mask lets through. Never where the daemon does not let clients
 * read registers. */
#define SUEDE_WAIT_EVENTS 0x80000000u

/* Waits until something of `want` is so; `timeout_ms` < 0: for ever. 1 and *ready (may be NULL); 0
 * after the time; -EINTR; -ECONNRESET; -EINVAL for an empty set. A queue may be waited for by its
 * own thread only, likewise a VC. Wakes within 100 us or so; to react faster, poll. */
SUEDE_API int suede_wait(suede_client* client, const suede_wait_set* want, suede_wait_set* ready,
                         int timeout_ms);

/* For event loops: makes suede_eventfd readable once something of `want` is so. 1 where it is so
 * already (nothing is armed), 0 armed, or an error as above. The next suede_arm or suede_wait of
 * any thread replaces it. Read 8 bytes from the descriptor after each wake-up, and watch
 * suede_status. */
SUEDE_API int suede_arm(suede_client* client, const suede_wait_set* want);

/* The descriptor, which belongs to the client and changes with suede_reconnect; -1 without
 * connection. It does not block, and stays readable once the daemon has gone. */
SUEDE_API int suede_eventfd(const suede_client* client);

/* ---- Management packets: whole Ethernet frames that are not SUE's ----
 *
 * docs/management-packets.md. They are not reliable, and a port carries at most 10,000 a second
 * each way. A suede_packets is a connection of its own; it may be used by one thread at a time. */

typedef struct suede_packets suede_packets;

typedef struct suede_packets_params {
  uint32_t size;       /* sizeof(suede_packets_params) */
  uint32_t receive;    /* 1: wants what the port receives; 0: only sends */
  uint32_t timeout_ms; /* for the connection; 0: 5000 */
  uint32_t port_index; /* of the daemon's ports, from 0, where `port` is NULL */
  const char* port;    /* name of the port, up to 32 characters */
} suede_packets_params;

typedef struct suede_packets_info {
  uint32_t size;       /* set by the caller: sizeof(suede_packets_info) */
  uint32_t port_index;
  uint32_t max_bytes;  /* of a packet, from its Ethernet header on, without FCS */
  uint32_t mtu_bytes;
  uint8_t mac[6];      /* the port's own address */
  uint8_t reserved[2];
  char port[40];       /* its name */
} suede_packets_info;

/* Connects to a port of a daemon, which is named as in suede_connect. 0 and *packets; -ENODEV no
 * such port; -EINVAL; -EIO the daemon serves no packets; otherwise as suede_connect. */
SUEDE_API int suede_packets_open(const char* name_or_path, const suede_packets_params* params,
                                 suede_packets** packets);

/* NULL is permitted. */
SUEDE_API void suede_packets_close(suede_packets* packets);

/* What the daemon has told of the port. 0 or -EINVAL. */
SUEDE_API int suede_packets_get_info(const suede_packets* packets, suede_packets_info* info);

/* Hands over a frame of 14 to max_bytes bytes. 0, which does not mean that it will arrive; -EAGAIN
 * where the daemon has not taken those before; -EINVAL, -ECONNRESET. */
SUEDE_API int suede_packets_send(suede_packets* packets, const void* frame, uint32_t bytes);

/* Takes a received frame. Its bytes; -EAGAIN where there is none; -EMSGSIZE where it had more than
 * `room` bytes, and it is lost; -ECONNRESET. */
SUEDE_API int suede_packets_receive(suede_packets* packets, void* frame, uint32_t room);

/* Received packets that this connection has lost because it was not read in time, as told with the
 * last packet that was received. */
SUEDE_API uint64_t suede_packets_lost(const suede_packets* packets);

/* Readable when there is something to receive, and when the daemon has gone. */
SUEDE_API int suede_packets_fd(const suede_packets* packets);

/* ---- Registers (docs/registers.md; addresses and widths in suede/registers.h) ---- */

/* Reads a register of `width_bits`, 32 or 64, whole. Blocks for the reply. 0; -ENOENT there is none
 * at `address`; -EINVAL the address or the width is not its own; -EACCES the daemon does not let
 * clients read them; -ECONNRESET, -ETIMEDOUT. */
SUEDE_API int suede_register_read(suede_client* client, uint32_t address, uint32_t width_bits,
                                  uint64_t* value);

/* Writes one. What it concerns is in effect when this returns. As above, and: -EINVAL the checks
 * refuse the value; -EACCES it is read-only, or the daemon does not let clients write; -ENOTSUP it
 * takes effect after a restart only, and was not changed; -EBUSY another change is under way: try
 * again. */
SUEDE_API int suede_register_write(suede_client* client, uint32_t address, uint32_t width_bits,
                                   uint64_t value);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_SUEDE_H_ */
