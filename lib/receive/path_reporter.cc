// SPDX-License-Identifier: Apache-2.0
#include "receive/path_reporter.h"

#include "frame/control_sender.h"
#include "wire/frame_marks.h"

namespace suede {

void PathReporter::OnPath(const Place& at, const Path& message, const Frame& frame,
                          uint16_t session, Time now) {
  message.report ? OnReport(at, message, frame, now) : OnProbe(at, message, frame, session, now);
}

// Reports the arrival of a probe, by a report that is no longer, in the same class and session.
void PathReporter::OnProbe(const Place& at, const Path& probe, const Frame& frame, uint16_t session,
                           Time now) {
  Instance& instance = at.instance;
  CounterBlock& counters = instance.stats.counters;
  const uint32_t order = instance.path.arrived[at.plane]++;
  if (!instance.path.rate || !instance.path.rate->Take(now)) {
    return counters.Add(Counter::kRxPathRefused);
  }
  const PortContext& port = *instance.ports[at.plane];
  const auto total = [&](Counter counter) {
    return static_cast<uint32_t>(lcore_.counters.Get(counter) + counters.Get(counter));
  };
  Path report{.report = true,
              .traffic_class = probe.traffic_class,
              .number = probe.number,
              .sent_ns = probe.sent_ns,
              .received_ns = static_cast<uint64_t>(ToNs(now)),
              .order = order,
              .bytes = static_cast<uint16_t>(frame.length),
              .there = MarksOf(port.params.rules, {frame.data, frame.length}),
              .address_drops = total(Counter::kRxUnknownDestination),
              .rcrc_drops = total(Counter::kRxRcrc),
              .not_sue_drops = total(Counter::kRxNotSue),
              .trimmed = total(Counter::kRxTrimmed) + total(Counter::kRxTrimmedUnknown),
              .pauses = total(Counter::kRxPfc)};
  HeaderTemplate header =
      instance.headers.At(instance.map.At(at.peer, at.plane, 0, 0), probe.traffic_class);
  if (session < SessionCount(header.encap)) SetSession(header, session);
  const bool is_sent = ControlSender::SendPath(
      instance, at.peer, at.plane, header, std::move(report), probe.long_reply ? frame.length : 0);
  counters.Add(is_sent ? Counter::kRxPathProbes : Counter::kRxPathRefused);
}

// Notes the report of a probe that this instance has sent.
void PathReporter::OnReport(const Place& at, const Path& report, const Frame& frame, Time now) {
  PathProbes& path = at.instance.path;
  PathRun* const run = path.run;
  const uint32_t index = report.number - path.first;
  const bool is_known = run != nullptr && index < path.next && at.peer == run->spec.peer &&
                        at.plane == run->spec.plane && !run->rows[index].lost_here &&
                        report.sent_ns == static_cast<uint64_t>(ToNs(run->rows[index].sent));
  if (!is_known) return at.instance.stats.counters.Add(Counter::kRxPathStray);
  at.instance.stats.counters.Add(Counter::kRxPathReports);
  PathRun::Row& row = run->rows[index];
  if (row.copies++ != 0) return;
  row.returned = now;
  row.reply_bytes = frame.length;
  row.here = MarksOf(at.instance.ports[at.plane]->params.rules, {frame.data, frame.length});
  row.report = report;
}

}  // namespace suede
