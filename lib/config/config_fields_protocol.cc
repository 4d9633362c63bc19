// SPDX-License-Identifier: Apache-2.0
// Keys of the data path between peers: sealing, congestion control, packing, transport, planes and
// sessions.
#include "config/config_fields.h"
#include "config/config_key.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::kAtOnce;
using config_key::kAtOnceUpToStart;
using config_key::Key;
using config_key::kNoDefault;
using config_key::Microseconds;

constexpr ConfigField<SealingConfig> kSealing[] = {
    Key<&SealingConfig::secrets>("secrets", "", {.max = 512, .rule = TextRule::kAbsolutePath},
                                 "File of the partition's secrets, which nobody else may read. "
                                 "\"\": none."),
    Key<&SealingConfig::cipher>("cipher", "", {}, "The cipher; the same at both ends."),
    Key<&SealingConfig::device>("device", "", {},
                                "The library that runs it: ipsec_mb, DPDK's aesni_gcm or "
                                "aesni_mb, or openssl; auto takes ipsec_mb where it works, else "
                                "openssl."),
    Key<&SealingConfig::rotate_s>("rotate_s", "s", Between(0, 1u << 30),
                                  "Longest time that one key seals; 0: no limit."),
    Key<&SealingConfig::rotate_pdus>("rotate_pdus", "PDUs", Between(1, uint64_t{1} << 36),
                                     "Max PDUs that one key seals."),
};

constexpr ValueLimits kPemFile{.max = 512, .rule = TextRule::kAbsolutePath};

constexpr ConfigField<SealingTlsConfig> kSealingTls[] = {
    Key<&SealingTlsConfig::listen>("listen", "", {.max = 64, .rule = TextRule::kSocketAddress},
                                   "Address and port at which peers agree on secrets.", kNoDefault),
    Key<&SealingTlsConfig::certificate>(
        "certificate", "", kPemFile,
        "PEM file of the own certificate, with the authorities between it and ca behind it. It "
        "names the own XPUs.",
        kNoDefault),
    Key<&SealingTlsConfig::key>("key", "", kPemFile,
                                "PEM file of its private key, which nobody else may read.",
                                kNoDefault),
    Key<&SealingTlsConfig::ca>("ca", "", kPemFile,
                               "PEM file of the authorities whose certificates are accepted.",
                               kNoDefault),
    Key<&SealingTlsConfig::refresh_s>("refresh_s", "s", Between(1, 1u << 30),
                                      "Time after which a pair of XPUs agrees anew."),
};

constexpr ConfigField<CongestionConfig> kCongestion[] = {
    Key<&CongestionConfig::base_rtt>("base_rtt_us", "µs", Microseconds(1, 100000),
                                     "Round trip through an empty network, until one is measured; "
                                     "times the port's rate: the bandwidth-delay product (BDP)."),
    Key<&CongestionConfig::initial_percent>(
        "initial_percent", "%", Between(1, 1000),
        "RCCC: credit that a source has without asking, and keeps while it is idle, of a BDP."),
    Key<&CongestionConfig::ask_bdp>("ask_bdp", "BDP", Between(1, 64),
                                    "RCCC: most that a source asks for beyond what it has sent."),
    Key<&CongestionConfig::repeat>(
        "repeat_us", "µs", Microseconds(0, 1000000),
        "RCCC: time after which an unanswered request is repeated; it doubles each time. 0: four "
        "times base_rtt_us."),
    Key<&CongestionConfig::repeat_max>("repeat_max_us", "µs", Microseconds(1, 1000000),
                                       "RCCC: the longest such time."),
    Key<&CongestionConfig::slice>(
        "slice_us", "µs", Microseconds(1, 1000),
        "RCCC: turn of a sender, as time of the port's rate. At least two of the largest PDUs."),
    Key<&CongestionConfig::hold_bdp>(
        "hold_bdp", "BDP", Between(1, 64),
        "RCCC: a sender is granted no more while so much of what it was granted has not arrived."),
    Key<&CongestionConfig::target_percent>(
        "target_percent", "%", Between(10, 1000),
        "NSCC: queueing delay at which a source yields, of the base RTT. 75 where switches trim."),
    Key<&CongestionConfig::window_max_percent>("window_max_percent", "%", Between(100, 1000),
                                               "NSCC: largest window, of a BDP."),
    Key<&CongestionConfig::window_min_permille>(
        "window_min_permille", "1/1000", Between(1, 1000),
        "NSCC: smallest window, of a largest PDU: below one, PDUs are paced."),
    Key<&CongestionConfig::decrease_percent>(
        "decrease_percent", "%", Between(1, 100),
        "NSCC: decrease of the window, of the relative excess of delay."),
    Key<&CongestionConfig::proportional_percent>(
        "proportional_percent", "%", Between(1, 1000),
        "NSCC: gain of the increase in proportion to the delay that is left to the target, of the "
        "usual one."),
    Key<&CongestionConfig::fair_percent>(
        "fair_percent", "%", Between(1, 1000),
        "NSCC: gain of the increase where there is delay without a mark, of the usual one."),
    Key<&CongestionConfig::eta_percent>(
        "eta_percent", "%", Between(1, 1000),
        "NSCC: gain of the increase of each round trip, of the usual one."),
    Key<&CongestionConfig::base_rtt_period>(
        "base_rtt_period_us", "µs", Microseconds(0, 60000000),
        "The base RTT is the smallest of the last two periods of this length. 0: of all times."),
};

constexpr ConfigField<PackingConfig> kPacking[] = {
    Key<&PackingConfig::limit_bytes>("limit_bytes", "bytes",
                                     Between(kMaxCommandBytes, kMaxPackBytes),
                                     "Largest sum of the commands of one PDU. The smallest value "
                                     "is the largest command.",
                                     kAtOnce),
    Key<&PackingConfig::packed_pdus>(
        "packed_pdus", "PDUs", Between(256, 1u << 20),
        "Max PDUs that wait to be sent for the first time, of all clients of an lcore on a port.",
        {}),
};

constexpr ConfigField<TransportConfig> kTransport[] = {
    Key<&TransportConfig::psn_scope>("psn_scope", "", {},
                                     "Span of a sequence of PSNs: port is one for all VCs of a "
                                     "{port, peer}, vc one for each. The same at both ends.",
                                     {.shown_default = "vc where a port has pfc or cbfc and no "
                                                       "peer has hello: never, else port"}),
    Key<&TransportConfig::recovery>("recovery", "", {},
                                    "Repetition after a loss: of all from the lost PDU on, or of "
                                    "the lost PDUs, where both ends say selective (repair.md)."),
    Key<&TransportConfig::window_pdus>("window_pdus", "PDUs", Between(1, 16384),
                                       "Max PDUs of a connection without an acknowledgement.",
                                       kAtOnce),
    Key<&TransportConfig::window_bytes>("window_bytes", "bytes", Between(1, 1u << 30),
                                        "Max bytes of commands of a connection without an "
                                        "acknowledgement.",
                                        kAtOnce),
    Key<&TransportConfig::ack_every_pdus>("ack_every_pdus", "PDUs", Between(1, 16384),
                                          "A stand-alone ACK goes out after this many PDUs without "
                                          "one, or a quarter of the peer's window.",
                                          kAtOnce),
    Key<&TransportConfig::ack_delay>("ack_delay_us", "µs", Microseconds(1, 1000000),
                                     "Time after which a stand-alone ACK goes out; under load it "
                                     "may wait 16 times as long, but at most for rto_min_us / 2.",
                                     kAtOnce),
    Key<&TransportConfig::nack_timeout>("nack_timeout_us", "µs", Microseconds(1, 10000000),
                                        "Time after which a gap that still stands is reported "
                                        "again.",
                                        kAtOnce),
    Key<&TransportConfig::reorder_allowance>(
        "reorder_allowance_us", "µs", Microseconds(0, 1000000),
        "Min wait for data that a PDU without commands has overtaken; longer where data was late "
        "before, and rto_initial_us until a PDU was lost. 0: nothing overtakes data.",
        kAtOnce),
    Key<&TransportConfig::rto_initial>("rto_initial_us", "µs", Microseconds(10, 60000000),
                                       "Retransmission timeout before a round trip was measured.",
                                       kAtOnce),
    Key<&TransportConfig::rto_min>("rto_min_us", "µs", Microseconds(10, 60000000),
                                   "Min retransmission timeout.", kAtOnce),
    Key<&TransportConfig::rto_max>("rto_max_us", "µs", Microseconds(10, 60000000),
                                   "Largest retransmission timeout, at which backing off ends.",
                                   kAtOnce),
    Key<&TransportConfig::max_tries>("max_tries", "", Between(1, 255),
                                     "Timeouts in a row after which the peer is unreachable.",
                                     kAtOnce),
    Key<&TransportConfig::not_ready_backoff>(
        "not_ready_backoff_us", "µs", Microseconds(1, 1000000),
        "First wait that NOT_READY asks of a peer, and own wait where a peer names none.", kAtOnce),
    Key<&TransportConfig::pause_limit>(
        "pause_limit_us", "µs", Microseconds(0, 10000000),
        "While a port's device lets nothing leave (a paused port), silence does not count for this "
        "time; then a plane is down, and timeouts count again. 0: silence always counts.",
        kAtOnce),
    Key<&TransportConfig::hello_timeout>("hello_timeout_us", "µs", Microseconds(1, 10000000),
                                         "Wait for the answer to a hello.", kAtOnce),
    Key<&TransportConfig::hello_tries>(
        "hello_tries", "", Between(1, 255),
        "Hellos without an answer after which a peer that answers data PDUs counts as one that "
        "does not speak hello, and any other is asked more rarely.",
        kAtOnce),
    Key<&TransportConfig::inflight_pdus>("inflight_pdus", "PDUs", Between(1, 1u << 20),
                                         "Max PDUs that one instance holds without an "
                                         "acknowledgement, over all peers.",
                                         kAtOnceUpToStart),
    Key<&TransportConfig::path_probes_per_s>(
        "path_probes_per_s", "", Between(0, 1000000),
        "Max probes of the path (path.md) that one instance reports to its peers in a second. 0: "
        "none, and peers are told so.",
        {}),
};

constexpr ConfigField<PlanesConfig> kPlanes[] = {
    Key<&PlanesConfig::hello_interval>("hello_interval_us", "µs", Microseconds(10, 10000000),
                                       "Time between PLANEs on a plane with PDUs in flight and no "
                                       "acknowledgements.",
                                       kAtOnce),
    Key<&PlanesConfig::hello_multiplier>("hello_multiplier", "", Between(1, 255),
                                         "PLANEs in a row without an answer that end a plane.",
                                         kAtOnce),
    Key<&PlanesConfig::hello_idle>("hello_idle_us", "µs", Microseconds(10, 60000000),
                                   "Time between PLANEs on a plane with nothing in flight; where "
                                   "there are none, acknowledgements leave four times as often.",
                                   kAtOnce),
    Key<&PlanesConfig::hold_down>(
        "hold_down_us", "µs", Microseconds(1000, 600000000),
        "Min time that a dead plane stays down: longer than a frame can be under way.", kAtOnce),
    Key<&PlanesConfig::hold_down_max>(
        "hold_down_max_us", "µs", Microseconds(1000, 3600000000),
        "Largest such time, at which doubling for a plane that dies repeatedly ends.", kAtOnce),
    Key<&PlanesConfig::unreachable>("unreachable_us", "µs", Microseconds(1000, 600000000),
                                    "Time without a sign of life on any plane after which commands "
                                    "for a peer complete as unreachable.",
                                    kAtOnce),
    Key<&PlanesConfig::weights>(
        "weights", "", {},
        "static: weights of planes are those of their ports, or of planes.set_weight. measured: "
        "the measured bandwidth to a peer bounds them; that needs the bandwidths of all ports of "
        "the instance, by links or bandwidth_gbps."),
};

constexpr ConfigField<SessionsConfig> kSessions[] = {
    Key<&SessionsConfig::max>("max", "", Between(1, 64),
                              "Max sessions to each peer on each plane, a power of two; the "
                              "smaller of both ends' values counts. 1: no session groups."),
    Key<&SessionsConfig::interval>(
        "interval_us", "µs", Microseconds(10, 1000000),
        "Max time between evaluations of sessions while PDUs are in flight.", kAtOnce),
    Key<&SessionsConfig::open_percent>("open_percent", "%", Between(101, 10000),
                                       "Round trip, in parts of the smallest of the group, above "
                                       "which a session counts as congested: if all do, one more "
                                       "is opened.",
                                       kAtOnce),
    Key<&SessionsConfig::move_percent>("move_percent", "%", Between(101, 100000),
                                       "A session so much more congested than the best of its "
                                       "group takes another number, and so another path.",
                                       kAtOnce),
    Key<&SessionsConfig::idle_intervals>(
        "idle_intervals", "", Between(1, 1000000),
        "Intervals in a row without congestion after which one of several sessions is closed.",
        kAtOnce),
    Key<&SessionsConfig::stall_timeouts>("stall_timeouts", "", Between(1, 255),
                                         "Timeouts in a row after which a session takes another "
                                         "path.",
                                         kAtOnce),
    Key<&SessionsConfig::max_age>("max_age_us", "µs", Microseconds(0, 3600000000),
                                  "Age at which a session takes another number. 0: no limit.",
                                  kAtOnce),
};

}  // namespace

SUEDE_CONFIG_SECTION(CongestionConfig, kCongestion)
SUEDE_CONFIG_SECTION(SealingConfig, kSealing)
SUEDE_CONFIG_SECTION(SealingTlsConfig, kSealingTls)
SUEDE_CONFIG_SECTION(PackingConfig, kPacking)
SUEDE_CONFIG_SECTION(TransportConfig, kTransport)
SUEDE_CONFIG_SECTION(PlanesConfig, kPlanes)
SUEDE_CONFIG_SECTION(SessionsConfig, kSessions)

}  // namespace suede
