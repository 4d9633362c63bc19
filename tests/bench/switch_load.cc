// SPDX-License-Identifier: Apache-2.0
// Load for a program that forwards between two memif ports, of which it is the server
// (tools/bench-switch).
//
// switch_load NAME CPU BYTES SECONDS SOCKET SOCKET: sends frames of so many bytes to both as fast
// as they are taken, with the destination 02:00:00:00:00:0N on socket N, and prints how many came
// back in a second.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/lcores.h"

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;
constexpr uint32_t kFrames = 8 * kBurst;  // of a port, sent again and again: memif copies

struct End {
  std::unique_ptr<DpdkPort> port;
  std::array<Frame*, kFrames> frames{};
  uint32_t next = 0;
  uint64_t received = 0;

  bool Fill(uint8_t number, uint32_t bytes) {
    if (port->pair().Allocate(frames.data(), kFrames) != kFrames) return false;
    for (Frame* const frame : frames) {
      frame->length = bytes;
      frame->data = frame->buffer + Frame::kCommandOffset;
      std::memset(frame->data, 0, bytes);
      frame->data[0] = frame->data[6] = 2;
      frame->data[5] = number;
      frame->data[11] = static_cast<uint8_t>(0x10 + number);
      frame->data[12] = 0x88;
      frame->data[13] = 0xb5;
    }
    return true;
  }
  void Turn() {
    Frame* came[kBurst];
    const uint32_t count = port->pair().Receive(came, kBurst);
    port->pair().Release(came, count);
    received += count;
    port->pair().Transmit(frames.data() + next, kBurst);
    next = (next + kBurst) % kFrames;
  }
};

int Serve(std::array<End, 2>& ends, double seconds) {
  const TscClock clock;
  const auto run = [&](double time_s) {
    for (End& end : ends) end.received = 0;
    const Time begin = clock.Now();
    const Time stop = begin + Duration(static_cast<int64_t>(time_s * 1e9));
    Time now = begin;
    while ((now = clock.Now()) < stop) {
      for (End& end : ends) end.Turn();
    }
    return static_cast<double>(ends[0].received + ends[1].received) /
           std::chrono::duration<double>(now - begin).count();
  };
  run(0.2);
  std::printf("%.0f\n", run(seconds));
  return 0;
}

int Main(char** argv) {
  const unsigned cpu = static_cast<unsigned>(std::atoi(argv[2]));
  const uint32_t bytes = static_cast<uint32_t>(std::atoi(argv[3]));
  EalOptions eal{.file_prefix = argv[1], .no_huge = true, .memory_mb = 256, .cpus = {cpu}};
  if (!StartEal(eal).ok()) return 1;
  std::array<End, 2> ends;
  for (int i = 0; i < 2; ++i) {
    auto port = DpdkPort::Open({.name = argv[5 + i],
                                .device = "net_memif" + std::to_string(i) +
                                          ",role=client,id=0,socket=" + argv[5 + i] +
                                          ",socket-abstract=no,bsize=2304",
                                .mtu = 2000,
                                .frame_bytes = 2018,
                                .pool_frames = 2048});
    if (!port.ok()) {
      std::fprintf(stderr, "%s\n", std::string(port.status().message()).c_str());
      return 1;
    }
    ends[i].port = *std::move(port);
  }
  for (const End& end : ends) {
    for (int wait_ms = 0; !end.port->link().up; wait_ms += 10) {
      if (wait_ms > 10'000) return 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      end.port->RefreshLink();
    }
  }
  for (int i = 0; i < 2; ++i) {
    if (!ends[i].Fill(static_cast<uint8_t>(i), bytes)) return 1;
  }
  const double seconds = std::atof(argv[4]);
  if (!LaunchOnCpu(cpu, [&] { return Serve(ends, seconds); }).ok()) return 1;
  const int result = WaitForLcores();
  std::fflush(stdout);
  std::_Exit(result);
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: switch_load NAME CPU BYTES SECONDS SOCKET SOCKET\n");
    return 2;
  }
  return suede::Main(argv);
}
