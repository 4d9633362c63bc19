// SPDX-License-Identifier: Apache-2.0
// LLDP frames of any bytes to an agent: a frame has one fate, a frame that is accepted encodes to
// one with the same values, and neighbours and reports stay bounded.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "lldp/agent.h"

namespace suede::lldp {
namespace {

constexpr Mac kSource{2, 0, 0, 0, 0, 1};
constexpr size_t kMaxFrame = 2048;

Assignment Used() {
  return {.address = {.low = 0x0a000005}, .prefix = 24, .gateway = IpAddress{.low = 0x0a000001}};
}

// Checks that a verdict belongs to an address, and that only the address in use is used.
void CheckVerdict(const Neighbour& one) {
  if (one.pdu.assignment.has_value() != (one.address != AddressVerdict::kNone)) std::abort();
  const bool is_used = one.pdu.assignment == Used();
  if (is_used != (one.address == AddressVerdict::kUsed)) std::abort();
  if (one.pdu.assignment && FaultOf(*one.pdu.assignment) == AddressVerdict::kUsable) return;
  if (one.address == AddressVerdict::kChanged) std::abort();
}

Lldpdu Own() {
  Lldpdu own{.chassis = {.subtype = Id::kChassisMac, .value = "\x02\x02\x02\x02\x02\x02"},
             .port = {.subtype = Id::kPortInterface, .value = "p0"}};
  own.max_frame_bytes = 1518;
  own.ets = Ets{};
  own.pfc = Pfc{.max_classes = 8, .classes = 0x4f};
  own.applications = {{{.selector = 5, .protocol = 26, .priority = 3}}};
  own.link = LinkOptions{.llr = true, .ether_type = 0xfe50};
  own.assignment = Used();
  return own;
}

// Checks that accepted values survive encoding.
void CheckReturn(const Decoded& decoded) {
  if (decoded.fault != FrameFault::kNone || decoded.pdu.ttl_s == 0) return;
  const Decoded again = Decode(Encode(decoded.pdu, kSource));
  if (again.fault != FrameFault::kNone || again.pdu != decoded.pdu) std::abort();
  if (again.tlvs != TlvFaults{}) std::abort();
}

uint64_t Fates(const LldpCounters& counters) {
  uint64_t sum = 0;
  for (const LldpCounter one :
       {LldpCounter::kRxFrames, LldpCounter::kRxRate, LldpCounter::kRxOwn,
        LldpCounter::kRxTruncated, LldpCounter::kRxOrder, LldpCounter::kRxMandatory,
        LldpCounter::kRxDuplicate, LldpCounter::kRxNoEnd, LldpCounter::kRxNeighbours}) {
    sum += counters.Get(one);
  }
  return sum;
}

}  // namespace
}  // namespace suede::lldp

// The input is a list of frames: two octets of length, a step of time in 100 ms, the octets behind
// the Ethernet header.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace suede;
  using namespace suede::lldp;
  LldpCounters counters;
  Agent agent(Own(), kSource, {.addresses = {.accepts = true, .used = Used(), .taken = {}}},
              &counters);
  Time now = TimeFromMs(1000);
  agent.OnLink(true, now);
  uint64_t frames = 0;
  std::span<const uint8_t> input(data, size);
  while (input.size() >= 3) {
    const size_t bytes =
        std::min<size_t>((size_t{input[0]} << 8 | input[1]) % kMaxFrame, input.size() - 3);
    now += std::chrono::milliseconds(100) * input[2];
    std::vector<uint8_t> frame = Encode(
        {.chassis = {.subtype = 7, .value = "x"}, .port = {.subtype = 7, .value = "x"}}, kSource);
    frame.resize(14);
    frame.insert(frame.end(), input.begin() + 3, input.begin() + 3 + static_cast<ptrdiff_t>(bytes));
    input = input.subspan(3 + bytes);
    CheckReturn(Decode(frame));
    agent.OnFrame(frame, now);
    agent.Poll(now);
    (void)agent.TakeFrame(now);
    if (Fates(counters) != ++frames) std::abort();
    if (agent.neighbours().size() > 4) std::abort();
    for (const Neighbour& one : agent.neighbours()) {
      if (one.expires <= now) std::abort();
      CheckVerdict(one);
    }
  }
  uint32_t reports = 0;
  while (agent.TakeReport()) ++reports;
  if (reports > Agent::kMaxReports) std::abort();
  return 0;
}
