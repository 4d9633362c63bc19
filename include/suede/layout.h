/* SPDX-License-Identifier: Apache-2.0 */
/* The shared segment between an XPU's program (the client) and a suede daemon, word by word.
 *
 * docs/shared-memory.md describes the segment; both sides compile this header. C11 and C++20.
 * Programs use suede.h, not this header.
 */
#ifndef SUEDE_LAYOUT_H_
#define SUEDE_LAYOUT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUEDE_LAYOUT_MAGIC 0x53554544u /* "SUED" */
#define SUEDE_LAYOUT_VERSION 1u

#define SUEDE_LINE_BYTES 64u
#define SUEDE_VCS 4u
#define SUEDE_XPUS 1024u
#define SUEDE_MAX_QUEUES 16u
#define SUEDE_MAX_RECORD_LINES 5u
/* Offset of a command's control in its record; the data follows the control. */
#define SUEDE_RECORD_CONTROL 14u

/* suede_record.kind: Table 1's tx_valid and Table 2's rx_valid. */
#define SUEDE_KIND_NONE 0u         /* no command: the reader skips to the end of the ring */
#define SUEDE_KIND_COMMAND 1u      /* command only */
#define SUEDE_KIND_COMMAND_DATA 2u /* command with data */

/* suede_record.flags */
#define SUEDE_RECORD_TRANSMIT_NOW 0x01u /* send without waiting for further commands */
#define SUEDE_RECORD_ERROR 0x02u /* tx_err: uncorrectable ECC error; discarded and reported */
#define SUEDE_RECORD_COMPLETION 0x04u   /* the tag is valid: report when acknowledged */

/* The head of a record. A record takes ceil((14 + control + data) / 64) whole lines and never
 * crosses the end of its ring. Multi-byte fields are in host order. The bytes of the last line
 * behind the data are undefined. */
struct suede_record {
  uint8_t kind;
  uint8_t vc;    /* 0 to 3 */
  uint16_t xpuid; /* to the daemon: the destination; from it: the source */
  uint8_t tag[8]; /* to the daemon: a uint64_t of the client's choice, unaligned;
                     from it: bytes 0-1 own xpuid, 2 instance number, rest 0 */
  uint8_t flags;
  uint8_t reserved; /* 0 */
  uint8_t control[SUEDE_LINE_BYTES - SUEDE_RECORD_CONTROL]; /* wire profile §3 from here on */
};

/* One end's position in a ring: a free-running count of lines (or completions), alone on its cache
 * line. The writer of the word stores it with release, the other end loads it with acquire. */
struct suede_position {
  uint32_t value;
  uint32_t reserved[15];
};

/* A ring of 2^k lines. head - tail lines are in use. */
struct suede_ring {
  struct suede_position head; /* written by the producer */
  struct suede_position tail; /* written by the consumer */
};

/* suede_completion.status */
#define SUEDE_STATUS_OK 0u               /* acknowledged by the far side */
#define SUEDE_STATUS_UNREACHABLE 1u      /* not delivered, and never will be: no path to the XPU */
#define SUEDE_STATUS_UNKNOWN_XPU 2u      /* no such peer is configured */
#define SUEDE_STATUS_ERROR_MARK 3u       /* discarded: the command carried the error mark */
#define SUEDE_STATUS_MALFORMED 4u        /* discarded: not a command, or on a forbidden VC */
#define SUEDE_STATUS_NO_CREDIT 5u        /* discarded: sent without credit for {destination, VC} */
#define SUEDE_STATUS_PEER_RESET 6u       /* the remote endpoint restarted before acknowledging */
#define SUEDE_STATUS_RESET 7u            /* this client or queue was reset */
#define SUEDE_STATUS_IN_DOUBT 8u         /* sent and never acknowledged: may have been delivered, or
                                            may still be delivered */

struct suede_completion {
  uint64_t tag;
  uint16_t xpuid;
  uint8_t vc;
  uint8_t status;
  uint32_t reserved;
};

/* The returned credit of a queue, which its producer reads. All counts are of lines, cumulative and
 * modulo 2^32: in use = lines handed over - lines returned. The daemon alone writes them. */
struct suede_credits {
  uint32_t aggregate_returned;
  uint32_t reserved[15];
  uint32_t returned[SUEDE_XPUS * SUEDE_VCS]; /* [xpuid * 4 + vc] */
};

/* The daemon's state of a queue; alone on its cache line. */
#define SUEDE_QUEUE_READY 1u
#define SUEDE_QUEUE_IN_RESET 2u /* tx_reset_out: the client may hand over nothing until it ends */
#define SUEDE_QUEUE_BROKEN 3u   /* the daemon has stopped serving it: its positions were invalid */

/* ---- Load: the outstanding work of a queue's instance. Numbers stop at 2^32 - 1. ---- */

#define SUEDE_LOAD_DOWN 1u /* suede_load_state.flags: the instance or its port is out of service */

/* sequence: odd while the daemon writes the other fields, otherwise twice the number of writes. */
struct suede_load_state {
  uint32_t sequence;
  uint32_t flags;
  uint32_t load;            /* lines before a new command: credit_lines + inflight_bytes / 64 */
  uint32_t queued_pdus;     /* packed or being packed, not sent yet */
  uint32_t inflight_pdus;   /* sent and not acknowledged */
  uint32_t inflight_bytes;  /* of commands, in those */
  uint32_t credit_lines;    /* lines taken from rings whose credit was not returned */
  uint32_t paused;          /* destinations that are not ready on at least one VC */
  uint32_t unreachable;     /* destinations that are unreachable on at least one VC */
  uint32_t reserved[7];
};

/* A wish: 0, or this bit, a serial number in bits 16 to 30, and an XPU id in bits 0 to 15. */
#define SUEDE_WISH_VALID 0x80000000u
#define SUEDE_WISHES 16u

/* suede_destination_state.flags */
#define SUEDE_DESTINATION_KNOWN 1u /* it is a peer of the instance */
#define SUEDE_DESTINATION_PAUSED 2u
#define SUEDE_DESTINATION_UNREACHABLE 4u

struct suede_destination_state {
  uint32_t sequence;
  uint32_t wish; /* the wish that this state answers */
  uint32_t flags;
  uint32_t queued_lines; /* of this queue's commands, taken and not sent yet */
  uint32_t inflight_pdus;
  uint32_t inflight_bytes;
  uint32_t reserved[2];
};

#define SUEDE_MAP_WORDS (SUEDE_XPUS / 32u)

/* The load area of each queue; the daemon writes it, except the wishes. */
struct suede_load_area {
  struct suede_load_state state;
  /* Bit x % 32 of word x / 32: destination x is unreachable, or paused. */
  uint32_t unreachable_map[SUEDE_MAP_WORDS];
  uint32_t paused_map[SUEDE_MAP_WORDS];
  uint32_t wishes[SUEDE_WISHES]; /* written by the client */
  struct suede_destination_state destinations[SUEDE_WISHES];
};

/* Head of the segment; the daemon writes it once before the client sees it, except the states. */
struct suede_segment {
  uint32_t magic;
  uint32_t version;
  uint64_t size;
  uint32_t queue_count;
  uint32_t tx_lines;         /* lines of each queue's ring, a power of two */
  uint32_t rx_lines;         /* lines of each VC's receive ring, a power of two */
  uint32_t completion_count; /* entries of each queue's completion ring, a power of two */
  uint32_t credit_lines;     /* credit of each {destination, VC}, per queue */
  uint32_t aggregate_lines;  /* aggregate credit, per queue */
  uint64_t load;             /* offset of queue 0's area, the others behind it; 0: no load */
  uint32_t event_summary;    /* 1 while the register event.summary is 1, 0 otherwise */
  uint32_t reserved[3];
  /* Offsets from the segment's start, multiples of 64. */
  uint64_t tx_ring[SUEDE_MAX_QUEUES];       /* struct suede_ring, then the lines */
  uint64_t completion_ring[SUEDE_MAX_QUEUES]; /* struct suede_ring, then the entries */
  uint64_t credits[SUEDE_MAX_QUEUES];       /* struct suede_credits */
  uint64_t rx_ring[SUEDE_VCS];              /* struct suede_ring, then the lines */
  struct suede_position queue_state[SUEDE_MAX_QUEUES]; /* SUEDE_QUEUE_… */
  struct suede_position rx_state[SUEDE_VCS];           /* SUEDE_QUEUE_…: rx_reset_out */
};

#ifdef __cplusplus
} /* extern "C" */
static_assert(sizeof(suede_record) == SUEDE_LINE_BYTES);
static_assert(sizeof(suede_position) == SUEDE_LINE_BYTES);
static_assert(sizeof(suede_completion) == 16);
static_assert(sizeof(suede_load_state) == SUEDE_LINE_BYTES);
static_assert(sizeof(suede_destination_state) == 32);
static_assert(sizeof(suede_load_area) == 14 * SUEDE_LINE_BYTES);
#else
_Static_assert(sizeof(struct suede_record) == SUEDE_LINE_BYTES, "record");
_Static_assert(sizeof(struct suede_position) == SUEDE_LINE_BYTES, "position");
_Static_assert(sizeof(struct suede_completion) == 16, "completion");
_Static_assert(sizeof(struct suede_load_area) == 14 * SUEDE_LINE_BYTES, "load");
#endif

#endif /* SUEDE_LAYOUT_H_ */
