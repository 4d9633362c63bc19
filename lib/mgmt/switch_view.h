// SPDX-License-Identifier: Apache-2.0
// Interface to the switch for methods: plain values, so that this room depends on neither the
// fabric nor DPDK. app/switch implements it.
#ifndef SUEDE_MGMT_SWITCH_VIEW_H_
#define SUEDE_MGMT_SWITCH_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mgmt/daemon_view.h"
#include "mgmt/impair_view.h"

namespace suede {

struct SwitchPortView {
  std::string name;
  std::string device;
  std::string driver;
  std::string mac;
  std::optional<uint32_t> lcore;  // CPU of the lcore that serves the port
  bool admin_up = true;
  bool link_up = false;
  uint64_t speed_bps = 0;  // of the link; 0: unknown
  uint64_t rate_bps = 0;   // at which frames are sent; 0: unlimited
  uint64_t rx_frames = 0;
  uint64_t rx_bytes = 0;
  uint64_t tx_frames = 0;
  uint64_t tx_bytes = 0;
};

// A queue {port, class}. All values but depth and pauses count since the start.
struct SwitchQueueView {
  std::string port;
  uint32_t traffic_class = 0;
  uint32_t bytes = 0;  // in whole cells
  uint32_t frames = 0;
  uint32_t most_bytes = 0;  // since the last reset
  bool paused = false;      // by the peer
  bool pausing = false;     // pausing the peer: the input of the port and class is full
  bool stormy = false;
  int64_t paused_ns = 0;  // total
  uint64_t sent_frames = 0;
  uint64_t sent_bytes = 0;
  uint64_t marked = 0;
  uint64_t trimmed = 0;
  uint64_t drop_tail = 0;
  uint64_t drop_trim = 0;
  uint64_t drop_headroom = 0;
  uint64_t drop_down = 0;
  uint64_t drop_storm = 0;
  uint64_t drop_age = 0;
};
struct SwitchQueueQuery {
  std::string port;                       // empty: all
  std::optional<uint32_t> traffic_class;  // nullopt: all
  bool in_use = false;                    // only queues that have had a frame
};

struct SwitchBufferView {
  uint32_t bytes = 0;
  uint32_t cell_bytes = 0;
  uint32_t used_bytes = 0;
  uint32_t most_used_bytes = 0;  // since the last reset
  uint32_t shared_bytes = 0;
  uint32_t shared_free_bytes = 0;
  uint64_t headroom_bytes = 0;  // of all inputs
  uint32_t headroom_used_bytes = 0;
  uint32_t most_headroom_used_bytes = 0;  // since the last reset
};

inline constexpr std::string_view kAddressKinds = "mac|afh|ipv4|ipv6";
struct SwitchAddressView {
  std::string_view kind;  // one of kAddressKinds
  std::string address;
  std::optional<uint32_t> vid;  // of a MAC address only
  std::string port;
  bool configured = false;          // otherwise learnt
  std::optional<int64_t> age_ns{};  // since the last frame from the address; learnt entries only
};
struct SwitchAddressQuery {
  std::string port;                // empty: all
  std::optional<bool> configured;  // nullopt: both
  uint64_t from = 0;               // `next` of the previous page
  uint32_t limit = 0;
};
struct SwitchAddressesView {
  std::vector<SwitchAddressView> addresses;
  std::optional<uint64_t> next;  // start of the next page, if there may be more
};

// Control thread only. Does not block.
class SwitchView : public DaemonView, public ImpairControlView {
 public:
  SwitchView() : DaemonView(DaemonKind::kSwitch) {}

  virtual std::vector<SwitchPortView> SwitchPorts() = 0;

  // Queries to the switching lcore, to be polled until they have a result. They may be dropped at
  // any time; a change that has begun is completed all the same.
  using QueuesQuestion =
      std::function<std::optional<absl::StatusOr<std::vector<SwitchQueueView>>>()>;
  virtual QueuesQuestion Queues(const SwitchQueueQuery& query) = 0;
  // Resets the high-water marks of queues and buffer.
  virtual DoneQuestion ResetHighWater() = 0;
  using BufferQuestion = std::function<std::optional<SwitchBufferView>()>;
  virtual BufferQuestion Buffer() = 0;
  using AddressesQuestion = std::function<std::optional<absl::StatusOr<SwitchAddressesView>>()>;
  virtual AddressesQuestion Addresses(const SwitchAddressQuery& query) = 0;
  // Add and remove configured entries: an address as text, with a VID for MAC addresses.
  virtual DoneQuestion AddAddress(std::string_view address, uint32_t vid,
                                  std::string_view port) = 0;
  virtual DoneQuestion RemoveAddress(std::string_view address, uint32_t vid) = 0;
  // Removes the entries learnt on a port, or on all (empty).
  virtual DoneQuestion FlushAddresses(std::string_view port) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_SWITCH_VIEW_H_
