// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_mailbox.h"

#include <algorithm>
#include <utility>

namespace suede {
namespace {

using fabric::kClasses;

// Max work of one poll iteration.
constexpr uint32_t kMaxPortsPerPoll = 2;
constexpr uint64_t kMaxPlacesPerPoll = 64;
constexpr size_t kMaxPartsPerPoll = 4;

// Each function processes a part of its request, and returns whether that was the last.

bool Do(switch_request::State& state, const fabric::Switch& the_switch, Time now) {
  const auto ports = static_cast<uint32_t>(the_switch.params().ports.size());
  const uint32_t end = std::min(state.next_port + kMaxPortsPerPoll, ports);
  for (; state.next_port < end; ++state.next_port) {
    const uint32_t port = state.next_port;
    const fabric::Output& output = the_switch.port(port).output();
    state.without_hops[port] = the_switch.port(port).without_hops();
    state.too_old[port] = output.too_old();
    const fabric::ClassMask paused = output.pauses().asked(now);
    const fabric::ClassMask pausing = the_switch.params().ports[port].pfc.on
                                          ? the_switch.buffer().paused(port)
                                          : fabric::ClassMask{0};
    for (uint32_t c = 0; c < kClasses; ++c) {
      state.queues[size_t{port} * kClasses + c] = {
          .bytes = the_switch.buffer().queued(port, c),
          .frames = output.queued_frames(c),
          .most_bytes = output.max_queued_bytes(c),
          .paused = (paused >> c & 1) != 0,
          .pausing = (pausing >> c & 1) != 0,
          .stormy = (output.stormy() >> c & 1) != 0,
          .paused_ns = output.pauses().paused_for(c, now).count()};
    }
  }
  if (end < ports) return false;
  const fabric::SharedBuffer& buffer = the_switch.buffer();
  state.used_bytes = buffer.used();
  state.most_used_bytes = buffer.max_used();
  state.shared_free_bytes = buffer.shared_free();
  state.headroom_used_bytes = buffer.headroom_used();
  state.most_headroom_used_bytes = buffer.max_headroom_used();
  return true;
}

bool Do(switch_request::ResetHighWater&, fabric::Switch& the_switch, Time) {
  the_switch.ResetHighWater();
  return true;
}

bool Do(switch_request::Addresses& page, const fabric::Switch& the_switch, Time now) {
  const std::vector<fabric::AddressTable::Entry>& places = the_switch.table().places();
  const uint64_t end = std::min<uint64_t>(page.next + kMaxPlacesPerPoll, places.size());
  for (; page.next < end && page.count < page.rows.size(); ++page.next) {
    const fabric::AddressTable::Entry& entry = places[page.next];
    if (!the_switch.table().IsLive(entry)) continue;
    if (page.port && *page.port != entry.port) continue;
    if (page.is_static && *page.is_static != entry.is_static) continue;
    page.rows[page.count++] = {
        .key = entry.address, .seen = entry.seen, .port = entry.port, .is_static = entry.is_static};
  }
  page.now = now;
  page.at_end = page.next >= places.size();
  return page.at_end || page.count == page.rows.size();
}

bool Do(switch_request::AddAddress& add, fabric::Switch& the_switch, Time) {
  add.added = the_switch.table().AddStatic(add.key, add.port);
  return true;
}

bool Do(switch_request::RemoveAddress& remove, fabric::Switch& the_switch, Time) {
  remove.removed = the_switch.table().Remove(remove.key);
  return true;
}

bool Do(switch_request::Flush& flush, fabric::Switch& the_switch, Time) {
  the_switch.table().ForgetPorts(flush.ports);
  return true;
}

bool Do(switch_request::Impair& impair, fabric::Switch& the_switch, Time) {
  for (size_t n = 0; n < kMaxPartsPerPoll && impair.done < impair.parts.size();
       ++n, ++impair.done) {
    switch_request::Impair::Part& part = impair.parts[impair.done];
    fabric::Impairment& cable =
        part.out ? the_switch.port(part.port).out() : the_switch.port(part.port).in();
    cable.Swap(part.params);
  }
  return impair.done == impair.parts.size();
}

bool Do(switch_request::SendFrame& send, fabric::Switch& the_switch, Time now) {
  the_switch.SendOwn(send.port, send.bytes, now);
  return true;
}

bool Do(switch_request::SetDown& set, fabric::Switch& the_switch, Time) {
  if (the_switch.port(set.port).is_down() != set.down) the_switch.SetDown(set.port, set.down);
  return true;
}

bool Do(switch_request::SetWeight& set, fabric::Switch& the_switch, Time) {
  the_switch.group(set.group).SetWeight(set.member, set.weight);
  return true;
}

}  // namespace

void SwitchMailbox::Work(fabric::Switch& the_switch, Time now) {
  const bool done =
      std::visit([&](auto& request) { return Do(request, the_switch, now); }, current_->request_);
  if (!done) return;
  current_->done_.store(true, std::memory_order_release);
  current_ = nullptr;
  answered_.store(answered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::shared_ptr<const SwitchTicket> SwitchMailbox::Ask(SwitchRequest request) {
  while (!asked_.empty() && asked_.front()->done()) asked_.pop_front();
  if (asked_.size() >= kMaxWaiting) return nullptr;
  auto ticket = std::make_shared<SwitchTicket>(std::move(request));
  if (!ring_.Push(ticket.get())) return nullptr;
  asked_.push_back(ticket);
  return ticket;
}

}  // namespace suede
