// SPDX-License-Identifier: Apache-2.0
// The meaning and the remedy of each cause, as docs/why.md has them.
#include "suedectl/why.h"

namespace suede::ctl {
namespace {

constexpr WhyCause kCauses[] = {
    {"flight", "all PDUs are on the way: the round trip, or the far lcore, is the limit",
     "more commands in flight at the client; RTT: suedectl connections list"},
    {"turn", "PDUs may leave, and wait for their lcore", "fewer instances or ports on that lcore"},
    {"down", "an operator has set the port, the instance or the plane down",
     "suedectl ports set-admin, or planes set-admin"},
    {"no_link", "the port has no link", "cable and far end; suedectl ports list"},
    {"no_mac", "the peer's MAC address is not known",
     "peers[].ports[].mac, or a TAP device and a peer that answers ARP"},
    {"no_association", "the peer has not answered a HELLO", "suedectl ping names the cause"},
    {"unreachable", "the peer does not answer any more: its commands were given up",
     "suedectl ping names the cause"},
    {"no_plane", "no plane to the peer carries traffic", "suedectl planes peers"},
    {"moving", "the flow changes its plane, behind PDUs in flight on the former one",
     "none; if it lasts: suedectl planes peers"},
    {"pause", "the neighbour pauses the class by PFC frames",
     "the queue of the switch behind this port, or the peer that pauses the switch (docs/pfc.md)"},
    {"link_credit", "the neighbour grants no credit for the class (CBFC)",
     "the buffer of the switch; suedectl links list"},
    {"port", "the port takes no more frames: its rate is the limit, or its device hangs",
     "rate of the port; suedectl ports list"},
    {"not_ready", "the peer has no room for the commands (NOT_READY)",
     "the reader at the peer; there: suedectl why"},
    {"retransmission", "lost PDUs go first", "suedectl path shows where frames are lost"},
    {"fence", "a plane is down, and the peer is asked which PDUs have arrived",
     "none; if it lasts: suedectl ping"},
    {"congestion", "congestion control of the plane grants no more",
     "the queue at the peer's port (docs/congestion.md); other senders to that peer"},
    {"window", "as much is in flight as the window permits",
     "transport.window_pdus and window_bytes: at least rate times round trip"},
    {"share", "the destination has its share of PDUs in flight",
     "frames of the port and inflight_pdus; slow destinations beside this one"},
    {"credit", "the peer's client has granted no receive credit, as it reads too slowly",
     "the reader at the peer; there: suedectl why, or --with its management socket"},
    {"frames", "the port's pool has no frames", "ports[].frames"},
};

}  // namespace

std::span<const WhyCause> WhyCauses() { return kCauses; }

}  // namespace suede::ctl
