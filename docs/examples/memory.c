/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations of suede in C: offers a window, writes to the window of a peer, reads it back
 * and counts in it.
 *
 *   memory NAME-OR-SOCKET PEER-XPU COUNT SECONDS
 *
 * Started at two endpoints, each with the other's XPU. It writes a greeting and says so with an
 * immediate, adds 1 to a counter of the peer COUNT times, and ends with 0 once its own counter has
 * got as far by the peer; with 1 after SECONDS, 2 on wrong usage, 3 where an operation failed, 4
 * where the daemon is not reachable or goes away. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suede/mem.h"

enum { kWindow = 1, kCounterOffset = 0, kTextOffset = 64, kTextBytes = 512 };

static struct {
  _Alignas(64) _Atomic uint64_t counter; /* the peer adds to it */
  _Alignas(64) char text[kTextBytes];    /* the peer writes it */
} g_memory;

static int fail(int error) {
  fprintf(stderr, "memory: %s\n", suede_mem_error_text());
  switch (error) {
    case -ENOENT:
    case -ECONNREFUSED:
    case -ECONNRESET:
      return 4;
    case -EIO:
      return 3;
    default:
      return 1;
  }
}

static suede_mem_call call_of(uint16_t peer, uint64_t offset) {
  const suede_mem_call call = {
      .size = sizeof call,
      .xpuid = peer,
      .window = kWindow,
      .offset = offset,
      .plane = SUEDE_MEM_AUTO,
      .vc = SUEDE_MEM_AUTO,
  };
  return call;
}

/* The peer may not be there yet: asks until it answers. */
static int find_peer(suede_mem* mem, uint16_t peer, int timeout_ms) {
  uint64_t ignored;
  int error;
  do {
    suede_mem_handle handle;
    suede_mem_call call = call_of(peer, kCounterOffset);
    call.handle = &handle;
    call.deadline_ms = 500;
    error = suede_mem_get(mem, &call, &ignored, sizeof ignored);
    if (error != 0) return error;
    error = suede_mem_wait(mem, handle, NULL, timeout_ms);
    timeout_ms -= 500;
  } while (error == -EIO && timeout_ms > 0);
  return error;
}

static int count_at_peer(suede_mem* mem, uint16_t peer, long count) {
  suede_mem_call call = call_of(peer, kCounterOffset);
  for (long i = 0; i < count; ++i) {
    int error;
    while ((error = suede_mem_increment(mem, &call, 64, 1, 63)) == -EAGAIN) suede_mem_poll(mem);
    if (error != 0) return error;
  }
  return suede_mem_write_barrier(mem, 0, -1, NULL);
}

static int greet(suede_mem* mem, uint16_t peer) {
  char sent[kTextBytes];
  char back[kTextBytes];
  memset(sent, 0, sizeof sent);
  snprintf(sent, sizeof sent, "hello from XPU %u", suede_mem_xpuid(mem));
  suede_mem_call call = call_of(peer, kTextOffset);
  int error = suede_mem_put_immediate(mem, &call, sent, sizeof sent, 42);
  if (error == 0) error = suede_mem_write_barrier(mem, 0, -1, NULL);
  if (error == 0) error = suede_mem_get(mem, &call, back, sizeof back);
  if (error == 0) error = suede_mem_read_barrier(mem, 0, -1, NULL);
  if (error == 0) printf("the peer has: %s\n", memcmp(sent, back, sizeof sent) == 0 ? back : "?");
  return error;
}

static int run(suede_mem* mem, suede_mem_target* target, uint16_t peer, long count, long seconds) {
  const time_t deadline = time(NULL) + seconds;
  int error = find_peer(mem, peer, (int)seconds * 1000);
  if (error == 0) error = greet(mem, peer);
  if (error == 0) error = count_at_peer(mem, peer, count);
  if (error != 0) return fail(error);
  int noticed = 0;
  while (!noticed || atomic_load(&g_memory.counter) < (uint64_t)count) {
    suede_mem_notice notice;
    const int taken = suede_mem_target_take(target, &notice, 1);
    if (taken < 0) return fail(taken);
    if (taken == 1) {
      printf("notice %" PRIu32 " from XPU %u: %s\n", notice.immediate, notice.source_xpuid,
             g_memory.text);
      noticed = 1;
    }
    if (time(NULL) >= deadline) {
      fprintf(stderr, "memory: time is up\n");
      return 1;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  printf("counted to %" PRIu64 "\n", atomic_load(&g_memory.counter));
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: memory NAME-OR-SOCKET PEER-XPU COUNT SECONDS\n");
    return 2;
  }
  suede_mem_target* target;
  int error = suede_mem_target_open(argv[1], NULL, &target);
  if (error != 0) return fail(error);
  suede_mem_window window = {
      .size = sizeof window,
      .id = kWindow,
      .rights = SUEDE_MEM_RIGHT_READ | SUEDE_MEM_RIGHT_WRITE | SUEDE_MEM_RIGHT_ATOMIC,
      .partition = -1,
      .bytes = sizeof g_memory,
      .base = &g_memory,
  };
  suede_mem* mem = NULL;
  error = suede_mem_target_add_window(target, &window);
  if (error == 0) error = suede_mem_target_start(target);
  if (error == 0) error = suede_mem_open(argv[1], NULL, &mem);
  int result;
  if (error != 0) {
    result = fail(error);
  } else {
    result = run(mem, target, (uint16_t)atoi(argv[2]), atol(argv[3]), atol(argv[4]));
    /* The peer may still be reading. */
    nanosleep(&(struct timespec){.tv_sec = result == 0}, NULL);
  }
  suede_mem_close(mem);
  suede_mem_target_close(target);
  return result;
}
