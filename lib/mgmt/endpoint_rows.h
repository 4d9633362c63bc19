// SPDX-License-Identifier: Apache-2.0
// Rows of an endpoint's results.
#ifndef SUEDE_MGMT_ENDPOINT_ROWS_H_
#define SUEDE_MGMT_ENDPOINT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mgmt/row.h"

namespace suede {

#define SUEDE_INSTANCE_ROW(X)          \
  X(uint32_t, xpu)                     \
  X(uint32_t, instance)                \
  X(uint32_t, partition)               \
  X(uint32_t, lcore, .Note("its CPU")) \
  X(std::string, port)                 \
  X(std::string, address, .Note("as the configuration writes it"))
SUEDE_ROW_STRUCT(InstanceView, SUEDE_INSTANCE_ROW);

#define SUEDE_PORT_ROW(X)                                                                     \
  X(std::string, name)                                                                        \
  X(std::string, driver)                                                                      \
  X(std::string, mac)                                                                         \
  X(uint32_t, mtu_bytes)                                                                      \
  X(std::string, encapsulation, .Note("as the configuration writes it"))                      \
  X(bool, admin_up, .Named("admin").OneOf(kUpOrDown))                                         \
  X(bool, link_up)                                                                            \
  X(uint64_t, speed_bps, .Unit("bit/s").OrNull("not known"))                                  \
  X(std::string, fec, .Note("off, auto, baser or rs; empty: not known"))                      \
  X(uint32_t, pool_frames)                                                                    \
  X(uint32_t, pool_free, .Note("frames of these"))                                            \
  X(std::vector<uint32_t>, lcores, .Note("CPUs of those that serve it"))                      \
  X(uint32_t, queue_pairs, .Note("of the device"))                                            \
  X(std::string, steering,                                                                    \
    .Note("how frames come to the lcore of their instance: one queue, rules, rss, software")) \
  X(std::string, paused,                                                                      \
    .Note("VCs, and ack for PDUs without commands, that the neighbour pauses now (pfc: "      \
          "software): 0,ack; empty: none"))                                                   \
  X(std::string, device)
struct PortView {
  SUEDE_ROW(SUEDE_PORT_ROW)
  std::optional<uint32_t> id{};  // DPDK's port id; none: a memif
};

// A capability of a port's device.
#define SUEDE_CAPABILITY_ROW(X)                                   \
  X(std::string, port)                                            \
  X(std::string, driver)                                          \
  X(std::string, capability, .Note("as in the table of dpdk.md")) \
  X(std::string, value, .Note("as the driver reports it"))        \
  X(std::string, consequence, .Note("for the port, with the key to set if there is one"))
SUEDE_ROW_STRUCT(CapabilityView, SUEDE_CAPABILITY_ROW);

// Addresses of a peer that one port reaches; if there are several own instances: for the first.
#define SUEDE_PEER_ROW(X)                                                               \
  X(uint32_t, xpu)                                                                      \
  X(std::string, port)                                                                  \
  X(std::string, address, .Note("as the configuration writes it"))                      \
  X(std::string, mac, .Note("empty where frames have none, and while it is resolving")) \
  X(bool, resolving, .Note("the MAC address is to be learnt and not known yet"))        \
  X(std::string, name, .Note("peers[].name; empty: none"))
SUEDE_ROW_STRUCT(PeerView, SUEDE_PEER_ROW);

// A routing table of a device of a mesh.
#define SUEDE_DEVICE_ROW(X)                                          \
  X(std::string, device, .Note("as in M0D4"))                        \
  X(uint32_t, plane, .Note("its number"))                            \
  X(uint32_t, lcore, .Note("CPU of the lcore that runs the device")) \
  X(uint32_t, epoch, .Note("of the routing table: number of the set"))
SUEDE_ROW_STRUCT(DeviceView, SUEDE_DEVICE_ROW);

// An end of a cable at an own device.
#define SUEDE_CABLE_ROW(X)                                                                        \
  X(std::string, from, .Note("port of the own device, as in M0D4P2"))                             \
  X(std::string, to, .Note("port to which the cable should lead"))                                \
  X(uint32_t, plane, .Note("its number"))                                                         \
  X(std::optional<std::string>, port, .OrNull("inside the endpoint"))                             \
  X(std::string_view, state,                                                                      \
    .OneOf("up|down|silent|wrong")                                                                \
        .Note(                                                                                    \
            "silent: the neighbour has announced no place; wrong: the cable leads elsewhere, or " \
            "the other end follows another specification. No frame goes over either"))            \
  X(std::optional<std::string>, neighbour,                                                        \
    .Note("port to which the cable leads").OrNull("not known"))                                   \
  X(std::optional<uint32_t>, neighbour_plane, .OrNull("not known"))                               \
  X(std::string, specification, .Note("hash of the own specification"))                           \
  X(std::optional<std::string>, neighbour_specification, .OrNull("not known"))                    \
  X(uint64_t, queued_frames, .Note("that wait for the cable"))
SUEDE_ROW_STRUCT(CableView, SUEDE_CABLE_ROW);

#define SUEDE_CLIENT_ROW(X)                                                                       \
  X(uint64_t, id)                                                                                 \
  X(int64_t, pid)                                                                                 \
  X(uint32_t, uid)                                                                                \
  X(uint32_t, queues)                                                                             \
  X(std::string_view, state,                                                                      \
    .OneOf("connected|open|packets|leaving")                                                      \
        .Note("connected: has no segment yet; packets: carries management packets; leaving: its " \
              "commands are still delivered"))                                                    \
  X(std::string, claims, .Note("VCs that are received for it: XPU.INSTANCE:VC,VC… …"))
SUEDE_ROW_STRUCT(ClientView, SUEDE_CLIENT_ROW);

// A memory window of a client whose target an lcore serves.
#define SUEDE_WINDOW_ROW(X)                                                                        \
  X(uint64_t, client, .Note("its id, as clients.list has it"))                                     \
  X(uint32_t, xpu)                                                                                 \
  X(uint32_t, instance)                                                                            \
  X(uint32_t, window, .Note("its id"))                                                             \
  X(std::string_view, served_by,                                                                   \
    .OneOf("lcore|program")                                                                        \
        .Note("program: requests are passed on to the client, and the rest is not known"))         \
  X(std::string, rights, .Note("read,write,atomic"))                                               \
  X(bool, has_key, .Note("requests have to give its key"))                                         \
  X(std::optional<uint32_t>, partition, .Note("of the endpoint while it is served").OrNull("any")) \
  X(uint64_t, size_bytes)                                                                          \
  X(uint64_t, page_bytes)                                                                          \
  X(std::optional<uint32_t>, numa_node, .Note("of its first page").OrNull("not known"))
SUEDE_ROW_STRUCT(WindowView, SUEDE_WINDOW_ROW);

// A session, represented by its connection on VC 0, if there are several to one peer on one plane.
#define SUEDE_SESSION_ROW(X)                                                                    \
  X(uint32_t, xpu)                                                                              \
  X(uint32_t, instance)                                                                         \
  X(uint32_t, peer, .Note("its XPU"))                                                           \
  X(uint32_t, plane, .Note("its number"))                                                       \
  X(uint32_t, session, .Note("its slot"))                                                       \
  X(std::string_view, state,                                                                    \
    .OneOf("idle|opening|open|moving|draining|clearing")                                        \
        .Note("idle: nothing takes it; opening, moving: the peer is asked for a number; "       \
              "clearing: waits for PDUs in flight on the slow path that it left"))              \
  X(uint32_t, number, .Note("of our PDUs"))                                                     \
  X(uint32_t, peer_number, .Note("of the peer's PDUs"))                                         \
  X(uint32_t, weight_percent, .Note("how congested it is; 100: not at all"))                    \
  X(uint32_t, moves, .Note("numbers that were asked for"))                                      \
  X(int64_t, age_ns, .Named("age_us").Us().Note("of its number"))                               \
  X(int64_t, srtt_ns,                                                                           \
    .Named("srtt_us").Us().Note("of VC 0 where each has a connection").OrNull("none measured")) \
  X(uint32_t, tx_pdus, .Note("modulo 2^32"))                                                    \
  X(uint32_t, rx_pdus, .Note("modulo 2^32"))                                                    \
  X(uint32_t, retransmissions, .Note("modulo 2^32"))
SUEDE_ROW_STRUCT(SessionView, SUEDE_SESSION_ROW);
#define SUEDE_CONNECTION_ROW(X)                                                                    \
  X(uint32_t, xpu)                                                                                 \
  X(uint32_t, instance)                                                                            \
  X(uint32_t, peer, .Note("its XPU"))                                                              \
  X(uint32_t, plane, .Note("its number"))                                                          \
  X(std::optional<uint32_t>, vc, .OrNull("PSNs span all VCs"))                                     \
  X(uint32_t, session, .Note("its slot"))                                                          \
  X(std::string_view, state,                                                                       \
    .OneOf("new|open|paused|retransmitting|frozen|lost")                                           \
        .Note("paused: the peer is not ready; frozen: the plane is down, and a FENCE under way; "  \
              "lost: the peer is unreachable"))                                                    \
  X(uint32_t, next_psn, .Note("to send"))                                                          \
  X(uint32_t, expected_psn, .Note("to receive"))                                                   \
  X(uint32_t, unacked_pdus)                                                                        \
  X(uint32_t, window_pdus, .Note("as many may be unacknowledged"))                                 \
  X(uint32_t, unacked_bytes)                                                                       \
  X(uint32_t, window_bytes, .Note("as many may be unacknowledged"))                                \
  X(int64_t, srtt_ns, .Named("srtt_us").Us().OrNull("none measured"))                              \
  X(int64_t, rto_ns, .Named("rto_us").Us())                                                        \
  X(std::string_view, congestion,                                                                  \
    .OneOf("fixed|idle|granted|asking|speculating|open|paced")                                     \
        .Note("congestion control of the peer's plane; rccc: idle, granted (it has credit), "      \
              "asking, speculating (the peer grants none); nscc: open, paced (one PDU in several " \
              "round trips)"))                                                                     \
  X(std::optional<uint64_t>, congestion_window_octets,                                             \
    .Note("rccc: credit that is left").OrNull("fixed"))                                            \
  X(int64_t, base_rtt_ns, .Named("base_rtt_us").Us().OrNull("fixed"))                              \
  X(uint32_t, tries, .Note("timeouts in a row"))                                                   \
  X(uint32_t, tx_pdus, .Note("modulo 2^32"))                                                       \
  X(uint32_t, rx_pdus, .Note("modulo 2^32"))                                                       \
  X(uint32_t, retransmissions, .Note("modulo 2^32"))                                               \
  X(bool, peer_waits, .Note("we were not ready for it"))
struct ConnectionView {
  SUEDE_ROW(SUEDE_CONNECTION_ROW)
  std::optional<SessionView> of_session;  // nullopt: there is one to the peer on the plane
};
#define SUEDE_CONNECTIONS_ROW(X)              \
  X(std::vector<ConnectionView>, connections) \
  X(bool, more, .Note("there are more than `limit`"))
SUEDE_ROW_STRUCT(ConnectionsView, SUEDE_CONNECTIONS_ROW);
#define SUEDE_SESSIONS_ROW(X)           \
  X(std::vector<SessionView>, sessions) \
  X(bool, more, .Note("there are more than `limit`"))
SUEDE_ROW_STRUCT(SessionsView, SUEDE_SESSIONS_ROW);

// Causes for which commands wait, in the order of WaitCause (lib/lcore).
inline constexpr std::string_view kWaitCauseNames =
    "flight|turn|down|no_link|no_mac|no_association|unreachable|no_plane|moving|pause|link_credit|"
    "port|not_ready|retransmission|fence|congestion|window|share|credit|frames";
#define SUEDE_WAIT_ROW(X)                                                                     \
  X(uint32_t, xpu)                                                                            \
  X(uint32_t, instance)                                                                       \
  X(uint32_t, peer, .Note("its XPU"))                                                         \
  X(uint32_t, vc)                                                                             \
  X(std::string_view, cause, .OneOf(kWaitCauseNames).Note("why.md explains each"))            \
  X(std::optional<uint32_t>, plane, .Note("of the cause").OrNull("any"))                      \
  X(std::optional<int64_t>, since_ns,                                                         \
    .Named("since_us").Us().Note("since the cause began").OrNull("not known"))                \
  X(uint32_t, queued_bytes, .Note("on the wire, of PDUs that have not left"))                 \
  X(std::optional<int64_t>, queued_ns,                                                        \
    .Named("queued_us").Us().Note("age of the first of them").OrNull("none waits"))           \
  X(uint32_t, inflight_pdus, .Note("of all VCs, if PSNs span them"))                          \
  X(std::optional<int64_t>, inflight_ns,                                                      \
    .Named("inflight_us").Us().Note("age of the oldest").OrNull("none is in flight"))         \
  X(std::optional<uint32_t>, credit_lines, .Note("granted and unused").OrNull("not counted")) \
  X(uint32_t, tx_pdus, .Note("sent so far, modulo 2^32; of all VCs, if PSNs span them"))
SUEDE_ROW_STRUCT(WaitView, SUEDE_WAIT_ROW);
#define SUEDE_READER_ROW(X)                                                             \
  X(uint32_t, xpu)                                                                      \
  X(uint32_t, instance)                                                                 \
  X(uint32_t, vc)                                                                       \
  X(std::optional<uint64_t>, client, .Note("its id").OrNull("none has claimed the VC")) \
  X(uint32_t, ring_lines, .Note("of its receive ring"))                                 \
  X(uint32_t, filled_lines, .Note("received, and not read"))                            \
  X(uint32_t, unclaimed_pdus, .Note("kept for a client, or for room in its ring"))
SUEDE_ROW_STRUCT(ReaderView, SUEDE_READER_ROW);
#define SUEDE_WAITS_ROW(X)            \
  X(std::vector<WaitView>, waits)     \
  X(std::vector<ReaderView>, readers) \
  X(bool, more, .Note("there are more than `limit`"))
SUEDE_ROW_STRUCT(WaitsView, SUEDE_WAITS_ROW);

// A PDU of a trace (trace.md): times from `at_ns` on, of the stages of its direction.
#define SUEDE_TRACE_ROW(X)                                                                         \
  X(uint32_t, xpu)                                                                                 \
  X(uint32_t, instance)                                                                            \
  X(std::string_view, direction, .OneOf("tx|rx"))                                                  \
  X(uint32_t, peer, .Note("its XPU"))                                                              \
  X(uint32_t, vc)                                                                                  \
  X(uint32_t, plane, .Note("its number"))                                                          \
  X(uint32_t, session, .Note("its slot"))                                                          \
  X(uint32_t, psn)                                                                                 \
  X(std::string_view, state,                                                                       \
    .OneOf("under_way|acked|moved|given_up|delivered|read|kept|early|refused|ahead|duplicate|"     \
           "malformed|lost")                                                                       \
        .Note("trace.md explains each"))                                                           \
  X(int64_t, at_ns, .Note("ns since 1970, UTC; tx: when it was queued, rx: when it was received")) \
  X(std::optional<int64_t>, staged_ns, .Note("tx").OrNull("not reached"))                          \
  X(std::optional<int64_t>, sent_ns, .Note("tx").OrNull("not reached"))                            \
  X(std::optional<int64_t>, acked_ns, .Note("tx").OrNull("not reached"))                           \
  X(std::optional<int64_t>, delivered_ns, .Note("rx").OrNull("not reached"))                       \
  X(std::optional<int64_t>, read_ns, .Note("rx").OrNull("not reached"))                            \
  X(std::optional<uint32_t>, bytes, .Note("of commands").OrNull("rx"))                             \
  X(std::optional<uint32_t>, commands, .OrNull("rx"))                                              \
  X(std::optional<uint32_t>, transmissions, .OrNull("rx"))
SUEDE_ROW_STRUCT(TraceRowView, SUEDE_TRACE_ROW);
#define SUEDE_TRACE_LIST_ROW(X) X(std::vector<TraceRowView>, rows, .Note("the oldest first"))
SUEDE_ROW_STRUCT(TraceListView, SUEDE_TRACE_LIST_ROW);
#define SUEDE_TRACE_CHANGE_ROW(X) X(uint32_t, instances, .Note("which this concerned"))
SUEDE_ROW_STRUCT(TraceChangeView, SUEDE_TRACE_CHANGE_ROW);

#define SUEDE_QUEUE_ROW(X)                                                                     \
  X(uint64_t, client, .Note("its id"))                                                         \
  X(uint32_t, queue, .Note("number"))                                                          \
  X(bool, of_lcore, .Note("carries responses of memory requests that the lcore executes"))     \
  X(uint32_t, xpu)                                                                             \
  X(uint32_t, instance)                                                                        \
  X(std::string_view, state,                                                                   \
    .OneOf("open|broken|leaving").Note("broken: the client wrote invalid indices"))            \
  X(uint32_t, ring_lines)                                                                      \
  X(uint32_t, waiting_lines, .Note("handed over and not taken yet"))                           \
  X(uint32_t, credit_lines)                                                                    \
  X(uint32_t, credit_used, .Note("lines that have not left for the network"))                  \
  X(uint64_t, discarded, .Note("commands that were discarded; counters.get has the reason"))   \
  X(std::string, paused,                                                                       \
    .Note("VCs of which nothing leaves now, as the neighbours of all planes pause them (pfc: " \
          "software): 0,1; empty: none"))
SUEDE_ROW_STRUCT(QueueView, SUEDE_QUEUE_ROW);

// Administrative setting of a plane.
enum class PlaneSetting : uint8_t {
  kUp,
  kDrain,  // PDUs in flight may complete, new ones use other planes
  kDown,
};
inline constexpr std::string_view kPlaneSettings = "up|drain|down";
std::string_view NameOf(PlaneSetting setting);

#define SUEDE_PLANE_ROW(X)                                                                       \
  X(uint32_t, xpu)                                                                               \
  X(uint32_t, instance)                                                                          \
  X(uint32_t, plane, .Note("its number"))                                                        \
  X(std::string, port)                                                                           \
  X(PlaneSetting, admin, .OneOf(kPlaneSettings))                                                 \
  X(bool, link_up, .Named("link").OneOf(kUpOrDown))                                              \
  X(bool, up, .Named("state").OneOf(kUpOrDown).Note("up: plane, port and link are up"))          \
  X(uint32_t, weight)                                                                            \
  X(uint32_t, peers_up, .Note("peers to which it is up"))                                        \
  X(uint32_t, peers_down, .Note("those to which it is not"))                                     \
  X(uint32_t, peers_slow, .Note("those to which it was measured to carry less than its weight")) \
  X(uint64_t, inflight_bytes, .Note("of commands"))
struct PlaneView {
  SUEDE_ROW(SUEDE_PLANE_ROW)
  bool port_up = true;  // setting of its port
};

// A plane with respect to one peer.
#define SUEDE_PLANE_PEER_ROW(X)                                                                \
  X(uint32_t, xpu)                                                                             \
  X(uint32_t, instance)                                                                        \
  X(uint32_t, peer, .Note("its XPU"))                                                          \
  X(uint32_t, plane, .Note("its number"))                                                      \
  X(std::optional<uint32_t>, peer_plane, .Note("the peer's number of it").OrNull("not known")) \
  X(std::string_view, state,                                                                   \
    .OneOf("down|init|up|static").Note("static: the peer answers no PLANE"))                   \
  X(bool, usable, .Note("PDUs may be sent there"))                                             \
  X(bool, home, .Note("strict ordering: all of some VC to the peer takes this one"))           \
  X(std::vector<uint32_t>, home_vcs, .Note("these VCs"))                                       \
  X(bool, fencing, .Note("PDUs are in doubt, and the FENCE is not answered yet"))              \
  X(uint32_t, tx_generation)                                                                   \
  X(uint32_t, rx_generation)                                                                   \
  X(uint32_t, weight, .Note("0: no route"))                                                    \
  X(std::optional<uint32_t>, measured_percent,                                                 \
    .Note("measured part of the weight").OrNull("weights are not measured"))                   \
  X(std::optional<uint64_t>, measured_bps,                                                     \
    .Named("measured_bits_per_second")                                                         \
        .Note("carried when the plane was the limit last")                                     \
        .OrNull("it never was"))                                                               \
  X(uint32_t, inflight_bytes, .Note("of commands"))                                            \
  X(std::optional<int64_t>, heard_ago_ns,                                                      \
    .Named("heard_ago_us")                                                                     \
        .Us()                                                                                  \
        .Note("since the way there and back was last proved")                                  \
        .OrNull("never"))                                                                      \
  X(int64_t, held_ns, .Named("held_us").Us().Note("for which it is yet held down"))            \
  X(uint32_t, deaths, .Note("times that it died"))
SUEDE_ROW_STRUCT(PlanePeerView, SUEDE_PLANE_PEER_ROW);
#define SUEDE_PLANE_PEERS_ROW(X)       \
  X(std::vector<PlanePeerView>, peers) \
  X(bool, more, .Note("there are more than `limit`"))
SUEDE_ROW_STRUCT(PlanePeersView, SUEDE_PLANE_PEERS_ROW);

// A peer of a sealing instance; no value is secret.
#define SUEDE_SEALED_PEER_ROW(X)                                              \
  X(uint32_t, xpu)                                                            \
  X(uint32_t, instance)                                                       \
  X(uint32_t, peer, .Note("its XPU"))                                         \
  X(std::string_view, sealing,                                                \
    .OneOf("off|preferred|required").Note("the setting of the instance"))     \
  X(bool, sealed, .Note("PDUs to and from the peer are sealed"))              \
  X(uint32_t, secret_id, .Note("of the secret that the instance seals with")) \
  X(uint32_t, tx_epoch, .Note("epochs of its key, modulo 2^24"))              \
  X(uint32_t, rx_epoch, .Note("likewise, of the peer's"))
SUEDE_ROW_STRUCT(SealedPeerView, SUEDE_SEALED_PEER_ROW);

// `disagrees`, `own` and `theirs`: the key in which the peer's HELLO disagrees, and its values.
inline constexpr std::string_view kAgrees = "they agree, or are not known";
#define SUEDE_PLANE_PING_ROW(X)                                                                    \
  X(uint32_t, plane, .Note("its number"))                                                          \
  X(std::string, port)                                                                             \
  X(std::string_view, state,                                                                       \
    .OneOf("answered|probe_answered|acknowledges|no_answer|no_link|no_mac|down|no_room")           \
        .Note(                                                                                     \
            "answered: by a HELLO; probe_answered: by a NACK, it speaks no HELLO, or not yet; "    \
            "acknowledges: not asked, as it acknowledges PDUs; no_mac: its MAC address is not "    \
            "known; down: port, plane or instance is set down; no_room: the port takes no frame")) \
  X(std::optional<int64_t>, rtt_ns,                                                                \
    .Named("rtt_us").Us().Note("there and back").OrNull("no answer"))                              \
  X(std::string_view, disagrees,                                                                   \
    .Note("the key of the configuration that does not agree").OrNull(kAgrees))                     \
  X(std::string, own, .Note("the value here").OrNull(kAgrees))                                     \
  X(std::string, theirs, .Note("the peer's value").OrNull(kAgrees))
SUEDE_ROW_STRUCT(PlanePingView, SUEDE_PLANE_PING_ROW);
#define SUEDE_PING_ROW(X)             \
  X(uint32_t, xpu)                    \
  X(uint32_t, instance)               \
  X(uint32_t, peer, .Note("its XPU")) \
  X(std::vector<PlanePingView>, planes)
SUEDE_ROW_STRUCT(PingView, SUEDE_PING_ROW);

// The fields of a frame's header that a switch may change.
inline constexpr std::string_view kNoField = "the header has no such field";
inline constexpr std::string_view kNoTag = "no tag";
#define SUEDE_MARKS_ROW(X)                                                                \
  X(std::optional<uint32_t>, dscp, .OrNull(kNoField))                                     \
  X(std::optional<uint32_t>, ecn, .OrNull(kNoField))                                      \
  X(std::optional<uint32_t>, hops, .Note("TTL, hop limit or hop count").OrNull(kNoField)) \
  X(std::optional<uint32_t>, vid, .OrNull(kNoTag))                                        \
  X(std::optional<uint32_t>, pcp, .OrNull(kNoTag))
SUEDE_ROW_STRUCT(MarksView, SUEDE_MARKS_ROW);

// A probe of the path, and its report (docs/path.md).
inline constexpr std::string_view kNoReport = "no report has come";
#define SUEDE_PATH_PROBE_ROW(X)                                                                    \
  X(uint32_t, number)                                                                              \
  X(uint32_t, session, .Note("of both"))                                                           \
  X(int64_t, sent_ns, .Unit("ns").Note("clock of this endpoint"))                                  \
  X(bool, lost_here, .Note("the port had no room for it"))                                         \
  X(bool, answered)                                                                                \
  X(uint32_t, copies, .Note("reports of it that have come"))                                       \
  X(std::optional<uint64_t>, received_ns, .Unit("ns").Note("clock of the peer").OrNull(kNoReport)) \
  X(std::optional<uint32_t>, order,                                                                \
    .Note("probes that the peer's plane had received before, modulo 2^32").OrNull(kNoReport))      \
  X(std::optional<uint32_t>, bytes,                                                                \
    .Unit("bytes").Note("of the frame as it arrived, without FCS").OrNull(kNoReport))              \
  X(std::optional<MarksView>, there, .Note("as it arrived").OrNull(kNoReport))                     \
  X(std::optional<int64_t>, returned_ns,                                                           \
    .Unit("ns").Note("clock of this endpoint").OrNull(kNoReport))                                  \
  X(std::optional<uint32_t>, reply_bytes, .Unit("bytes").OrNull(kNoReport))                        \
  X(std::optional<MarksView>, reply_sent, .Note("of the report as it left").OrNull(kNoReport))     \
  X(std::optional<MarksView>, here, .Note("of the report as it arrived").OrNull(kNoReport))
SUEDE_ROW_STRUCT(PathProbeView, SUEDE_PATH_PROBE_ROW);
#define SUEDE_PATH_DROPS_ROW(X)                             \
  X(uint32_t, address, .Note("frames for other addresses")) \
  X(uint32_t, crc, .Note("with a wrong R-CRC"))             \
  X(uint32_t, not_sue, .Note("that are not SUE's"))         \
  X(uint32_t, trimmed)                                      \
  X(uint32_t, pauses, .Note("PFC frames"))
SUEDE_ROW_STRUCT(PathDropsView, SUEDE_PATH_DROPS_ROW);
#define SUEDE_PATH_OWN_ROW(X)                                                   \
  X(uint64_t, pfc_received, .Note("PFC frames of the neighbour"))               \
  X(int64_t, paused_ns, .Unit("ns").Note("for which these paused the class"))   \
  X(uint32_t, credit_waits, .Note("probes that waited for credit of the link")) \
  X(uint64_t, ecn_marked, .Note("data PDUs received with a mark"))
SUEDE_ROW_STRUCT(PathOwnView, SUEDE_PATH_OWN_ROW);
#define SUEDE_PATH_ROW(X)                                                                         \
  X(uint32_t, xpu)                                                                                \
  X(uint32_t, instance)                                                                           \
  X(uint32_t, peer, .Note("its XPU"))                                                             \
  X(uint32_t, plane, .Note("its number"))                                                         \
  X(std::string, port)                                                                            \
  X(std::string_view, encapsulation, .Note("as the configuration writes it"))                     \
  X(std::string_view, state,                                                                      \
    .OneOf("done|down|no_link|no_mac|no_association|no_consent|no_field|no_pfc")                  \
        .Note("no_consent: the peer has path_probes_per_s: 0, or is older; no_field: the header " \
              "has no EtherType; no_pfc: pause without pfc: software, or of class 4"))            \
  X(std::optional<uint64_t>, rate_bps, .Unit("bit/s").OrNull("not known"))                        \
  X(MarksView, sent, .Note("of a probe as it left"))                                              \
  X(std::vector<PathProbeView>, probes)                                                           \
  X(std::optional<PathDropsView>, drops,                                                          \
    .Note("of the peer, from the first reported probe to the last").OrNull("no report has come")) \
  X(PathOwnView, own, .Note("meanwhile"))
SUEDE_ROW_STRUCT(PathView, SUEDE_PATH_ROW);

// One register of the map (docs/registers.md), or one per index: "port.N.link_up".
#define SUEDE_REGISTER_ROW(X)                                                      \
  X(std::string, name, .Note("N: the index"))                                      \
  X(uint32_t, address, .Hex().Note("hexadecimal; of index 0"))                     \
  X(uint32_t, stride)                                                              \
  X(uint32_t, count, .Note("0: this endpoint has none"))                           \
  X(uint32_t, width_bits, .Named("width").Unit("bits"))                            \
  X(std::string_view, access, .OneOf("RO|RW|W1C").Note("W1C: write one to clear")) \
  X(std::string_view, effect,                                                      \
    .OneOf("at once|at once, up to the value at the start|after a restart")        \
        .Note("of a write")                                                        \
        .OrNull("none can be made"))                                               \
  X(std::string, reset, .OrNull("none in particular"))                             \
  X(std::string, unit, .Note("empty: none"))                                       \
  X(std::string, sentence)
SUEDE_ROW_STRUCT(RegisterRowView, SUEDE_REGISTER_ROW);
#define SUEDE_REGISTER_VALUE_ROW(X)                     \
  X(std::string, name)                                  \
  X(uint32_t, address, .Hex().Note("hexadecimal"))      \
  X(uint32_t, width_bits, .Named("width").Unit("bits")) \
  X(uint64_t, value, .Note("of the register"))
SUEDE_ROW_STRUCT(RegisterValueView, SUEDE_REGISTER_VALUE_ROW);

#define SUEDE_RECORD_PAGE_ROW(X)                                                    \
  X(std::string, header, .Note("names of the columns, with commas between"))        \
  X(std::string, csv, .Note("rows, each with a newline; empty: no sample in time")) \
  X(uint64_t, next, .Note("to give as `since` the next time"))                      \
  X(uint64_t, lost, .Note("samples after `since` that were not taken, or are no longer kept"))
SUEDE_ROW_STRUCT(RecordPage, SUEDE_RECORD_PAGE_ROW);

}  // namespace suede

#endif  // SUEDE_MGMT_ENDPOINT_ROWS_H_
