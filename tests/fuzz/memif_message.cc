// SPDX-License-Identifier: Apache-2.0
// The control channel of a memif, server and client, whose peer is the input: an accepted plan fits
// its regions, and a closed channel sends nothing more.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "input.h"
#include "memif/channel.h"

namespace suede::memif {
namespace {

// Takes a message of the right size, of a type and with bytes of the input, or shorter.
std::vector<uint8_t> TakeMessage(Input& input) {
  std::vector<uint8_t> bytes(kMessageBytes);
  bytes[0] = input.Byte();
  const std::vector<uint8_t> body = input.Bytes(input.Byte() % kMessageBytes);
  std::copy_n(body.begin(), std::min(body.size(), kMessageBytes - 2), bytes.begin() + 2);
  if (bytes[0] >= 0xf0) bytes.resize(bytes[0] - 0xf0);
  return bytes;
}

void CheckPlan(const ConnectionPlan& plan) {
  uint64_t sum = 0;
  for (const uint64_t bytes : plan.regions) sum += bytes;
  if (sum > kMaxSharedBytes || plan.regions.size() > kMaxRegions) std::abort();
  for (const auto* rings : {&plan.c2s, &plan.s2c}) {
    for (const RingPlan& ring : *rings) {
      if (ring.region >= plan.regions.size() || ring.log2_slots > kMaxLog2Ring ||
          ring.offset + RingBytes(ring.log2_slots) > plan.regions[ring.region]) {
        std::abort();
      }
    }
  }
}

void TestServer(Input& input) {
  const std::vector<InterfaceRules> interfaces = {{.id = 0, .rings = 2},
                                                  {.id = 1, .secret = "s", .rings = 1}};
  ServerChannel channel;
  bool closed = false;
  while (!input.empty()) {
    const bool has_descriptor = input.Byte() % 8 != 0;
    const Step step = channel.OnMessage(TakeMessage(input), has_descriptor, interfaces);
    if (closed && step.reply) std::abort();
    closed = closed || step.action == Action::kClose;
    if (step.action != Action::kConnect) continue;
    CheckPlan(channel.plan());
    channel.Accept("fuzz");
  }
}

void TestClient(Input& input) {
  ClientChannel channel({.rings = static_cast<uint16_t>(1 + input.Byte() % 4)});
  bool closed = false;
  while (!input.empty()) {
    const Step step = channel.OnMessage(TakeMessage(input));
    if (closed && step.reply) std::abort();
    closed = closed || step.action == Action::kClose;
    if (step.action != Action::kMakeMemory) continue;
    CheckPlan(channel.plan());
    channel.Start(channel.plan().regions[0]);
  }
}

}  // namespace
}  // namespace suede::memif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Input input(data, size);
  if (input.Byte() % 2 == 0) {
    suede::memif::TestServer(input);
  } else {
    suede::memif::TestClient(input);
  }
  return 0;
}
