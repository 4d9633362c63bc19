/* SPDX-License-Identifier: Apache-2.0 */
/* AXI4 over suede in C: serves reads and writes of remote XPUs in a memory, and writes to the
 * memory of a peer and reads it back.
 *
 *   axi NAME-OR-SOCKET PEER-XPU COUNT SECONDS
 *
 * Started at two endpoints, each with the other's XPU. It writes COUNT bursts of 512 bytes, reads
 * each back and compares, tells the peer so in a last write, and serves until the peer has told
 * the same. Ends with 0 then; with 1 after SECONDS, 2 on wrong usage, 3 where a transaction failed
 * or data differ, 4 where the daemon is not reachable or goes away. */
#include "suede/axi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBus = 32, kBeats = 16, kBurst = kBus * kBeats, kMemory = 1 << 16, kTold = kMemory - kBus };

static uint8_t g_memory[kMemory]; /* that the peer writes and reads */

/* Moves everything on. Returns 0, or a negative errno. */
static int turn(suede_axi* axi) {
  const int moved = suede_axi_poll(axi);
  suede_axi_serve_memory(axi, g_memory, sizeof g_memory, 64);
  return moved < 0 ? moved : 0;
}

static suede_axi_address burst_at(uint64_t address, unsigned beats) {
  const suede_axi_address burst = {.address = address,
                                   .len = (uint8_t)(beats - 1),
                                   .size = 5, /* 32 bytes */
                                   .burst = SUEDE_AXI_INCR};
  return burst;
}

static uint8_t octet_of(unsigned number, unsigned octet) { return (uint8_t)(number * 7 + octet); }

/* Writes a burst of octets of `number` and waits for its response: 0 to 3, or a negative errno. */
static int write_burst(suede_axi* axi, uint64_t address, unsigned beats, unsigned number,
                       time_t end) {
  const suede_axi_address burst = burst_at(address, beats);
  suede_axi_write_response response;
  unsigned sent = 0;
  int has_address = 0;
  while (suede_axi_take_b(axi, &response) != 1) {
    if (!has_address) has_address = suede_axi_send_aw(axi, &burst) == 0;
    for (; sent < beats && suede_axi_credit(axi, SUEDE_AXI_W) != 0; ++sent) {
      suede_axi_write_beat beat = {.strobes = {0xffffffff}, .last = sent + 1 == beats};
      for (unsigned i = 0; i < kBus; ++i) beat.data[i] = octet_of(number, sent * kBus + i);
      suede_axi_send_w(axi, &beat);
    }
    const int error = turn(axi);
    if (error != 0) return error;
    if (time(NULL) > end) return -ETIMEDOUT;
  }
  return response.response;
}

/* Reads a burst and compares. Returns its worst response; 4 where octets differ; a negative errno.
 */
static int read_burst(suede_axi* axi, uint64_t address, unsigned number, time_t end) {
  const suede_axi_address burst = burst_at(address, kBeats);
  int is_sent = 0;
  int worst = 0;
  for (unsigned beat = 0; beat < kBeats;) {
    suede_axi_read_beat in;
    if (!is_sent) is_sent = suede_axi_send_ar(axi, &burst) == 0;
    if (suede_axi_take_r(axi, &in) == 1) {
      for (unsigned i = 0; i < kBus; ++i) {
        if (in.data[i] != octet_of(number, beat * kBus + i)) worst = 4;
      }
      if (in.response > worst) worst = in.response;
      ++beat;
      continue;
    }
    const int error = turn(axi);
    if (error != 0) return error;
    if (time(NULL) > end) return -ETIMEDOUT;
  }
  return worst;
}

static int fail(const char* what, int result) {
  if (result < 0) {
    fprintf(stderr, "axi: %s: %s\n", what, suede_axi_error_text());
    return result == -ETIMEDOUT ? 1 : 4;
  }
  fprintf(stderr, "axi: %s: %s\n", what, result == 4 ? "octets differ" : "SLVERR or DECERR");
  return 3;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: axi NAME-OR-SOCKET PEER-XPU COUNT SECONDS\n");
    return 2;
  }
  const suede_axi_route route = {.first = 0,
                                 .last = kMemory - 1,
                                 .xpuid = (uint16_t)atoi(argv[2]),
                                 .by = SUEDE_AXI_BY_ADDRESS};
  const suede_axi_params params = {
      .size = sizeof params, .bus_bytes = kBus, .route_count = 1, .routes = &route};
  const unsigned count = (unsigned)atoi(argv[3]);
  const time_t end = time(NULL) + atoi(argv[4]);
  suede_axi* axi = NULL;
  int result = suede_axi_open(argv[1], &params, &axi);
  if (result != 0) return fail("cannot open", result);
  /* The peer may not be there yet: writes until it answers. */
  do {
    result = write_burst(axi, 0, kBeats, 0, end);
  } while (result >= (int)SUEDE_AXI_SLVERR && time(NULL) <= end);
  for (unsigned i = 0; i < count && result == (int)SUEDE_AXI_OKAY; ++i) {
    const uint64_t address = (uint64_t)i * kBurst % (kMemory - kBurst);
    result = write_burst(axi, address, kBeats, i, end);
    if (result == (int)SUEDE_AXI_OKAY) result = read_burst(axi, address, i, end);
  }
  if (result == (int)SUEDE_AXI_OKAY) result = write_burst(axi, kTold, 1, 1, end);
  if (result != (int)SUEDE_AXI_OKAY) {
    suede_axi_close(axi);
    return fail("a transaction failed", result);
  }
  while (g_memory[kTold + 1] == 0 && time(NULL) <= end) {
    if ((result = turn(axi)) != 0 || (result = suede_axi_wait(axi, 100)) < 0) {
      suede_axi_close(axi);
      return fail("cannot wait", result);
    }
  }
  /* The peer's last answer is on its way to the daemon. */
  turn(axi);
  suede_axi_close(axi);
  printf("%u bursts written and read back\n", count);
  return g_memory[kTold + 1] != 0 ? 0 : 1;
}
