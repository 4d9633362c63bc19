// SPDX-License-Identifier: Apache-2.0
// A pipeline of XPUs over the C++ layer of message sockets: datagrams go round from XPU to XPU,
// each adds one to them, and each round is an epoch.
//
//   socket NAME-OR-SOCKET XPUS ROUNDS SECONDS
//
// Started at the endpoints of all XPUS (0,1 or 0,1,2), of which the first begins. It ends with 0
// after ROUNDS; with 1 after SECONDS or where a number is wrong, 2 on wrong usage, 3 where a socket
// failed, 4 where the daemon is not reachable or goes away.
#include "suede/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

using suede::client::MakeSocketParams;
using suede::client::Socket;
using suede::client::Sockets;

constexpr uint16_t kId = 3;
constexpr uint32_t kMessages = 100;  // of a round

int Fail(int error) {
  std::fprintf(stderr, "socket: %s\n", suede_mem_error_text());
  if (error == -ENOENT || error == -ECONNREFUSED || error == -ECONNRESET) return 4;
  return error == -EIO ? 3 : 1;
}

std::vector<uint16_t> ParseXpus(const char* text) {
  std::vector<uint16_t> xpus;
  char* end = nullptr;
  do {
    xpus.push_back(static_cast<uint16_t>(std::strtoul(text, &end, 10)));
    text = end + 1;
  } while (*end == ',');
  return xpus;
}

// One round: 0, or a negative errno; 1: a number is wrong.
int GoRound(Sockets& sockets, const std::vector<uint16_t>& xpus, uint32_t epoch, int timeout_ms) {
  const auto own =
      static_cast<size_t>(std::find(xpus.begin(), xpus.end(), sockets.xpuid()) - xpus.begin());
  const uint16_t next = xpus[(own + 1) % xpus.size()];
  const uint16_t former = xpus[(own + xpus.size() - 1) % xpus.size()];
  Socket to;
  Socket from;
  int error = sockets.OpenSocket(
      MakeSocketParams(SUEDE_SOCKET_RECEIVE, kId, epoch, former, SUEDE_SOCKET_DATAGRAM), &from);
  if (error == 0) {
    error = sockets.OpenSocket(
        MakeSocketParams(SUEDE_SOCKET_SEND, kId, epoch, next, SUEDE_SOCKET_DATAGRAM), &to);
  }
  if (error == 0) error = to.Connect(timeout_ms);
  if (error == 0) error = from.Connect(timeout_ms);
  for (uint32_t i = 0; error == 0 && i < kMessages; ++i) {
    uint32_t number = 0;
    const auto octets = std::as_writable_bytes(std::span(&number, 1));
    if (own != 0 && (error = from.Receive(octets, timeout_ms)) < 0) break;
    number = own == 0 ? i : number + 1;
    if ((error = to.Send(octets, timeout_ms)) != 0 || own != 0) continue;
    if ((error = from.Receive(octets, timeout_ms)) < 0) break;
    error = number == i + xpus.size() - 1 ? 0 : 1;
  }
  if (error == 0) error = to.Close(timeout_ms);
  // Until the former one has ended its side, too.
  uint32_t nothing = 0;
  if (error == 0) error = from.Receive(std::as_writable_bytes(std::span(&nothing, 1)), timeout_ms);
  return error == -ENODATA ? 0 : error;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: socket NAME-OR-SOCKET XPUS ROUNDS SECONDS\n");
    return 2;
  }
  const std::vector<uint16_t> xpus = ParseXpus(argv[2]);
  const auto rounds = static_cast<uint32_t>(std::atol(argv[3]));
  const int timeout_ms = std::atoi(argv[4]) * 1000;
  Sockets sockets;
  int error = sockets.Open(argv[1]);
  if (error == 0) error = sockets.Start();
  for (uint32_t epoch = 0; error == 0 && epoch < rounds; ++epoch) {
    error = GoRound(sockets, xpus, epoch, timeout_ms);
  }
  if (error > 0) std::fprintf(stderr, "socket: a number is wrong\n");
  if (error != 0) return error > 0 ? 1 : Fail(error);
  std::printf("XPU %u: %u rounds of %u messages\n", sockets.xpuid(), rounds, kMessages);
  return 0;
}
