// SPDX-License-Identifier: Apache-2.0
// Network side of the manager port. manager_soc.cc has the side of the SoC.
#include "axi/manager.h"

#include <cstdlib>

namespace suede::axi {

Manager::Manager(const ManagerParams& params)
    : params_(params),
      table_(ServedLanes(params.interfaces), params.transactions, params.transactions_per_source,
             ServedLanes(params.interfaces) * Assembly::PlacesOf(params.is_unordered)),
      assembly_(ServedLanes(params.interfaces), params.is_unordered, table_),
      answers_(ServedLanes(params.interfaces), params.answer_vc, params.deadline, table_),
      monitor_(params.transactions),
      reads_(params.ids),
      writes_(params.ids),
      aw_(params.address_places),
      w_(params.beat_places),
      ar_(params.address_places),
      is_surplus_(params.ids),
      epochs_(params.interfaces) {}

void Manager::OnCommand(const Route& from, const uint8_t* control, uint32_t control_bytes,
                        const uint8_t* data, uint32_t data_bytes, Time now, BurstSink& sink) {
  now_ = now;
  const uint32_t lane = ServedLane(from);
  Command command;
  const Parsed parsed = ParseControl(control, control_bytes, data_bytes, &command);
  if (parsed == Parsed::kForeign || !IsRequest(command.kind)) {
    ++counters_.foreign;
    return;
  }
  Served* whole = nullptr;
  const Assembled assembled = parsed == Parsed::kMalformed
                                  ? assembly_.OnMalformed(lane, command)
                                  : assembly_.Add(lane, command, data, data_bytes, &whole);
  if (whole != nullptr) return Enter(whole, sink);
  switch (assembled) {
    case Assembled::kNotYet:
    case Assembled::kWhole:
      return;
    case Assembled::kMalformed:
      answers_.Refuse(lane, command.number, command.kind == Kind::kRead, Status::kMalformed, sink);
      [[fallthrough]];
    case Assembled::kOrphan:
      ++counters_.malformed;
  }
}

void Manager::Enter(Served* served, BurstSink& sink) {
  if (!table_.Enter(served)) {
    const bool is_sent =
        answers_.Refuse(served->lane, served->number, served->is_read(), Status::kBusy, sink);
    ++(is_sent ? counters_.busy : counters_.dropped);
    table_.Release(served);
    return;
  }
  served->epoch = epochs_[served->lane / kMaxXpus];
  served->issue = Issue(served->burst, params_.bus_bytes);
  counters_.served_bytes += served->issue.octets();
  if (served->is_read()) {
    ++counters_.served_reads;
    served->body.Begin(served->burst);
    reads_.queue.Append(served);
  } else {
    ++counters_.served_writes;
    writes_.queue.Append(served);
  }
}

bool Manager::Pump(BurstSink& sink, Time now) {
  now_ = now;
  bool moved = false;
  if (!in_reset_) {
    moved |= PumpReads();
    moved |= PumpWrites();
    moved |= PumpData();
  }
  moved |= answers_.Send(sink, now);
  return moved;
}

void Manager::OnInterfaceLost(uint32_t interface) {
  ++epochs_[interface];
  answers_.DropInterface(interface);
  const uint32_t first = interface * kMaxXpus;
  for (uint32_t lane = first; lane < first + kMaxXpus; ++lane) assembly_.Drop(lane);
}

void Manager::Complete(Served* served) {
  if (served->epoch != epochs_[served->lane / kMaxXpus]) {
    table_.Release(served);  // the daemon that took the request has gone
    return;
  }
  answers_.Append(served, now_);
}

ManagerCounters Manager::counters() const {
  ManagerCounters counters = counters_;
  counters.truncated = assembly_.truncated();
  counters.expired = answers_.expired();
  return counters;
}

void Manager::CheckInvariants() const {
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  uint32_t entered = answers_.CheckInvariants();
  for (const Stream* stream : {&reads_, &writes_}) {
    entered += stream->ids.CheckInvariants();
    for (const Served* each = stream->queue.first(); each != nullptr; each = each->next) {
      check(each->is_entered && each->addressed < each->issue.octets());
      // One of which some bursts are issued is the first, and is counted among the issued ones.
      if (each->addressed == 0) {
        ++entered;
      } else {
        check(each == stream->queue.first());
      }
    }
  }
  check(entered == table_.entered() && entered <= params_.transactions);
  uint32_t parts = 0;
  uint32_t of_lanes = 0;
  for (uint32_t lane = 0; lane < ServedLanes(params_.interfaces); ++lane) {
    check(assembly_.OpenOf(lane) <= Assembly::PlacesOf(params_.is_unordered));
    check(table_.EnteredOf(lane) <= params_.transactions_per_source);
    parts += assembly_.OpenOf(lane);
    of_lanes += table_.EnteredOf(lane);
  }
  check(of_lanes == entered && table_.taken() == entered + parts);
  for (const Served* each = data_.first(); each != nullptr; each = each->next_data) {
    check(each->moved < each->issue.octets() && each->moved <= each->addressed);
  }
}

}  // namespace suede::axi
