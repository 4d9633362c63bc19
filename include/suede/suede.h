/* SPDX-License-Identifier: Apache-2.0 */
/* The client library of suede: a program that emulates an XPU sends and receives commands with it.
 *
 * C11 and C++. libsuede.so.1 implements this header; docs/shared-memory.md describes the shared
 * memory behind it, and docs/examples/hello.c is a complete program; docs/examples/batches.c is one
 * that sends and receives in batches.
 *
 * Errors: functions that return int return 0 or a count, or a negative errno value; functions that
 * can fail for several reasons store a sentence that suede_error_text() returns.
 *   -EINVAL      an argument is out of its range, or NULL where that is not permitted
 *   -EAGAIN      the call would block; nothing was done
 *   -ECONNRESET  the daemon has gone: call suede_reconnect or suede_close. Every suede_flush,
 *                suede_poll_completions and suede_receive that finds nothing checks the connection,
 *                at most each 10 ms; suede_send returns the result of these checks (likewise
 *                suede_receive_span, suede_send_batch, suede_reserve, suede_commit). Commands and
 *                completions that the daemon had delivered before are handed out first.
 *   -EIO         the daemon has stopped serving the queue: call suede_reset_queue
 *   -EBUSY       the queue is in reset (suede_queue_state), or another client has claimed the VC
 *
 * Order: commands of one {source XPU, destination XPU, VC} arrive in the order in which the daemon
 * took them: commands of one queue as they were sent; commands of several queues, of one client or
 * of several, in the order in which the daemon served the queues. There is no order between VCs,
 * between destinations, between instances of an XPU, nor where the instance's ordering is
 * unordered.
 *
 * Threads: different threads may use different queues of a client at the same time, one thread at a
 * time each queue; the same holds for the VCs of suede_receive, suede_receive_span and
 * suede_release. Any thread may
 * call all other functions, except suede_reconnect and suede_close, during which no other call on
 * the client may run. No function raises a signal. A client is not usable after fork().
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

/* Returns SUEDE_ABI_VERSION of the loaded library. */
SUEDE_API uint32_t suede_abi_version(void);

/* ---- Connection ---- */

typedef struct suede_instance {
  uint16_t xpuid;   /* the client's own XPU, 0 to 1023 */
  uint8_t instance; /* number of the instance, 0 to 63 */
  uint8_t reserved; /* 0 */
} suede_instance;

typedef struct suede_open_params {
  uint32_t size;           /* sizeof(suede_open_params) */
  uint32_t queue_count;    /* 1 to 16, and no more than the daemon's limit; 0: 1 */
  uint32_t instance_count; /* entries of instances: 0, 1 or queue_count */
  uint32_t timeout_ms;     /* for the connection and each later request; 0: 5000 */
  /* The instance to which each queue is bound; one entry serves all queues. Without entries, the
   * queues are bound to the first instance that the daemon names. */
  suede_instance instances[SUEDE_MAX_QUEUES];
} suede_open_params;

/* Connects to the daemon of an endpoint: by its name (as in its configuration), or by the path of
 * its socket, which has a '/' in it. A name stands for /run/suede/NAME/xpu.sock if the caller is
 * root, otherwise $XDG_RUNTIME_DIR/suede/NAME/xpu.sock, and if that does not exist
 * /run/suede/NAME/xpu.sock. `params` may be NULL: one queue.
 * Returns 0 and *client; -ENOENT, -ECONNREFUSED no daemon there; -EACCES access denied to the
 * socket, or by the daemon's clients.rules to that XPU (suede_error_text says which); -EPROTO the
 * daemon speaks another version; -EUSERS the daemon has no room for more clients; -ENOTSUP no such
 * instance; -ETIMEDOUT; -EINVAL; -ENOMEM. */
SUEDE_API int suede_connect(const char* name_or_path, const suede_open_params* params,
                            suede_client** client);

/* Connects again after -ECONNRESET, with the same parameters, and repeats the claims. Queues keep
 * their addresses. The client forgets commands that were sent or received before, and commands that
 * were not completed. Returns as suede_connect; on an error the client stays unconnected and may
 * try again. */
SUEDE_API int suede_reconnect(suede_client* client);

/* Closes the connection; the daemon still delivers flushed commands. NULL is permitted. */
SUEDE_API void suede_close(suede_client* client);

/* Returns 0, or -ECONNRESET. Costs one system call. */
SUEDE_API int suede_status(suede_client* client);

/* Returns a sentence on the last error of the calling thread; never NULL. */
SUEDE_API const char* suede_error_text(void);

/* Returns a sentence on a status of a completion, SUEDE_STATUS_…; never NULL. */
SUEDE_API const char* suede_status_text(uint32_t status);

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

/* Returns the limits that the daemon announced when the client connected. 0 or -EINVAL. */
SUEDE_API int suede_get_limits(const suede_client* client, suede_limits* limits);

/* Returns the daemon's instance `index`, 0 to instance_count - 1 (at most 255). 0 or -EINVAL. */
SUEDE_API int suede_get_instance(const suede_client* client, uint32_t index,
                                 suede_instance* instance);

/* ---- Sending ---- */

typedef struct suede_command {
  uint16_t xpuid;    /* destination, 0 to 1023 */
  uint8_t vc;        /* 0 to 3 */
  uint8_t flags;     /* SUEDE_RECORD_TRANSMIT_NOW, SUEDE_RECORD_ERROR, SUEDE_RECORD_COMPLETION */
  uint32_t reserved; /* 0 */
  uint64_t tag;      /* returned in the completion, with SUEDE_RECORD_COMPLETION */
  /* 2 to 18 bytes. Byte 0: bits 3:0 the length of the control in units of 2 bytes, 1 to 9; bit 4
   * data follow; bits 7:5 belong to the caller. Byte 1: with data, their length - 1, otherwise it
   * belongs to the caller. suede_set_lengths fills these fields in. */
  const uint8_t* control;
  const uint8_t* data; /* 1 to 256 bytes; ignored if bit 4 is not set */
} suede_command;

/* Writes the first two bytes of `control`: its length (2 to 18, even) and the data's (0 to 256).
 * Bits 7:5 of byte 0 stay unchanged, and byte 1 if there is no data. 0 or -EINVAL. */
SUEDE_API int suede_set_lengths(uint8_t* control, uint32_t control_bytes, uint32_t data_bytes);

/* Returns queue 0 to queue_count - 1; NULL for any other index. A queue lives as long as the
 * client. */
SUEDE_API suede_queue* suede_get_queue(suede_client* client, uint32_t index);

/* Copies a command into the queue; the daemon sees it after suede_flush. 0; -EAGAIN if there is no
 * credit for {xpuid, vc}, no room in the ring, or no room for the completion of a tagged command
 * (earlier commands are then flushed); -EINVAL, -EBUSY, -EIO, -ECONNRESET. */
SUEDE_API int suede_send(suede_queue* queue, const suede_command* command);

/* ---- Sending in batches (since 1.4) ----
 *
 * The calls of this part check the shape, the queue's state, credit and ring room once for many
 * commands. Credit, tags, order and errors are exactly those of as many calls of suede_send, and
 * the calls may be mixed at will. */

typedef struct suede_batch {
  uint32_t size;  /* sizeof(suede_batch) */
  uint16_t xpuid; /* destination of all commands, 0 to 1023 */
  uint8_t vc;     /* 0 to 3 */
  uint8_t flags;  /* as in suede_command. SUEDE_RECORD_TRANSMIT_NOW is of the last of the `count`
                     commands only, and of none if fewer are accepted */
  uint64_t tag;   /* of the first command. With SUEDE_RECORD_COMPLETION each further command has the
                     next higher tag (modulo 2^64), otherwise all have this one */
  /* Of the first command, as in suede_command. Each further command's control begins control_stride
   * bytes behind the control before it, and its data data_stride bytes behind the data before them;
   * a stride of 0 gives all commands the same bytes. Any stride is permitted. The lengths in the
   * first two bytes of the first control are those of all commands, whatever the other controls
   * say; the bits of these two bytes that are no length are each control's own. */
  const uint8_t* control;
  const uint8_t* data; /* ignored if bit 4 of the control's byte 0 is not set */
  uint32_t control_stride;
  uint32_t data_stride;
} suede_batch;

/* Copies up to `count` (0 to 2^32 - 1) commands into the queue; the daemon sees them after
 * suede_flush. Returns the number of commands that were accepted, the first ones of the batch.
 * Fewer than `count`, 0 included: where suede_send returns -EAGAIN for the next one (earlier
 * commands are then flushed); go on with the rest after a wait. -EINVAL the shape is out of range,
 * or control or data are missing; -EBUSY, -EIO, -ECONNRESET as suede_send. Called by the queue's
 * thread. */
SUEDE_API int suede_send_batch(suede_queue* queue, const suede_batch* batch, uint32_t count);

/* Reserve and commit: the program writes the content of commands in the ring itself. */

typedef struct suede_shape {
  uint32_t size;  /* sizeof(suede_shape) */
  uint16_t xpuid; /* destination of all commands, 0 to 1023 */
  uint8_t vc;     /* 0 to 3 */
  uint8_t flags;  /* as in suede_command. SUEDE_RECORD_TRANSMIT_NOW is of the last command that
                     is committed only */
  uint64_t tag;   /* as in suede_batch */
  uint16_t control_bytes; /* 2 to 18, even */
  uint16_t data_bytes;    /* 0 to 256 */
  uint8_t type;           /* bits 7:5 of each control's byte 0; bits 4:0 are 0 here */
  uint8_t reserved[3];    /* 0 */
} suede_shape;

typedef struct suede_span {
  uint8_t* control; /* of the first command; bytes 0 and 1 are written already */
  uint8_t* data;    /* of the first command; NULL if data_bytes is 0 */
  uint32_t stride;  /* bytes from a command's control to the next one's; likewise for data */
  uint32_t count;   /* commands */
} suede_span;

/* Reserves room for up to `count` (0 to 2^32 - 1) commands of one shape and stores in *span where
 * their content is to be written. The commands lie in a row, so fewer than `count` are given at the
 * ring's end, too, and where credit, ring or completions end. Returns their number; 0 where not one
 * can be sent now (earlier commands are then flushed), or `count` is 0; -EINVAL, -EBUSY, -EIO and
 * -ECONNRESET as suede_send. Only 0 means that the queue would block: before a wait for credit,
 * commit and reserve again until it is returned.
 *
 * The program writes bytes 2 to control_bytes - 1 of each control, and its data. It leaves byte 0
 * alone, and byte 1 if there are data; without data, byte 1 is the program's (it holds 0). Bytes
 * that the program does not write are undefined.
 *
 * A reservation costs no credit and no tag, and the daemon sees nothing of it. It ends with a
 * suede_commit that succeeds, and is void after each call for this queue of suede_send,
 * suede_send_batch, suede_reserve, suede_credit, suede_reset_queue and suede_balancer_send that
 * returns anything but -EINVAL, and after suede_reconnect. Other calls leave it valid. Called by
 * the queue's thread. */
SUEDE_API int suede_reserve(suede_queue* queue, const suede_shape* shape, uint32_t count,
                            suede_span* span);

/* Sends the first `count` of the reserved commands, as if suede_send had been called for each of
 * them now, and gives up the others; 0 gives up all. The daemon sees them after suede_flush.
 * Returns `count`; -EINVAL if fewer are reserved; -EBUSY, -EIO, -ECONNRESET as suede_send. After an
 * error nothing is sent, and the reservation stays. Called by the queue's thread. */
SUEDE_API int suede_commit(suede_queue* queue, uint32_t count);

/* ---- Publishing, credit, completions ---- */

/* Publishes the sent commands to the daemon: call it once per batch. */
SUEDE_API void suede_flush(suede_queue* queue);

/* Returns the lines of 64 bytes that the queue may send to {xpuid, vc} now: a command takes
 * (14 + control + data + 63) / 64 lines. -EINVAL. */
SUEDE_API int suede_credit(suede_queue* queue, uint16_t xpuid, uint8_t vc);

/* Takes up to `max` completions. Returns their number; -ECONNRESET if there are none and no more
 * will arrive. */
SUEDE_API int suede_poll_completions(suede_queue* queue, struct suede_completion* out,
                                     uint32_t max);

/* Returns SUEDE_QUEUE_READY, SUEDE_QUEUE_IN_RESET or SUEDE_QUEUE_BROKEN; -ECONNRESET, -EINVAL. A
 * queue is in reset while its instance is out of service (the instance, or each of its ports and
 * planes, was set down) and while the daemon drains before it ends: suede_send returns -EBUSY, and
 * commands that were handed over before stay, keep their credit and are completed as usual. A wait
 * for the queue's credit ends when the state changes. Called by the queue's thread. */
SUEDE_API int suede_queue_state(suede_queue* queue);

/* Discards the commands that the daemon has not packed yet (completed as SUEDE_STATUS_RESET) and
 * gives the queue full credit; restores a queue that the daemon has stopped serving. Blocks for the
 * reply. Called by the queue's thread. 0; -ECONNRESET, -ETIMEDOUT (try again), -EBUSY. */
SUEDE_API int suede_reset_queue(suede_queue* queue);

/* ---- Receiving ---- */

typedef struct suede_received {
  const uint8_t* control; /* its first two bytes as sent */
  const uint8_t* data;    /* NULL if there are none */
  uint16_t control_bytes; /* 2 to 18 */
  uint16_t data_bytes;    /* 0 to 256 */
  uint16_t source_xpuid;
  uint16_t own_xpuid;
  uint8_t instance;
  uint8_t vc;
  uint8_t reserved[6];
} suede_received;

/* Claims (gives up) the commands that arrive at {own XPU, instance} on the VCs of `vc_mask` (bits
 * 0 to 3). Blocks for the reply. 0; -EBUSY another client has claimed one of the VCs; -ENOENT no
 * such instance; -EINVAL, -ECONNRESET, -ETIMEDOUT. */
SUEDE_API int suede_claim(suede_client* client, uint16_t own_xpuid, uint8_t instance,
                          uint32_t vc_mask);
SUEDE_API int suede_unclaim(suede_client* client, uint16_t own_xpuid, uint8_t instance,
                            uint32_t vc_mask);

/* Returns up to `max` commands of a VC in `out`. They lie in the ring and stay valid until
 * suede_release. Returns their number; -ECONNRESET if there are none and no more will arrive;
 * -EINVAL. */
SUEDE_API int suede_receive(suede_client* client, uint8_t vc, suede_received* out, uint32_t max);

typedef struct suede_received_span {
  const uint8_t* control; /* of the first command; its first two bytes as sent */
  const uint8_t* data;    /* of the first command; NULL if there are none */
  uint32_t stride;        /* bytes from a command's control to the next one's; likewise for data */
  uint32_t count;         /* commands: 1 or more */
  uint16_t control_bytes; /* 2 to 18, of each command; likewise the further fields */
  uint16_t data_bytes;    /* 0 to 256 */
  uint16_t source_xpuid;
  uint16_t own_xpuid;
  uint8_t instance;
  uint8_t vc;
  uint8_t reserved[6];
} suede_received_span;

/* Since 1.4. Receives the next command of a VC and those behind it that have the same lengths,
 * source XPU, own XPU and instance, up to `max` (1 to 2^32 - 1) commands and to the ring's end: the
 * next call gives the rest. They lie in the ring and stay valid until suede_release. The bits of
 * each control's first two bytes that are no length may differ. Calls of suede_receive may be mixed
 * with it. Returns the number of commands, span->count; 0 if there are none; -ECONNRESET if there
 * are none and no more will arrive; -EINVAL. Called by the VC's thread. */
SUEDE_API int suede_receive_span(suede_client* client, uint8_t vc, suede_received_span* span,
                                 uint32_t max);

/* Returns the ring space of all commands received so far on the VC to the daemon. */
SUEDE_API void suede_release(suede_client* client, uint8_t vc);

/* Returns SUEDE_QUEUE_READY, or SUEDE_QUEUE_IN_RESET while each instance whose commands the client
 * has claimed on the VC is out of service: no commands will arrive. Commands in the ring stay.
 * -ECONNRESET, -EINVAL. Each change ends a wait for the VC, once. Called by the VC's thread. */
SUEDE_API int suede_receive_state(suede_client* client, uint8_t vc);

/* ---- Waiting ---- */

typedef struct suede_wait_set {
  uint32_t credit_queues;     /* bit q: credit or room returned to queue q since its last send */
  uint32_t completion_queues; /* bit q: queue q has completions */
  uint32_t rx_vcs;            /* bit vc: commands to receive on vc; and SUEDE_WAIT_EVENTS */
} suede_wait_set;

/* In rx_vcs: an interrupt is pending, because the register event.summary is 1 (docs/registers.md).
 * It stays pending until the bits of event.status that event.mask lets through are cleared. It is
 * never pending if the daemon does not let clients read registers. */
#define SUEDE_WAIT_EVENTS 0x80000000u

/* Waits until a condition of `want` is true; `timeout_ms` < 0: for ever. Returns 1 and *ready (may
 * be NULL); 0 after the timeout; -EINTR; -ECONNRESET; -EINVAL for an empty set. Only a queue's own
 * thread may wait for the queue, likewise for a VC. The call wakes within 100 us or so; to react
 * faster, poll. */
SUEDE_API int suede_wait(suede_client* client, const suede_wait_set* want, suede_wait_set* ready,
                         int timeout_ms);

/* For event loops: makes suede_eventfd readable once a condition of `want` is true. Returns 1 if a
 * condition is true already (nothing is armed), 0 armed, or an error as above. The next suede_arm
 * or suede_wait of any thread replaces the armed set. Read 8 bytes from the descriptor after each
 * wake-up, and watch suede_status. */
SUEDE_API int suede_arm(suede_client* client, const suede_wait_set* want);

/* Returns the descriptor, which belongs to the client and changes with suede_reconnect; -1 without
 * connection. The descriptor does not block, and stays readable once the daemon has gone. */
SUEDE_API int suede_eventfd(const suede_client* client);

/* ---- Management packets: whole Ethernet frames that are not SUE's ----
 *
 * docs/management-packets.md. Management packets are not reliable, and a port carries at most
 * 10,000 a second each way. A suede_packets is a connection of its own; one thread at a time may
 * use it. */

typedef struct suede_packets suede_packets;

typedef struct suede_packets_params {
  uint32_t size;       /* sizeof(suede_packets_params) */
  uint32_t receive;    /* 1: receives the port's packets; 0: only sends */
  uint32_t timeout_ms; /* for the connection; 0: 5000 */
  uint32_t port_index; /* of the daemon's ports, from 0, if `port` is NULL */
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

/* Connects to a port of a daemon, which is named as in suede_connect. Returns 0 and *packets;
 * -ENODEV no such port; -EINVAL; -EIO the daemon serves no packets; otherwise as suede_connect. */
SUEDE_API int suede_packets_open(const char* name_or_path, const suede_packets_params* params,
                                 suede_packets** packets);

/* Closes the connection. NULL is permitted. */
SUEDE_API void suede_packets_close(suede_packets* packets);

/* Returns the properties of the port that the daemon announced. 0 or -EINVAL. */
SUEDE_API int suede_packets_get_info(const suede_packets* packets, suede_packets_info* info);

/* Hands over a frame of 14 to max_bytes bytes. Returns 0, which does not mean that the frame will
 * arrive; -EAGAIN if the daemon has not taken earlier frames yet; -EINVAL, -ECONNRESET. */
SUEDE_API int suede_packets_send(suede_packets* packets, const void* frame, uint32_t bytes);

/* Takes a received frame. Returns its bytes; -EAGAIN if there is none; -EMSGSIZE if the frame had
 * more than `room` bytes, and the frame is lost; -ECONNRESET. */
SUEDE_API int suede_packets_receive(suede_packets* packets, void* frame, uint32_t room);

/* Returns the number of received packets that this connection has lost because the client did not
 * read them in time, as reported with the last packet that was received. */
SUEDE_API uint64_t suede_packets_lost(const suede_packets* packets);

/* Returns a descriptor that is readable when there is a packet to receive, and when the daemon has
 * gone. */
SUEDE_API int suede_packets_fd(const suede_packets* packets);

/* ---- Registers (docs/registers.md; addresses and widths in suede/registers.h) ---- */

/* Reads a whole register of `width_bits`, 32 or 64. Blocks for the reply. 0; -ENOENT there is no
 * register at `address`; -EINVAL the address or the width is not the register's own; -EACCES the
 * daemon does not let clients read registers; -ECONNRESET, -ETIMEDOUT. */
SUEDE_API int suede_register_read(suede_client* client, uint32_t address, uint32_t width_bits,
                                  uint64_t* value);

/* Writes a register. The change is in effect when this function returns. Returns as above, and:
 * -EINVAL the checks refuse the value; -EACCES the register is read-only, or the daemon does not
 * let clients write; -ENOTSUP the register takes effect after a restart only, and was not changed;
 * -EBUSY another change is under way: try again. */
SUEDE_API int suede_register_write(suede_client* client, uint32_t address, uint32_t width_bits,
                                   uint64_t value);

/* ---- Memory requests that the lcore executes (docs/memory.md, "Windows that the lcore serves")
 * ---- suede_mem_target_add_window of mem.h uses these; programs rarely do. */

/* Asks the daemon that the lcore executes memory requests that arrive at {own XPU, instance} on the
 * VCs of `vc_mask`, once for a client. The client has claimed none of them. Requests for windows of
 * the program, and notices, come to the client's receive rings of these VCs. A reconnected client
 * asks anew. Blocks for the reply. 0; -EBUSY one of the VCs is claimed, or the client has asked
 * before; -EACCES the configuration does not permit it; -EUSERS the lcore has no place for it;
 * -ENOENT, -EINVAL, -ECONNRESET, -ETIMEDOUT. */
SUEDE_API int suede_serve(suede_client* client, uint16_t own_xpuid, uint8_t instance,
                          uint32_t vc_mask);

#define SUEDE_ANY_PARTITION 0xffffffffu

typedef struct suede_window {
  uint32_t size;      /* sizeof(suede_window) */
  uint16_t id;        /* 0 to 4095 */
  uint8_t rights;     /* 1 read, 2 write, 4 atomic */
  uint8_t program;    /* 1: requests are passed on to the client, and the rest means nothing */
  uint32_t key;       /* that requests have to give; 0: none */
  uint32_t partition; /* 0 to 1023: only while the endpoint is in it; or SUEDE_ANY_PARTITION */
  uint64_t bytes;     /* at least 8 */
  uint64_t fd_offset; /* a multiple of the page size of what `fd` names */
  int32_t fd;         /* a memfd with F_SEAL_SHRINK, open for writing; may be closed afterwards */
  uint32_t reserved; /* 0 */
} suede_window;

/* Registers a window. Allocates the missing pages of its memfd, and adds F_SEAL_GROW and
 * F_SEAL_FUTURE_WRITE once the daemon has mapped it: nobody can map it for writing afterwards.
 * Blocks for the reply. 0; -ENOMEM there is no memory for its pages; -EBUSY the id is in use;
 * -EINVAL a number is out of range, or the daemon does not take such a descriptor; -EUSERS a limit
 * is reached, or there is no memory; -ENOENT suede_serve comes first; -ECONNRESET, -ETIMEDOUT. */
SUEDE_API int suede_add_window(suede_client* client, const suede_window* window);
/* When it returns 0, nothing touches the memory any more. -ENOENT no such window. */
SUEDE_API int suede_remove_window(suede_client* client, uint32_t id);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_SUEDE_H_ */
