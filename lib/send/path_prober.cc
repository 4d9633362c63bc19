// SPDX-License-Identifier: Apache-2.0
#include "send/path_prober.h"

#include <algorithm>

#include "base/big_endian.h"
#include "frame/control_sender.h"
#include "lcore/path_probe.h"
#include "wire/frame_marks.h"

namespace suede {
namespace {

// Addresses that nobody has: of the networks for documentation (RFC 5737, RFC 3849), or the largest
// but one forwarding address; and a MAC address that is administered locally.
constexpr uint32_t kStrangerIpv4 = 0xc63364fe;  // 198.51.100.254
constexpr NetAddress kStrangerIpv6{.high = 0x20010db8'00000000, .low = 0xfffe};
constexpr MacAddress kStrangerMac{0x02, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe};
constexpr uint16_t kStrangeEtherType = 0xfffe;
// Probes of one poll iteration.
constexpr uint32_t kProbesAtOnce = 32;

NetAddress StrangerOf(const EncapTraits& traits) {
  if (traits.addresses == AddressKind::kIpv4) return {.low = kStrangerIpv4};
  if (traits.addresses == AddressKind::kIpv6) return kStrangerIpv6;
  return {.low = (uint64_t{1} << traits.forwarding_bits) - 2};
}

}  // namespace

PathState PathProber::ObstacleOf(const Instance& instance, const PathRun::Spec& spec) {
  const Link& link = instance.ports[spec.plane]->link;
  const bool held = instance.peers.own.admin[spec.plane] == PlaneAdmin::kDown;
  if (link.down() || instance.down || held) return PathState::kDown;
  if (!link.state().up) return PathState::kNoLink;
  if (instance.peers.IsResolving(spec.peer, spec.plane)) return PathState::kNoMac;
  if (!instance.peers[spec.peer].handshake().associated()) return PathState::kNoAssociation;
  if (!instance.peers[spec.peer].hello().answers_path) return PathState::kNoConsent;
  if (spec.to == PathTarget::kEtherType &&
      instance.ports[spec.plane]->params.rules.encap == Encap::kAfh2c)
    return PathState::kNoField;
  if (spec.pause && (link.pauses() == nullptr || spec.traffic_class >= kVcCount))
    return PathState::kNoPfc;
  return PathState::kRunning;
}

HeaderTemplate PathProber::HeaderOf(const Instance& instance, const PathRun::Spec& spec) {
  HeaderSpec header = instance.headers.SpecOf(spec.peer, spec.plane, spec.traffic_class);
  if (spec.dscp) header.traffic_class.dscp = *spec.dscp;
  if (spec.ecn) header.traffic_class.ecn = *spec.ecn;
  if (spec.hop_limit) header.hop_limit = *spec.hop_limit;
  const Encap encap = instance.ports[spec.plane]->params.rules.encap;
  if (spec.to == PathTarget::kStranger) {
    header.destination = StrangerOf(TraitsOf(encap));
    header.destination_mac = kStrangerMac;
  }
  HeaderTemplate made = instance.headers.Make(spec.plane, header);
  if (spec.to == PathTarget::kEtherType) {
    StoreBe16(made.bytes + HeaderTemplate::kMaxBytes - made.length + made.l2_length - 2,
              kStrangeEtherType);
  }
  return made;
}

void PathProber::Begin(const request::ProbePath& request) {
  Instance& instance = *lcore_.instances[request.instance];
  PathRun& run = *request.run;
  const PathState obstacle = ObstacleOf(instance, run.spec);
  if (obstacle != PathState::kRunning) {
    run.state.store(obstacle, std::memory_order_release);
    return;
  }
  PathProbes& path = instance.path;
  run.rate_bps = instance.peers.own.link_bps[run.spec.plane];
  run.sent = MarksOf(instance.ports[run.spec.plane]->params.rules, HeaderOf(instance, run.spec));
  path.first += path.next;
  path.next = 0;
  path.run = &run;
  path.due = lcore_.now;
  path.pause_end = lcore_.now + run.spec.interval * static_cast<int64_t>(run.rows.size());
  if (run.spec.pause) Pause(instance, true);
  ++active_;
}

// Requests a pause of the run's class from the port's neighbour, or ends it.
void PathProber::Pause(Instance& instance, bool begins) {
  const PathRun::Spec& spec = instance.path.run->spec;
  instance.ports[spec.plane]->link.pauses()->Want(spec.traffic_class, begins);
  instance.path.pauses = begins;
}

// Sends the next probe. Returns false if the port has no room for it.
bool PathProber::Send(Instance& instance, Time now) {
  PathProbes& path = instance.path;
  PathRun::Spec spec = path.run->spec;
  // The first and the last probe always go to the peer: the counters of their reports show how many
  // of the others the peer has received.
  if (path.next == 0 || path.next + 1 == path.run->rows.size()) spec.to = PathTarget::kPeer;
  PathRun::Row& row = path.run->rows[path.next];
  HeaderTemplate header = HeaderOf(instance, spec);
  const uint32_t session = spec.first_session + path.next % spec.sessions;
  if (spec.sessions > 1 || spec.first_session != 0) {
    SetSession(header, static_cast<uint16_t>(session % SessionCount(header.encap)));
  }
  row = {.session = header.session, .sent = now};
  const bool is_sent =
      ControlSender::SendPath(instance, spec.peer, spec.plane, header,
                              {.long_reply = spec.long_reply,
                               .traffic_class = static_cast<uint8_t>(spec.traffic_class),
                               .number = path.first + path.next,
                               .sent_ns = static_cast<uint64_t>(ToNs(now))},
                              spec.bytes);
  if (is_sent) instance.stats.counters.Add(Counter::kTxPathProbes);
  return is_sent;
}

// Counts the next probe, once, if its class has no credit.
void PathProber::NoteCredit(Instance& instance) {
  PathProbes& path = instance.path;
  const PathRun::Spec& spec = path.run->spec;
  const CreditGate* const gate = instance.ports[spec.plane]->link.credit();
  const bool lacks = gate != nullptr && (gate->open() >> spec.traffic_class & 1) == 0;
  if (lacks && !path.lacks_credit) ++path.run->credit_waits;
  path.lacks_credit = lacks;
}

// Ends a run whose port takes nothing: the probes that have not left are lost here.
void PathProber::Abandon(PathProbes& path, Time now) {
  const auto count = static_cast<uint32_t>(path.run->rows.size());
  for (; path.next < count; ++path.next) {
    path.run->rows[path.next] = {.lost_here = true, .sent = now};
  }
  path.due = now + path.run->spec.timeout;
}

// Whether all probes have left, and all reports have come or are late.
bool PathProber::IsOver(const PathProbes& path, Time now) {
  const PathRun& run = *path.run;
  if (path.next < run.rows.size()) return false;
  if (now >= path.due) return true;
  return std::ranges::all_of(
      run.rows, [](const PathRun::Row& row) { return row.copies != 0 || row.lost_here; });
}

void PathProber::Poll(Time now) {
  for (const auto& instance : lcore_.instances) {
    PathProbes& path = instance->path;
    if (path.run == nullptr) continue;
    const PathRun::Spec& spec = path.run->spec;
    const auto count = static_cast<uint32_t>(path.run->rows.size());
    for (uint32_t i = 0; i < kProbesAtOnce && path.next < count && now >= path.due; ++i) {
      if (!Send(*instance, now)) {
        NoteCredit(*instance);
        if (now >= path.due + spec.timeout) Abandon(path, now);
        break;
      }
      ++path.next;
      path.lacks_credit = false;
      path.due = now + (path.next < count ? spec.interval : spec.timeout);
    }
    const bool is_over = IsOver(path, now);
    if (path.pauses && (is_over || now >= path.pause_end)) Pause(*instance, false);
    if (!is_over) continue;
    path.run->state.store(PathState::kDone, std::memory_order_release);
    path.run = nullptr;
    --active_;
  }
}

}  // namespace suede
