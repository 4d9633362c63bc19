// SPDX-License-Identifier: Apache-2.0
#include "daemon/memif_reports.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace suede {
namespace {

using memif::QueueCounters;
using memif::Refusal;

constexpr std::string_view kConnections = "port_memif_connections_total";
constexpr std::string_view kEndings = "port_memif_endings_total";
constexpr std::string_view kBadFrames = "port_memif_rx_bad_frames_total";
constexpr std::string_view kOversize = "port_memif_tx_oversize_total";
constexpr std::string_view kBadBuffers = "port_memif_tx_bad_buffers_total";

struct BadFrames {
  std::string_view reason;
  Tally QueueCounters::*counter;
};
constexpr BadFrames kBad[] = {
    {"region", &QueueCounters::rx_bad_region},
    {"length", &QueueCounters::rx_bad_length},
    {"chain", &QueueCounters::rx_bad_chain},
};

struct Ending {
  Refusal refusal;
  std::string_view name;
};
constexpr Ending kReasons[] = {{Refusal::kNone, "peer"},
#define SUEDE_MEMIF_REASON(id, name, text) {Refusal::id, name},
                               SUEDE_MEMIF_REFUSALS(SUEDE_MEMIF_REASON)
#undef SUEDE_MEMIF_REASON
};

MetricLabels With(MetricLabels labels, std::string_view reason) {
  labels.emplace_back("reason", std::string(reason));
  return labels;
}

}  // namespace

std::vector<MetricRow> MemifMetricRows(std::string_view prefix) {
  std::vector<MetricRow> rows;
  const auto add = [&](std::string_view name, std::string_view labels, std::string_view sentence) {
    rows.push_back({.name = StrCat(prefix, name),
                    .type = MetricType::kCounter,
                    .labels = std::string(labels),
                    .sentence = std::string(sentence)});
  };
  add(kConnections, "port", "Connections of a memif that came up");
  add(kEndings, "port reason", "Connections of a memif that were refused or ended; peer: by it");
  add(kBadFrames, "port reason", "Frames dropped: a buffer or chain of a memif's peer is bad");
  add(kOversize, "port", "Frames dropped: longer than the buffers of a memif's peer");
  add(kBadBuffers, "port", "Empty buffers of a memif's peer that were outside their region");
  return rows;
}

void AddMemifMetrics(MetricsPage& page, std::string_view prefix, const MetricLabels& labels,
                     memif::Device* device) {
  page.NewSample(StrCat(prefix, kConnections), labels, [device] { return device->connections(); });
  for (const Ending& ending : kReasons) {
    page.NewSample(StrCat(prefix, kEndings), With(labels, ending.name),
                   [device, reason = ending.refusal] { return device->refused(reason); });
  }
  for (const BadFrames& bad : kBad) {
    page.NewSample(StrCat(prefix, kBadFrames), With(labels, bad.reason),
                   [device, counter = bad.counter] { return device->Sum(counter); });
  }
  page.NewSample(StrCat(prefix, kOversize), labels,
                 [device] { return device->Sum(&QueueCounters::tx_oversize); });
  page.NewSample(StrCat(prefix, kBadBuffers), labels,
                 [device] { return device->Sum(&QueueCounters::tx_bad_buffer); });
}

void ReportMemif(std::string_view port, memif::Device& device, EventLog& events) {
  const std::optional<memif::Device::Ending> ending = device.TakeEnding();
  if (!ending) return;
  const bool by_peer = ending->reason == Refusal::kNone;
  std::vector<EventValue> values = {
      {EventField::kPort, std::string(port)},
      {EventField::kReason, by_peer ? "peer: " + ending->text : ending->text}};
  if (ending->reason == Refusal::kRegionMemory) {
    values.emplace_back(
        EventField::kRemedy,
        "start the peer with zero-copy=no (VPP: no-zero-copy): memory of its packets "
        "cannot be sealed");
  } else if (ending->reason == Refusal::kRing || ending->reason == Refusal::kRings) {
    values.emplace_back(EventField::kRemedy, "give both ends as many queues: queues=N");
  }
  events.Raise(EventKind::kMemifEnded, std::move(values));
}

}  // namespace suede
