// SPDX-License-Identifier: Apache-2.0
#include "incast_scheme.h"

#include <algorithm>

#include "sim/sim.h"

namespace suede {
namespace {

constexpr uint8_t kAckDscp = 48;
constexpr uint8_t kRequestDscp = 8;
constexpr uint8_t kEct0 = 2;
constexpr uint32_t kCellBytes = 64;

uint32_t PortsOf(const fabric::SwitchParams& params) {
  return static_cast<uint32_t>(params.ports.size());
}

// ---- The switch's side.

void TailDrop(fabric::SwitchParams& /*params*/) {}

// Headroom comes in addition to the shared buffer, as a switch has it in a pool of its own.
void Lossless(fabric::SwitchParams& params) {
  fabric::ClassParams& data = params.of_class[kIncastData];
  data.lossless = true;
  constexpr auto kCableMetres = static_cast<uint32_t>(kIncastCableDelay.count() / 5);
  data.headroom_bytes =
      fabric::HeadroomBytes(kIncastRateBps, kCableMetres, SimPort::kMaxFrameBytes);
  params.buffer_bytes += PortsOf(params) * data.headroom_bytes;
  for (fabric::PortParams& port : params.ports) port.pfc = {.on = true};
}

// As the reference has it: marks from 0.2 to 0.8 of a BDP.
void Ecn(fabric::SwitchParams& params) {
  params.of_class[kIncastData].ecn = {.least_bytes = kIncastBdpBytes / 5,
                                      .most_bytes = kIncastBdpBytes / 5 * 4};
}

// As the reference has it: a queue of one BDP. It is the queue's own, beside the shared buffer.
void Trim(fabric::SwitchParams& params) {
  fabric::ClassParams& data = params.of_class[kIncastData];
  data.reserved_bytes = kIncastBdpBytes;
  data.alpha_16th = 0;
  params.buffer_bytes += PortsOf(params) * data.reserved_bytes;
  params.trim = {
      .on = true, .dscps = 1u << 0, .trimmed_dscp = kIncastTrimmedDscp, .trimmed_class = kIncastTrimmed};
}

void TrimAndEcn(fabric::SwitchParams& params) {
  Ecn(params);
  Trim(params);
}

// ---- The endpoints' side.

void FixedWindow(InstanceParams& /*params*/) {}

// The network's round trip is known: the other parameters are the defaults.
void Rccc(InstanceParams& params) {
  params.congestion = {.control = CongestionControl::kRccc, .base_rtt = kIncastRtt};
  params.target.base_rtt = kIncastRtt;
}

void Nscc(InstanceParams& params) {
  params.congestion = {.control = CongestionControl::kNscc, .base_rtt = kIncastRtt};
  params.target.base_rtt = kIncastRtt;
}

// As the reference has it where switches trim.
void NsccWithTrimming(InstanceParams& params) {
  Nscc(params);
  params.congestion.target_percent = 75;
}

constexpr Scheme kSchemes[] = {
    {"tail", "tail drop, fixed window", TailDrop, FixedWindow, nullptr},
    {"pfc", "PFC, fixed window", Lossless, FixedWindow, nullptr},
    {"nscc", "ECN, NSCC", Ecn, Nscc, "nscc"},
    {"nscc_trim", "ECN and trimming, NSCC", TrimAndEcn, NsccWithTrimming, "nscc_trim"},
    {"rccc", "tail drop, RCCC", TailDrop, Rccc, "rccc"},
    {"rccc_trim", "trimming, RCCC", Trim, Rccc, "rccc_trim"},
};

}  // namespace

std::span<const Scheme> Schemes() { return kSchemes; }

const Scheme* FindScheme(std::string_view name) {
  const auto found = std::find_if(std::begin(kSchemes), std::end(kSchemes),
                                  [name](const Scheme& scheme) { return scheme.name == name; });
  return found == std::end(kSchemes) ? nullptr : found;
}

// Nothing is reserved: 260 ports would use up the buffer by it.
fabric::SwitchParams IncastSwitch(uint32_t ports, uint64_t seed) {
  fabric::SwitchParams params;
  params.learns = false;
  params.floods = false;
  params.addresses = 2048;
  params.addresses_of_port = 1;
  params.buffer_bytes = kIncastBufferBytes;
  params.cell_bytes = kCellBytes;
  params.max_on_cable = 1024;
  params.seed = seed;
  params.ports.resize(ports);
  for (uint32_t i = 0; i < ports; ++i) {
    params.ports[i].rate_bps = kIncastRateBps;
    params.ports[i].mac = {0x02, 0x5f, 0, 0, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)};
  }
  for (fabric::ClassParams& own : params.of_class) own.reserved_bytes = 0;
  params.of_class[kIncastAck].strict = true;
  params.of_class[kIncastTrimmed].strict = true;
  return params;
}

void SetIncastEndpoint(InstanceParams& params) {
  params.classes.fill({.ecn = kEct0});
  params.classes[1] = {.dscp = kRequestDscp, .ecn = kEct0};
  params.ack_class = {.dscp = kAckDscp};
  params.pack_limit_bytes = 4096;
}

}  // namespace suede
