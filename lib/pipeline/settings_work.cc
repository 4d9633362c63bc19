// SPDX-License-Identifier: Apache-2.0
#include "pipeline/settings_work.h"

namespace suede {
namespace {

constexpr uint32_t kConnectionsPerIteration = 32;

}  // namespace

void SettingsWork::Continue(Time now) {
  for (uint32_t left = kConnectionsPerIteration; instance_ < lcore_.instances.size();) {
    Instance& instance = *lcore_.instances[instance_];
    for (; connection_ < instance.peers.connections.size(); ++connection_) {
      if (left-- == 0) return;
      Renew(instance, connection_, now);
    }
    connection_ = 0;
    ++instance_;
    // More PDUs may be in flight now than before.
    run_queue_.Enqueue(instance.tx);
  }
  change_->done.store(true, std::memory_order_release);
  change_ = nullptr;
}

// Renews the values that a connection has computed from its instance's parameters.
void SettingsWork::Renew(Instance& instance, ConnectionIndex number, Time now) {
  const PeerIndex peer = instance.map.PeerOf(number);
  const PlaneIndex plane = instance.map.PlaneOf(number);
  const PathConnection on_plane = instance.map.NumberOf(number);
  if (plane == 0 && on_plane == 0) instance.headers.Write(peer, instance.peers);
  if (instance.tx.is_paced && on_plane == 0) {
    instance.tx.contexts[instance.map.PathAt(peer, plane)].RaiseLargest(
        instance.tx.OctetsOf(1, instance.tx.largest_pack_bytes), now);
  }
  Effects effects;
  instance.peers[peer].OnNewParams(plane, on_plane, now, effects);
  effector_.Apply(instance, peer, effects);
}

void SettingsWork::Begin(SettingsChange* change) {
  // The requester waits for `done` before its next change; if it does not, this call takes longer.
  while (change_ != nullptr) Continue(lcore_.now);
  change_ = change;
  instance_ = 0;
  connection_ = 0;
  for (const auto& instance : lcore_.instances) instance->Take(change_->settings);
  shares_.Resize();
  for (const auto& port : lcore_.ports) {
    for (DelayedAcks& list : port->ack_due) list.Take(change_->settings.transport);
    port->SetPauseClasses(change_->settings.classes, change_->settings.ack_class);
  }
}

}  // namespace suede
