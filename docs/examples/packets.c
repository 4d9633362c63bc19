/* SPDX-License-Identifier: Apache-2.0 */
/* packets: sends and receives management packets of a port.
 *
 *   packets ENDPOINT PORT [--count N] [--rate PER_SECOND] [--bytes N] [--receive N] [--seconds S]
 *
 * Sends N frames of EtherType 0x9000 to everybody, evenly at a rate or, with rate 0, as fast as the
 * daemon takes them, and receives until N have come or S seconds are over. Prints what was sent and
 * received. Exit codes: 0 done, 1 fewer were received than asked for, 2 usage, 4 no daemon.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suede/suede.h"

#define MOST_BYTES 9618

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int usage(void) {
  fprintf(stderr,
          "usage: packets ENDPOINT PORT [--count N] [--rate PER_SECOND] [--bytes N] [--receive N] "
          "[--seconds S]\n");
  return 2;
}

static void make_frame(uint8_t* frame, const suede_packets_info* info) {
  memset(frame, 0xff, 6);           /* to everybody */
  memcpy(frame + 6, info->mac, 6);  /* from the port */
  frame[12] = 0x90;                 /* EtherType 0x9000, which is for tests */
  frame[13] = 0x00;
}

int main(int argc, char** argv) {
  uint64_t count = 1, wanted = 0, sent = 0, received = 0;
  double rate = 0, seconds = 5;
  uint32_t bytes = 60;
  if (argc < 3 || argc % 2 == 0) return usage();
  for (int i = 3; i < argc; i += 2) {
    const double value = atof(argv[i + 1]);
    if (strcmp(argv[i], "--count") == 0) {
      count = (uint64_t)value;
    } else if (strcmp(argv[i], "--rate") == 0) {
      rate = value;
    } else if (strcmp(argv[i], "--bytes") == 0) {
      bytes = (uint32_t)value;
    } else if (strcmp(argv[i], "--receive") == 0) {
      wanted = (uint64_t)value;
    } else if (strcmp(argv[i], "--seconds") == 0) {
      seconds = value;
    } else {
      return usage();
    }
  }

  suede_packets_params params = {.size = sizeof params, .receive = wanted != 0, .port = argv[2]};
  suede_packets* packets = NULL;
  const int error = suede_packets_open(argv[1], &params, &packets);
  if (error != 0) {
    fprintf(stderr, "packets: %s: %s\n", argv[1], suede_error_text());
    return error == -ENODEV || error == -EINVAL ? 2 : 4;
  }
  suede_packets_info info = {.size = sizeof info};
  suede_packets_get_info(packets, &info);
  if (bytes < 14 || bytes > info.max_bytes) {
    fprintf(stderr, "packets: this port takes 14 to %u bytes\n", info.max_bytes);
    suede_packets_close(packets);
    return 2;
  }

  static uint8_t frame[MOST_BYTES], room[MOST_BYTES];
  make_frame(frame, &info);
  const double start = now();
  double sending = 0;
  int gone = 0;
  while (!gone && (sent < count || (received < wanted && now() < start + seconds))) {
    int n;
    while ((n = suede_packets_receive(packets, room, sizeof room)) >= 0) {
      received += room[12] == 0x90 && room[13] == 0x00;
    }
    gone = n == -ECONNRESET;
    while (sent < count && (rate == 0 || (double)sent < rate * (now() - start))) {
      n = suede_packets_send(packets, frame, bytes);
      if (n != 0) {
        gone = n == -ECONNRESET;
        break;
      }
      ++sent;
      sending = now() - start;
    }
    struct pollfd what = {.fd = suede_packets_fd(packets), .events = POLLIN};
    poll(&what, 1, 1);
  }
  printf("sent %llu in %.3f s, received %llu, lost here %llu\n", (unsigned long long)sent, sending,
         (unsigned long long)received, (unsigned long long)suede_packets_lost(packets));
  suede_packets_close(packets);
  if (gone) return 4;
  return received >= wanted ? 0 : 1;
}
