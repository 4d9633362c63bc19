// SPDX-License-Identifier: Apache-2.0
// A switch whose configuration and frames are the input: whatever comes in, no frame is lost or
// given out twice, its sums agree, and good traffic beside it passes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fabric_fixture.h"
#include "input.h"

namespace suede::fabric {
namespace {

SwitchParams ParamsFrom(Input& input) {
  SwitchParams params = ParamsOf(3, static_cast<Forwarding>(input.Byte() % 4));
  const uint8_t bits = input.Byte();
  params.learns = (bits & 1) != 0;
  params.floods = (bits & 2) != 0;
  params.classes.pcp_first = (bits & 4) != 0;
  params.trim = {.on = (bits & 8) != 0, .dscps = ~uint64_t{0}, .trimmed_dscp = 5};
  params.addresses = 16;
  params.addresses_of_port = 8;
  params.buffer_bytes = 512 * 1024;
  params.of_class[input.Byte() % 8].lossless = true;
  for (ClassParams& of_class : params.of_class) of_class.headroom_bytes = 4096;
  params.of_class[input.Byte() % 8].max_wait = std::chrono::microseconds(20);
  for (PortParams& port : params.ports) {
    port.pfc.on = (bits & 16) != 0;
    port.rate_bps = (bits & 32) != 0 ? 1'000'000'000 : 0;
  }
  return params;
}

ImpairmentParams ImpairmentFrom(Input& input) {
  ImpairmentParams params{.delay = Duration(input.Byte() * 100),
                          .loss = uint32_t{input.Byte()} << 24,
                          .reorder = uint32_t{input.Byte()} << 24,
                          .duplicate = uint32_t{input.Byte()} << 24,
                          .flip = uint32_t{input.Byte()} << 24,
                          .max_bytes = 64u + input.Byte() * 16u};
  params.of_class[input.Byte() % 8] = {.delay = Duration(input.Byte() * 100),
                                       .loss = uint32_t{input.Byte()} << 24,
                                       .reorder = uint32_t{input.Byte()} << 24};
  return params;
}

void Play(Input input) {
  Fabric fabric(ParamsFrom(input));
  int64_t us = 0;
  while (!input.empty()) {
    const uint8_t step = input.Byte();
    const uint32_t port = step % 3;
    switch (step >> 5) {
      case 0:
        us += input.Byte();
        break;
      case 1:
        if ((step & 8) != 0) {
          fabric.the_switch.port(port).SetBlocked(input.Byte() % 3, (step & 16) != 0);
        } else {
          fabric.the_switch.SetDown(port, (step & 16) != 0);
        }
        break;
      case 2:
        ((step & 16) != 0 ? fabric.the_switch.port(port).in() : fabric.the_switch.port(port).out())
            .Set(ImpairmentFrom(input));
        break;
      case 3: {
        std::vector<uint8_t> frame =
            BytesOf({.encap = static_cast<Encap>(input.Byte() % 6),
                     .from = 1u + input.Byte() % 4,
                     .to = 1u + input.Byte() % 4,
                     .bytes = 2u * input.Byte(),
                     .traffic_class = {.dscp = static_cast<uint8_t>(input.Byte() & 63)}});
        for (uint32_t i = step >> 2 & 3; i != 0; --i)
          frame[input.Byte() % frame.size()] ^= input.Byte();
        fabric.In(port, frame, At(us));
        break;
      }
      case 4:
        fabric.In(port, input.Bytes(input.Byte()), At(us));
        break;
      default:
        fabric.Out(port, At(us), step >> 2 & 7);
    }
    fabric.the_switch.CheckInvariants();
  }
}

}  // namespace
}  // namespace suede::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::fabric::Play({data, size});
  return 0;
}
