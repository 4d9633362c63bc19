// SPDX-License-Identifier: Apache-2.0
// The configuration of a switch (docs/switch.md).
#ifndef SUEDE_FABRIC_PARAMS_H_
#define SUEDE_FABRIC_PARAMS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/sue.h"
#include "base/time.h"
#include "fabric/frame_view.h"
#include "link/link_params.h"
#include "mesh/address.h"
#include "wire/frame_class.h"

namespace suede::fabric {

inline constexpr uint32_t kClasses = 8;
using ClassMask = uint8_t;
// Queues of an output: one for each class, with levels one for each class and level.
inline constexpr uint32_t kMaxQueues = kClasses * kLevelsOfClass;
using QueueMask = uint32_t;
inline constexpr uint16_t kNoPort = UINT16_MAX;

// A class for each PCP and each DSCP.
struct ClassMap {
  std::array<uint8_t, 8> of_pcp = {0, 1, 2, 3, 4, 5, 6, 7};
  std::array<uint8_t, 64> of_dscp = [] {
    std::array<uint8_t, 64> classes{};
    for (uint32_t dscp = 0; dscp < 64; ++dscp) classes[dscp] = static_cast<uint8_t>(dscp >> 3);
    return classes;
  }();
  uint8_t other = 0;       // of frames with neither
  bool pcp_first = false;  // whether the PCP, else the DSCP, counts for frames with both
};

// ECN of a queue: ECN-capable frames are marked, with a probability that grows with the queue's
// depth.
struct EcnParams {
  uint32_t least_bytes = UINT32_MAX;  // no marks up to this depth,
  uint32_t most_bytes = UINT32_MAX;   // and marks on all frames from this depth on; equal values: a
                                      // step
  uint16_t probability = UINT16_MAX;  // just below most_bytes, of 65,536
};

struct ClassParams {
  bool lossless = false;           // PFC protects the class from drops
  bool strict = false;             // served before classes that are not strict, higher classes
                                   // first
  uint16_t weight = 1;             // of a class that is not strict: share of the rate, 1 to 255
  uint32_t reserved_bytes = 8192;  // of each queue, or each port's input of a lossless class
  // A queue, or an input, may take alpha/16 times the free shared bytes.
  uint16_t alpha_16th = 16;
  EcnParams ecn;
  uint32_t headroom_bytes = 0;   // of each port's input of a lossless class: HeadroomBytes
  uint32_t resume_bytes = 3072;  // below the threshold of a pause, where the pause ends
  Duration max_wait{};           // frames that have waited longer are dropped; 0: no bound
  uint32_t credits = 0;          // granted by each port with credit-based flow control; 0: none
};

struct TrimParams {
  bool on = false;
  uint32_t ipv4_bytes = 64;  // length of a trimmed frame, also of frames with the AFH shim
  uint32_t ipv6_bytes = 128;
  uint32_t max_queue_bytes = UINT32_MAX;  // of a deeper queue frames are trimmed even if there is
                                          // room
  uint64_t dscps = 0;        // a bit for each DSCP whose frames are trimmed
  uint8_t trimmed_dscp = 0;  // their DSCP after trimming
  uint8_t trimmed_class = 7;
};

struct PfcParams {
  bool on = false;
  uint16_t quanta = 0xffff;  // of a pause, each of 512 bit times
  // A class that a peer has paused for this long, while frames wait, is in a storm: its frames are
  // dropped until the peer has requested no pause for `calm`. 0: never.
  Duration storm = std::chrono::milliseconds(100);
  Duration calm = std::chrono::milliseconds(100);
};

// The level of frames that a port receives, for a switch with levels (docs/mesh.md, "Levels").
enum class LevelRule : uint8_t {
  kKeep,
  kFirst,  // level 0: frames begin here
  kNext,   // one more, up to the last level: the cable leads to another mesh
};

struct PortParams {
  uint64_t rate_bps = 0;      // max rate of leaving frames; 0: as fast as the device takes them
  bool marks = true;          // frames, by the ECN of their class
  bool strict_vlans = false;  // frames of other VLANs than `vlans` are dropped
  std::vector<uint16_t> vlans;
  std::array<uint8_t, 6> mac{};  // source of PFC frames
  PfcParams pfc;
  LinkParams link;  // docs/link.md
  bool decrements_hops = true;
  bool hairpins = false;  // frames may leave by the port on which they arrived
  bool cbfc = false;      // credit-based flow control, if the neighbour offers it, too
  // With Forwarding::kMesh.
  uint8_t plane = 0;                   // of the port's cable, or of the centre
  bool centre = false;                 // leads to the device itself instead of a cable
  LevelRule level = LevelRule::kKeep;  // with levels
};

// The switch ports of a mesh's device (docs/mesh.md).
struct MeshParams {
  template <uint32_t kCount>
  static constexpr std::array<uint16_t, kCount> None() {
    std::array<uint16_t, kCount> ports{};
    ports.fill(kNoPort);
    return ports;
  }
  std::array<uint16_t, mesh::kMaxPorts> port_of = None<mesh::kMaxPorts>();  // by port of the device
  std::array<uint16_t, mesh::kMaxPlanes> centre_of = None<mesh::kMaxPlanes>();  // by plane
};

// Credit-based flow control (docs/link.md).
struct CbfcParams {
  CreditRule rule;  // by which the switch counts received frames
  CreditTimes times;
  uint32_t largest_octets = 9622;  // of frames that ports send
};

// How the frames to an address of a group are spread over its ports.
enum class Spread : uint8_t {
  kFlow,        // each flow leaves by one of them, by its hash
  kRoundRobin,  // each frame by the next one
  kQueue,       // each frame by the one with the least queued bytes
};
// Ports that a configured address leads to.
struct PortGroup {
  std::vector<uint16_t> ports;   // 1 to kMaxGroupPorts different ones
  std::vector<uint8_t> weights;  // shares of the ports, up to kMaxGroupWeight; empty: 1 each
  Spread spread = Spread::kFlow;
  bool by_addresses = false;  // with kFlow: flows with the same addresses leave by the same port
  uint8_t WeightOf(uint32_t member) const { return weights.empty() ? 1 : weights[member]; }
  bool operator==(const PortGroup&) const = default;
};
inline constexpr uint32_t kMaxGroupWeight = 255;
// Group g stands for its ports as port kFirstGroup + g.
inline constexpr uint16_t kFirstGroup = 0x8000;
inline constexpr uint32_t kMaxGroups = 1024;
inline constexpr uint32_t kMaxGroupPorts = 64;

struct SwitchParams {
  Forwarding forwarding = Forwarding::kMac;
  uint16_t esun_ether_type = 0;   // with kEsun
  bool learns = true;             // of kMac, kAfh1 and kIp
  bool floods = true;             // frames to unknown addresses are flooded; false: dropped. With
                                  // kEsun also frames to groups of receivers
  std::vector<PortGroup> groups;  // up to kMaxGroups
  uint32_t addresses = 8192;
  uint32_t addresses_of_port = 4096;  // max addresses learnt on a port
  Duration max_age = std::chrono::seconds(300);
  uint32_t buffer_bytes = 4u << 20;
  uint32_t cell_bytes = 256;      // frames occupy whole cells
  uint32_t max_on_cable = 16384;  // max frames on the cable in one direction of an impaired link
  ClassMap classes;
  std::array<ClassParams, kClasses> of_class{};
  // Levels of frames, up to kLevelsOfClass; 0: none. With levels each class has a queue and a link
  // VC for each, with the parameters of the class. With kMesh, and without PFC and lossless
  // classes.
  uint8_t levels = 0;
  MeshParams mesh;  // with kMesh
  TrimParams trim;
  CbfcParams cbfc;
  std::vector<PortParams> ports;
  uint64_t seed = 1;

  // Queues of an output, and link VCs.
  uint32_t queue_count() const { return levels != 0 ? kMaxQueues : kClasses; }
  uint32_t ClassOfQueue(uint32_t queue) const {
    return levels != 0 ? queue / kLevelsOfClass : queue;
  }
  // Credit that a port with credit-based flow control grants to a link VC.
  uint32_t CreditsOf(uint32_t link_vc) const {
    const bool is_used = levels == 0 || link_vc % kLevelsOfClass < levels;
    return is_used ? of_class[ClassOfQueue(link_vc)].credits : 0;
  }
};

// Bytes that may still arrive for a class after a port has decided to pause it (IEEE 802.1Q, annex
// O): the round trip over the cable, two frames in transmission, and the peer's response time.
uint32_t HeadroomBytes(uint64_t rate_bps, uint32_t cable_m, uint32_t max_frame_bytes);

// Max bytes of the buffer, in whole cells, for one port's frames on credit of a link VC, whatever
// their lengths.
uint32_t CreditBytes(const SwitchParams& params, uint32_t link_vc);
// The same for all ports and link VCs.
uint64_t CreditBytes(const SwitchParams& params);
// The rule for the class of a frame, for both ends of a link.
inline FrameClassRule ClassRuleOf(const SwitchParams& params) {
  return {.afh2 = IsByAfh2(params.forwarding),
          .pcp_first = params.classes.pcp_first,
          .levels = params.levels != 0,
          .esun_ether_type = params.esun_ether_type};
}
// The credit that a port with credit-based flow control grants: of_class[c] has the credit of link
// VC c, with levels that of each of its link VCs.
CreditGrant GrantOf(const SwitchParams& params);
// The parameters of a port's end of its link, with that credit if the port grants credit.
LinkParams LinkOf(const SwitchParams& params, uint32_t port);

}  // namespace suede::fabric

#endif  // SUEDE_FABRIC_PARAMS_H_
