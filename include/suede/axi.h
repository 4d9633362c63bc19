/* SPDX-License-Identifier: Apache-2.0 */
/* AXI4 over an endpoint: a program, or RTL in a simulator, exchanges AXI4 transactions with remote
 * XPUs (docs/axi.md; SUE framework §3.2.2).
 *
 * C11 and C++. libsuede-axi.so.1 implements this header. A port pair belongs to one thread. Nothing
 * happens between the calls: suede_axi_poll moves transactions, so call it often.
 *
 * Errors: functions that return int return 0 or a count, or a negative errno value, and store a
 * sentence that suede_axi_error_text() returns.
 */
#ifndef SUEDE_AXI_H_
#define SUEDE_AXI_H_

#include <stdint.h>

#include "suede.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SUEDE_AXI_MAX_BUS_BYTES 128u

/* ---- Transfers of the channels ---- */

/* AxBURST */
#define SUEDE_AXI_FIXED 0u
#define SUEDE_AXI_INCR 1u
#define SUEDE_AXI_WRAP 2u

/* BRESP, RRESP */
#define SUEDE_AXI_OKAY 0u
#define SUEDE_AXI_EXOKAY 1u
#define SUEDE_AXI_SLVERR 2u
#define SUEDE_AXI_DECERR 3u

/* AW or AR */
typedef struct suede_axi_address {
  uint64_t address;
  uint64_t user[2]; /* bits 63:0, bits 127:64 */
  uint32_t id;
  uint8_t len;   /* beats - 1 */
  uint8_t size;  /* log2 of the bytes of a beat, 0 to 7 */
  uint8_t burst; /* SUEDE_AXI_FIXED, ... */
  uint8_t lock;  /* 1: exclusive */
  uint8_t cache; /* 4 bits; likewise qos and region */
  uint8_t prot;  /* 3 bits */
  uint8_t qos;
  uint8_t region;
  uint8_t reserved[4]; /* 0 */
} suede_axi_address;

/* W: byte lane i of the bus is data[i], and its strobe is bit i % 64 of strobes[i / 64]. */
typedef struct suede_axi_write_beat {
  uint8_t data[SUEDE_AXI_MAX_BUS_BYTES];
  uint64_t strobes[2];
  uint32_t user;
  uint8_t last;
  uint8_t reserved[3]; /* 0 */
} suede_axi_write_beat;

/* B */
typedef struct suede_axi_write_response {
  uint64_t user[2];
  uint32_t id;
  uint8_t response; /* SUEDE_AXI_OKAY, ... */
  uint8_t reserved[3];
} suede_axi_write_response;

/* R */
typedef struct suede_axi_read_beat {
  uint8_t data[SUEDE_AXI_MAX_BUS_BYTES]; /* lanes that the beat does not cover are 0 */
  uint32_t id;
  uint32_t user;
  uint8_t response;
  uint8_t last;
  uint8_t reserved[2];
} suede_axi_read_beat;

/* ---- Port pair ---- */

typedef struct suede_axi suede_axi;

/* An entry of the map of the subordinate port. */
#define SUEDE_AXI_BY_ADDRESS 0u
#define SUEDE_AXI_BY_USER 1u

typedef struct suede_axi_route {
  uint64_t first; /* of the addresses, or of the values of bits 63:0 of AxUSER */
  uint64_t last;
  uint64_t remote_base; /* of addresses: the remote address of `first` */
  uint16_t xpuid;       /* 0 to 1023 */
  uint8_t interface;    /* index of the interface of the port pair */
  uint8_t by;           /* SUEDE_AXI_BY_ADDRESS or SUEDE_AXI_BY_USER */
  uint32_t reserved;    /* 0 */
} suede_axi_route;

#define SUEDE_AXI_MONITOR 0u
#define SUEDE_AXI_REFUSE 1u

/* 0 stands for the default of each field. */
typedef struct suede_axi_params {
  uint32_t size;                    /* sizeof(suede_axi_params) */
  uint32_t bus_bytes;               /* 4, 8, 16, 32, 64 or 128; default 32 */
  uint32_t interface_count;         /* entries of interfaces; 0: the daemon's first instance */
  uint32_t route_count;             /* entries of routes */
  uint32_t timeout_ms;              /* for the connection and each request to the daemon; 5000 */
  uint32_t deadline_ms;             /* of a transaction, and of an answer without credit; 3000 */
  uint32_t transactions;            /* of the subordinate port: 16 to 4096, a power of two; 256 */
  uint32_t transactions_to_target;  /* of these, to one target; 64 */
  uint32_t manager_transactions;    /* 16 to 4096; 1024 */
  uint32_t transactions_per_source; /* of these, of one source; 128 */
  uint32_t manager_ids;             /* values of AxID of the manager port: 1 to 4096; 64 */
  uint32_t address_places;          /* of each AW, AR and B channel: 1 to 256; 16 */
  uint32_t beat_places;             /* of each W and R channel: 1 to 256; 32 */
  uint32_t write_user_bytes;        /* of WUSER: 0 to 4; 0 */
  uint32_t read_user_bytes;         /* of RUSER: 0 to 4; 0 */
  uint8_t exclusive;                /* SUEDE_AXI_MONITOR or SUEDE_AXI_REFUSE */
  uint8_t unordered;                /* 1: the instances' ordering is unordered */
  uint8_t request_vc;               /* with answer_vc: 0 to 3, different; both 0: 0 and 1 */
  uint8_t answer_vc;
  uint32_t reserved;                /* 0 */
  const suede_instance* interfaces; /* 1 to 16 instances of one XPU */
  const suede_axi_route* routes;    /* up to 4096; the first that matches counts */
} suede_axi_params;

/* Connects a port pair to the daemon of an endpoint, named as in suede_connect, and claims the VCs
 * of requests and answers. Returns 0 and *axi; errors as suede_connect and suede_claim. */
SUEDE_API int suede_axi_open(const char* name_or_path, const suede_axi_params* params,
                             suede_axi** axi);

/* Closes the port pair. Open transactions get no answer. NULL is permitted. */
SUEDE_API void suede_axi_close(suede_axi* axi);

/* Connects the interfaces again whose daemon has gone. Open transactions on them have ended. 0;
 * errors as suede_reconnect. */
SUEDE_API int suede_axi_reconnect(suede_axi* axi);

/* Returns a sentence on the last error of the calling thread; never NULL. */
SUEDE_API const char* suede_axi_error_text(void);

/* Moves transactions between the channels and the daemon, as far as buffers and credit permit, and
 * ends those whose deadline has passed. Does not block. Returns 1 if something moved, 0 if not;
 * -ECONNRESET while the daemon of an interface has gone (the others still move). */
SUEDE_API int suede_axi_poll(suede_axi* axi);

/* Waits until suede_axi_poll may have something to move, or the timeout; < 0: for ever. Returns 1,
 * 0 after the timeout; -EINTR; -ECONNRESET as suede_axi_poll. Wakes within 100 us or so. */
SUEDE_API int suede_axi_wait(suede_axi* axi, int timeout_ms);

/* ---- Subordinate port ----
 * suede_axi_send_... return 0, or -EAGAIN where the channel has no place; suede_axi_take_... return
 * 1, or 0 where the channel is empty. */
SUEDE_API int suede_axi_send_aw(suede_axi* axi, const suede_axi_address* address);
SUEDE_API int suede_axi_send_w(suede_axi* axi, const suede_axi_write_beat* beat);
SUEDE_API int suede_axi_send_ar(suede_axi* axi, const suede_axi_address* address);
SUEDE_API int suede_axi_take_b(suede_axi* axi, suede_axi_write_response* response);
SUEDE_API int suede_axi_take_r(suede_axi* axi, suede_axi_read_beat* beat);

/* Resets the subordinate port (docs/axi.md, "Termination"). */
SUEDE_API void suede_axi_reset_subordinate(suede_axi* axi);

/* ---- Manager port ---- */
SUEDE_API int suede_axi_take_aw(suede_axi* axi, suede_axi_address* address);
SUEDE_API int suede_axi_take_w(suede_axi* axi, suede_axi_write_beat* beat);
SUEDE_API int suede_axi_take_ar(suede_axi* axi, suede_axi_address* address);
/* -EINVAL where no transaction of the ID waits for it. */
SUEDE_API int suede_axi_send_b(suede_axi* axi, const suede_axi_write_response* response);
SUEDE_API int suede_axi_send_r(suede_axi* axi, const suede_axi_read_beat* beat);

/* Executes up to `max` bursts of the manager port in the order of their issue, in place of the five
 * calls above, on a memory whose first octet has address 0. A beat that leaves the memory has the
 * response DECERR. Octets are written and read one by one, without atomicity. The memory may be a
 * window of mem.h, too. Returns the number of bursts that have ended. */
SUEDE_API int suede_axi_serve_memory(suede_axi* axi, void* memory, uint64_t bytes, uint32_t max);

/* Resets the manager port. It takes no transactions until `in_reset` is 0 again. */
SUEDE_API void suede_axi_reset_manager(suede_axi* axi, uint32_t in_reset);

/* ---- Credit and counters ---- */

#define SUEDE_AXI_AW 0u
#define SUEDE_AXI_W 1u
#define SUEDE_AXI_AR 2u
#define SUEDE_AXI_B 3u
#define SUEDE_AXI_R 4u

/* Returns the free places of a channel that the program sends on: AW, W and AR of the subordinate
 * port, B and R of the manager port. 0 for another channel. */
SUEDE_API uint32_t suede_axi_credit(const suede_axi* axi, uint32_t channel);

/* Statuses of transactions (docs/axi.md, "Termination"). */
#define SUEDE_AXI_STATUS_OK 0u
#define SUEDE_AXI_STATUS_BUSY 16u
#define SUEDE_AXI_STATUS_MALFORMED 17u
#define SUEDE_AXI_STATUS_RESET 18u
#define SUEDE_AXI_STATUS_UNREACHABLE 32u
#define SUEDE_AXI_STATUS_IN_DOUBT 33u
#define SUEDE_AXI_STATUS_TIMED_OUT 34u
#define SUEDE_AXI_STATUS_NO_ROUTE 35u
#define SUEDE_AXI_STATUS_INVALID 36u
#define SUEDE_AXI_STATUSES 37u

typedef struct suede_axi_counters {
  uint32_t size; /* set by the caller: sizeof(suede_axi_counters) */
  uint32_t reserved;
  /* Subordinate port. */
  uint64_t writes; /* transactions accepted */
  uint64_t reads;
  uint64_t ended[SUEDE_AXI_STATUSES]; /* transactions, by status */
  uint64_t stray;                     /* answers to transactions that are not open */
  uint64_t abandoned;                 /* transactions forgotten by a reset */
  /* Manager port. */
  uint64_t served_writes; /* transactions taken */
  uint64_t served_reads;
  uint64_t served_bytes;     /* active octets of these */
  uint64_t busy;             /* requests refused: more of one source than permitted */
  uint64_t dropped;          /* likewise, without credit for the refusal */
  uint64_t reset;            /* transactions ended by a reset */
  uint64_t expired;          /* answers that found no credit until their deadline */
  uint64_t truncated;        /* requests of which not all commands arrived */
  uint64_t exclusive_failed; /* exclusive writes that were not issued */
  uint64_t unexpected;       /* B and R of the SoC that no transaction waits for */
  /* Both. */
  uint64_t malformed; /* commands that break a rule of the format */
  uint64_t foreign;   /* commands of other classes or kinds */
} suede_axi_counters;

/* Returns 0 or -EINVAL. */
SUEDE_API int suede_axi_get_counters(const suede_axi* axi, suede_axi_counters* counters);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* SUEDE_AXI_H_ */
