// SPDX-License-Identifier: Apache-2.0
#include "switch/switch_metric_rows.h"

#include "daemon/fabric_metrics.h"
#include "daemon/link_metrics.h"
#include "daemon/lldp_metrics.h"
#include "daemon/memif_reports.h"
#include "daemon/process_metrics.h"

namespace suede {
std::vector<MetricRow> SwitchOwnMetricRows() {
  constexpr MetricType kGauge = MetricType::kGauge;
  constexpr char kOfQueue[] = "port class";
  const std::vector<MetricRow> own = {
      {"switch_link_up", kGauge, "port", "1 where the link is up"},
      {"switch_link_speed_bytes_per_second", kGauge, "port", "Speed of the link; 0: not known"},
      {"switch_port_up", kGauge, "port", "1 where the port is set up"},
      {"switch_group_frames_total", MetricType::kCounter, "group port",
       "Frames to the group that were to leave by the port"},
      {"switch_queue_bytes", kGauge, kOfQueue, "Bytes that wait, in whole cells"},
      {"switch_queue_frames", kGauge, kOfQueue, "Frames that wait"},
      {"switch_queue_most_bytes", kGauge, kOfQueue,
       "Max bytes in the queue since the start or queues.reset"},
      {"switch_queue_paused", kGauge, kOfQueue, "1 where the peer has paused the class"},
      {"switch_queue_pausing", kGauge, kOfQueue, "1 where the port pauses the class of its peer"},
      {"switch_queue_stormy", kGauge, kOfQueue,
       "1 in a PFC storm: frames of the class are dropped"},
      {"switch_queue_paused_seconds_total", MetricType::kCounter, kOfQueue,
       "Time for which the peer has paused the class"},
      {"switch_buffer_bytes", kGauge, "", "The buffer that all queues share"},
      {"switch_buffer_used_bytes", kGauge, "", "Used bytes of the buffer"},
      {"switch_buffer_most_used_bytes", kGauge, "", "Max of them since the start or queues.reset"},
      {"switch_buffer_shared_free_bytes", kGauge, "",
       "Free bytes of the part that is neither reserved nor headroom"},
      {"switch_buffer_headroom_used_bytes", kGauge, "", "Bytes of headrooms that are in use"},
      {"switch_buffer_most_headroom_used_bytes", kGauge, "",
       "Max of them since the start or queues.reset"},
  };
  return Joined({FabricMetricRows("switch_", "port"), LinkMetricRows("switch_"),
                 LldpMetricRows("switch_"), MemifMetricRows("switch_"), own});
}

std::vector<MetricRow> SwitchMetricRows() {
  return Joined({ProcessMetricRows(), SwitchOwnMetricRows(), ManagementMetricRows()});
}

}  // namespace suede
