// SPDX-License-Identifier: Apache-2.0
// Events of a daemon that matter to an operator: each kind is declared once, and the ring, the
// socket, the log, suedectl and docs/events.md derive from these rows.
#ifndef SUEDE_MGMT_EVENTS_H_
#define SUEDE_MGMT_EVENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace suede {

enum class EventSeverity : uint8_t { kInfo, kWarning, kError };
std::string_view NameOf(EventSeverity severity);

// A field of events: id, name, type, sentence.
#define SUEDE_EVENT_FIELDS(X)                                                                     \
  X(Port, "port", Text, "Name of a port.")                                                        \
  X(Xpu, "xpu", Integer, "Own XPU.")                                                              \
  X(Instance, "instance", Integer, "Own instance number.")                                        \
  X(Plane, "plane", Integer, "Number of a plane of the instance.")                                \
  X(Peer, "peer", Integer, "XPU of the peer.")                                                    \
  X(Session, "session", Integer, "Slot of the session, as sessions.list has it.")                 \
  X(Vc, "vc", Integer, "Virtual channel; not there where PSNs span all VCs.")                     \
  X(Vcs, "vcs", Text, "VCs, and ack for PDUs without commands: 0,1,ack.")                         \
  X(Client, "client", Integer, "Id of the client, as clients.list has it.")                       \
  X(Pid, "pid", Integer, "Process at the other end of the socket.")                               \
  X(Uid, "uid", Integer, "User of that process.")                                                 \
  X(Queue, "queue", Integer, "Number of the queue within the client.")                            \
  X(Queues, "queues", Integer, "Queues that the client has.")                                     \
  X(Admin, "admin", Text, "The setting: up or down; of a plane drain, too.")                      \
  X(SpeedBps, "speed_bps", Integer, "Speed of the link; not there where it is not known.")        \
  X(Free, "free", Integer, "Frames that are free.")                                               \
  X(Frames, "frames", Integer, "Frames of the pool.")                                             \
  X(Key, "key", Text, "Key of the configuration.")                                                \
  X(Value, "value", Text, "New value of the key.")                                                \
  X(Own, "own", Text, "Own value of the key.")                                                    \
  X(Theirs, "theirs", Text, "The peer's value of the key.")                                       \
  X(Reason, "reason", Text, "The cause.")                                                         \
  X(Remedy, "remedy", Text, "A change that ends it.")                                             \
  X(Address, "address", Text, "Address and port of the other end.")                               \
  X(SecretId, "secret_id", Integer, "Id of the secret.")                                          \
  X(Limit, "limit", Text, "Name of the limit.")                                                   \
  X(Seconds, "seconds", Integer, "Longest time of the drain.")                                    \
  X(Lcore, "lcore", Integer, "CPU of the lcore.")                                                 \
  X(Percent, "percent", Integer, "Percentage of the time that the lcore ran.")                    \
  X(Source, "source", Text, "The place of the loss: the lcore, or the kind that came too often.") \
  X(Count, "count", Integer, "Number of lost events, or of frames.")                              \
  X(Version, "version", Text, "Version of the daemon.")                                           \
  X(Cable, "cable", Text, "Port of an own device, as in M0D4P2.")                                 \
  X(Expected, "expected", Text, "Port to which the cable should lead.")                           \
  X(Class, "class", Integer, "Class of traffic.")                                                 \
  X(Destination, "destination", Text, "Destination of the frame: forwarding or MAC address.")     \
  X(Change, "change", Text, "new, changed or gone.")                                              \
  X(Chassis, "chassis", Text, "Chassis id of the neighbour.")                                     \
  X(PortId, "port_id", Text, "Port id of the neighbour's port.")                                  \
  X(System, "system", Text, "Name of the neighbour's system; not there where it has none.")       \
  X(What, "what", Text, "The setting that differs (lldp.md).")                                    \
  X(Assigned, "assigned", Text, "Address and prefix length, as in 10.0.0.5/24.")

// Additional fields, of a switch's events.
#define SUEDE_SWITCH_EVENT_FIELDS(X)                                         \
  X(Direction, "direction", Text, "Direction of the port: in, out or both.") \
  X(Setting, "setting", Text, "The setting as impair.set has it; clear: all of it.")

enum class EventField : uint8_t {
  kNone,
#define SUEDE_EVENT_FIELD_ID(id, name, type, sentence) k##id,
  SUEDE_EVENT_FIELDS(SUEDE_EVENT_FIELD_ID) SUEDE_SWITCH_EVENT_FIELDS(SUEDE_EVENT_FIELD_ID)
#undef SUEDE_EVENT_FIELD_ID
};

enum class EventFieldType : uint8_t { kInteger, kText };
struct EventFieldRow {
  std::string_view name;
  EventFieldType type;
  std::string_view sentence;
};
const EventFieldRow& RowOf(EventField field);
std::span<const EventFieldRow> EventFieldRows();        // without those of a switch
std::span<const EventFieldRow> SwitchEventFieldRows();  // only those of a switch

// A kind of event: id, name, severity, component of its log line, maximum per second (0: unlimited,
// for events that only the endpoint itself can cause), sentence, fields.
#define SUEDE_EVENTS(X)                                                                            \
  X(Started, "started", Info, "suede", 0, "The daemon is ready.", kVersion)                        \
  X(DrainBegan, "drain_began", Info, "control", 0,                                                 \
    "The daemon delivers commands handed over before, and ends.", kReason, kSeconds)               \
  X(ConfigChanged, "config_changed", Info, "control", 0,                                           \
    "A value of the configuration was changed at run time.", kKey, kValue)                         \
  X(LinkUp, "link_up", Info, "port", 0, "The link of a port came up.", kPort, kSpeedBps)           \
  X(LinkDown, "link_down", Warning, "port", 0, "The link of a port went down.", kPort)             \
  X(MemifEnded, "memif_ended", Warning, "port", 5,                                                 \
    "A connection of a memif was refused, or ended for a reason (memif.md). Any process that may " \
    "open its socket can cause it.",                                                               \
    kPort, kReason, kRemedy)                                                                       \
  X(PortAdmin, "port_admin", Info, "port", 0, "A port was set up or down.", kPort, kAdmin)         \
  X(PoolLow, "pool_low", Warning, "port", 0, "Less than an eighth of a port's frames is free.",    \
    kPort, kFree, kFrames)                                                                         \
  X(PoolRecovered, "pool_recovered", Info, "port", 0,                                              \
    "After pool_low a quarter of the port's frames is free again.", kPort, kFree, kFrames)         \
  X(LcoreSharesCpu, "lcore_shares_cpu", Warning, "lcore", 0,                                       \
    "An lcore with idle: spin ran for less than 90 % of a second: other threads or interrupts "    \
    "took its CPU. Raised again after a minute without such a second.",                            \
    kLcore, kPercent, kRemedy)                                                                     \
  X(PlaneUp, "plane_up", Info, "plane", 0,                                                         \
    "A plane of an instance carries traffic: plane, port and link are up.", kXpu, kInstance,       \
    kPlane, kPort)                                                                                 \
  X(PlaneDown, "plane_down", Warning, "plane", 0,                                                  \
    "A plane of an instance carries traffic no longer.", kXpu, kInstance, kPlane, kPort, kReason)  \
  X(PlaneAdmin, "plane_admin", Info, "plane", 0, "A plane was set up, to drain or down.", kXpu,    \
    kInstance, kPlane, kPort, kAdmin)                                                              \
  X(PeerPlaneUp, "peer_plane_up", Info, "plane", 200,                                              \
    "A plane to a peer carries traffic: both ends have heard each other on it.", kXpu, kInstance,  \
    kPeer, kPlane, kPort)                                                                          \
  X(PeerPlaneDown, "peer_plane_down", Warning, "plane", 200,                                       \
    "A plane to a peer carries traffic no longer. PDUs in flight there go over the others.", kXpu, \
    kInstance, kPeer, kPlane, kPort, kReason)                                                      \
  X(PeerFence, "peer_fence", Info, "plane", 200,                                                   \
    "PDUs were in flight on a plane as it went down: the peer is asked which of them arrived.",    \
    kXpu, kInstance, kPeer, kPlane, kPort)                                                         \
  X(SessionOpened, "session_opened", Info, "session", 50,                                          \
    "PDUs to a peer may take one more session on a plane (sessions.md).", kXpu, kInstance, kPeer,  \
    kPlane, kPort, kSession)                                                                       \
  X(SessionMoved, "session_moved", Info, "session", 50,                                            \
    "A session has another number, by which switches may choose another path.", kXpu, kInstance,   \
    kPeer, kPlane, kPort, kSession)                                                                \
  X(SessionStalled, "session_stalled", Warning, "session", 50,                                     \
    "Nothing gets through on a session, while its plane lives: it asks for another number.", kXpu, \
    kInstance, kPeer, kPlane, kPort, kSession)                                                     \
  X(SessionClosed, "session_closed", Info, "session", 50,                                          \
    "No new PDU takes a session any more: fewer are enough, or its number is too old.", kXpu,      \
    kInstance, kPeer, kPlane, kPort, kSession)                                                     \
  X(TxHeldUp, "tx_held_up", Warning, "port", 20,                                                   \
    "Nothing leaves the device of a port, as when the switch pauses it; one waiting peer is "      \
    "named. Silence does not count until transport.pause_limit_us is over.",                       \
    kXpu, kInstance, kPeer, kPlane, kPort)                                                         \
  X(PfcStorm, "pfc_storm", Warning, "port", 5,                                                     \
    "PDUs wait for longer than pfc.storm_us for the end of the neighbour's pause, and go on "      \
    "waiting.",                                                                                    \
    kPort, kVcs)                                                                                   \
  X(PfcUndrained, "pfc_undrained", Warning, "port", 20,                                            \
    "No client takes the commands of a VC for longer than pfc.storm_us: the pause of the "         \
    "neighbour ends, and senders get NOT_READY.",                                                  \
    kXpu, kInstance, kVc)                                                                          \
  X(CongestionNoGrant, "congestion_no_grant", Warning, "peer", 200,                                \
    "A peer grants no credit (RCCC) on a plane: PDUs go to it one by one, without credit, until "  \
    "it does.",                                                                                    \
    kXpu, kInstance, kPeer, kPlane, kPort)                                                         \
  X(NeighbourUp, "neighbour_up", Info, "link", 20,                                                 \
    "A port and its neighbour at the far end of the cable hear each other (link.md).", kPort)      \
  X(NeighbourSilent, "neighbour_silent", Warning, "link", 20,                                      \
    "A thousand HELLOs of a port found no answer: llr and cbfc have no effect there. The "         \
    "neighbour has both off or another link_ether_type, or a device between drops the frames "     \
    "(link.md).",                                                                                  \
    kPort)                                                                                         \
  X(LinkGivenUp, "link_given_up", Warning, "link", 20,                                             \
    "Link-level retry gave a link up: held frames are not sent again, and it begins anew.", kPort, \
    kReason, kFrames)                                                                              \
  X(LinkCreditOn, "link_credit_on", Info, "link", 20,                                              \
    "Frames of a port go on the credit that the neighbour grants (link.md).", kPort)               \
  X(LinkCreditOff, "link_credit_off", Info, "link", 20,                                            \
    "Frames of a port use no credit any more: the session or the neighbour's offer ended.", kPort) \
  X(CreditStorm, "credit_storm", Warning, "link", 5,                                               \
    "Frames of a port wait for longer than pfc.storm_us for the neighbour's credit. An "           \
    "endpoint's go on waiting; a switch drops those of the class (link.md).",                      \
    kPort)                                                                                         \
  X(PeerUnreachable, "peer_unreachable", Error, "peer", 0,                                         \
    "A peer does not answer: PDUs in flight to it were given up.", kXpu, kInstance, kPeer, kVc)    \
  X(PeerReachable, "peer_reachable", Info, "peer", 0, "A peer answers again.", kXpu, kInstance,    \
    kPeer, kVc)                                                                                    \
  X(PeerReset, "peer_reset", Warning, "peer", 100,                                                 \
    "A peer has restarted: PDUs in flight to it before that were given up.", kXpu, kInstance,      \
    kPeer)                                                                                         \
  X(SealMismatch, "seal_mismatch", Error, "peer", 5,                                               \
    "A PDU of a peer is sealed and the instance does not seal, or is plain where PDUs have to be " \
    "sealed. Any host that can send frames here can cause it.",                                    \
    kXpu, kInstance, kPeer, kOwn, kTheirs)                                                         \
  X(MalformedPdu, "malformed_pdu", Error, "peer", 5,                                               \
    "The commands of a PDU with a right R-CRC do not parse: they are dropped; the PDUs behind it " \
    "are delivered.",                                                                              \
    kXpu, kInstance, kPeer, kVc)                                                                   \
  X(SecretsChanged, "secrets_changed", Info, "control", 0,                                         \
    "The secrets to seal with have been read, or the time of one has begun or ended.", kCount)     \
  X(SealAgreed, "seal_agreed", Info, "control", 5,                                                 \
    "A pair of XPUs has a new secret, by TLS (sealing.md); not for pairs of two own XPUs.", kXpu,  \
    kPeer, kAddress, kSecretId)                                                                    \
  X(SealAgreementFailed, "seal_agreement_failed", Warning, "control", 5,                           \
    "A pair of XPUs could not agree on a secret: the last one stays in use, and it is tried "      \
    "again (sealing.md).",                                                                         \
    kXpu, kPeer, kAddress, kReason)                                                                \
  X(SealConnectionRefused, "seal_connection_refused", Warning, "control", 5,                       \
    "A connection to sealing.tls.listen has failed, or a request on it was refused; its XPUs are " \
    "not proved. Any host that reaches the port can cause it.",                                    \
    kAddress, kReason)                                                                             \
  X(HelloMismatch, "hello_mismatch", Error, "peer", 20,                                            \
    "A peer is configured otherwise: nothing can be exchanged.", kXpu, kInstance, kPeer, kKey,     \
    kOwn, kTheirs, kRemedy)                                                                        \
  X(ClientConnected, "client_connected", Info, "client", 50, "A client has got a segment.",        \
    kClient, kPid, kUid, kQueues)                                                                  \
  X(ClientLeft, "client_left", Info, "client", 50, "A client said goodbye.", kClient, kPid)        \
  X(ClientDied, "client_died", Warning, "client", 50,                                              \
    "A client's connection ended without a goodbye: it has crashed, or was killed.", kClient,      \
    kPid)                                                                                          \
  X(ClientError, "client_error", Warning, "client", 20,                                            \
    "A client broke a rule of the protocol. Its connection is ended, or its queue is "             \
    "served no more (reason ring).",                                                               \
    kClient, kPid, kReason, kQueue)                                                                \
  X(TxError, "tx_error", Warning, "client", 20,                                                    \
    "A client handed over a command with the error mark: it was discarded.", kClient, kQueue,      \
    kXpu, kInstance)                                                                               \
  X(ClientRefused, "client_refused", Warning, "client", 5,                                         \
    "A client got no place, or its request was refused.", kPid, kUid, kReason)                     \
  X(ManagementLimit, "management_limit", Warning, "management", 5,                                 \
    "A management connection met a limit.", kLimit, kPid, kUid, kReason)                           \
  X(CableVerified, "cable_verified", Info, "mesh", 20,                                             \
    "A cable of a device leads to the port that it should: frames go over it.", kCable, kExpected) \
  X(CableWrong, "cable_wrong", Error, "mesh", 20,                                                  \
    "A cable of a device leads to another port than it should, or the other end follows another "  \
    "specification: no frame goes over it.",                                                       \
    kCable, kExpected, kReason)                                                                    \
  X(HopLimitDrops, "hop_limit_drops", Warning, "fabric", 5,                                        \
    "Frames that a switch or a device received by a port had no hop left and were dropped, as in " \
    "a loop of the tables or with too small a hop_limit. Class and destination are those of the "  \
    "last one.",                                                                                   \
    kPort, kClass, kDestination, kCount)                                                           \
  X(AgeDrops, "age_drops", Warning, "fabric", 5,                                                   \
    "Frames that were to leave by a port waited for longer than max_wait_us and were dropped. "    \
    "Class, destination and cause are those of the last one.",                                     \
    kPort, kClass, kDestination, kReason, kCount)                                                  \
  X(LldpNeighbour, "lldp_neighbour", Info, "lldp", 50,                                             \
    "A neighbour of a port with lldp: on came, says something else, or went: by its TTL, a "       \
    "shutdown or the link (lldp.md).",                                                             \
    kPort, kChange, kChassis, kPortId, kSystem, kReason)                                           \
  X(LldpDiffers, "lldp_differs", Warning, "lldp", 50,                                              \
    "A setting of a port and that of its neighbour do not fit (lldp.md, \"Comparison\").", kPort,  \
    kWhat, kOwn, kTheirs)                                                                          \
  X(LldpAddressRefused, "lldp_address_refused", Warning, "lldp", 50,                               \
    "A neighbour assigns an address that the port does not take (lldp.md, \"Assigned "             \
    "addresses\").",                                                                               \
    kPort, kAssigned, kReason, kRemedy)                                                            \
  X(EventsLost, "events_lost", Warning, "events", 0,                                               \
    "Events are missing here: there were too many at once.", kSource, kCount)

// Events of a switch only.
#define SUEDE_SWITCH_EVENTS(X)                                                                \
  X(ImpairmentSet, "impairment_set", Info, "impair", 50,                                      \
    "An impairment of a port was set or cleared through the management socket.", kPort,       \
    kDirection, kSetting, kPid, kUid)                                                         \
  X(StormBegan, "storm_began", Warning, "pfc", 20,                                            \
    "The peer of a port has paused a class, or returned no credit for it, for too long: its " \
    "frames for that port are dropped.",                                                      \
    kPort, kClass)                                                                            \
  X(StormEnded, "storm_ended", Info, "pfc", 20, "The peer of a port lets a class go again.",  \
    kPort, kClass)

enum class EventKind : uint8_t {
#define SUEDE_EVENT_ID(id, name, severity, component, per_s, sentence, ...) k##id,
  SUEDE_EVENTS(SUEDE_EVENT_ID) SUEDE_SWITCH_EVENTS(SUEDE_EVENT_ID)
#undef SUEDE_EVENT_ID
      kCount
};
inline constexpr size_t kEventKinds = static_cast<size_t>(EventKind::kCount);
inline constexpr auto kFirstSwitchEvent = EventKind::kImpairmentSet;

struct EventRow {
  static constexpr size_t kMaxFields = 7;
  std::string_view name;
  EventSeverity severity;
  std::string_view component;
  uint32_t per_s;
  std::string_view sentence;
  std::array<EventField, kMaxFields> fields;  // kNone behind the last

  bool Has(EventField field) const;
};
const EventRow& RowOf(EventKind kind);
std::optional<EventKind> EventKindOf(std::string_view name);
// "|a|b|c" of all names, for a choice parameter: of an endpoint, and of a switch.
#define SUEDE_EVENT_NAME(id, name, severity, component, per_s, sentence, ...) "|" name
inline constexpr std::string_view kEventNames = SUEDE_EVENTS(SUEDE_EVENT_NAME);
inline constexpr std::string_view kSwitchEventNames =
    SUEDE_EVENTS(SUEDE_EVENT_NAME) SUEDE_SWITCH_EVENTS(SUEDE_EVENT_NAME);
#undef SUEDE_EVENT_NAME

}  // namespace suede

#endif  // SUEDE_MGMT_EVENTS_H_
