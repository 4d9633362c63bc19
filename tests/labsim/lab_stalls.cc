// SPDX-License-Identifier: Apache-2.0
#include "lab_stalls.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "send/wait_causes.h"
#include "suedectl/why.h"

namespace suede::lab {
namespace {

constexpr Duration kLook = LabStalls::kStall / 4;
constexpr uint32_t kMaxRows = 1 << 16;  // {peer, VC} of a look
constexpr size_t kMaxStalls = 2000;

std::string EvidenceOf(const WaitRow& row) {
  std::vector<std::string> parts;
  if (row.inflight_pdus != 0) {
    parts.push_back(absl::StrFormat("%u PDUs in flight, the oldest for %.1f ms", row.inflight_pdus,
                                    static_cast<double>(row.inflight_ns) / 1e6));
  }
  if (row.queued_ns >= 0) {
    parts.push_back(absl::StrFormat("%u bytes queued, the first for %.1f ms", row.queued_octets,
                                    static_cast<double>(row.queued_ns) / 1e6));
  }
  return StrJoin(parts, "; ");
}

}  // namespace

std::string LabStalls::LoadOf(const LabEndpoint& endpoint, uint32_t xpu) const {
  for (const auto& process : run_.processes()) {
    if (process->node() != endpoint.name() || process->done()) continue;
    const std::vector<uint16_t>& ranks = process->options().ranks;
    if (ranks.empty() || std::ranges::count(ranks, xpu) != 0) return process->load();
  }
  return "";
}

void LabStalls::End(Flow& flow) {
  if (flow.stall != SIZE_MAX) stalls_[flow.stall]["end"] = SecondsAt(run_.now());
  flow.stall = SIZE_MAX;
}

void LabStalls::Follow(const LabEndpoint& endpoint, uint32_t xpu, const WaitRow& row, Flow& flow) {
  const Time now = run_.now();
  const bool is_oldest_old =
      row.inflight_pdus == 0 || Duration(row.inflight_ns) >= now - flow.since;
  if (row.tx_pdus != flow.tx_pdus || !is_oldest_old) {
    End(flow);
    flow.tx_pdus = row.tx_pdus;
    flow.since = now;
  }
  if (now - flow.since < kStall) return;
  if (flow.stall != SIZE_MAX && flow.cause != row.cause) End(flow);
  const bool is_new = flow.stall == SIZE_MAX;
  if (is_new && stalls_.size() == kMaxStalls) return;
  const ctl::WhyCause& why = ctl::WhyCauses()[static_cast<size_t>(row.cause)];
  if (is_new) {
    flow.stall = stalls_.size();
    flow.cause = row.cause;
    stalls_.push_back({{"load", LoadOf(endpoint, xpu)},
                       {"source", xpu},
                       {"destination", row.peer_xpuid},
                       {"vc", row.vc},
                       {"t", SecondsAt(flow.since)},
                       {"end", nullptr},
                       {"plane", nullptr},
                       {"waited_for", StrCat(why.name, ": ", why.meaning)},
                       {"evidence", ""},
                       {"faults", run_.FaultsNow()}});
  }
  Json& stall = stalls_[flow.stall];
  if (row.plane != WaitRow::kAnyPlane) stall["plane"] = absl::StrCat(row.plane);
  stall["evidence"] = EvidenceOf(row);
}

void LabStalls::LookAt(const LabEndpoint& endpoint, uint32_t number, Flows& flows) {
  const Instance& instance = endpoint.instance(number);
  const uint32_t xpu = endpoint.config().instances[number].xpu;
  const WaitCauses causes(instance, run_.now());
  Flows seen;
  for (uint32_t i = 0; i < instance.params.peers.size() * kVcCount; ++i) {
    const std::optional<WaitRow> row = causes.RowOf(Scheduler::PeerOf(i), Scheduler::VcOf(i));
    if (!row || (row->queued_ns < 0 && row->inflight_pdus == 0)) continue;
    const std::pair<uint32_t, uint32_t> key{row->peer_xpuid, row->vc};
    const auto [at, is_new] = seen.insert({key, {.tx_pdus = row->tx_pdus, .since = run_.now()}});
    if (const auto before = flows.find(key); before != flows.end()) {
      at->second = before->second;
      flows.erase(before);
    }
    Follow(endpoint, xpu, *row, at->second);
  }
  for (auto& [key, flow] : flows) End(flow);
  flows = std::move(seen);
}

void LabStalls::Look() {
  size_t count = 0;
  for (const auto& endpoint : run_.endpoints()) count += endpoint->config().instances.size();
  uint64_t rows = 0;
  for (size_t looked = 0; looked < count && rows < kMaxRows; ++looked, ++next_instance_) {
    size_t number = next_instance_ %= count;
    auto at = run_.endpoints().begin();
    for (; number >= (*at)->config().instances.size(); ++at) {
      number -= (*at)->config().instances.size();
    }
    const auto instance = static_cast<uint32_t>(number);
    const Instance& of = (*at)->instance(instance);
    Flows& flows = flows_[{at->get(), instance}];
    if (of.tx.queued + of.tx.inflight == 0 && flows.empty()) continue;
    LookAt(**at, instance, flows);
    rows += of.params.peers.size() * kVcCount;
  }
  next_ = run_.now() + kLook;
}

}  // namespace suede::lab
