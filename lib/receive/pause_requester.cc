// SPDX-License-Identifier: Apache-2.0
#include "receive/pause_requester.h"

namespace suede {
namespace {

constexpr uint64_t kWhole = 100;  // percent

// The min time after which a port ends its request for a pause; 0: unlimited.
Duration StormOf(const PlanePorts& ports) {
  Duration min{};
  for (const PortContext* port : ports) {
    const LinkPauses* const pauses = port->link.pauses();
    if (pauses == nullptr) continue;
    const Duration storm = pauses->port().params().storm;
    if (min == Duration{} || (storm != Duration{} && storm < min)) min = storm;
  }
  return min;
}

}  // namespace

void PauseRequester::AddInstance(const PlanePorts& ports) {
  states_.emplace_back();
  requested_.reserve(states_.size() * kVcCount);
  for (const PortContext* port : ports) on_ |= port->link.pauses() != nullptr;
}

// Whether `percent` of the VC's room is used: of its client's ring, or of the places of PDUs that
// wait for a client.
bool PauseRequester::IsAbove(const ReceiveState& rx, Vc vc, uint32_t percent) {
  const uint32_t client = lcore_.clients.claimant(rx.number, vc);
  if (client != ClientTable::kNone) {
    RxRingWriter& ring = lcore_.clients.ring(client, vc);
    const uint64_t used = ring.line_count() - ring.FreeLines();
    if (used * kWhole >= uint64_t{ring.line_count()} * percent) return true;
  }
  const uint64_t kept = rx.unclaimed_count[vc];
  return kept != 0 && kept * kWhole >= uint64_t{rx.params.unclaimed_pdus} * percent;
}

void PauseRequester::Want(const PlanePorts& ports, Vc vc, bool wants) {
  for (PortContext* port : ports) {
    if (port->link.pauses() != nullptr) port->link.pauses()->Want(vc, wants);
  }
}

[[gnu::noinline]] void PauseRequester::Check(const ReceiveState& rx, const PlanePorts& ports, Vc vc,
                                             Time now) {
  OfVc& of = states_[rx.number][vc];
  if (of.state != State::kIdle || !IsAbove(rx, vc, rx.params.xoff_percent[vc])) return;
  of = {.state = State::kRequested, .since = now};
  Want(ports, vc, true);
  requested_.push_back({.instance = rx.number, .vc = vc});
}

[[gnu::noinline]] void PauseRequester::PollRequested(Time now) {
  for (size_t i = 0; i < requested_.size();) {
    const VcRef ref = requested_[i];
    Instance& instance = *lcore_.instances[ref.instance];
    OfVc& of = states_[ref.instance][ref.vc];
    if (!IsAbove(instance.rx, ref.vc, instance.params.xon_percent[ref.vc] + 1)) {
      if (of.state == State::kRequested) Want(instance.ports, ref.vc, false);
      of.state = State::kIdle;
      requested_[i] = requested_.back();
      requested_.pop_back();
      continue;
    }
    ++i;
    const Duration storm = StormOf(instance.ports);
    if (of.state != State::kRequested || storm == Duration{} || now - of.since < storm) continue;
    of.state = State::kUndrained;
    Want(instance.ports, ref.vc, false);
    instance.stats.counters.Add(Counter::kPfcUndrained);
    lcore_.events.Emit({.kind = LcoreEventKind::kPfcUndrained,
                        .vc = static_cast<uint8_t>(ref.vc),
                        .instance = instance.number});
  }
}

}  // namespace suede
