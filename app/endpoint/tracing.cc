// SPDX-License-Identifier: Apache-2.0
#include "endpoint/tracing.h"

#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace suede {
namespace {

using TraceRequest = LcoreQuery<TraceSnapshot, request::Trace>;

constexpr std::string_view kTraceStateNames[] = {
    "under_way", "acked",   "moved", "given_up",  "delivered", "read", "kept",
    "early",     "refused", "ahead", "duplicate", "malformed", "lost"};
static_assert(std::size(kTraceStateNames) == kTraceStates);

auto WantedBy(const TraceQuery& query) {
  return [query](const InstanceConfig& instance) { return NamesInstance(query, instance); };
}

// Returns the row with times in nanoseconds since 1970; `epoch`: the lcore's time 0.
TraceRowView ToView(const TraceRow& row, const InstanceConfig& instance,
                    std::chrono::nanoseconds epoch) {
  const Time begin = row.At(row.is_received ? TraceStage::kReceived : TraceStage::kQueued);
  const auto after = [&](TraceStage stage) -> std::optional<int64_t> {
    if (row.At(stage) == kNever) return std::nullopt;
    return (row.At(stage) - begin).count();
  };
  const auto if_sent = [&](uint32_t value) {
    return row.is_received ? std::nullopt : std::optional(value);
  };
  return {.xpu = instance.xpu,
          .instance = instance.instance,
          .direction = row.is_received ? "rx" : "tx",
          .peer = row.path.peer_xpuid,
          .vc = row.path.vc,
          .plane = row.path.plane,
          .session = row.path.session,
          .psn = row.psn.value(),
          .state = kTraceStateNames[static_cast<size_t>(row.state)],
          .at_ns = (epoch + begin.time_since_epoch()).count(),
          .staged_ns = after(TraceStage::kStaged),
          .sent_ns = after(TraceStage::kSent),
          .acked_ns = after(TraceStage::kAcked),
          .delivered_ns = after(TraceStage::kDelivered),
          .read_ns = after(TraceStage::kRead),
          .bytes = if_sent(row.bytes),
          .commands = if_sent(row.commands),
          .transmissions = if_sent(row.transmissions)};
}

}  // namespace

Question<TraceChangeView> Tracing::Change(const TraceQuery& wanted, TraceWish wish) {
  auto changing = std::make_shared<Listing<TraceRequest, TraceChangeView>>(&snapshots_);
  return [=]() -> std::optional<TraceChangeView> {
    const bool done = changing->query.PollInstances(
        WantedBy(wanted),
        [&](TraceSnapshot& asked) {
          asked.wish = wish;
          asked.settings = {.peer_xpuid = wanted.peer.value_or(TraceSettings::kAnyPeer),
                            .vc = wanted.vc.value_or(TraceSettings::kAnyVc),
                            .stride = wanted.stride,
                            .count = wanted.count};
        },
        [&](const TraceSnapshot& snapshot, const InstanceConfig&) {
          changing->view.instances += snapshot.more ? 0 : 1;
          return true;
        });
    return done ? std::optional(changing->view) : std::nullopt;
  };
}

Question<TraceListView> Tracing::Read(const TraceQuery& wanted) {
  auto reading = std::make_shared<Listing<TraceRequest, TraceListView>>(&snapshots_);
  return [this, reading, wanted]() -> std::optional<TraceListView> {
    const std::chrono::nanoseconds epoch = std::chrono::system_clock::now().time_since_epoch() -
                                           endpoint_->clock().Now().time_since_epoch();
    const bool done = reading->query.PollInstances(
        WantedBy(wanted), [](TraceSnapshot& asked) { asked.wish = TraceWish::kRead; },
        [&](const TraceSnapshot& snapshot, const InstanceConfig& instance) {
          for (uint32_t i = 0; i < snapshot.count; ++i)
            reading->view.rows.push_back(ToView(snapshot.rows[i], instance, epoch));
          return true;
        });
    return done ? std::optional(std::move(reading->view)) : std::nullopt;
  };
}

}  // namespace suede
