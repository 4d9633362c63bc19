// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>

#include "base/psn_bits.h"
#include "base/text.h"
#include "config/config_checks.h"
#include "config/config_encapsulation.h"

namespace suede {
namespace {

using absl::OkStatus;
using absl::Status;

int64_t Us(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

}  // namespace

Status CheckTransport(const ConfigDraft& draft) {
  const TransportConfig& t = draft.config.transport;
  const uint32_t limit = draft.config.packing.limit_bytes;
  if (t.window_bytes < limit) {
    return draft.Error("transport.window_bytes",
                       StrCat(t.window_bytes, " is less than one PDU at packing.limit_bytes; use ",
                              limit, " or more"));
  }
  if (t.recovery == LossRecovery::kSelective && t.window_pdus > kPsnBits) {
    return draft.Error("transport.window_pdus",
                       StrCat(t.window_pdus,
                              " is more than transport.recovery: selective keeps "
                              "apart; use at most ",
                              kPsnBits, ", or go_back_n"));
  }
  if (t.ack_every_pdus > t.window_pdus) {
    return draft.Error("transport.ack_every_pdus",
                       StrCat(t.ack_every_pdus,
                              " is more than the window, so that the peer would "
                              "always wait for ack_delay_us; use at most ",
                              t.window_pdus));
  }
  if (t.inflight_pdus < t.window_pdus) {
    return draft.Error("transport.inflight_pdus",
                       StrCat(t.inflight_pdus, " is less than the window of one connection; use ",
                              t.window_pdus, " or more, or lower transport.window_pdus"));
  }
  if (t.rto_min > t.rto_max) {
    return draft.Error(
        "transport.rto_min_us",
        StrCat(Us(t.rto_min), " is more than rto_max_us; use at most ", Us(t.rto_max)));
  }
  if (t.rto_initial < t.rto_min || t.rto_initial > t.rto_max) {
    return draft.Error("transport.rto_initial_us",
                       StrCat(Us(t.rto_initial), " is not between rto_min_us and rto_max_us; use ",
                              Us(t.rto_min), " to ", Us(t.rto_max)));
  }
  if (t.ack_delay >= t.rto_min) {
    return draft.Error("transport.ack_delay_us",
                       StrCat(Us(t.ack_delay),
                              " is not less than rto_min_us, so that peers would "
                              "retransmit PDUs that have arrived; use less than ",
                              Us(t.rto_min)));
  }
  return OkStatus();
}

Status CheckCongestion(ConfigDraft& draft) {
  const CongestionConfig& c = draft.config.congestion;
  const Duration repeat = c.repeat != Duration{} ? c.repeat : 4 * c.base_rtt;
  if (c.repeat_max < repeat) {
    return draft.Error("congestion.repeat_max_us",
                       StrCat(c.repeat_max.count() / 1000, " is less than ",
                              c.repeat != Duration{} ? "repeat_us" : "four times base_rtt_us", ", ",
                              repeat.count() / 1000, "; raise it"));
  }
  const auto& classes = draft.config.classes.vc;
  for (size_t i = 0; i < draft.config.instances.size(); ++i) {
    if (draft.config.instances[i].congestion != CongestionControl::kNscc) continue;
    if (std::any_of(classes.begin(), classes.end(),
                    [](const ConfigVcClass& of_vc) { return of_vc.ecn == 1 || of_vc.ecn == 2; })) {
      break;
    }
    Warn(draft, StrCat(Entry("instances", i), ".congestion"),
         "no class of classes.vc has ecn 1 or 2, so switches mark nothing, and nscc goes by delay "
         "and loss alone; set ecn: 2 where switches mark");
    break;
  }
  return OkStatus();
}

Status CheckPlanes(const ConfigDraft& draft) {
  const PlanesConfig& p = draft.config.planes;
  if (p.hello_idle < p.hello_interval) {
    return draft.Error("planes.hello_idle_us",
                       StrCat(Us(p.hello_idle), " is less than hello_interval_us; use at least ",
                              Us(p.hello_interval)));
  }
  if (p.hold_down_max < p.hold_down) {
    return draft.Error(
        "planes.hold_down_max_us",
        StrCat(Us(p.hold_down_max), " is less than hold_down_us; use at least ", Us(p.hold_down)));
  }
  const Duration found_dead = p.hello_interval * p.hello_multiplier;
  if (p.unreachable < found_dead) {
    return draft.Error("planes.unreachable_us",
                       StrCat(Us(p.unreachable),
                              " is less than it takes to find a plane dead, hello_interval_us "
                              "times hello_multiplier; use at least ",
                              Us(found_dead)));
  }
  return OkStatus();
}

Status CheckSessions(const ConfigDraft& draft) {
  const Config& config = draft.config;
  const uint32_t max = config.sessions.max;
  if (max == 1) return OkStatus();
  if (!std::has_single_bit(max)) {
    return draft.Error("sessions.max",
                       StrCat(max, " is no power of two; use ", std::bit_floor(max)));
  }
  const bool of_vcs = config.transport.psn_scope == PsnScope::kVc;
  const uint32_t vcs = of_vcs ? uint32_t{kVcCount} : 1;
  for (const InstanceConfig& instance : config.instances) {
    const auto planes = static_cast<uint32_t>(instance.ports.size());
    if (planes * vcs * max <= kMaxPeerConnections) continue;
    return draft.Error(
        "sessions.max",
        StrCat(max, " sessions on ", planes, " planes", of_vcs ? ", with four VCs each," : "",
               " are more than ", kMaxPeerConnections, " connections to each peer; use at most ",
               kMaxPeerConnections / (planes * vcs),
               of_vcs ? ", or set transport.psn_scope: port at both ends" : ""));
  }
  for (size_t i = 0; i < config.ports.size(); ++i) {
    const PortConfig& port = config.ports[i];
    if (port.session != 0) {
      return draft.Error(StrCat(Entry("ports", i), ".session"),
                         "session groups draw the numbers of sessions; leave session out, or set "
                         "sessions.max to 1");
    }
    if (MaxSession(port.encapsulation) + 1 >= max) continue;
    return draft.Error("sessions.max", StrCat("frames of ", Entry("ports", i), " (encapsulation ",
                                              NameOf(port.encapsulation),
                                              ") have no number of a session; use 1, or another "
                                              "encapsulation"));
  }
  return OkStatus();
}

}  // namespace suede
