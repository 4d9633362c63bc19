// SPDX-License-Identifier: Apache-2.0
// A client that sends as fast as its credit lets it, and nothing else: for tools/bench, which
// measures what passes from a client's CPU to that of an lcore. Prints the commands a second that
// it has sent after a second to settle, and the commands that it has sent in all. The data of each
// are its number, over and over with "check", and once without.
//
// client_bench SOCKET TO-XPU BYTES SECONDS [check]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "suede/suede.hpp"

namespace {

constexpr uint32_t kControlBytes = 8;
constexpr uint32_t kPduBytes = 2048;
constexpr uint32_t kTurns = 64;  // between looks at the clock

using Clock = std::chrono::steady_clock;

// Sends until `end`, commands with numbers from `base` on, which are the first `numbered` bytes of
// their data. Returns how many were sent; less than 0: an error.
int64_t SendUntil(suede_queue* queue, const suede_shape& shape, uint32_t batch, uint64_t base,
                  size_t numbered, Clock::time_point end) {
  int64_t sent = 0;
  while (Clock::now() < end) {
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
      suede_span span{};
      const int count = suede_reserve(queue, &shape, batch, &span);
      if (count < 0) return count;
      for (int i = 0; i < count; ++i) {
        const uint64_t number = base + static_cast<uint64_t>(sent + i);
        uint8_t* const data = span.data + size_t{span.stride} * static_cast<uint32_t>(i);
        for (size_t at = 0; at < numbered; at += sizeof number) {
          std::memcpy(data + at, &number, std::min(sizeof number, numbered - at));
        }
      }
      if (count == 0) continue;
      if (const int error = suede_commit(queue, static_cast<uint32_t>(count)); error < 0)
        return error;
      suede_flush(queue);
      sent += count;
    }
  }
  return sent;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) {
    std::fprintf(stderr, "client_bench SOCKET TO-XPU BYTES SECONDS [check]\n");
    return 2;
  }
  suede_shape shape{};
  shape.size = sizeof shape;
  shape.xpuid = static_cast<uint16_t>(std::atoi(argv[2]));
  shape.control_bytes = kControlBytes;
  shape.data_bytes = static_cast<uint16_t>(std::atoi(argv[3]));
  shape.type = 0x20;
  const std::chrono::duration<double> seconds(std::atof(argv[4]));
  suede::client::Client client;
  int error = client.Connect(argv[1]);
  if (error == 0) {
    suede_queue* const queue = client.queue(0).get();
    const uint32_t batch = kPduBytes / (kControlBytes + shape.data_bytes);
    const size_t numbered =
        argc == 6 ? shape.data_bytes : std::min<size_t>(sizeof(uint64_t), shape.data_bytes);
    const int64_t first =
        SendUntil(queue, shape, batch, 0, numbered, Clock::now() + std::chrono::seconds(1));
    int64_t sent = first;
    const auto begin = Clock::now();
    if (first >= 0) {
      sent = SendUntil(queue, shape, batch, static_cast<uint64_t>(first), numbered,
                       begin + std::chrono::duration_cast<Clock::duration>(seconds));
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (sent >= 0) {
      std::printf("%.0f a second, %.0f in all\n", static_cast<double>(sent) / took.count(),
                  static_cast<double>(first + sent));
      return 0;
    }
    error = static_cast<int>(sent);
  }
  std::fprintf(stderr, "client_bench: error %d: %s\n", error, suede_error_text());
  return 1;
}
