// SPDX-License-Identifier: Apache-2.0
#include "fabric/shared_buffer.h"

#include <algorithm>
#include <cstdlib>

#include "link/credit_end.h"

namespace suede::fabric {

uint32_t HeadroomBytes(uint64_t rate_bps, uint32_t cable_m, uint32_t max_frame_bytes) {
  constexpr uint64_t kNsPerMetre = 5;
  constexpr uint64_t kResponseBits = 60 * 512;  // of the peer, in bit times
  const uint64_t cable_bits = 2 * cable_m * kNsPerMetre * (rate_bps / 1'000'000) / 1000;
  return static_cast<uint32_t>((cable_bits + kResponseBits) / 8 + 2 * uint64_t{max_frame_bytes});
}

// A frame of n credits has up to n x (credit - overhead) bytes, and occupies whole cells.
uint32_t CreditBytes(const SwitchParams& params, uint32_t link_vc) {
  const CreditRule& rule = params.cbfc.rule;
  const uint32_t max = rule.credit_octets() + static_cast<uint32_t>(std::max(0, -rule.overhead));
  const uint32_t cells = (max + params.cell_bytes - 1) / params.cell_bytes;
  return params.of_class[link_vc].credits * cells * params.cell_bytes;
}

CreditGrant GrantOf(const SwitchParams& params) {
  CreditGrant grant{.rule = params.cbfc.rule};
  for (uint32_t c = 0; c < kClasses; ++c) grant.limits[c] = params.of_class[c].credits;
  return grant;
}

LinkParams LinkOf(const SwitchParams& params, uint32_t port) {
  LinkParams link = params.ports[port].link;
  if (!params.ports[port].cbfc) return link;
  link.credit = OfferOf(GrantOf(params));
  link.credit_times = params.cbfc.times;
  return link;
}

int64_t SharedBuffer::SharedBytes(const SwitchParams& params) {
  int64_t bytes = params.buffer_bytes;
  for (const ClassParams& of_class : params.of_class) {
    const int64_t each =
        of_class.reserved_bytes + (of_class.lossless ? int64_t{of_class.headroom_bytes} : 0);
    bytes -= each * static_cast<int64_t>(params.ports.size());
  }
  const auto with_credit = std::ranges::count_if(params.ports, &PortParams::cbfc);
  for (uint32_t c = 0; c < kClasses; ++c) bytes -= with_credit * CreditBytes(params, c);
  return bytes;
}

SharedBuffer::SharedBuffer(const SwitchParams& params)
    : cell_bytes_(params.cell_bytes),
      shared_bytes_(static_cast<uint32_t>(std::max<int64_t>(0, SharedBytes(params)))),
      classes_(params.of_class),
      queues_(params.ports.size() * kClasses),
      inputs_(params.ports.size() * kClasses),
      credited_queues_(params.ports.size() * kClasses),
      credited_inputs_(params.ports.size() * kClasses),
      pauses_(params.ports.size()) {
  for (uint32_t c = 0; c < kClasses; ++c) credit_bytes_[c] = CreditBytes(params, c);
}

// Counts the frame if the reserved part, the shared part or the headroom has room.
bool SharedBuffer::Add(Account& account, uint32_t traffic_class, uint32_t charge) {
  const ClassParams& of_class = classes_[traffic_class];
  const uint32_t before = SharedOf(account, traffic_class);
  // While the headroom is used, new frames go there, so that headroom and shared part empty in
  // turn.
  if (account.headroom == 0) {
    Account after = account;
    after.used += charge;
    const uint32_t shared = SharedOf(after, traffic_class);
    if (shared == 0 ||
        (shared <= Threshold(traffic_class) && shared - before <= shared_bytes_ - shared_used_)) {
      account = after;
      shared_used_ += shared - before;
      return true;
    }
  }
  if (!of_class.lossless || account.headroom + charge > of_class.headroom_bytes) return false;
  account.used += charge;
  account.headroom += charge;
  headroom_used_ += charge;
  max_headroom_used_ = std::max(max_headroom_used_, headroom_used_);
  return true;
}

void SharedBuffer::Subtract(Account& account, uint32_t traffic_class, uint32_t charge) {
  const uint32_t of_headroom = std::min(account.headroom, charge);
  account.headroom -= of_headroom;
  headroom_used_ -= of_headroom;
  account.used -= of_headroom;
  const uint32_t before = SharedOf(account, traffic_class);
  account.used -= charge - of_headroom;
  shared_used_ -= before - SharedOf(account, traffic_class);
}

bool SharedBuffer::Admit(PortIndex in, PortIndex out, uint32_t traffic_class, uint32_t charge) {
  Account& queue = queues_[Index(out, traffic_class)];
  if (classes_[traffic_class].lossless) {
    Account& input = inputs_[Index(in, traffic_class)];
    if (!Add(input, traffic_class, charge)) {
      // Only a release ends a pause, so an empty input is not paused.
      if (input.used != 0) pauses_[in] |= static_cast<ClassMask>(1u << traffic_class);
      return false;
    }
    if (input.headroom != 0) pauses_[in] |= static_cast<ClassMask>(1u << traffic_class);
    queue.used += charge;
  } else if (!Add(queue, traffic_class, charge)) {
    return false;
  }
  used_ += charge;
  max_used_ = std::max(max_used_, used_);
  return true;
}

void SharedBuffer::Release(PortIndex in, PortIndex out, uint32_t traffic_class, uint32_t charge) {
  Account& queue = queues_[Index(out, traffic_class)];
  used_ -= charge;
  if (!classes_[traffic_class].lossless) return Subtract(queue, traffic_class, charge);
  queue.used -= charge;
  Account& input = inputs_[Index(in, traffic_class)];
  Subtract(input, traffic_class, charge);
  if (input.headroom != 0) return;
  const uint64_t threshold = Threshold(traffic_class);
  const uint64_t held = SharedOf(input, traffic_class);
  const uint64_t resume = classes_[traffic_class].resume_bytes;
  if (held == 0 || held + resume <= threshold) {
    pauses_[in] &= static_cast<ClassMask>(~(1u << traffic_class));
  }
}

bool SharedBuffer::AdmitCredited(PortIndex in, PortIndex out, const FrameNote& note) {
  uint32_t& input = credited_inputs_[Index(in, note.link_vc)];
  if (input + note.charge > credit_bytes_[note.link_vc]) return false;
  input += note.charge;
  credited_queues_[Index(out, note.traffic_class)] += note.charge;
  used_ += note.charge;
  max_used_ = std::max(max_used_, used_);
  return true;
}

void SharedBuffer::ReleaseCredited(PortIndex out, const FrameNote& note) {
  credited_inputs_[Index(note.in, note.link_vc)] -= note.charge;
  credited_queues_[Index(out, note.traffic_class)] -= note.charge;
  used_ -= note.charge;
}

void SharedBuffer::CheckInvariants() const {
  uint64_t used = 0;
  uint64_t shared = 0;
  uint64_t headroom = 0;
  uint64_t on_credit = 0;  // of the inputs
  for (size_t i = 0; i < queues_.size(); ++i) {
    const auto traffic_class = static_cast<uint32_t>(i % kClasses);
    used += queues_[i].used + credited_queues_[i];
    on_credit += credited_inputs_[i];
    on_credit -= credited_queues_[i];
    if (credited_inputs_[i] > credit_bytes_[traffic_class]) std::abort();
    const bool lossless = classes_[traffic_class].lossless;
    const Account& account = lossless ? inputs_[i] : queues_[i];
    if (!lossless && inputs_[i].used != 0) std::abort();
    if (account.headroom > account.used ||
        account.headroom > classes_[traffic_class].headroom_bytes) {
      std::abort();
    }
    shared += SharedOf(account, traffic_class);
    headroom += account.headroom;
  }
  if (headroom != headroom_used_ || max_headroom_used_ < headroom_used_) std::abort();
  if (on_credit != 0) std::abort();
  if (used != used_ || shared != shared_used_ || shared > shared_bytes_) std::abort();
}

}  // namespace suede::fabric
