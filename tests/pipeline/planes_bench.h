// SPDX-License-Identifier: Apache-2.0
// Hosts with two planes between them, and the queries of their tests.
#ifndef SUEDE_TESTS_PIPELINE_PLANES_BENCH_H_
#define SUEDE_TESTS_PIPELINE_PLANES_BENCH_H_

#include <vector>

#include "bench.h"

namespace suede {

class PlanesTest : public PipelineTest {
 protected:
  PlanesTest() {
    params.paths.hello_interval = microseconds(100);
    params.paths.hello_idle = milliseconds(2);
    params.paths.hold_down = milliseconds(1);
    params.paths.hold_down_max = milliseconds(8);
    params.paths.unreachable = milliseconds(5);
    params.paths.ordering = Ordering::kUnordered;
    planes = 2;
  }
  void StartPair() {
    a = &AddHost(0, 2);
    b = &AddHost(1, 2);
    ca = &Attach(*a);
    cb = &Attach(*b);
  }
  // Sends and waits for that many completions: the sessions are up afterwards.
  void WarmUp() {
    ca->SendTagged(0, 1);
    cb->SendTagged(0, 0);
    EXPECT_EQ(Statuses(*ca, 1), std::vector<int>{kOk});
    EXPECT_EQ(Statuses(*cb, 1), std::vector<int>{kOk});
    Run(milliseconds(1));
    cb->Receive();
    ca->Receive();
  }
  // PDUs of one command with seeds 1 to count, all to one VC.
  void SendPdus(uint8_t count) {
    for (uint8_t i = 1; i <= count; ++i) {
      ca->Send(TestCommand(8, 16, i), 1, 0, SUEDE_RECORD_TRANSMIT_NOW | SUEDE_RECORD_COMPLETION,
               i - 1u);
    }
  }
  static std::vector<uint8_t> Seeds(uint8_t count) {
    std::vector<uint8_t> seeds;
    for (uint8_t i = 1; i <= count; ++i) seeds.push_back(static_cast<uint8_t>(i * 3));
    return seeds;
  }
  PlaneSession& SessionOf(Host& host, uint32_t plane) {
    return const_cast<Instance&>(host.pipeline->instance(0)).peers.session(0, PlaneIndex(plane));
  }
  // PDUs that plane `plane` of host a has carried.
  uint32_t Carried(uint32_t plane) {
    return a->pipeline->instance(0).peers.connections[plane].tx().tx_pdus();
  }
  // Frames sent and received on the plane are lost, while its link stays up.
  void Cut(uint32_t plane, bool cut) {
    a->ports[plane]->faults().loss = b->ports[plane]->faults().loss = cut ? 1 : 0;
  }
  Host* a = nullptr;
  Host* b = nullptr;
  Client* ca = nullptr;
  Client* cb = nullptr;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PIPELINE_PLANES_BENCH_H_
