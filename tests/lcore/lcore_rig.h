// SPDX-License-Identifier: Apache-2.0
// An lcore's state without a pipeline around it, for tests of single parts of lib/send and
// lib/receive: instances with the same peers, on ports that take all frames.
#ifndef SUEDE_TESTS_LCORE_LCORE_RIG_H_
#define SUEDE_TESTS_LCORE_LCORE_RIG_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "fake_port.h"
#include "lcore/lcore.h"

namespace suede {

struct LcoreRig {
  static constexpr uint32_t kPeers = 3;
  static NetAddress AddressOf(uint32_t xpu, uint32_t plane) {
    return {.low = 0x0a000000u + 256 * plane + xpu};
  }

  explicit LcoreRig(uint32_t planes = 1) {
    for (uint32_t plane = 0; plane < planes; ++plane) {
      drivers.emplace_back();
      lcore.ports.push_back(
          std::make_unique<PortContext>(&drivers.back(), PortParams{}, /*packet_lane=*/nullptr));
      ports.push_back(lcore.ports.back().get());
      params.planes.push_back({.port = plane, .address = AddressOf(0, plane)});
    }
    for (uint16_t xpu = 1; xpu <= kPeers; ++xpu) {
      PeerParams peer{.xpuid = xpu};
      for (uint32_t plane = 0; plane < planes; ++plane) {
        peer.planes.push_back({.address = AddressOf(xpu, plane)});
      }
      params.peers.push_back(peer);
    }
  }

  // Adds an instance with the present `params`.
  Instance& Add() {
    lcore.stats.push_back(std::make_unique<InstanceStats>());
    lcore.instances.push_back(std::make_unique<Instance>(
        static_cast<uint32_t>(lcore.instances.size()), params, ports, *lcore.stats.back()));
    Instance& added = *lcore.instances.back();
    for (uint32_t plane = 0; plane < ports.size(); ++plane) {
      added.rx.ack_list[plane] = static_cast<uint32_t>(ports[plane]->ack_due.size());
      ports[plane]->ack_due.emplace_back(params.transport);
      ports[plane]->ack_due.back().due.Reserve(added.peers.connections.size() + 1);
      ports[plane]->ack_now.Reserve(lcore.instances.size() * added.peers.connections.size() + 1);
    }
    return added;
  }

  std::deque<FakePort> drivers;
  EventRing events;
  Lcore lcore{events};
  PlanePorts ports;
  InstanceParams params;
};

}  // namespace suede

#endif  // SUEDE_TESTS_LCORE_LCORE_RIG_H_
