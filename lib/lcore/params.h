// SPDX-License-Identifier: Apache-2.0
// The parameters of a new pipeline. Filled from the configuration; settings.h has those that may
// change afterwards.
#ifndef SUEDE_LCORE_PARAMS_H_
#define SUEDE_LCORE_PARAMS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/secret_numbers.h"
#include "base/sue.h"
#include "congestion/params.h"
#include "lcore/settings.h"
#include "link/link_params.h"
#include "seal/sealed_peer.h"
#include "wire/encap.h"

namespace suede {

// A destination of an instance, as one plane reaches it.
struct PeerPlane {
  bool present = true;  // false: the plane does not lead to the peer
  NetAddress address;
  MacAddress mac{};        // udp4, udp6
  bool resolving = false;  // the MAC address is not known yet: a request::SetPeerMac will set it
};
struct PeerParams {
  uint16_t xpuid = 0;
  std::vector<PeerPlane> planes;  // in the order of the instance's; at least one is present
  bool plain = false;             // the peer is known not to speak HELLO
};

struct PortParams {
  FrameRules rules;  // for sent frames, too
  uint16_t session = 0;
  uint8_t hop_limit = kDefaultHopLimit;
  bool tagged = false;
  uint16_t vid = 0;
  MacAddress mac{};
  bool class_by_pcp = false;  // the class of a frame with a PCP and a DSCP is that of its PCP
  uint64_t rate_bps = 0;      // rate that congestion control uses; 0: the speed of the link
  // Rate at which senders that request credit (RCCC) may send to the port together; 0: just under
  // rate_bps.
  uint64_t receive_bps = 0;
  // Claims to the port's rate by senders that request credit, on all lcores that serve the port
  // (CreditTarget::claims); none: one lcore serves it.
  std::shared_ptr<std::atomic<uint32_t>> rate_share{};
  // DSCP of frames that switches have trimmed; none: trimmed frames are dropped as truncated.
  std::optional<uint8_t> trimmed_dscp;
  // Max PDUs that have not left yet, of all instances whose frames are this port's.
  uint32_t packed_pdus = 8192;
  LinkParams link;  // of the port's link to its neighbour
};

// Returns `configured_bps`, else `link_bps`, else 100 Gbit/s: some devices do not report their
// speed.
inline uint64_t RateOf(uint64_t configured_bps, uint64_t link_bps) {
  constexpr uint64_t kAssumedBps = 100'000'000'000;
  return configured_bps != 0 ? configured_bps : link_bps != 0 ? link_bps : kAssumedBps;
}

// The class by which a neighbour sorts and pauses frames of this traffic: as a switch does by
// default (docs/switch.md, "Classes").
uint8_t PfcClassOf(const PortParams& port, const TrafficClass& traffic_class);

// A plane of an instance: one of its ports.
struct PlaneParams {
  uint32_t port = 0;  // the pipeline's number of the port
  NetAddress address;
  uint32_t weight = 1;  // bandwidth in relation to the other planes, 1 to kMaxPlaneWeight
};
inline constexpr uint32_t kMaxPlaneWeight = 65535;

// Max PDUs of a VC that may wait beyond `unclaimed_pdus`: granted before claims changed hands.
inline constexpr uint32_t kMaxPromisedPdus = 256;

// Max PDUs of an instance that are kept because others before them are missing (docs/repair.md).
inline constexpr uint32_t kMaxEarlyPdus = 4096;

struct InstanceParams : Settings {
  uint16_t xpuid = 0;
  uint8_t instance = 0;
  bool has_own_partition = false;   // changed settings leave it as it is
  std::vector<PlaneParams> planes;  // 1, 2 or 4, on different ports
  uint32_t sessions = 1;            // of each {peer, plane}, 1 to kMaxSessions: a power of two
  uint32_t receive_lines = 0;       // of the clients' receive rings; 0: not known
  // Used part of a VC's receive ring, or of its places for PDUs without a client, from which on
  // neighbours are requested to pause the VC's class (PFC), and down to which they are.
  std::array<uint8_t, kVcCount> xoff_percent{75, 75, 75, 75};
  std::array<uint8_t, kVcCount> xon_percent{50, 50, 50, 50};
  bool counts_credit = true;  // of receive rings; false: as an endpoint without credit
  SecretKey secret{};         // of its random numbers: differs in each boot
  CongestionParams congestion;
  TargetParams target;  // credit that the instance grants; rates and sizes are the ports'
  SealParams seal;
  uint32_t path_probes_per_s = 0;  // probes of the path that are answered; 0: none
  std::vector<PeerParams> peers;
};

// Bound of the unacknowledged PDUs of one pipeline's instances on a port, together: the sum of
// their bounds, but at most this, or the largest of their bounds if that is more.
inline constexpr uint32_t kMaxHeldTogether = 16384;
// The bound of kMaxHeldTogether, as instances are added.
class HeldBound {
 public:
  void Add(uint32_t inflight_pdus) {
    sum_ += inflight_pdus;
    largest_ = std::max(largest_, inflight_pdus);
  }
  uint32_t value() const { return static_cast<uint32_t>(std::min<uint64_t>(sum_, largest_)); }

 private:
  uint64_t sum_ = 0;
  uint32_t largest_ = kMaxHeldTogether;
};
uint32_t MaxHeldPdus(const std::vector<uint32_t>& inflight_pdus);

// The instances of one lcore whose frames are from a port's pool.
struct PortHome {
  std::vector<uint32_t> inflight_pdus;  // of each
  uint32_t destinations = 0;            // peers of all instances; {peer, VC} if VCs have
                                        // connections of their own
  uint32_t packed_pdus = 0;             // PortParams::packed_pdus
  bool seals = false;                   // a PDU in flight has a second, sealed frame
};
// The users of a port.
struct PortUse {
  uint32_t rx_descriptors = 0;  // of one queue
  uint32_t tx_descriptors = 0;  // of all queues on which its frames leave
  uint32_t queue_pairs = 1;
  uint32_t lcores = 1;
  std::vector<PortHome> homes;
  uint64_t unclaimed_pdus = 0;  // of all instances and VCs; and kMaxEarlyPdus of each
  uint32_t link_frames = 0;     // held by the link: for replay, or for credit
};
// Frames that a port's pool must hold so that it never runs out: frames that pipelines may have in
// flight and packed, within these bounds; unclaimed PDUs; and a reserve for received frames and
// control PDUs, frames that the device and the pipelines of its lcores hold, and frames that these
// hand to each other.
uint32_t FramesNeeded(const PortUse& use);

}  // namespace suede

#endif  // SUEDE_LCORE_PARAMS_H_
