/* SPDX-License-Identifier: Apache-2.0 */
/* Message sockets between XPUs: streams and datagrams with end-to-end credit, above suede.h.
 *
 * C11 and C++. libsuede-mem.so.1 implements this header with commands of libsuede; docs/sockets.md
 * describes the commands, credit, epochs, and what holds over failures. docs/examples/socket.c is a
 * complete program.
 *
 * A suede_sockets is the access of a program to sockets; it has connections to a daemon. A socket
 * goes one way: the sender and each receiver open one with the same id and epoch.
 *
 * Errors: functions that return int return 0 or a count, or a negative errno value, and store a
 * sentence that suede_mem_error_text() returns.
 *   -EINVAL      an argument is out of its range, or the socket is of the other direction
 *   -EAGAIN      there is no room, or nothing to receive, now
 *   -ETIMEDOUT   the time of the call is over
 *   -ENOTCONN    the socket is not connected yet
 *   -EMSGSIZE    a datagram is longer than permitted, or than the room for it
 *   -ENODATA     the sender has closed, and everything was received
 *   -EIO         the socket or the operation failed: suede_socket_status tells how
 *   -ECONNRESET  the daemon of a plane has gone: its sockets have failed. Close them, and call
 *                suede_sockets_reconnect
 *
 * Threads: any thread may call all functions; calls on one suede_sockets take turns, and a call
 * that waits lets others pass. One thread at a time sends on a socket, or receives. During
 * suede_sockets_close, suede_sockets_reconnect and suede_socket_close no other call on the same
 * object may run. No function raises a signal. Nothing of it is usable after fork().
 */
#ifndef SUEDE_SOCKET_H_
#define SUEDE_SOCKET_H_

#include <stdint.h>

#include "mem.h" /* suede_mem_error_text */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct suede_sockets suede_sockets;
typedef struct suede_socket suede_socket;

/* ---- Status of a socket or an operation ---- */

#define SUEDE_SOCKET_OK 0u
#define SUEDE_SOCKET_PENDING 1u /* of a socket: not connected yet */
/* Said by the peer: */
#define SUEDE_SOCKET_NOT_OPEN 16u  /* it has no socket of this id for this XPU */
#define SUEDE_SOCKET_EPOCH 17u     /* it has one, of another epoch */
#define SUEDE_SOCKET_MISMATCH 18u  /* type, privacy or VC are not the same at both ends */
#define SUEDE_SOCKET_CREDIT 19u    /* more was sent than the receiver has granted */
#define SUEDE_SOCKET_ORDER 20u     /* a command is missing */
#define SUEDE_SOCKET_MALFORMED 21u /* no command of docs/sockets.md */
#define SUEDE_SOCKET_CLOSED 22u    /* the receiver has closed before the sender */
#define SUEDE_SOCKET_ABORTED 23u   /* the sender has given up before its end, or the own side has */
/* Of the own side: */
#define SUEDE_SOCKET_UNREACHABLE 32u /* no path to the peer, or the own daemon has gone */
#define SUEDE_SOCKET_IN_DOUBT 33u    /* unreachable; what was sent last may have arrived or not */
#define SUEDE_SOCKET_TIMED_OUT 34u   /* a deadline passed */
#define SUEDE_SOCKET_RESET 35u       /* the peer has restarted */

/* Returns the name of a status: "OK", "EPOCH", …; "?" for another number. */
SUEDE_API const char* suede_socket_status_name(uint32_t status);
/* Returns a sentence on it; never NULL. */
SUEDE_API const char* suede_socket_status_text(uint32_t status);

/* ---- Access ---- */

typedef struct suede_sockets_params {
  uint32_t size;        /* sizeof(suede_sockets_params) */
  uint32_t plane_count; /* 1 to 16; 0: one, the first instance that the daemon names */
  suede_instance planes[SUEDE_MEM_MAX_PLANES]; /* own instances of one XPU */
  uint32_t timeout_ms;   /* for the connection and each request to the daemon; 0: 5000 */
  uint32_t data_vcs;     /* mask of the VCs of data; 0: VC 2. They are claimed */
  uint32_t control_vcs;  /* mask of one other VC; 0: VC 3. It is claimed */
  uint32_t max_channels; /* sockets, each target of a multicast as one: 1 to 4096; 0: 1024 */
} suede_sockets_params;

/* Connects to the daemon of an endpoint, named as in suede_connect, once for each plane. `params`
 * may be NULL. Returns 0 and *sockets; -EBUSY another client has claimed one of the VCs; otherwise
 * as suede_connect. */
SUEDE_API int suede_sockets_open(const char* name_or_path, const suede_sockets_params* params,
                                 suede_sockets** sockets);
/* Connects again each plane whose daemon has gone. Returns as suede_sockets_open. */
SUEDE_API int suede_sockets_reconnect(suede_sockets* sockets);
/* Closes everything: all suede_socket are void, their peers see them as aborted or closed if they
 * can still be told. NULL is permitted. */
SUEDE_API void suede_sockets_close(suede_sockets* sockets);
/* Returns the own XPU, 0 to 1023. */
SUEDE_API uint16_t suede_sockets_xpuid(const suede_sockets* sockets);

/* Sends and receives what can be without waiting, for all sockets. Every other call but
 * suede_socket_status does so, too. Returns 0; -ECONNRESET once, when a daemon has gone. */
SUEDE_API int suede_sockets_poll(suede_sockets* sockets);
/* Starts (stops) a thread that polls, so that peers are served while the program does something
 * else. 0; -EALREADY there is (is not) one; -EAGAIN. */
SUEDE_API int suede_sockets_start(suede_sockets* sockets);
SUEDE_API int suede_sockets_stop(suede_sockets* sockets);

typedef struct suede_sockets_counts {
  uint32_t size; /* set by the caller: sizeof(suede_sockets_counts) */
  uint32_t reserved;
  uint64_t sent_bytes;        /* to all targets */
  uint64_t sent_commands;     /* of data */
  uint64_t received_bytes;    /* taken from the daemon, by the program or not */
  uint64_t received_commands; /* of data */
  uint64_t spilled_bytes;     /* of received_bytes: that waited in a socket's ring */
  uint64_t refused[8];        /* commands, by status, from SUEDE_SOCKET_NOT_OPEN on */
  uint64_t stray_answers;     /* that fit nothing that is open */
  uint64_t foreign_commands;  /* received on the claimed VCs, and none of sockets */
  uint64_t unanswered;        /* refusals that were not told, as the XPU reads none */
  uint64_t torn_datagrams;    /* whose sender gave them up midway */
  uint64_t starved;           /* times that a receiver's credit was missing */
  uint64_t blocked;           /* times that the daemon's credit or room was missing */
} suede_sockets_counts;

/* 0 or -EINVAL. */
SUEDE_API int suede_sockets_get_counts(suede_sockets* sockets, suede_sockets_counts* counts);

/* ---- Sockets ---- */

#define SUEDE_SOCKET_STREAM 0u   /* octets in order, without boundaries */
#define SUEDE_SOCKET_DATAGRAM 1u /* messages, each whole, in order */
#define SUEDE_SOCKET_SEND 0u
#define SUEDE_SOCKET_RECEIVE 1u
/* A stream that has its VC alone: no other socket of this suede_sockets uses it in this direction
 * and on this plane. */
#define SUEDE_SOCKET_PRIVATE 1u
#define SUEDE_SOCKET_ANY 0xffffu /* a receiver that takes the first sender of its id and epoch */
#define SUEDE_SOCKET_MAX_TARGETS 1023u

typedef struct suede_socket_params {
  uint32_t size; /* sizeof(suede_socket_params) */
  uint16_t id;
  uint8_t type;      /* SUEDE_SOCKET_STREAM or SUEDE_SOCKET_DATAGRAM */
  uint8_t direction; /* SUEDE_SOCKET_SEND or SUEDE_SOCKET_RECEIVE */
  uint32_t epoch;
  uint32_t flags;          /* SUEDE_SOCKET_PRIVATE, at both ends or at none */
  int8_t plane;            /* SUEDE_MEM_AUTO: the receiver's XPU modulo the planes */
  int8_t vc;               /* one of data_vcs, the same at both ends; SUEDE_MEM_AUTO: the lowest */
  uint16_t peer;           /* XPU at the other end, if there are no targets */
  uint32_t target_count;   /* of a multicast, SEND only: 1 to 1023; 0: `peer` alone */
  const uint16_t* targets; /* XPUs, none twice; read by the call alone */
  uint32_t ring_bytes;     /* RECEIVE: 4096 to 2^30, a multiple of 8; 0: 1 MiB */
  uint32_t max_operations; /* SEND: that are not complete, 1 to 65536; 0: 256 */
} suede_socket_params;

/* Opens a socket; it connects in the background. Returns 0 and *socket; -EEXIST there is one of the
 * same direction, plane, peer, id and epoch; -EBUSY a private stream has the VC, or this one would
 * be private and others have it; -EAGAIN all channels are in use; -ECONNRESET. */
SUEDE_API int suede_socket_open(suede_sockets* sockets, const suede_socket_params* params,
                                suede_socket** socket);
/* Waits until the peer, or each target, has opened its side: 0; -EIO one has failed; -ETIMEDOUT:
 * suede_socket_peer_status says what each waits for. `timeout_ms` < 0: for ever. */
SUEDE_API int suede_socket_connect(suede_socket* socket, int timeout_ms);

/* Sends `bytes` octets, or a datagram of so many (at most what fits into half of each receiver's
 * ring). Blocks until they are pushed: handed to the daemon for all targets. While max_operations
 * are not complete it waits for one of them first. Returns 0; -ETIMEDOUT
 * the deadline passed: a part of a stream's octets may have been sent, as *pushed_bytes (may be
 * NULL) says, nothing of a datagram is received, and targets of a multicast stream that have less
 * than others were given up; -EIO a target has failed, others have the octets; -ENOTCONN,
 * -EMSGSIZE. `timeout_ms` < 0: for ever. */
SUEDE_API int suede_socket_send(suede_socket* socket, const void* data, uint64_t bytes,
                                int timeout_ms, uint64_t* pushed_bytes);

/* An operation's outcome, which the library writes within any call on the suede_sockets, or in its
 * thread: the status last. Another thread reads the status with acquire. */
typedef struct suede_socket_result {
  uint32_t status; /* SUEDE_SOCKET_PENDING until all targets have the octets */
  uint32_t reserved;
  uint64_t pushed_bytes; /* all of them: the octets in memory are the caller's again */
} suede_socket_result;

/* Starts to send, and returns 0 at once; otherwise as suede_socket_send, and -EAGAIN where
 * max_operations are not complete. `data` is read until
 * result->pushed_bytes is `bytes` or the status is not SUEDE_SOCKET_PENDING. `deadline_ms`: 0 or
 * SUEDE_MEM_NO_DEADLINE: none. `result` may be NULL; otherwise it
 * belongs to the library until its status is not SUEDE_SOCKET_PENDING, or the socket is closed. */
SUEDE_API int suede_socket_start_send(suede_socket* socket, const void* data, uint64_t bytes,
                                      uint32_t deadline_ms, suede_socket_result* result);
/* Waits until all operations are complete: all targets that are left have everything. 0; -EIO one
 * has failed since the last call; -ETIMEDOUT. */
SUEDE_API int suede_socket_drain(suede_socket* socket, int timeout_ms);

/* Receives 1 to `bytes` octets of a stream, or one datagram of 0 to `bytes` octets. Waits up to
 * `timeout_ms`; < 0: for ever. Returns their number; -EAGAIN (timeout_ms is 0) or -ETIMEDOUT there
 * are none; -EMSGSIZE the datagram is longer, and stays; -ENODATA; -EIO: what had arrived before
 * was received. `bytes` up to 2^31 - 1, 0 for a datagram without octets only. */
SUEDE_API int suede_socket_receive(suede_socket* socket, void* room, uint32_t bytes,
                                   int timeout_ms);

/* Ends a socket; it is void then. A sender waits until all targets have everything and know the
 * end; after the time, or with timeout_ms 0, peers see it as ABORTED. A receiver that closes before
 * its sender has ended makes that one fail as CLOSED, unless it had taken all that was sent.
 * *status (may be NULL): SUEDE_SOCKET_OK, or how the first target failed. Returns 0, -EIO,
 * -ETIMEDOUT. NULL is permitted. */
SUEDE_API int suede_socket_close(suede_socket* socket, int timeout_ms, uint32_t* status);

/* Returns SUEDE_SOCKET_PENDING until it is connected, SUEDE_SOCKET_OK, or how the first target
 * failed. */
SUEDE_API uint32_t suede_socket_status(suede_socket* socket);
/* The same of target `index`, 0 for the only one. While it waits: SUEDE_SOCKET_PENDING, or why the
 * peer does not accept: NOT_OPEN, EPOCH, UNREACHABLE. */
SUEDE_API uint32_t suede_socket_peer_status(suede_socket* socket, uint32_t index);

typedef struct suede_socket_info {
  uint32_t size;            /* set by the caller: sizeof(suede_socket_info) */
  uint16_t peer;            /* of a receiver: its sender; SUEDE_SOCKET_ANY before it is connected */
  uint8_t plane;            /* of the first peer */
  uint8_t vc;               /* of the data */
  uint64_t waiting_bytes;   /* RECEIVE: octets that can be received */
  uint32_t ring_bytes;      /* RECEIVE: of the own ring; SEND: the least of the targets */
  uint32_t used_bytes;      /* of the ring, as credit counts them */
  uint32_t open_operations; /* SEND: that are not complete */
  uint32_t reserved;
} suede_socket_info;

/* 0 or -EINVAL. */
SUEDE_API int suede_socket_get_info(suede_socket* socket, suede_socket_info* info);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_SOCKET_H_ */
