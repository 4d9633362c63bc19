/* SPDX-License-Identifier: Apache-2.0 */
/* Message sockets of suede in C: a stream to a peer and one back, at once.
 *
 *   socket NAME-OR-SOCKET PEER-XPU PIECES SECONDS
 *
 * Started at two endpoints, each with the other's XPU. It sends KILOBYTES of octets that follow
 * from their position, checks what comes back from the peer, and ends with 0 once both streams have
 * ended; with 1 after SECONDS or where octets are wrong, 2 on wrong usage, 3 where a socket failed,
 * 4 where the daemon is not reachable or goes away. */
#include "suede/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { kId = 1, kEpoch = 2026, kPieceBytes = 65536 };

static int fail(int error) {
  fprintf(stderr, "socket: %s\n", suede_mem_error_text());
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

static suede_socket_params params_of(uint8_t direction, uint16_t peer) {
  const suede_socket_params params = {
      .size = sizeof params,
      .id = kId,
      .type = SUEDE_SOCKET_STREAM,
      .direction = direction,
      .epoch = kEpoch,
      .plane = SUEDE_MEM_AUTO,
      .vc = SUEDE_MEM_AUTO,
      .peer = peer,
  };
  return params;
}

static uint8_t octet_at(uint64_t position) { return (uint8_t)(position * 31 + position / 4096); }

/* Takes what has come. Returns 0, or a negative errno; 1: an octet is wrong. */
static int take(suede_socket* receiver, uint64_t* received, int timeout_ms) {
  uint8_t room[kPieceBytes];
  const int count = suede_socket_receive(receiver, room, sizeof room, timeout_ms);
  if (count == -EAGAIN || count == -ETIMEDOUT) return 0;
  if (count < 0) return count;
  for (int i = 0; i < count; ++i) {
    if (room[i] != octet_at(*received + (uint64_t)i)) return 1;
  }
  *received += (uint64_t)count;
  return 0;
}

static int run(suede_socket* sender, suede_socket* receiver, uint64_t bytes, int timeout_ms) {
  uint64_t received = 0;
  int error = suede_socket_connect(sender, timeout_ms);
  if (error == 0) error = suede_socket_connect(receiver, timeout_ms);
  static uint8_t piece[kPieceBytes];
  for (uint64_t sent = 0; error == 0 && sent < bytes; sent += kPieceBytes) {
    for (uint32_t i = 0; i < kPieceBytes; ++i) piece[i] = octet_at(sent + i);
    /* The peer sends as well: its octets wait in the receiver's ring meanwhile. The piece could be
     * written anew once pushed_bytes says so; the result is the library's until the end. */
    suede_socket_result result;
    error = suede_socket_start_send(sender, piece, kPieceBytes, (uint32_t)timeout_ms, &result);
    uint32_t status = SUEDE_SOCKET_OK;
    while (error == 0 &&
           (status = __atomic_load_n(&result.status, __ATOMIC_ACQUIRE)) == SUEDE_SOCKET_PENDING) {
      /* A peer that has sent all has closed, and is nobody to take from. */
      error = received < bytes ? take(receiver, &received, 0) : sched_yield();
    }
    if (error == 0 && status != SUEDE_SOCKET_OK) error = -EIO;
  }
  while (error == 0 && received < bytes) error = take(receiver, &received, timeout_ms);
  if (error > 0) {
    fprintf(stderr, "socket: an octet is wrong\n");
    return 1;
  }
  if (error < 0) return fail(error);
  error = suede_socket_drain(sender, timeout_ms);
  if (error != 0) return fail(error);
  printf("%" PRIu64 " octets each way\n", received);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: socket NAME-OR-SOCKET PEER-XPU PIECES SECONDS\n");
    return 2;
  }
  const uint16_t peer = (uint16_t)atoi(argv[2]);
  const uint64_t bytes = (uint64_t)atoll(argv[3]) * kPieceBytes;
  const int timeout_ms = atoi(argv[4]) * 1000;
  suede_sockets* sockets;
  int error = suede_sockets_open(argv[1], NULL, &sockets);
  if (error != 0) return fail(error);
  /* Serves the peer while this program computes. */
  error = suede_sockets_start(sockets);
  suede_socket* sender = NULL;
  suede_socket* receiver = NULL;
  const suede_socket_params to = params_of(SUEDE_SOCKET_SEND, peer);
  const suede_socket_params from = params_of(SUEDE_SOCKET_RECEIVE, peer);
  if (error == 0) error = suede_socket_open(sockets, &to, &sender);
  if (error == 0) error = suede_socket_open(sockets, &from, &receiver);
  int result = error == 0 ? run(sender, receiver, bytes, timeout_ms) : fail(error);
  if (result == 0) {
    error = suede_socket_close(sender, timeout_ms, NULL);
    sender = NULL;
    if (error != 0) result = fail(error);
    /* The peer's end: nothing comes behind it. */
    uint8_t octet;
    error = result == 0 ? suede_socket_receive(receiver, &octet, 1, timeout_ms) : 0;
    if (result == 0 && error != -ENODATA) result = fail(error);
  }
  suede_socket_close(sender, 0, NULL);
  suede_socket_close(receiver, 0, NULL);
  suede_sockets_close(sockets);
  return result;
}
