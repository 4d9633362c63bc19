// SPDX-License-Identifier: Apache-2.0
// New settings for a pipeline that runs. The values are swapped between two turns; what was
// computed from the former ones (headers, deadlines, queues that wait) is gone through in the turns
// that follow, a few connections in each, so that no turn is long.
#include "pipeline/settings.h"

#include <algorithm>

#include "pipeline/pipeline.h"

namespace suede {
namespace {

constexpr uint32_t kConnectionsPerTurn = 32;

}  // namespace

void Pipeline::Do(const request::ChangeSettings& request) {
  // The asker waits for `done` before it asks again. One that does not pays for it.
  while (change_ != nullptr) ContinueChange(last_turn_);
  change_ = request.settings;
  change_instance_ = 0;
  change_connection_ = 0;
  for (const auto& instance : instances_) instance->Take(change_->settings);
  ResizeShares();
  for (const auto& port : ports_) {
    for (DelayedAcks& list : port->ack_due) list.delay = change_->settings.transport.ack_delay;
  }
}

void Pipeline::ContinueChange(Time now) {
  for (uint32_t left = kConnectionsPerTurn; change_instance_ < instances_.size();) {
    Instance& instance = *instances_[change_instance_];
    for (; change_connection_ < instance.connections.size(); ++change_connection_) {
      if (left-- == 0) return;
      Renew(instance, change_connection_, now);
    }
    change_connection_ = 0;
    ++change_instance_;
    // More may be in flight now than there was room for.
    Enlist(instance);
  }
  change_->done.store(true, std::memory_order_release);
  change_ = nullptr;
}

// Brings what a connection has computed in line with its instance's parameters.
void Pipeline::Renew(Instance& instance, uint32_t number, Time now) {
  const uint32_t peer = instance.PeerOfConnection(number);
  const uint32_t plane = instance.PlaneOfConnection(number);
  const uint32_t vc = instance.VcOfConnection(number);
  if (plane == 0 && vc == 0) instance.WriteHeaders(peer);
  Effects effects;
  instance.peers[peer].OnNewParams(plane, vc, now, effects);
  Apply(instance, peer, effects);
}

void Instance::Take(const Settings& settings) {
  const PsnScope scope = params.transport.psn_scope;
  widest_window = std::max(widest_window, settings.transport.window_pdus);
  params.partition = settings.partition;
  params.classes = settings.classes;
  params.ack_class = settings.ack_class;
  params.pack_limit_bytes = settings.pack_limit_bytes;
  params.inflight_pdus = settings.inflight_pdus;
  params.unclaimed_pdus = settings.unclaimed_pdus;
  params.transport = settings.transport;
  params.transport.psn_scope = scope;
  const Ordering ordering = params.paths.ordering;
  params.paths = settings.paths;
  params.paths.ordering = ordering;
  SetHello();
}

}  // namespace suede
