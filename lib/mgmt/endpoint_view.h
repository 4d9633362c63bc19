// SPDX-License-Identifier: Apache-2.0
// Interface to the endpoint for methods: plain values, so that this room depends on neither drivers
// nor DPDK. app/endpoint implements it.
#ifndef SUEDE_MGMT_ENDPOINT_VIEW_H_
#define SUEDE_MGMT_ENDPOINT_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mgmt/admin_view.h"
#include "mgmt/config_view.h"
#include "mgmt/daemon_view.h"
#include "mgmt/key_view.h"
#include "mgmt/peer_view.h"
#include "mgmt/register_view.h"

namespace suede {

struct InstanceView {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t lcore = 0;  // its CPU
  std::string port;
  std::string address;  // as in the configuration
};

struct PortView {
  std::string name;
  uint32_t id = 0;  // DPDK's port id
  std::string device;
  std::string driver;
  std::string mac;
  uint32_t mtu_bytes = 0;
  std::string encapsulation;
  bool admin_up = true;
  bool link_up = false;
  uint64_t speed_bps = 0;  // 0: unknown
  uint32_t pool_frames = 0;
  uint32_t pool_free = 0;
  std::vector<uint32_t> lcores;  // CPUs of the lcores that serve the port
  uint32_t queue_pairs = 0;      // of the device
  std::string paused;            // "0,ack": what the neighbour pauses now; empty: nothing
  std::string steering;          // way by which frames reach the lcore of their instance
};

// Addresses of a peer that one port reaches.
struct PeerView {
  uint32_t xpu = 0;
  std::string port;
  std::string address;     // with several own instances per XPU: the address for the first
  std::string mac;         // empty if frames have none, and while `resolving`
  bool resolving = false;  // the MAC address must be learnt and is still unknown
};

struct ClientView {
  uint64_t id = 0;
  int64_t pid = 0;
  uint32_t uid = 0;
  uint32_t queues = 0;
  std::string_view state;
  std::string claims;  // "3.0:0,1 4.0:2": own XPU, instance, VCs
};

// A memory window that an lcore serves.
struct WindowView {
  uint64_t client = 0;
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t window = 0;
  std::string served_by;  // "lcore" or "program"; of the latter nothing more is known
  std::string rights;     // "read,write,atomic"
  bool has_key = false;
  std::optional<uint32_t> partition;
  uint64_t size_bytes = 0;
  uint64_t page_bytes = 0;
  std::optional<uint32_t> numa_node;
};

struct ConnectionQuery {
  std::optional<uint32_t> xpu;  // own
  std::optional<uint32_t> instance;
  std::optional<uint32_t> peer;  // XPU of the peer
  bool unused = false;           // include connections on which nothing was ever exchanged
  uint32_t limit = 0;
};

// A session, if there are several to one peer on one plane.
struct SessionView {
  uint32_t number = 0;
  uint32_t peer_number = 0;
  std::string_view state;
  uint32_t weight_percent = 0;
  uint32_t moves = 0;
  int64_t age_ns = 0;
};
struct ConnectionView {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t peer = 0;  // XPU of the peer
  uint32_t plane = 0;
  std::optional<uint32_t> vc;          // nullopt: PSNs span all VCs
  uint32_t slot = 0;                   // slot of its session
  std::optional<SessionView> session;  // nullopt: only one session
  std::string_view state;
  uint32_t next_psn = 0;
  uint32_t expected_psn = 0;
  uint32_t unacked_pdus = 0;
  uint32_t unacked_bytes = 0;
  uint32_t window_pdus = 0;
  uint32_t window_bytes = 0;
  int64_t srtt_ns = 0;  // 0: none measured
  int64_t rto_ns = 0;
  std::string_view congestion = "fixed";  // state of congestion control
  uint64_t congestion_window_octets = 0;  // 0: fixed
  int64_t base_rtt_ns = 0;                // 0: fixed
  uint32_t tries = 0;
  uint32_t tx_pdus = 0;  // modulo 2^32
  uint32_t rx_pdus = 0;
  uint32_t retransmissions = 0;
  bool peer_waits = false;
};
struct ConnectionsView {
  std::vector<ConnectionView> connections;
  bool more = false;  // more than the limit
};

// Control thread only. Does not block.
class EndpointView : public DaemonView,
                     public AdminView,
                     public ConfigLoadView,
                     public KeyView,
                     public PeerPingView,
                     public RegisterView {
 public:
  EndpointView() : DaemonView(DaemonKind::kEndpoint) {}

  virtual std::vector<InstanceView> Instances() = 0;
  virtual std::vector<PortView> Ports() = 0;
  virtual std::vector<PeerView> Peers() = 0;
  virtual std::vector<ClientView> Clients() = 0;
  virtual std::vector<WindowView> Windows() = 0;
  // Returns a query to the lcores, to be polled until it has a result. It may be dropped at any
  // time.
  using ConnectionQuestion = std::function<std::optional<ConnectionsView>()>;
  virtual ConnectionQuestion Connections(const ConnectionQuery& query) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_ENDPOINT_VIEW_H_
