/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations between XPUs: put, get and atomics on windows of memory, above suede.h.
 *
 * C11 and C++. libsuede-mem.so.1 implements this header with commands of libsuede; docs/memory.md
 * describes the commands, what is atomic, what is in order, and what holds over failures.
 * docs/examples/memory.c is a complete program.
 *
 * A suede_mem starts operations (an initiator); a suede_mem_target has windows and executes the
 * operations of others. A program may have both, on the same XPU.
 *
 * Errors: functions that return int return 0 or a count, or a negative errno value, and store a
 * sentence that suede_mem_error_text() returns.
 *   -EINVAL      an argument is out of its range
 *   -EAGAIN      there is no room for another operation now: call suede_mem_poll
 *   -ETIMEDOUT   the time of the call is over; operations go on
 *   -EIO         an operation failed: its status tells how
 *   -ECONNRESET  the daemon of a plane has gone: call suede_mem_reconnect or suede_mem_close. All
 *                operations on that plane are complete: SUEDE_MEM_IN_DOUBT or
 *                SUEDE_MEM_UNREACHABLE
 *
 * Threads: one thread at a time uses a suede_mem. Any thread may call the functions of a
 * suede_mem_target, except suede_mem_target_reconnect and suede_mem_target_close, during which no
 * other call on it may run. No function raises a signal. Neither is usable after fork().
 */
#ifndef SUEDE_MEM_H_
#define SUEDE_MEM_H_

#include <stdint.h>

#include "suede.h" /* suede_instance */

#ifdef __cplusplus
extern "C" {
#endif

#define SUEDE_MEM_ABI_VERSION 1u

typedef struct suede_mem suede_mem;
typedef struct suede_mem_target suede_mem_target;

/* Returns SUEDE_MEM_ABI_VERSION of the loaded library. */
SUEDE_API uint32_t suede_mem_abi_version(void);
/* Returns a sentence on the last error of the calling thread; never NULL. */
SUEDE_API const char* suede_mem_error_text(void);

/* ---- Status of an operation ---- */

#define SUEDE_MEM_OK 0u
#define SUEDE_MEM_PENDING 1u /* not complete yet */
/* Refused by the target, which touched nothing: */
#define SUEDE_MEM_NO_WINDOW 16u /* no window of this id */
#define SUEDE_MEM_KEY 17u       /* the key is not the window's */
#define SUEDE_MEM_PARTITION 18u /* the window belongs to another partition */
#define SUEDE_MEM_RIGHTS 19u    /* the window does not permit this kind of operation */
#define SUEDE_MEM_BOUNDS 20u    /* the access leaves the window */
#define SUEDE_MEM_ALIGNMENT 21u /* an atomic at an offset that is no multiple of its size */
#define SUEDE_MEM_MALFORMED 22u /* the target does not know such a request */
#define SUEDE_MEM_BUSY 23u      /* put with immediate: the target's queue of notices is full */
/* Of the own side: */
#define SUEDE_MEM_UNREACHABLE 32u /* nothing was executed: no such peer, or no path to it */
#define SUEDE_MEM_IN_DOUBT 33u    /* path or target was lost: executed once, in part, or not */
#define SUEDE_MEM_TIMED_OUT 34u   /* the deadline passed: as above, or it may yet be executed */

/* Returns the name of a status: "OK", "BOUNDS", …; "?" for another number. */
SUEDE_API const char* suede_mem_status_name(uint32_t status);
/* Returns a sentence on it; never NULL. */
SUEDE_API const char* suede_mem_status_text(uint32_t status);

/* ---- Initiator ---- */

#define SUEDE_MEM_MAX_PLANES 16u
#define SUEDE_MEM_COUNTERS 16u
#define SUEDE_MEM_NO_DEADLINE UINT32_MAX

typedef struct suede_mem_params {
  uint32_t size;        /* sizeof(suede_mem_params) */
  uint32_t plane_count; /* 1 to 16; 0: one, the first instance that the daemon names */
  suede_instance planes[SUEDE_MEM_MAX_PLANES]; /* own instances of one XPU */
  uint32_t timeout_ms;   /* for the connection and each request to the daemon; 0: 5000 */
  uint32_t request_vcs;  /* mask of the VCs that requests may take; 0: VC 0 */
  uint32_t response_vcs; /* mask of one VC, which responses take; 0: VC 1. It is claimed */
  uint32_t max_requests; /* commands in flight: a power of two, 64 to 65536; 0: 4096 */
  uint32_t max_requests_to_target; /* of these to one XPU: 1 to max_requests; 0: 1024 or that */
  uint32_t max_operations;         /* not complete: 1 to 65536; 0: 4096 */
  uint32_t deadline_ms;            /* of an operation; 0: 10000; SUEDE_MEM_NO_DEADLINE: none */
  uint32_t unordered;              /* 1: the ordering of the instances is unordered */
} suede_mem_params;

/* Connects to the daemon of an endpoint, named as in suede_connect, once for each plane. `params`
 * may be NULL. Returns 0 and *mem; -EBUSY another client has claimed the VC of the responses;
 * otherwise as suede_connect. */
SUEDE_API int suede_mem_open(const char* name_or_path, const suede_mem_params* params,
                             suede_mem** mem);
/* Connects again each plane whose daemon has gone. Returns as suede_mem_open; on an error the plane
 * stays unconnected and the call may be repeated. */
SUEDE_API int suede_mem_reconnect(suede_mem* mem);
/* Operations that are not complete are given up: requests that the daemon has may be executed.
 * Their results and memory are not written any more. NULL is permitted. */
SUEDE_API void suede_mem_close(suede_mem* mem);
/* Returns the own XPU, 0 to 1023. */
SUEDE_API uint16_t suede_mem_xpuid(const suede_mem* mem);

/* An operation's outcome. The library writes it within calls on the suede_mem that the operation
 * was started with, and no other thread may read it meanwhile. */
typedef struct suede_mem_result {
  uint32_t status; /* SUEDE_MEM_PENDING until the end */
  uint8_t plane;   /* that was chosen */
  uint8_t vc;      /* likewise */
  uint16_t reserved;
  uint64_t value; /* of an atomic that returns one: the old value */
} suede_mem_result;

/* Stands for an operation; 0 is none. */
typedef uint64_t suede_mem_handle;

#define SUEDE_MEM_AUTO (-1)

/* The arguments that all operations have. */
typedef struct suede_mem_call {
  uint32_t size;            /* sizeof(suede_mem_call) */
  uint16_t xpuid;           /* target, 0 to 1023 */
  uint16_t window;          /* its id at the target, 0 to 4095 */
  uint64_t offset;          /* in the window, below 2^40 */
  uint32_t key;             /* the window's; 0 where it has none */
  int8_t plane;             /* 0 to plane_count - 1, or SUEDE_MEM_AUTO: by the target */
  int8_t vc;                /* one of request_vcs, or SUEDE_MEM_AUTO: the one with least to do */
  uint8_t counter;          /* transaction counter, 0 to 15 */
  uint8_t reserved;         /* 0 */
  uint32_t deadline_ms;     /* from the call on; 0: the default; SUEDE_MEM_NO_DEADLINE */
  uint32_t reserved2;       /* 0 */
  suede_mem_result* result; /* where the outcome is written, or NULL; valid until the end */
  suede_mem_handle* handle; /* where a handle is stored, or NULL. Each handle is to be passed to
                               suede_mem_test or suede_mem_wait until that tells the end */
} suede_mem_call;

/* The calls below start an operation and return 0; it is complete when its status says so. The
 * daemon sees requests after suede_mem_flush, or any call that polls or waits. -EINVAL, -EAGAIN,
 * -ECONNRESET: nothing was started.
 * The octets of a put are read, and the room of a get is written, until the operation is complete.
 */

/* Writes `bytes` octets (0 to 2^40) from `source` to the window. */
SUEDE_API int suede_mem_put(suede_mem* mem, const suede_mem_call* call, const void* source,
                            uint64_t bytes);
/* The same, with up to 2^32 - 1 octets; once they are written the target's program gets a notice
 * with `immediate`. */
SUEDE_API int suede_mem_put_immediate(suede_mem* mem, const suede_mem_call* call,
                                      const void* source, uint64_t bytes, uint32_t immediate);
/* Reads `bytes` octets (0 to 2^40) of the window into `room`. */
SUEDE_API int suede_mem_get(suede_mem* mem, const suede_mem_call* call, void* room, uint64_t bytes);

/* Atomics on `bits` (32 or 64) at a multiple of their size. Values of 32 bits lie in the lower half
 * of arguments and results; the upper half of arguments is ignored. */
SUEDE_API int suede_mem_fetch_add(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                                  uint64_t amount);
SUEDE_API int suede_mem_compare_swap(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                                     uint64_t expected, uint64_t desired);
SUEDE_API int suede_mem_swap(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                             uint64_t value);
/* Adds modulo 2^(boundary + 1): the counter counts from 0 to 2^(boundary + 1) - 1. `boundary` is 0
 * to bits - 1. The first returns no value, and counts as a write. */
SUEDE_API int suede_mem_increment(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                                  uint64_t amount, uint32_t boundary);
SUEDE_API int suede_mem_read_increment(suede_mem* mem, const suede_mem_call* call, uint32_t bits,
                                       uint64_t amount, uint32_t boundary);

/* Puts the same octets to `count` XPUs (1 to 1024), in the same window and at the same offset of
 * each. call->xpuid is ignored. Complete when all have them. */
SUEDE_API int suede_mem_put_many(suede_mem* mem, const suede_mem_call* call, const uint16_t* xpuids,
                                 uint32_t count, const void* source, uint64_t bytes);

typedef struct suede_mem_mesh {
  uint32_t size;        /* sizeof(suede_mem_mesh) */
  uint16_t first_xpuid; /* of the mesh: row 0, column 0 */
  uint16_t columns;     /* XPU first_xpuid + row * columns + column; east is the next column, */
  uint16_t rows;        /* south the next row */
  uint16_t east, west, north, south; /* depth: hops from call->xpuid, which is the origin */
} suede_mem_mesh;

/* Puts to all XPUs of the rectangle around call->xpuid, that one as well. -EINVAL: the rectangle
 * leaves the mesh. Otherwise as suede_mem_put_many. */
SUEDE_API int suede_mem_put_mesh(suede_mem* mem, const suede_mem_call* call,
                                 const suede_mem_mesh* mesh, const void* source, uint64_t bytes);

/* ---- Progress, completion, barriers ---- */

/* Shows the daemon all requests that were handed over. */
SUEDE_API void suede_mem_flush(suede_mem* mem);
/* Sends, receives and completes what can be without waiting. Returns the number of operations that
 * became complete; -ECONNRESET once, when a daemon has gone. */
SUEDE_API int suede_mem_poll(suede_mem* mem);
/* Polls. Returns 1 if the operation is complete, and stores its outcome in *result (may be NULL):
 * the handle is void then; 0 if it is not; -EINVAL no such handle. */
SUEDE_API int suede_mem_test(suede_mem* mem, suede_mem_handle handle, suede_mem_result* result);
/* Waits for that; `timeout_ms` < 0: for ever. Returns 0 if the status is SUEDE_MEM_OK, -EIO if it
 * is another one: the handle is void then; -ETIMEDOUT, -EINVAL. */
SUEDE_API int suede_mem_wait(suede_mem* mem, suede_mem_handle handle, suede_mem_result* result,
                             int timeout_ms);

#define SUEDE_MEM_WRITES 1u /* put, put with immediate, increment */
#define SUEDE_MEM_READS 2u  /* get, and atomics that return a value */

/* Returns the number of operations of `kinds` (a mask) on a counter that are not complete, without
 * polling; -EINVAL. */
SUEDE_API int suede_mem_pending(const suede_mem* mem, uint32_t counter, uint32_t kinds);

typedef struct suede_mem_failures {
  uint32_t count;  /* operations that failed since the last barrier on that counter */
  uint32_t status; /* of the first of them; SUEDE_MEM_OK without any */
} suede_mem_failures;

/* Waits until all writes (reads) that were started on `counter` are complete: committed to the
 * memory of all targets (their values and octets have arrived). Returns 0; -EIO some failed, as
 * *failures (may be NULL) says; -ETIMEDOUT; -EINVAL. `timeout_ms` < 0: for ever. */
SUEDE_API int suede_mem_write_barrier(suede_mem* mem, uint32_t counter, int timeout_ms,
                                      suede_mem_failures* failures);
SUEDE_API int suede_mem_read_barrier(suede_mem* mem, uint32_t counter, int timeout_ms,
                                     suede_mem_failures* failures);

typedef struct suede_mem_counts {
  uint32_t size;            /* set by the caller: sizeof(suede_mem_counts) */
  uint32_t open_operations; /* not complete */
  uint32_t open_requests;   /* in flight */
  uint32_t reserved;
  uint64_t operations;       /* started */
  uint64_t failed;           /* completed with another status than OK */
  uint64_t requests;         /* sent */
  uint64_t stray_responses;  /* that answer nothing that is open */
  uint64_t foreign_commands; /* received on the VC of responses, and no responses */
  uint64_t blocked;          /* times that credit or room was missing for a request */
} suede_mem_counts;

/* 0 or -EINVAL. */
SUEDE_API int suede_mem_get_counts(const suede_mem* mem, suede_mem_counts* counts);

/* ---- Target ---- */

typedef struct suede_mem_target_params {
  uint32_t size;        /* sizeof(suede_mem_target_params) */
  uint32_t plane_count; /* as in suede_mem_params */
  suede_instance planes[SUEDE_MEM_MAX_PLANES];
  uint32_t timeout_ms;      /* 0: 5000 */
  uint32_t request_vcs;     /* mask; 0: VC 0. They are claimed */
  uint32_t response_places; /* responses that may wait for credit: 64 to 65536; 0: 4096 */
  uint32_t notice_places;   /* notices that may wait for the program: 1 to 65536; 0: 1024 */
} suede_mem_target_params;

/* As suede_mem_open. -EBUSY another client has claimed one of the VCs of requests. Nothing is
 * served before suede_mem_target_serve or suede_mem_target_start. */
SUEDE_API int suede_mem_target_open(const char* name_or_path, const suede_mem_target_params* params,
                                    suede_mem_target** target);
/* Connects again each plane whose daemon has gone. Windows stay; a thread has to be stopped first
 * (-EBUSY), and started again. Memory that the lcore served moves to new memfds, under the mappings
 * of this process: no thread may access it meanwhile. */
SUEDE_API int suede_mem_target_reconnect(suede_mem_target* target);
/* Stops the thread, and serves no more. Memory that was mapped from descriptors is unmapped. NULL
 * is permitted. */
SUEDE_API void suede_mem_target_close(suede_mem_target* target);

#define SUEDE_MEM_RIGHT_READ 1u   /* get */
#define SUEDE_MEM_RIGHT_WRITE 2u  /* put */
#define SUEDE_MEM_RIGHT_ATOMIC 4u /* atomics */
#define SUEDE_MEM_DRAW_KEY 1u
#define SUEDE_MEM_SERVED_BY_LCORE 2u

typedef struct suede_mem_window {
  uint32_t size;      /* sizeof(suede_mem_window) */
  uint16_t id;        /* 0 to 4095 */
  uint16_t reserved;  /* 0 */
  uint32_t rights;    /* SUEDE_MEM_RIGHT_…, at least one */
  uint32_t flags;     /* SUEDE_MEM_DRAW_KEY: the library draws the key and stores it in `key`.
                         SUEDE_MEM_SERVED_BY_LCORE: the daemon's lcore executes its requests */
  uint32_t key;       /* that requests have to give; 0: none */
  int32_t partition;  /* 0 to 1023: only while the endpoint is in it; -1: in any */
  uint64_t bytes;     /* 8 to 2^40 */
  void* base;         /* a multiple of 8; or NULL: `fd` is mapped, and its address stored here */
  int32_t fd;         /* with base NULL: what to map, shared; the caller may close it afterwards */
  uint32_t reserved2; /* 0 */
  uint64_t fd_offset; /* a multiple of the page size of what is mapped */
} suede_mem_window;

/* With SUEDE_MEM_SERVED_BY_LCORE, `base` is NULL and `fd` is a memfd with F_SEAL_SHRINK, of
 * MFD_ALLOW_SEALING. The library allocates its missing pages and adds F_SEAL_GROW and
 * F_SEAL_FUTURE_WRITE: map it before, where you need a mapping of your own. Its requests are
 * executed whether or not the program serves the target, and are not in its counts; requests for
 * other windows, and notices, come as before. The first such window serves all requests that have
 * arrived until then. See docs/memory.md, "Windows that the lcore serves". */

/* Registers a window: requests that are executed from now on reach it. Returns 0; -EEXIST the id is
 * in use; -EINVAL; -EACCES the window names a partition, and the daemon does not let clients read
 * its registers, or lets no lcore serve windows; -EUSERS a limit of the daemon is reached, or it
 * has no memory; -ECONNRESET; -EPERM the memfd of a
 * window that the lcore is to serve was served before: use a new one; or an error of mmap. */
SUEDE_API int suede_mem_target_add_window(suede_mem_target* target, suede_mem_window* window);
/* When it returns, nothing touches the memory any more. 0; -ENOENT no such window. */
SUEDE_API int suede_mem_target_remove_window(suede_mem_target* target, uint32_t id);

/* Executes up to about `max` requests (at least one batch of 64 of each plane and VC) that have
 * arrived, and answers them. Returns their number; -ECONNRESET the daemon of a plane has gone;
 * -EBUSY a thread serves. */
SUEDE_API int suede_mem_target_serve(suede_mem_target* target, uint32_t max);
/* Waits until there are requests to serve: 1; 0 after the timeout; -ECONNRESET, -EBUSY, -EINTR. Of
 * several planes it looks at each for a part of the time. Other calls need not wait for it. */
SUEDE_API int suede_mem_target_wait(suede_mem_target* target, int timeout_ms);
/* Starts (stops) a thread that serves. 0; -EALREADY there is (is not) one; -EAGAIN. The thread ends
 * by itself when the daemon of a plane goes; suede_mem_target_take then returns -ECONNRESET. */
SUEDE_API int suede_mem_target_start(suede_mem_target* target);
SUEDE_API int suede_mem_target_stop(suede_mem_target* target);

/* A put with immediate that was executed. */
typedef struct suede_mem_notice {
  uint16_t source_xpuid;
  uint16_t window;
  uint32_t bytes;  /* of the put, */
  uint64_t offset; /* from here on */
  uint32_t immediate;
  uint32_t reserved;
} suede_mem_notice;

/* Takes up to `max` notices. Of a target with windows that the lcore serves, and without a thread,
 * it serves one batch first. Returns their number; -ECONNRESET if there are none, and the thread
 * has ended because a daemon has gone. */
SUEDE_API int suede_mem_target_take(suede_mem_target* target, suede_mem_notice* notices,
                                    uint32_t max);

typedef struct suede_mem_target_counts {
  uint32_t size; /* set by the caller: sizeof(suede_mem_target_counts) */
  uint32_t reserved;
  uint64_t puts; /* requests that were executed; likewise the next four */
  uint64_t puts_with_immediate;
  uint64_t gets;
  uint64_t atomics;
  uint64_t written_bytes;    /* by puts */
  uint64_t read_bytes;       /* by gets */
  uint64_t refused[8];       /* by status, from SUEDE_MEM_NO_WINDOW on */
  uint64_t dropped;          /* requests without a place for their response, not executed */
  uint64_t foreign_commands; /* received on the VCs of requests, and no requests */
  uint64_t waited;           /* responses that had to wait for credit */
} suede_mem_target_counts;

/* 0 or -EINVAL. */
SUEDE_API int suede_mem_target_get_counts(suede_mem_target* target,
                                          suede_mem_target_counts* counts);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_MEM_H_ */
