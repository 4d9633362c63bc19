// SPDX-License-Identifier: Apache-2.0
// CPU time of a frame through a memif whose ends are in one thread: memif_bench FRAME_BYTES.
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "memif/device.h"

namespace suede::memif {
namespace {

constexpr uint32_t kBurst = 32;

// The frames of a pool, last in first out.
class Pool : public Port {
 public:
  explicit Pool(uint32_t count) : memory_(count * kFrameBytes), frames_(count) {
    for (uint32_t i = 0; i < count; ++i) {
      frames_[i].buffer = memory_.data() + i * kFrameBytes;
      frames_[i].capacity = kFrameBytes;
      free_.push_back(&frames_[i]);
    }
  }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) {
      frames[i] = free_.back();
      free_.pop_back();
    }
    return count;
  }
  void Release(Frame* const* frames, uint32_t count) override {
    free_.insert(free_.end(), frames, frames + count);
  }
  uint32_t Receive(Frame**, uint32_t) override { return 0; }
  uint32_t Transmit(Frame* const*, uint32_t) override { return 0; }
  bool IsBusy(const Frame*) const override { return false; }
  void Hold(Frame* const*, uint32_t) override {}
  uint32_t max_frame_bytes() const override { return 1514; }
  bool Offers(TxOffload) const override { return false; }
  LinkState link() const override { return {}; }

 private:
  static constexpr uint32_t kFrameBytes = 2304;
  std::vector<uint8_t> memory_;
  std::vector<Frame> frames_;
  std::vector<Frame*> free_;
};

double CpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Returns the CPU time of a frame, in ns.
double Measure(Pool& pool, Queue& from, Queue& to, uint32_t frame_bytes) {
  constexpr uint32_t kBursts = 200'000;
  Frame* frames[kBurst];
  pool.Allocate(frames, kBurst);
  for (Frame* frame : frames) {
    frame->data = frame->buffer + Frame::kCommandOffset - 42;
    frame->length = frame_bytes;
  }
  const double start = CpuNs();
  for (uint32_t i = 0; i < kBursts; ++i) {
    from.Send(frames, kBurst);
    Frame* received[kBurst];
    pool.Release(received, to.Receive(pool, received, kBurst));
  }
  const double ns = (CpuNs() - start) / kBursts / kBurst;
  pool.Release(frames, kBurst);
  return ns;
}

}  // namespace
}  // namespace suede::memif

int main(int argc, char** argv) {
  using namespace suede::memif;
  const auto frame_bytes = static_cast<uint32_t>(argc > 1 ? std::atoi(argv[1]) : 64);
  DeviceOptions options{.socket = "suede_memif_bench", .buffer_bytes = 2112};
  auto client = Device::Open(options);
  options.is_server = true;
  auto server = Device::Open(options);
  if (!client.ok() || !server.ok()) return 1;
  for (int64_t now_ns = 0; now_ns < 1'000'000'000; now_ns += 10'000'000) {
    (*client)->Poll(now_ns);
    (*server)->Poll(now_ns);
  }
  if (!(*client)->up()) return 1;
  Pool pool(2048);
  for (int run = 0; run < 3; ++run) {
    const double c2s = Measure(pool, (*client)->queue(0), (*server)->queue(0), frame_bytes);
    const double s2c = Measure(pool, (*server)->queue(0), (*client)->queue(0), frame_bytes);
    std::printf("%u bytes: client to server %.1f ns, server to client %.1f ns\n", frame_bytes, c2s,
                s2c);
  }
}
