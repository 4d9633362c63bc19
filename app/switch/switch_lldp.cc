// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_lldp.h"

#include <utility>

namespace suede {

SwitchLldp::SwitchLldp(SwitchMailbox* mailbox, EventLog* events, Clock clock,
                       std::vector<PortFacts> ports)
    : clock_(std::move(clock)), service_(events) {
  for (PortFacts& port : ports) {
    taps_.push_back({.port = port.number, .tap = port.tap});
    const auto number = static_cast<uint16_t>(port.number);
    service_.AddPort(port.number, {.name = std::move(port.name),
                                   .source = port.source,
                                   .own = std::move(port.own),
                                   .link_up = std::move(port.link_up),
                                   .send = [mailbox, number](std::span<const uint8_t> frame) {
                                     return mailbox->Ask(switch_request::SendFrame{
                                                .port = number,
                                                .bytes = {frame.begin(), frame.end()}}) != nullptr;
                                   }});
  }
}

void SwitchLldp::Poll() {
  for (auto& [port, tap, counted] : taps_) {
    const uint64_t dropped = tap->dropped();
    service_.OnDropped(port, dropped - std::exchange(counted, dropped));
    for (uint32_t i = 0; i < fabric::LldpTap::kWaiting; ++i) {
      const std::span<const uint8_t> frame = tap->Front();
      if (frame.empty()) break;
      service_.OnFrame(port, frame, clock_());
      tap->Pop();
    }
  }
  service_.Poll(clock_());
}

}  // namespace suede
