// SPDX-License-Identifier: Apache-2.0
// Results of a run: its counts, and the verdict.
#include <algorithm>

#include "pairs_run.h"

namespace suede {

bool PairsRun::IsLossless() const { return row_[Factor::kNetwork] == level::kClean; }

uint64_t PairsRun::frames_lost() const {
  uint64_t lost = 0;
  for (const auto& network : switches_) lost += network->frames_lost();
  return lost;
}

uint32_t PairsRun::FramesMissing(const Machine& machine) const {
  uint32_t known = 0;
  uint32_t out = 0;
  for (const PortContext* port : PortsOf(machine)) known += port->link.frames_kept();
  for (const SimPort* port : machine.ports) {
    known += port->frames_held();
    out += port->frames_out();
  }
  return out - known;
}

std::string PairsRun::UnusedFeature() const {
  if (crypto_ != nullptr && used_nonces_.opened == 0) return "nothing was sealed";
  const uint8_t link = row_[Factor::kLink];
  if (link == level::kLlr && Sum(LinkCounter::kLlrTxFrames) == 0) {
    return "no frame had a number of the link";
  }
  if (link == level::kCbfc && Sum(LinkCounter::kCreditTxFreed) == 0) return "no credit was freed";
  const bool has_grants = Sum(Counter::kRxCongestionGrants) != 0;
  if (row_[Factor::kCongestion] == level::kRccc && !has_grants) return "no credit was granted";
  if (row_[Factor::kLcores] == level::kHandingOver && Sum(Counter::kRxHandedOver) == 0) {
    return "no frame was handed over";
  }
  for (const auto& machine : machines_) {
    for (const SimPort* port : machine->ports) {
      if (port->bytes().sent == 0) return "a plane was not used";
    }
  }
  return "";
}

std::string PairsRun::MissedChance() const {
  // (With four planes none may be full.)
  const bool pauses = row_[Factor::kLink] == level::kPfc && PlanesOf(row_) < 4;
  if (pauses && Sum(Counter::kRxPfc) == 0) return "no port was paused";
  const uint64_t trimmed = Sum(Counter::kRxTrimmed) + Sum(Counter::kRxTrimmedUnknown);
  if (row_[Factor::kNetwork] == level::kTrims && trimmed == 0) return "no trimmed frame arrived";
  return "";
}

std::string PairsRun::Verdict() const {
  if (!failure_.empty()) return failure_;
  if (!IsFinished()) {
    return "not everything was delivered in time: " + std::to_string(ledger_.missing()) +
           " commands are missing";
  }
  if (const std::string wrong = ledger_.Audit(); !wrong.empty()) return wrong;
  if (Sum(Counter::kTxNoFrame) != 0) return "a pool ran dry";
  if (IsLossless()) {
    if (frames_lost() != 0) return std::to_string(frames_lost()) + " frames were lost";
    if (Sum(Counter::kPlaneDeaths) != 0) return "a plane was found dead";
    if (Sum(Counter::kTxRetransmissions) != 0) {
      return std::to_string(Sum(Counter::kTxRetransmissions)) +
             " PDUs were sent again for nothing, " + std::to_string(Sum(Counter::kRtoFired)) +
             " timeouts, " + std::to_string(Sum(Counter::kRxNacks)) + " NACKs";
    }
  }
  if (Sum(Counter::kRxTrimmedUnknown) != 0) {
    return std::to_string(Sum(Counter::kRxTrimmedUnknown)) + " trimmed frames were not recognised";
  }
  // (Acknowledgements of a plane's former generation may still arrive after a fence.)
  if (Sum(Counter::kPlaneDeaths) == 0 && Sum(Counter::kRxRpsnInvalid) != 0) {
    return "PDUs were acknowledged that were never sent";
  }
  if (Sum(LinkCounter::kCreditExceeded) != 0) return "frames came beyond the credit";
  if (const std::string unused = UnusedFeature(); !unused.empty()) return unused;
  for (const auto& machine : machines_) {
    if (FramesMissing(*machine) != 0) return "frames were leaked";
  }
  return "";
}

uint64_t PairsRun::Sum(Counter counter) const {
  uint64_t sum = 0;
  for (const auto& machine : machines_) {
    for (uint32_t lcore = 0; lcore < machine->pipelines->count(); ++lcore) {
      const Pipeline& pipeline = machine->pipelines->pipeline(lcore);
      sum += pipeline.port_counters().Get(counter);
      for (uint32_t i = 0; i < pipeline.instance_count(); ++i) {
        sum += pipeline.counters(i).Get(counter);
      }
    }
  }
  return sum;
}

uint64_t PairsRun::Sum(LinkCounter counter) const {
  uint64_t sum = 0;
  for (const auto& machine : machines_) {
    for (const PortContext* port : PortsOf(*machine)) {
      const LinkEnd* const end = port->link.end();
      if (end != nullptr) sum += end->counters().Get(counter);
    }
  }
  for (const auto& network : switches_) {
    for (uint32_t p = 0; p < kPairsMachines; ++p) {
      const LinkEnd* const end = network->the_switch().port(p).link();
      if (end != nullptr) sum += end->counters().Get(counter);
    }
  }
  return sum;
}

uint64_t PairsRun::digest() const {
  uint64_t digest = 0;
  for (const auto& network : switches_) digest = digest * 31 + network->digest();
  return digest;
}

}  // namespace suede
