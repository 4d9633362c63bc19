// SPDX-License-Identifier: Apache-2.0
#include "incast_host.h"

#include <sys/mman.h>

#include <algorithm>

#include "incast_scheme.h"
#include "sim/checks.h"

namespace suede {
namespace {

constexpr uint32_t kAllVcs = (1u << kVcCount) - 1;

}  // namespace

IncastMemory::IncastMemory(const SegmentShape& shape)
    : bytes_(SegmentOffsets(shape).bytes),
      base_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  Require(base_ != MAP_FAILED, "no memory for a client");
  FormatSegment(base_, shape);
}

IncastMemory::~IncastMemory() { munmap(base_, bytes_); }

MacAddress IncastHost::MacOf(uint32_t number) {
  return {2, 0, 0, 0, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

NetAddress IncastHost::AddressOf(uint32_t number) { return {.low = 0xc6120000u + number}; }

uint32_t IncastHost::PoolFramesOf(uint32_t peers) {
  return FramesNeeded({.rx_descriptors = kDescriptors,
                       .tx_descriptors = kDescriptors,
                       .homes = {{.inflight_pdus = {InstanceParams{}.inflight_pdus},
                                  .destinations = peers,
                                  .packed_pdus = PortParams{}.packed_pdus}},
                       .unclaimed_pdus = kVcCount * InstanceParams{}.unclaimed_pdus});
}

IncastHost::IncastHost(uint32_t number, SimPort* port, const std::vector<uint32_t>& peers,
                       InstanceParams base, const LinkParams& cable, const SegmentShape& shape,
                       Time now)
    : number_(number), port_(port), memory_(shape) {
  base.xpuid = static_cast<uint16_t>(number);
  base.planes = {{.port = 0, .address = AddressOf(number)}};
  for (const uint32_t peer : peers) {
    base.peers.push_back({.xpuid = static_cast<uint16_t>(peer),
                          .planes = {{.address = AddressOf(peer), .mac = MacOf(peer)}}});
  }
  base.receive_lines = shape.rx_lines;
  PortParams params{
      .rules = {.encap = Encap::kUdp4}, .mac = MacOf(number), .trimmed_dscp = kIncastTrimmedDscp};
  params.link = cable;
  params.link.mac = params.mac;
  pipeline_.AddPort(port, params);
  pipeline_.AddInstance(base);
  const uint32_t instances[SUEDE_MAX_QUEUES] = {};
  pipeline_.mailbox().requests.Push(request::Attach{
      .client = 1, .queue_instances = instances, .segment = memory_.base(), .shape = &shape});
  pipeline_.mailbox().requests.Push(
      request::Claim{.vc_mask = static_cast<uint8_t>(kAllVcs), .client = 1, .instance = 0});
  pipeline_.Poll(now);
  queue_ = std::make_unique<ClientQueue>(memory_.base(), 0);
  for (uint32_t vc = 0; vc < kVcCount; ++vc) receivers_.emplace_back(memory_.base(), vc);
}

const LinkEnd* IncastHost::link() const { return pipeline_.instance(0).ports.front()->link.end(); }

bool IncastHost::IsAssociated() const {
  const auto& peers = pipeline_.instance(0).peers.all;
  return std::all_of(peers.begin(), peers.end(),
                     [](const Peer& peer) { return peer.handshake().associated(); });
}

uint32_t IncastHost::FramesMissing() const {
  uint32_t known = port_->frames_held();
  for (const PortContext* context : pipeline_.instance(0).ports) {
    known += context->link.frames_kept();
  }
  return port_->frames_out() - known;
}

}  // namespace suede
