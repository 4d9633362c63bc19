// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <cstring>

#include "base/big_endian.h"

namespace suede {

void Host::Boot(const InstanceParams& params, const Wiring& wiring, const SegmentShape& shape,
                Time now) {
  SimPort::Restart(ports);
  ++boots_;
  shape_ = shape;
  pipeline_ = std::make_unique<Pipeline>();
  if (params.seal.mode != SealMode::kOff) pipeline_->SetCrypto(crypto);
  pauses_.clear();
  for (uint32_t plane = 0; plane < ports.size(); ++plane) {
    PortParams port = wiring.PortOf(number, plane);
    port.packed_pdus = packed_pdus;
    port.trimmed_dscp = trimmed_dscp;
    port.link = link;
    port.class_by_pcp = link.class_rule.pcp_first;
    port.link.class_rule = ClassRuleFor(port.rules, link.class_rule.pcp_first);
    port.link.mac = port.mac;
    port.link.secret = {uint64_t{number} << 8 | plane, link.secret[1] << 16 | boots_};
    ports[plane]->SetGroups(GroupsOf(port.link, pfc));
    pipeline_->AddPort(ports[plane], port);
    if (!pfc) continue;
    pauses_.push_back(std::make_unique<PortPauses>(pause_params));
    pipeline_->SetPauses(plane, pauses_.back().get(), true);
  }
  pipeline_->AddInstance(params);
  const uint64_t bytes = SegmentOffsets(shape_).bytes;
  segment_.reset(std::aligned_alloc(4096, bytes));
  std::memset(segment_.get(), 0, bytes);
  FormatSegment(segment_.get(), shape_);
  const uint32_t instances[SUEDE_MAX_QUEUES] = {};
  pipeline_->mailbox().requests.Push(request::Attach{
      .client = 1, .queue_instances = instances, .segment = segment_.get(), .shape = &shape_});
  secrets_.done = true;
  if (params.seal.mode != SealMode::kOff) SetSecrets(params.partition);
  pipeline_->Poll(now);
  for (uint32_t q = 0; q < shape_.queue_count; ++q) queues.emplace_back(segment_.get(), q);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) receivers.emplace_back(segment_.get(), vc);
  in_ring.resize(shape_.queue_count);
}

// The secrets 1 to `secrets` of the partition, of which the last one is the newest. False: the
// lcore has not taken the last ones.
bool Host::SetSecrets(uint16_t partition) {
  if (!secrets_.done.load(std::memory_order_acquire)) return false;
  secrets_.done.store(false, std::memory_order_relaxed);
  secrets_.secrets = {};
  secrets_.secrets.partition = partition;
  for (uint32_t id = secrets; id != 0; --id) {
    std::array<uint8_t, kSealSecretBytes> secret;
    secret.fill(static_cast<uint8_t>(id));
    StoreBe16(secret.data(), partition);
    secrets_.secrets.all[secrets_.secrets.count++] = {.id = static_cast<uint8_t>(id),
                                                      .prk = ExtractSecret(*crypto, secret)};
  }
  return pipeline_->mailbox().requests.Push(request::SetSecrets{.update = &secrets_});
}

const suede_ring& Host::RingOf(uint32_t queue) const {
  const auto* segment = static_cast<const suede_segment*>(segment_.get());
  return *AtOffset<suede_ring>(segment_.get(), segment->tx_ring[queue]);
}

void Host::Claim(uint8_t vcs) {
  claimed = true;
  pipeline_->mailbox().requests.Push(request::Claim{.vc_mask = vcs, .client = 1, .instance = 0});
}

void Host::TearDown() {
  for (size_t i = 0; i < past.size(); ++i) past[i] += Count(static_cast<Counter>(i));
  pipeline_.reset();
  SimPort::Restart(ports);
  claimed = false;
  queues.clear();
  receivers.clear();
  in_ring.clear();
  tags.clear();
  completions = 0;
  change.done.store(true, std::memory_order_relaxed);
  segment_.reset();
}

}  // namespace suede
