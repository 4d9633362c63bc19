// SPDX-License-Identifier: Apache-2.0
// The numbers of sessions in frames: drawn from all that headers tell apart, on each plane.
#include <set>

#include "base/big_endian.h"
#include "bench.h"

namespace suede {
namespace {

constexpr uint32_t kSessions = 4;
constexpr uint32_t kSourcePortAt = 34;  // in a frame of UDP over IPv4
constexpr uint32_t kPorts = 16384;      // from kFirstSourcePort on

// The source ports of the HELLOs that have come to a bare port.
std::vector<uint32_t> HelloPorts(SimPort* wire) {
  std::vector<uint32_t> ports;
  Frame* frame;
  while (wire->Receive(&frame, 1) == 1) {
    const uint32_t port = LoadBe16(frame->data + kSourcePortAt);
    const ParsedFrame parsed = ParseFrame({}, frame->data, frame->length, false);
    EXPECT_EQ(parsed.error, FrameError::kNone);
    ControlMessage message;
    if (DecodeControl(parsed.pdu + kRhBytes, parsed.pdu_bytes - kRhBytes - kRcrcBytes, message) ==
            ControlError::kNone &&
        std::holds_alternative<Hello>(message)) {
      ports.push_back(port);
    }
    wire->Release(&frame, 1);
  }
  return ports;
}

class SessionNumbersTest : public PipelineTest {
 protected:
  SessionNumbersTest() { params.sessions = kSessions; }
};

// A host with two planes to a peer that says nothing.
TEST_F(SessionNumbersTest, EachRepetitionOfAHelloTakesAnotherPathOnEitherPlane) {
  planes = 2;
  Host& host = AddHost(0, 2);
  SimPort* const wires[] = {AddPort(OnPlane(0, 1)), AddPort(OnPlane(1, 1))};
  Client& client = Attach(host);
  client.SendTagged(0, 1);
  Run(milliseconds(40));
  for (SimPort* wire : wires) {
    const std::vector<uint32_t> ports = HelloPorts(wire);
    ASSERT_GE(ports.size(), 4u);
    EXPECT_GE(std::set(ports.begin(), ports.end()).size(), ports.size() - 1) << "drawn at random";
    for (const uint32_t port : ports) EXPECT_GE(port, kFirstSourcePort);
  }
}

// A session takes another number as it grows old.
TEST_F(SessionNumbersTest, ASessionTakesNumbersThatHeadersTellApart) {
  params.paths.hello_interval = microseconds(100);
  params.paths.sessions.interval = microseconds(100);
  params.paths.sessions.max_age = milliseconds(1);
  Host& host = AddHost(0, 2);
  AddHost(1, 2);
  Client& client = Attach(host);
  Attach(*hosts[1]);
  const SessionGroup& group = host.pipeline->instance(0).peers.groups[0];
  std::set<uint32_t> numbers;
  RunUntil(
      [&] {
        client.Send(TestCommand(8, 16, 1), 1, 0, SUEDE_RECORD_TRANSMIT_NOW);
        clients[1]->Receive();
        numbers.insert(group.slot(0).number);
        return false;
      },
      milliseconds(20));
  ASSERT_EQ(group.count(), kSessions);
  EXPECT_GE(numbers.size(), 5u);
  for (const uint32_t number : numbers) {
    EXPECT_LT(number, kPorts);
    EXPECT_EQ(number % kSessions, 0u) << "of its slot";
  }
}

}  // namespace
}  // namespace suede
