// SPDX-License-Identifier: Apache-2.0
// The scenarios that seeds are run of.
#ifndef SUEDE_TESTS_SIM_SCENARIOS_H_
#define SUEDE_TESTS_SIM_SCENARIOS_H_

#include "attacks.h"
#include "congestion.h"
#include "credits.h"
#include "incasts.h"
#include "links.h"
#include "overtaken.h"
#include "pauses.h"
#include "pfc.h"
#include "planes.h"
#include "rebirths.h"
#include "sealing.h"
#include "sessions.h"
#include "sprays.h"
#include "strangers.h"
#include "world.h"

namespace suede {

struct Scenario {
  const char* name;
  WorldOptions (*options)(uint32_t seed);
  bool own_classes = false;  // its options say which classes there are
};

// The seed's options, on links that classes of traffic take different ways through.
inline WorldOptions OptionsOf(const Scenario& scenario, uint64_t seed) {
  WorldOptions options = scenario.options(static_cast<uint32_t>(seed));
  if (!scenario.own_classes) options.classes = RandomClasses(seed);
  return options;
}

inline WorldOptions Faulty() {
  WorldOptions options;
  options.faults = {{.loss = 0.1, .reorder = 0.05, .duplicate = 0.05, .corrupt = 0.01}};
  options.transport.rto_initial = std::chrono::microseconds(500);
  options.transport.rto_min = std::chrono::microseconds(100);
  options.transport.nack_timeout = std::chrono::microseconds(100);
  options.transport.max_tries = 40;
  return options;
}

inline constexpr Scenario kScenarios[] = {
    // 10% loss, 5% reordering, 5% duplication, 1% corruption, both ways.
    {"faulty", [](uint32_t) { return Faulty(); }},
    // The same with every shape of topology, window, scope and pack limit.
    {"shapes",
     [](uint32_t seed) {
       WorldOptions options = Faulty();
       options.wiring.hosts = 2 + seed % 4;
       options.queues = 1 + seed / 4 % 3;
       options.transport.psn_scope = seed % 3 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.transport.window_pdus = seed % 5 == 0 ? 1 : 8u << seed % 7;
       options.transport.ack_every_pdus = 1 + seed % 9;
       options.pack_limit_bytes = seed % 2 == 0 ? 276 : 276 + (seed * 97) % 3800;
       options.commands = 2000;
       return options;
     }},
    // Every encapsulation in turn. Between two hosts alone frames are corrupted too: outside the
    // PDU nothing but the FCS, which a simulated link does not have, guards an AFH address.
    {"encapsulations",
     [](uint32_t seed) {
       WorldOptions options = Faulty();
       const auto encap = static_cast<Encap>(seed % kEncapNames.size());
       options.wiring.encaps = {encap};
       options.wiring.tagged_frames = seed % 4 == 0;
       options.wiring.hosts = 2 + seed / 6 % 3;
       if (options.wiring.hosts > 2) options.faults[0].corrupt = 0;
       options.pack_limit_bytes = seed / 2 % 2 == 0 ? kDefaultPackBytes : kMaxPackBytes;
       options.commands = 2000;
       return options;
     }},
    // Receivers that take nothing most of the time, with rings that hold little more than a PDU.
    {"slow_receiver",
     [](uint32_t seed) {
       WorldOptions options = Faulty();
       options.transport.psn_scope = seed % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.faults = {{.loss = seed % 4 == 0 ? 0.02 : 0.0}};
       options.slow_receiver = 0.97;
       options.rx_lines = 2048;
       options.commands = 2000;
       return options;
     }},
    // Nobody claims the VCs for the first 20 ms.
    {"late_claim",
     [](uint32_t) {
       WorldOptions options = Faulty();
       options.claim_after = std::chrono::milliseconds(20);
       options.commands = 2000;
       return options;
     }},
    // For 40 ms nobody reads VC 0, or has claimed it, and all hosts send there: the other VCs are
    // through by then, and nothing is sent again.
    {"never_reads",
     [](uint32_t seed) {
       WorldOptions options;
       options.wiring.hosts = 2 + seed % 3;
       options.transport.psn_scope = seed % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.resends = false;
       options.pauses = 0;  // one is as long as a timeout
       options.ignored_for = std::chrono::milliseconds(40);
       options.ignored_unclaimed = seed / 4 % 2 == 0;
       options.rx_lines = 2048;
       options.commands = 2000;
       return options;
     },
     true},
    // Cables are pulled for up to 40 ms, after 10 ms without an answer a peer is unreachable.
    // Given-up commands may be missing; all else is as ever, and acknowledged commands were
    // delivered.
    {"outages",
     [](uint32_t seed) {
       WorldOptions options;
       options.wiring.hosts = 2 + seed % 3;
       options.transport.psn_scope = seed % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.transport.rto_initial = std::chrono::microseconds(500);
       options.transport.rto_min = std::chrono::microseconds(200);
       options.transport.rto_max = std::chrono::milliseconds(2);
       options.transport.max_tries = 6;
       options.faults[0].loss = seed % 3 == 0 ? 0.01 : 0;
       options.commands = 20000;
       options.tagged = 1;
       options.outages = true;
       return options;
     }},
    // Windows, waits, classes, pack limits and the partition change all the time, on faulty links.
    {"changes",
     [](uint32_t seed) {
       WorldOptions options = Faulty();
       options.wiring.hosts = 2 + seed % 4;
       options.queues = 1 + seed / 4 % 3;
       options.transport.psn_scope = seed % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.commands = 2000;
       options.changes = true;
       return options;
     }},
    // See planes.h.
    {"planes", Planes},
    // A clean network: nothing is retransmitted.
    {"clean",
     [](uint32_t seed) {
       WorldOptions options;
       options.wiring.hosts = 2 + seed % 3;
       options.commands = 3000;
       options.resends = false;
       options.pauses = 0;  // one is as long as a timeout
       return options;
     },
     true},
    // Nothing is lost, and acknowledgements overtake data by less than the reordering allowance:
    // nothing is retransmitted.
    {"overtaking",
     [](uint32_t seed) {
       Dice dice(uint64_t{seed} << 32);
       WorldOptions options;
       options.wiring.hosts = 2 + seed % 3;
       options.transport.psn_scope = seed % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.transport.window_pdus = 16;
       options.transport.ack_every_pdus = static_cast<uint32_t>(1 + dice.Below(16));
       options.classes.links.on = true;
       options.classes.links.of[0].delay = dice.Up(std::chrono::microseconds(10));
       options.commands = 3000;
       options.resends = false;
       options.pauses = 0;  // one is as long as a timeout
       return options;
     },
     true},
    // Ports with short rings on slow links, which are full of data all the time, and more of it is
    // lost
    // now and then: everybody goes on answering, and nobody is given up.
    {"saturated",
     [](uint32_t seed) {
       WorldOptions options;
       options.wiring.hosts = 3 + seed % 3;
       options.queues = 1 + seed / 2 % 4;
       options.transport.psn_scope = seed % 2 == 0 ? PsnScope::kVc : PsnScope::kPort;
       options.transport.rto_initial = std::chrono::milliseconds(2);
       options.transport.rto_min = std::chrono::microseconds(500);
       options.transport.rto_max = std::chrono::milliseconds(4);
       options.transport.max_tries = 5;
       options.transport.window_pdus = 64;
       options.inflight_pdus = seed % 4 == 0 ? 64 : 512;
       options.tx_descriptors = 4u << seed % 4;
       options.faults = {{.loss = seed % 3 == 0 ? 0.005 : 0.0, .bits_per_ns = 2}};
       options.transmit_now = 0.5;
       options.commands = 5000;
       options.pauses = 0;
       return options;
     },
     true},
    // See attacks.h.
    {"attacker", Attacked},
    {"attacked_sessions", AttackedSessions},
    // See rebirths.h.
    {"restarts", Restarts},
    {"dark", Dark},
    // See pauses.h.
    {"pauses", Pauses, true},
    {"scarce_cpu", ScarceCpu, true},
    // See pfc.h.
    {"pfc", Pfc, true},
    {"pfc_full_vc", PfcFullVc, true},
    // See links.h.
    {"llr", Llr, true},
    // See credits.h.
    {"cbfc", Cbfc, true},
    {"deadlock", Deadlock, true},
    // See incasts.h.
    {"incast", Incast, true},
    {"incast_lossless", IncastLossless, true},
    // See overtaken.h.
    {"overtaken", Overtaken, true},
    // See congestion.h.
    {"congestion", Congested},
    {"congested_incast", CongestedIncast, true},
    // See strangers.h.
    {"plain_peer", PlainPeer},
    {"double_identity", DoubleIdentity},
    // See sessions.h.
    {"sessions", Sessions},
    {"session_churn", SessionChurn},
    {"dead_links", DeadLinks, true},
    {"idle_links", IdleLinks, true},
    // See sprays.h.
    {"sprayed", Sprayed},
    // See sealing.h.
    {"sealed", Sealed},
    {"sealed_cbfc", SealedCbfc, true},
    {"attacked_sealed", AttackedSealed},
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_SCENARIOS_H_
