// SPDX-License-Identifier: Apache-2.0
// Both ends of a memif queue over memory that the input writes between bursts: no access leaves
// the memory, no frame is lost, and none is longer than the port's.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "frame_pool.h"
#include "input.h"
#include "memif/ring.h"

namespace suede::memif {
namespace {

constexpr uint8_t kLog2 = 4;
constexpr uint32_t kSlots = 1u << kLog2;
constexpr uint32_t kBufferBytes = 96;
constexpr uint32_t kMaxFrame = 300;
constexpr uint32_t kS2c = 512;  // offset of the second ring
constexpr uint32_t kBuffers = 1024;
constexpr uint64_t kBytes = kBuffers + 2 * kSlots * kBufferBytes;
constexpr uint32_t kFrames = 64;

struct End {
  End(uint8_t* memory, bool client) {
    for (const bool c2s : {true, false}) {
      RingView view{.header = reinterpret_cast<RingHeader*>(memory + (c2s ? 0 : kS2c)),
                    .log2_slots = kLog2};
      view.regions[0] = {.base = memory, .bytes = kBytes};
      if (client) {
        const uint64_t first = kBuffers + (c2s ? 0 : kSlots * kBufferBytes);
        view.buffers = BufferOrder(first, kSlots, kBufferBytes);
        view.buffer_bytes = kBufferBytes;
      }
      if (c2s == client) {
        tx.Attach(view);
      } else {
        rx.Attach(view);
      }
    }
    rx.Open();
    tx.Open();
  }

  void Send(uint32_t count, uint32_t length) {
    std::vector<Frame*> frames(count);
    frames.resize(pool.Allocate(frames.data(), count));
    for (Frame* frame : frames) frame->length = length;
    const auto n = static_cast<uint32_t>(frames.size());
    if (tx.Send(frames.data(), n) > n) std::abort();
    pool.Release(frames.data(), n);
  }
  void Receive(uint32_t max) {
    std::vector<Frame*> frames(max);
    const uint32_t n = rx.Receive(pool, frames.data(), max, kMaxFrame);
    tx.OnPoll();
    for (uint32_t i = 0; i < n; ++i) {
      if (frames[i]->length == 0 || frames[i]->length > kMaxFrame) std::abort();
    }
    pool.Release(frames.data(), n);
    if (pool.free() != kFrames) std::abort();
  }

  FramePool pool{kFrames, 2048};
  QueueCounters counters;
  ReceiveRing rx{&counters};
  SendRing tx{&counters};
};

struct Free {
  void operator()(uint8_t* bytes) const { std::free(bytes); }
};

}  // namespace
}  // namespace suede::memif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace suede::memif;
  const std::unique_ptr<uint8_t, Free> memory(
      static_cast<uint8_t*>(std::aligned_alloc(64, kBytes)));
  std::memset(memory.get(), 0, kBytes);
  End server(memory.get(), false);
  End client(memory.get(), true);
  suede::Input input(data, size);
  while (!input.empty()) {
    const uint8_t what = input.Byte();
    End& end = (what & 1) != 0 ? server : client;
    const uint8_t argument = input.Byte();
    switch (what >> 1 & 3) {
      case 0: {
        // Writes anywhere into headers and descriptors.
        const uint32_t at = (input.Byte() << 8 | argument) % kBuffers;
        const std::vector<uint8_t> bytes = input.Bytes(1 + (what >> 3) % 16);
        std::copy(bytes.begin(), bytes.end(), memory.get() + at);
        break;
      }
      case 1:
        end.Send(argument % 20, 1 + input.Byte() * 4);
        break;
      default:
        end.Receive(1 + argument % 40);
        break;
    }
  }
  return 0;
}
