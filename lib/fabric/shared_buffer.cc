// SPDX-License-Identifier: Apache-2.0
#include "fabric/shared_buffer.h"

#include <algorithm>
#include <bit>
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
  return params.CreditsOf(link_vc) * cells * params.cell_bytes;
}

uint64_t CreditBytes(const SwitchParams& params) {
  uint64_t of_port = 0;
  for (uint32_t vc = 0; vc < params.queue_count(); ++vc) of_port += CreditBytes(params, vc);
  return of_port * static_cast<uint64_t>(std::ranges::count_if(params.ports, &PortParams::cbfc));
}

CreditGrant GrantOf(const SwitchParams& params) {
  CreditGrant grant{.rule = params.cbfc.rule};
  for (uint32_t vc = 0; vc < params.queue_count(); ++vc) {
    grant.limits[vc] = params.CreditsOf(vc);
  }
  return grant;
}

LinkParams LinkOf(const SwitchParams& params, uint32_t port) {
  LinkParams link = params.ports[port].link;
  if (!params.ports[port].cbfc) return link;
  link.credit = OfferOf(GrantOf(params));
  link.credit_times = params.cbfc.times;
  link.class_rule = ClassRuleOf(params);
  return link;
}

int64_t SharedBuffer::SharedBytes(const SwitchParams& params) {
  int64_t bytes = params.buffer_bytes;
  for (uint32_t queue = 0; queue < params.queue_count(); ++queue) {
    const ClassParams& of_class = params.of_class[params.ClassOfQueue(queue)];
    const int64_t each =
        of_class.reserved_bytes + (of_class.lossless ? int64_t{of_class.headroom_bytes} : 0);
    bytes -= each * static_cast<int64_t>(params.ports.size());
  }
  return bytes - static_cast<int64_t>(CreditBytes(params));
}

SharedBuffer::SharedBuffer(const SwitchParams& params)
    : cell_bytes_(params.cell_bytes),
      shared_bytes_(static_cast<uint32_t>(std::max<int64_t>(0, SharedBytes(params)))),
      queue_bits_(static_cast<uint32_t>(std::countr_zero(params.queue_count()))),
      queues_(params.ports.size() * params.queue_count()),
      inputs_(queues_.size()),
      credited_queues_(queues_.size()),
      credited_inputs_(queues_.size()),
      pauses_(params.ports.size()) {
  for (uint32_t queue = 0; queue < params.queue_count(); ++queue) {
    classes_[queue] = params.of_class[params.ClassOfQueue(queue)];
    credit_bytes_[queue] = CreditBytes(params, queue);
  }
}

// Counts the frame if the reserved part, the shared part or the headroom has room.
bool SharedBuffer::Add(Account& account, uint32_t queue, uint32_t charge) {
  const ClassParams& of_class = classes_[queue];
  const uint32_t before = SharedOf(account, queue);
  // While the headroom is used, new frames go there, so that headroom and shared part empty in
  // turn.
  if (account.headroom == 0) {
    Account after = account;
    after.used += charge;
    const uint32_t shared = SharedOf(after, queue);
    if (shared == 0 ||
        (shared <= Threshold(queue) && shared - before <= shared_bytes_ - shared_used_)) {
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

void SharedBuffer::Subtract(Account& account, uint32_t queue, uint32_t charge) {
  const uint32_t of_headroom = std::min(account.headroom, charge);
  account.headroom -= of_headroom;
  headroom_used_ -= of_headroom;
  account.used -= of_headroom;
  const uint32_t before = SharedOf(account, queue);
  account.used -= charge - of_headroom;
  shared_used_ -= before - SharedOf(account, queue);
}

bool SharedBuffer::Admit(PortIndex in, PortIndex out, uint32_t queue, uint32_t charge) {
  Account& account = queues_[Index(out, queue)];
  if (classes_[queue].lossless) {
    Account& input = inputs_[Index(in, queue)];
    if (!Add(input, queue, charge)) {
      // Only a release ends a pause, so an empty input is not paused.
      if (input.used != 0) pauses_[in] |= static_cast<ClassMask>(1u << queue);
      return false;
    }
    if (input.headroom != 0) pauses_[in] |= static_cast<ClassMask>(1u << queue);
    account.used += charge;
  } else if (!Add(account, queue, charge)) {
    return false;
  }
  used_ += charge;
  max_used_ = std::max(max_used_, used_);
  return true;
}

void SharedBuffer::Release(PortIndex in, PortIndex out, uint32_t queue, uint32_t charge) {
  Account& account = queues_[Index(out, queue)];
  used_ -= charge;
  if (!classes_[queue].lossless) return Subtract(account, queue, charge);
  account.used -= charge;
  Account& input = inputs_[Index(in, queue)];
  Subtract(input, queue, charge);
  if (input.headroom != 0) return;
  const uint64_t threshold = Threshold(queue);
  const uint64_t held = SharedOf(input, queue);
  const uint64_t resume = classes_[queue].resume_bytes;
  if (held == 0 || held + resume <= threshold) {
    pauses_[in] &= static_cast<ClassMask>(~(1u << queue));
  }
}

bool SharedBuffer::AdmitCredited(PortIndex in, PortIndex out, const FrameNote& note) {
  const uint32_t charge = note.charge;
  uint32_t& input = credited_inputs_[Index(in, note.link_vc)];
  uint32_t& queue = credited_queues_[Index(out, note.queue)];
  if (input + charge > credit_bytes_[note.link_vc]) return false;
  used_ += charge;
  input += charge;
  queue += charge;
  max_used_ = std::max(max_used_, used_);
  return true;
}

void SharedBuffer::ReleaseCredited(PortIndex out, const FrameNote& note) {
  const uint32_t charge = note.charge;
  uint32_t& input = credited_inputs_[Index(note.in, note.link_vc)];
  uint32_t& queue = credited_queues_[Index(out, note.queue)];
  used_ -= charge;
  input -= charge;
  queue -= charge;
}

void SharedBuffer::CheckInvariants() const {
  uint64_t used = 0;
  uint64_t shared = 0;
  uint64_t headroom = 0;
  uint64_t on_credit = 0;  // of the inputs
  for (size_t i = 0; i < queues_.size(); ++i) {
    const auto queue = static_cast<uint32_t>(i & ((size_t{1} << queue_bits_) - 1));
    used += queues_[i].used + credited_queues_[i];
    on_credit += credited_inputs_[i];
    on_credit -= credited_queues_[i];
    if (credited_inputs_[i] > credit_bytes_[queue]) std::abort();
    const bool lossless = classes_[queue].lossless;
    const Account& account = lossless ? inputs_[i] : queues_[i];
    if (!lossless && inputs_[i].used != 0) std::abort();
    if (account.headroom > account.used || account.headroom > classes_[queue].headroom_bytes) {
      std::abort();
    }
    shared += SharedOf(account, queue);
    headroom += account.headroom;
  }
  if (headroom != headroom_used_ || max_headroom_used_ < headroom_used_) std::abort();
  if (on_credit != 0) std::abort();
  if (used != used_ || shared != shared_used_ || shared > shared_bytes_) std::abort();
}

}  // namespace suede::fabric
