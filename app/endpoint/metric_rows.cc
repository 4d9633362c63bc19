// SPDX-License-Identifier: Apache-2.0
#include "endpoint/metric_rows.h"

#include "daemon/fabric_metrics.h"
#include "daemon/link_metrics.h"
#include "daemon/lldp_metrics.h"
#include "daemon/memif_reports.h"
#include "daemon/process_metrics.h"
#include "dpdk/dpdk_port.h"
#include "shm/server.h"

namespace suede {
namespace {

constexpr MetricType kCounter = MetricType::kCounter;
constexpr MetricType kGauge = MetricType::kGauge;

std::vector<MetricRow> PortRows() {
  std::vector<MetricRow> rows = {
      {"port_link_up", kGauge, "port", "1 where the link is up"},
      {"port_speed_bytes_per_second", kGauge, "port", "Speed of the link; 0: not known"},
      {"port_pool_frames", kGauge, "port", "Frames of the port's pool"},
      {"port_pool_free_frames", kGauge, "port", "Free frames of the port's pool"},
#define SUEDE_PORT_STATS_ROW(id, name, sentence) {name, kCounter, "port", sentence},
      SUEDE_PORT_STATS(SUEDE_PORT_STATS_ROW)
#undef SUEDE_PORT_STATS_ROW
  };
  rows.insert(rows.end(),
              {
                  {"port_fec", kGauge, "port",
                   "FEC of the link: 1 off, 2 auto, 3 baser, 4 rs; 0: not known"},
                  {"port_vc_paused_seconds_total", kCounter, "port vc",
                   "Time for which the neighbour paused a VC, or PDUs without commands (vc ack); "
                   "pfc: software"},
                  {"port_vc_paused", kGauge, "port vc", "1 where it is paused now"},
                  {"port_rx_pause_total", kCounter, "port",
                   "Pause frames (IEEE 802.3x) received, where the device counts them"},
                  {"port_tx_pause_total", kCounter, "port",
                   "Pause frames sent, where the device counts them"},
                  {"port_rx_pfc_total", kCounter, "port priority",
                   "Priority pause frames (IEEE 802.1Qbb) received, where the device counts them"},
                  {"port_tx_pfc_total", kCounter, "port priority",
                   "Priority pause frames sent, where the device counts them"},
                  {"port_rx_discards_total", kCounter, "port",
                   "Received frames that the device discarded, but not for lack of descriptors, "
                   "where it counts them"},
                  {"port_tx_discards_total", kCounter, "port",
                   "Frames that the device discarded unsent, where it counts them"},
              });
  return Joined({rows, MemifMetricRows(""), LinkMetricRows(""), LldpMetricRows("")});
}

std::vector<MetricRow> InstanceRows() {
  return {
      {"inflight_limit_pdus", kGauge, "xpu instance",
       "Max PDUs in flight (transport.inflight_pdus)"},
      {"plane_up", kGauge, "xpu instance plane port", "1 where plane, port and link are up"},
  };
}

std::vector<MetricRow> SealingRows() {
  return {
      {"seal_agreements_total", kCounter, "",
       "Secrets agreed by TLS, of each pair of XPUs (sealing.tls; likewise below)"},
      {"seal_agreement_failures_total", kCounter, "reason",
       "Tries of a pair to agree that failed: connection, tls (certificates too), xpu (that the "
       "certificate does not name), refused, protocol, memory"},
      {"seal_connections_refused_total", kCounter, "",
       "Connections of others that were refused or ended"},
      {"seal_last_agreement_seconds", kGauge, "",
       "When a pair agreed last, since 1970; 0: none has"},
      {"seal_certificate_expiry_seconds", kGauge, "",
       "When the own certificate expires, since 1970"},
  };
}

std::vector<MetricRow> DeviceRows() {
  return {
      {"device_cable_up", kGauge, "device port", "1 where frames go over the cable"},
      {"device_queue_frames", kGauge, "device port class",
       "Frames that wait for the cable, or for the device itself"},
      {"device_queue_bytes", kGauge, "device port class", "Bytes of these, in whole cells"},
  };
}

std::vector<MetricRow> ClientRows() {
  return {{"clients", kGauge, "state", "Client processes by state, as clients.list has them"},
#define SUEDE_SOCKET_ROW(id, name, sentence) {name, kCounter, "", sentence},
          SUEDE_SHM_COUNTERS(SUEDE_SOCKET_ROW)
#undef SUEDE_SOCKET_ROW
  };
}

}  // namespace

std::vector<MetricRow> OwnMetricRows() {
  return Joined({ProcessMetricRows(), StatsMetricRows(), InstanceRows(), PortRows(), SealingRows(),
                 ClientRows(), DeviceRows(), ManagementMetricRows()});
}

std::vector<MetricRow> AllMetricRows() {
  constexpr char kOfPort[] = "device port";
  return Joined(
      {OwnMetricRows(), FabricMetricRows("device_", kOfPort), LinkMetricRows("device_", kOfPort)});
}

std::vector<MetricRow> PeerMetricRows() {
  constexpr char kLabels[] = "xpu instance peer vc";
  return {
      {"peer_reachable", kGauge, kLabels, "0 where the peer was found unreachable"},
      {"peer_inflight_pdus", kGauge, kLabels, "Sequenced PDUs sent and not acknowledged"},
      {"peer_inflight_bytes", kGauge, kLabels, "Bytes of commands in those PDUs"},
      {"peer_window_used_ratio", kGauge, kLabels,
       "Used share of the window, of PDUs or bytes, whichever is more"},
      {"peer_srtt_seconds", kGauge, kLabels, "Smoothed round trip; 0: none was measured"},
      {"peer_rto_seconds", kGauge, kLabels, "Retransmission timeout"},
      {"peer_congestion_window_octets", kGauge, kLabels,
       "Congestion window, or remaining credit (RCCC); 0: fixed"},
      {"peer_base_rtt_seconds", kGauge, kLabels, "Base round trip of congestion control; 0: fixed"},
      {"peer_info", kGauge, "peer name",
       "1 for each peer; name: peers[].name, empty where it has none"},
      {"peers_left_out", kGauge, "", "1 where there are more connections than are shown"},
  };
}

}  // namespace suede
