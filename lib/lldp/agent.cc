// SPDX-License-Identifier: Apache-2.0
#include "lldp/agent.h"

#include <algorithm>
#include <utility>

namespace suede::lldp {
namespace {

uint16_t TtlOf(const AgentParams& params) {
  const auto interval = std::chrono::duration_cast<std::chrono::seconds>(params.interval).count();
  return static_cast<uint16_t>(std::min<int64_t>(interval * params.hold + 1, UINT16_MAX));
}

Lldpdu WithTtl(Lldpdu pdu, uint16_t ttl_s) {
  pdu.ttl_s = ttl_s;
  return pdu;
}

LldpCounter CounterOf(FrameFault fault) {
  switch (fault) {
    case FrameFault::kNone:
      return LldpCounter::kRxFrames;
    case FrameFault::kTruncated:
      return LldpCounter::kRxTruncated;
    case FrameFault::kOrder:
      return LldpCounter::kRxOrder;
    case FrameFault::kMandatory:
      return LldpCounter::kRxMandatory;
    case FrameFault::kDuplicate:
      return LldpCounter::kRxDuplicate;
    case FrameFault::kNoEnd:
      break;
  }
  return LldpCounter::kRxNoEnd;
}

void Count(const TlvFaults& faults, LldpCounters& counters) {
  counters.Add(LldpCounter::kRxTlvLength, faults.length);
  counters.Add(LldpCounter::kRxTlvValue, faults.value);
  counters.Add(LldpCounter::kRxTlvDuplicate, faults.duplicate);
  counters.Add(LldpCounter::kRxTlvChecksum, faults.checksum);
  counters.Add(LldpCounter::kRxTlvUnknown, faults.unknown);
}

std::vector<Difference> WithoutThose(const std::vector<Difference>& all,
                                     const std::vector<Difference>& before) {
  std::vector<Difference> appeared;
  for (const Difference& one : all) {
    if (std::ranges::find(before, one) == before.end()) appeared.push_back(one);
  }
  return appeared;
}

}  // namespace

std::string_view NameOf(Report::Change change) {
  switch (change) {
    case Report::Change::kNew:
      return "new";
    case Report::Change::kChanged:
      return "changed";
    case Report::Change::kGone:
      break;
  }
  return "gone";
}

Agent::Agent(Lldpdu own, const Mac& source, const AgentParams& params, LldpCounters* counters)
    : params_(params),
      own_(WithTtl(std::move(own), TtlOf(params))),
      source_(source),
      frame_(Encode(own_, source)),
      counters_(counters),
      bucket_(params.rx_frames_per_second, params.rx_frames_per_second) {}

void Agent::Hurry(Time now) {
  if (!link_up_) return;
  fast_left_ = params_.fast_frames;
  next_tx_ = std::min(next_tx_, now + params_.fast_interval);
}

void Agent::OnLink(bool up, Time now) {
  if (up == link_up_) return;
  link_up_ = up;
  if (up) {
    next_tx_ = now;
    fast_left_ = params_.fast_frames;
    return;
  }
  next_tx_ = kNever;
  while (!neighbours_.empty()) Remove(neighbours_.begin(), "link");
}

bool Agent::IsOwn(const Lldpdu& pdu) const {
  return pdu.chassis == own_.chassis && pdu.port == own_.port;
}

AddressVerdict Agent::VerdictOf(const Lldpdu& pdu) const {
  return pdu.assignment ? Classify(params_.addresses, *pdu.assignment) : AddressVerdict::kNone;
}

std::vector<Neighbour>::iterator Agent::Find(const Lldpdu& pdu) {
  return std::ranges::find_if(neighbours_, [&pdu](const Neighbour& one) {
    return one.pdu.chassis == pdu.chassis && one.pdu.port == pdu.port;
  });
}

void Agent::OnFrame(std::span<const uint8_t> frame, Time now) {
  if (!bucket_.Take(now)) return counters_->Add(LldpCounter::kRxRate);
  Decoded decoded = Decode(frame);
  Count(decoded.tlvs, *counters_);
  if (decoded.fault != FrameFault::kNone) return counters_->Add(CounterOf(decoded.fault));
  if (IsOwn(decoded.pdu)) return counters_->Add(LldpCounter::kRxOwn);
  const auto known = Find(decoded.pdu);
  const bool is_last = decoded.pdu.ttl_s == 0;
  if (known == neighbours_.end() && !is_last && neighbours_.size() >= params_.max_neighbours) {
    return counters_->Add(LldpCounter::kRxNeighbours);
  }
  counters_->Add(LldpCounter::kRxFrames);
  if (IsRefused(VerdictOf(decoded.pdu))) counters_->Add(LldpCounter::kRxAddressRefused);
  if (is_last) {
    if (known != neighbours_.end()) Remove(known, "shutdown");
  } else if (known == neighbours_.end()) {
    Add(std::move(decoded.pdu), now);
  } else {
    Update(*known, std::move(decoded.pdu), now);
  }
}

void Agent::Add(Lldpdu pdu, Time now) {
  Neighbour neighbour{.heard = now,
                      .expires = now + std::chrono::seconds(pdu.ttl_s),
                      .differences = Compare(own_, pdu),
                      .address = VerdictOf(pdu)};
  neighbour.pdu = std::move(pdu);
  neighbours_.push_back(neighbour);
  ShowGauges();
  Hurry(now);
  Emit({.change = Report::Change::kNew,
        .neighbour = neighbour,
        .appeared = neighbour.differences,
        .assigns = neighbour.pdu.assignment.has_value()});
}

void Agent::Update(Neighbour& neighbour, Lldpdu pdu, Time now) {
  neighbour.heard = now;
  neighbour.expires = now + std::chrono::seconds(pdu.ttl_s);
  const bool is_same = neighbour.pdu == WithTtl(pdu, neighbour.pdu.ttl_s);
  const std::optional<Assignment> assigned = neighbour.pdu.assignment;
  neighbour.pdu = std::move(pdu);
  if (is_same) return;
  neighbour.address = VerdictOf(neighbour.pdu);
  const std::vector<Difference> before =
      std::exchange(neighbour.differences, Compare(own_, neighbour.pdu));
  ShowGauges();
  Emit({.change = Report::Change::kChanged,
        .neighbour = neighbour,
        .appeared = WithoutThose(neighbour.differences, before),
        .assigns = neighbour.pdu.assignment && neighbour.pdu.assignment != assigned});
}

void Agent::Remove(std::vector<Neighbour>::iterator at, std::string_view reason) {
  Report report{.change = Report::Change::kGone, .reason = reason, .neighbour = std::move(*at)};
  neighbours_.erase(at);
  ShowGauges();
  Emit(std::move(report));
}

void Agent::Poll(Time now) {
  for (size_t i = neighbours_.size(); i-- != 0;) {
    if (now < neighbours_[i].expires) continue;
    counters_->Add(LldpCounter::kAged);
    Remove(neighbours_.begin() + static_cast<ptrdiff_t>(i), "ttl");
  }
}

std::span<const uint8_t> Agent::TakeFrame(Time now) {
  if (!link_up_ || now < next_tx_) return {};
  if (fast_left_ != 0) --fast_left_;
  next_tx_ = now + (fast_left_ != 0 ? params_.fast_interval : params_.interval);
  return frame_;
}

std::vector<uint8_t> Agent::LastFrame() const { return Encode(WithTtl(own_, 0), source_); }

void Agent::Emit(Report report) {
  if (reports_.size() < kMaxReports) reports_.push_back(std::move(report));
}

std::optional<Report> Agent::TakeReport() {
  if (reports_.empty()) return std::nullopt;
  Report report = std::move(reports_.front());
  reports_.pop_front();
  return report;
}

void Agent::ShowGauges() {
  uint64_t differences = 0;
  for (const Neighbour& one : neighbours_) differences += one.differences.size();
  counters_->Set(LldpGauge::kNeighbours, neighbours_.size());
  counters_->Set(LldpGauge::kDifferences, differences);
}

Time Agent::deadline() const {
  Time next = next_tx_;
  for (const Neighbour& one : neighbours_) next = std::min(next, one.expires);
  return next;
}

}  // namespace suede::lldp
