// SPDX-License-Identifier: Apache-2.0
#include "endpoint/watch.h"

#include <utility>

#include "base/text.h"
#include "config/config_change.h"
#include "config/config_values.h"
#include "daemon/memif_reports.h"
#include "dpdk/lcores.h"
#include "endpoint/endpoint.h"
#include "endpoint/hello_mismatch.h"
#include "endpoint/lcore_event_names.h"
#include "endpoint/pipeline_params.h"
#include "path/plane_session.h"

namespace suede {
namespace {

constexpr uint32_t kPoolTicks = 10;  // checking a pool walks over all lcores' caches

// Returns why a plane is down. A port that is set down may also lose its link.
std::string_view ReasonOf(const PlaneView& plane) {
  if (plane.admin == PlaneSetting::kDown) return "plane";
  return plane.port_up ? "link" : "port";
}

// Adds the key in which a peer's HELLO disagrees, both values, and the remedy.
void AddMismatch(const LcoreEvent& event, std::vector<EventValue>& values) {
  const auto what = static_cast<HelloMismatch>(event.what);
  const std::string_view key = KeyOf(what);
  values.emplace_back(EventField::kKey, key);
  for (const auto& [field, value] :
       {std::pair(EventField::kOwn, event.own), std::pair(EventField::kTheirs, event.theirs)}) {
    values.emplace_back(field, ValueOf(key, value));
  }
  values.emplace_back(EventField::kRemedy, RemedyOf(what));
}

}  // namespace

Watch::Watch(Endpoint* endpoint)
    : endpoint_(endpoint),
      link_up_(endpoint->ports().size()),
      pools_(endpoint->ports().size()),
      links_(endpoint->ports().size()),
      plane_up_(endpoint->administration().Planes().size()),
      lost_(endpoint->pipeline_count()),
      shares_(endpoint->pipeline_count()) {}

void Watch::Tick() {
  for (uint32_t p = 0; p < link_up_.size(); ++p) CheckPort(p);
  CheckPlanes();
  for (uint32_t l = 0; l < endpoint_->pipeline_count(); ++l) {
    DrainEvents(l);
    shares_[l].Check(endpoint_->config().lcores[l], endpoint_->clock().Now(), CpuTimeOn,
                     endpoint_->events());
  }
  ++ticks_;
  endpoint_->events().Tick();
}

void Watch::CheckPort(uint32_t p) {
  DpdkPort& port = *endpoint_->ports()[p];
  EventLog& events = endpoint_->events();
  port.RefreshLink();
  const LinkState link = port.link();
  if (link.up) endpoint_->administration().NoteLinkSpeed(p, link.speed_bps);
  if (link.up != link_up_[p]) {
    link_up_[p] = link.up;
    if (link.up) endpoint_->NoteLinkUp(p);
    std::vector<EventValue> values = {{EventField::kPort, port.name()}};
    if (link.up && link.speed_bps != 0) values.emplace_back(EventField::kSpeedBps, link.speed_bps);
    events.Raise(link.up ? EventKind::kLinkUp : EventKind::kLinkDown, std::move(values));
  }
  if (port.memif() != nullptr) ReportMemif(port.name(), *port.memif(), events);
  if (const LinkCounters* counters = endpoint_->link_counters(p); counters != nullptr) {
    links_[p].Check(port.name(), link.up, *counters, events);
  }
  if (ticks_ % kPoolTicks != 0) return;
  const uint32_t free = port.FreeFrames();
  const PoolLevel::Change change = pools_[p].Check(free, port.pool_frames());
  if (change == PoolLevel::Change::kNone) return;
  const bool low = change == PoolLevel::Change::kLow;
  events.Raise(low ? EventKind::kPoolLow : EventKind::kPoolRecovered,
               {{EventField::kPort, port.name()},
                {EventField::kFree, free},
                {EventField::kFrames, port.pool_frames()}});
}

void Watch::CheckPlanes() {
  endpoint_->administration().FollowLinkSpeeds();
  const std::vector<PlaneView> planes = endpoint_->administration().Planes();
  for (size_t i = 0; i < planes.size(); ++i) {
    const PlaneView& plane = planes[i];
    if (plane.up == plane_up_[i]) continue;
    plane_up_[i] = plane.up;
    std::vector<EventValue> values = {{EventField::kXpu, plane.xpu},
                                      {EventField::kInstance, plane.instance},
                                      {EventField::kPlane, plane.plane},
                                      {EventField::kPort, plane.port}};
    if (!plane.up) values.emplace_back(EventField::kReason, ReasonOf(plane));
    endpoint_->events().Raise(plane.up ? EventKind::kPlaneUp : EventKind::kPlaneDown,
                              std::move(values));
  }
}

void Watch::DrainEvents(uint32_t lcore) {
  Pipeline& pipeline = endpoint_->pipeline(lcore);
  LcoreEvent event;
  // At most one ring of events, as the lcore may add more concurrently.
  for (uint32_t i = 0; i < kEventRingItems && pipeline.mailbox().events.Pop(event); ++i)
    Raise(lcore, event);
  const uint64_t lost = pipeline.port_counters().Get(Counter::kEventsLost);
  if (lost == lost_[lcore]) return;
  const uint64_t count = lost - std::exchange(lost_[lcore], lost);
  endpoint_->events().Raise(
      EventKind::kEventsLost,
      {{EventField::kSource, StrCat("lcore ", endpoint_->config().lcores[lcore].cpu)},
       {EventField::kCount, count}});
}

void Watch::Raise(uint32_t lcore, const LcoreEvent& event) {
  if (event.kind == LcoreEventKind::kQueueBroken) {
    endpoint_->events().Raise(EventKind::kClientError, {{EventField::kClient, event.client},
                                                        {EventField::kReason, "ring"},
                                                        {EventField::kQueue, event.queue}});
    return;
  }
  const InstanceConfig& own =
      endpoint_->config().instances[endpoint_->instance_at(lcore, event.instance)];
  if (event.kind == LcoreEventKind::kPfcStorm) {
    const uint32_t port = own.ports[event.plane].port;
    endpoint_->events().Raise(EventKind::kPfcStorm,
                              {{EventField::kPort, endpoint_->config().ports[port].name},
                               {EventField::kVcs, FlowNames(event.what)}});
    return;
  }
  std::vector<EventValue> values = {{EventField::kXpu, own.xpu},
                                    {EventField::kInstance, own.instance}};
  if (event.kind == LcoreEventKind::kPfcUndrained) {
    values.emplace_back(EventField::kVc, event.vc);
    endpoint_->events().Raise(EventKind::kPfcUndrained, std::move(values));
    return;
  }
  if (event.kind == LcoreEventKind::kTxError) {
    values.emplace_back(EventField::kClient, event.client);
    values.emplace_back(EventField::kQueue, event.queue);
    endpoint_->events().Raise(EventKind::kTxError, std::move(values));
    return;
  }
  values.emplace_back(EventField::kPeer, event.peer_xpuid);
  if (IsOfPlane(event.kind)) {
    const uint32_t port = own.ports[event.plane].port;
    values.emplace_back(EventField::kPlane, event.plane);
    values.emplace_back(EventField::kPort, endpoint_->config().ports[port].name);
    if (event.kind == LcoreEventKind::kPlaneDown) {
      values.emplace_back(EventField::kReason, NameOf(static_cast<PlaneDownReason>(event.what)));
    }
    if (IsOfSession(event.kind)) values.emplace_back(EventField::kSession, event.what);
  } else if (event.kind == LcoreEventKind::kHelloMismatch) {
    AddMismatch(event, values);
  } else if (event.kind == LcoreEventKind::kSealMismatch) {
    values.emplace_back(EventField::kOwn, NamesOf(own.sealing)[static_cast<size_t>(own.sealing)]);
    values.emplace_back(EventField::kTheirs, event.theirs != 0 ? "sealed" : "plain");
  } else if (event.vc != LcoreEvent::kAllVcs) {
    values.emplace_back(EventField::kVc, event.vc);
  }
  endpoint_->events().Raise(KindOf(event.kind), std::move(values));
}

}  // namespace suede
