// SPDX-License-Identifier: Apache-2.0
// Keys of links and classes.
#include "config/config_fields.h"
#include "config/config_key.h"
#include "link/link_params.h"

namespace suede {
namespace {

using config_key::Between;
using config_key::kAtOnce;
using config_key::Key;
using config_key::Microseconds;
using config_key::PowerOfTwo;

constexpr ConfigField<TrafficClass> kClass[] = {
    Key<&TrafficClass::pcp>("pcp", "", Between(0, 7),
                            "Priority in the VLAN tag; not sent on an untagged port.", kAtOnce),
    Key<&TrafficClass::dscp>("dscp", "", Between(0, 63),
                             "DSCP of the IP or AFH header; not sent with {classless}.", kAtOnce),
    Key<&TrafficClass::ecn>("ecn", "", Between(0, 3),
                            "ECN bits of the IP or AFH header; not sent with {classless}.",
                            kAtOnce),
};

constexpr ConfigField<ConfigVcClass> kVcClass[] = {
    Key<&ConfigVcClass::pcp>(
        "pcp", "", Between(0, 7), "Priority in the VLAN tag; not sent on an untagged port.",
        {.shown_default = "0; the VC's number where a port has pfc or cbfc and "
                          "psn_scope is vc",
         .effect = Effect::kAtOnce}),
    Key<&ConfigVcClass::dscp>(
        "dscp", "", Between(0, 63),
        "DSCP of the IP or AFH header; not sent with {classless}. Its upper three bits are the "
        "class.",
        {.shown_default = "0; 8 times the VC's number where a port has pfc or cbfc and "
                          "psn_scope is vc",
         .effect = Effect::kAtOnce}),
    Key<&ConfigVcClass::ecn>("ecn", "", Between(0, 3),
                             "ECN bits of the IP or AFH header; not sent with {classless}.",
                             kAtOnce),
    Key<&ConfigVcClass::xoff_percent>(
        "xoff_percent", "%", Between(1, 100),
        "Used part of the VC's receive ring, or of clients.unclaimed_pdus, from which on ports "
        "with pfc: software ask their neighbour to pause the class."),
    Key<&ConfigVcClass::xon_percent>("xon_percent", "%", Between(0, 99),
                                     "Used part at which that pause ends; less than xoff_percent."),
};

constexpr ConfigField<LlrConfig> kLlr[] = {
    Key<&LlrConfig::window_frames>("window_frames", "", Between(1, 16384),
                                   "Max frames held for replay; more are not sent."),
    Key<&LlrConfig::window_octets>("window_octets", "bytes", Between(64, 1u << 30),
                                   "Their length; one frame may always be held."),
    Key<&LlrConfig::replay_count>(
        "replay_count", "", Between(0, 16),
        "Replays in a row without progress, before the link is given up and begins anew."),
    Key<&LlrConfig::replay_timeout>(
        "replay_us", "µs", Microseconds(1, 10000000),
        "Time without progress after which held frames are sent again; doubled "
        "each time."),
    Key<&LlrConfig::max_age>("max_age_us", "µs", Microseconds(10, 60000000),
                             "Time that a frame may be held, before the link is given up and "
                             "begins anew."),
    Key<&LlrConfig::ack_frames>(
        "ack_frames", "", Between(1, 4096),
        "Max frames acknowledged together; no more than a quarter of the neighbour's window."),
    Key<&LlrConfig::ack_delay>("ack_delay_us", "µs", Microseconds(0, 1000000),
                               "Time that an acknowledgement may wait for others."),
    Key<&LlrConfig::hello>("hello_us", "µs", Microseconds(100, 10000000),
                           "Interval of HELLOs to the neighbour. After eight without one the link "
                           "begins anew."),
};

constexpr ConfigField<CbfcConfig> kCbfc[] = {
    Key<&CbfcConfig::credit_bytes>("credit_bytes", "bytes", PowerOfTwo(32, 4096),
                                   "Size of a credit that this end grants."),
    Key<&CbfcConfig::overhead_bytes>("overhead_bytes", "bytes", Between(0, 127),
                                     "A frame that this end receives counts as so much longer."),
    Key<&CbfcConfig::credits>("credits", "", Between(0, kMaxLinkCredits),
                              "Credits that each port grants: eight limits, of link VC 0 to 7; "
                              "0: frames of the VC use no credit.",
                              {.shown_default = "computed (link.md)"}),
    Key<&CbfcConfig::spacing_octets>("cf_spacing_bytes", "bytes", Between(800, 1u << 20),
                                     "Freed bytes of a link VC that are reported together; less "
                                     "where a quarter of its limit is."),
    Key<&CbfcConfig::max_wait>("cf_wait_us", "µs", Microseconds(0, 10000),
                               "Max time until freed credit is reported."),
    Key<&CbfcConfig::repeat>("cc_interval_us", "µs", Microseconds(1, 250000),
                             "Interval of the sender's reports while credits are in use."),
};

constexpr ConfigField<PfcConfig> kPfc[] = {
    Key<&PfcConfig::quanta>("quanta", "512 bit times", Between(64, 65535),
                            "Length of a pause that the endpoint asks for. It asks again at half "
                            "of it."),
    Key<&PfcConfig::storm>(
        "storm_us", "µs", Microseconds(0, 60000000),
        "Watchdog: an event reports a pause for which PDUs wait longer, and the endpoint pauses "
        "its neighbour no longer for a VC that does not drain. 0: never."),
};

}  // namespace

SUEDE_CONFIG_SECTION(TrafficClass, kClass)
SUEDE_CONFIG_SECTION(ConfigVcClass, kVcClass)
SUEDE_CONFIG_SECTION(PfcConfig, kPfc)
SUEDE_CONFIG_SECTION(LlrConfig, kLlr)
SUEDE_CONFIG_SECTION(CbfcConfig, kCbfc)

}  // namespace suede
