// SPDX-License-Identifier: Apache-2.0
// Interface to the switch for methods: plain values, so that this room depends on neither the
// fabric nor DPDK. app/switch implements it.
#ifndef SUEDE_MGMT_SWITCH_VIEW_H_
#define SUEDE_MGMT_SWITCH_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mgmt/daemon_view.h"
#include "mgmt/impair_view.h"

namespace suede {

#define SUEDE_SWITCH_PORT_ROW(X)                                                              \
  X(std::string, name)                                                                        \
  X(std::string, driver)                                                                      \
  X(std::string, mac)                                                                         \
  X(std::optional<uint32_t>, lcore, .Note("CPU of that which serves it").OrNull("not known")) \
  X(bool, admin_up, .Named("admin").OneOf(kUpOrDown))                                         \
  X(bool, link_up)                                                                            \
  X(uint64_t, speed_bps, .Note("of the link").Unit("bit/s").OrNull("not known"))              \
  X(uint64_t, rate_bps, .Note("at which frames leave").Unit("bit/s").OrNull("no limit"))      \
  X(uint64_t, rx_frames)                                                                      \
  X(uint64_t, rx_bytes)                                                                       \
  X(uint64_t, tx_frames)                                                                      \
  X(uint64_t, tx_bytes)                                                                       \
  X(std::string, device)
SUEDE_ROW_STRUCT(SwitchPortView, SUEDE_SWITCH_PORT_ROW);

// A queue {port, class}. All values but depth and pauses count since the start.
#define SUEDE_SWITCH_QUEUE_ROW(X)                                                             \
  X(std::string, port)                                                                        \
  X(uint32_t, traffic_class, .Named("class"))                                                 \
  X(uint32_t, bytes, .Note("in whole cells"))                                                 \
  X(uint32_t, frames)                                                                         \
  X(uint32_t, most_bytes, .Note("since the start, or queues.reset"))                          \
  X(bool, paused, .Note("by the peer"))                                                       \
  X(bool, pausing, .Note("the peer: what the port has received in the class fills its part")) \
  X(bool, stormy, .Note("a PFC storm: its frames are dropped"))                               \
  X(int64_t, paused_ns, .Named("paused_us").Us().Note("in all"))                              \
  X(uint64_t, sent_frames)                                                                    \
  X(uint64_t, sent_bytes)                                                                     \
  X(uint64_t, marked, .Note("by ECN"))                                                        \
  X(uint64_t, trimmed)                                                                        \
  X(uint64_t, drop_tail)                                                                      \
  X(uint64_t, drop_trim)                                                                      \
  X(uint64_t, drop_headroom)                                                                  \
  X(uint64_t, drop_down)                                                                      \
  X(uint64_t, drop_storm)                                                                     \
  X(uint64_t, drop_age)
SUEDE_ROW_STRUCT(SwitchQueueView, SUEDE_SWITCH_QUEUE_ROW);
struct SwitchQueueQuery {
  std::string port;                       // empty: all
  std::optional<uint32_t> traffic_class;  // nullopt: all
  bool in_use = false;                    // only queues that have had a frame
};

#define SUEDE_SWITCH_BUFFER_ROW(X)                                         \
  X(uint32_t, bytes)                                                       \
  X(uint32_t, cell_bytes, .Note("a frame takes whole cells"))              \
  X(uint32_t, used_bytes)                                                  \
  X(uint32_t, most_used_bytes, .Note("since the start, or queues.reset"))  \
  X(uint32_t, shared_bytes, .Note("without reserved parts and headrooms")) \
  X(uint32_t, shared_free_bytes)                                           \
  X(uint64_t, headroom_bytes, .Note("of all inputs of lossless classes"))  \
  X(uint32_t, headroom_used_bytes)                                         \
  X(uint32_t, most_headroom_used_bytes, .Note("since the start, or queues.reset"))
SUEDE_ROW_STRUCT(SwitchBufferView, SUEDE_SWITCH_BUFFER_ROW);

#define SUEDE_SWITCH_ADDRESS_ROW(X)                                \
  X(std::string, address)                                          \
  X(std::string_view, kind, .OneOf("mac|afh|ipv4|ipv6"))           \
  X(std::optional<uint32_t>, vid, .OrNull("it is no MAC address")) \
  X(std::string, port)                                             \
  X(bool, configured, .Named("origin").OneOf("configured|learnt")) \
  X(std::optional<int64_t>, age_ns,                                \
    .Named("age_s").Seconds().Note("since a frame came from there").OrNull("configured"))
SUEDE_ROW_STRUCT(SwitchAddressView, SUEDE_SWITCH_ADDRESS_ROW);
struct SwitchAddressQuery {
  std::string port;                // empty: all
  std::optional<bool> configured;  // nullopt: both
  uint64_t from = 0;               // `next` of the previous page
  uint32_t limit = 0;
};
#define SUEDE_SWITCH_ADDRESSES_ROW(X)          \
  X(std::vector<SwitchAddressView>, addresses) \
  X(std::optional<uint64_t>, next,             \
    .Note("to give as `from` for the next page").OrNull("this was the last"))
SUEDE_ROW_STRUCT(SwitchAddressesView, SUEDE_SWITCH_ADDRESSES_ROW);

// A port of a group.
#define SUEDE_SWITCH_MEMBER_ROW(X)                                   \
  X(std::string, group)                                              \
  X(std::string, port)                                               \
  X(std::string_view, spread, .OneOf("flow|round_robin|queue"))      \
  X(uint32_t, weight, .Note("share of the group's frames; 0: none")) \
  X(uint64_t, frames, .Note("to the group that were to leave by the port"))
SUEDE_ROW_STRUCT(SwitchMemberView, SUEDE_SWITCH_MEMBER_ROW);

// Control thread only. Does not block.
class SwitchView : public DaemonView {
 public:
  SwitchView() : DaemonView(DaemonKind::kSwitch) {}

  virtual std::vector<SwitchPortView> SwitchPorts() = 0;

  virtual Question<absl::StatusOr<std::vector<SwitchQueueView>>> Queues(
      const SwitchQueueQuery& query) = 0;
  // Resets the high-water marks of queues and buffer.
  virtual Question<absl::Status> ResetHighWater() = 0;
  virtual Question<SwitchBufferView> Buffer() = 0;
  virtual Question<absl::StatusOr<SwitchAddressesView>> Addresses(
      const SwitchAddressQuery& query) = 0;
  // Add and remove configured entries: an address as text, with a VID for MAC addresses.
  virtual Question<absl::Status> AddAddress(std::string_view address, uint32_t vid,
                                            std::string_view port) = 0;
  virtual Question<absl::Status> RemoveAddress(std::string_view address, uint32_t vid) = 0;
  // Removes the entries learnt on a port, or on all (empty).
  virtual Question<absl::Status> FlushAddresses(std::string_view port) = 0;

  // The ports of all groups.
  virtual std::vector<SwitchMemberView> Groups() = 0;
  // `weight`: up to 255.
  virtual Question<absl::Status> SetWeight(std::string_view group, std::string_view port,
                                           uint32_t weight) = 0;

  virtual std::vector<ImpairView> Impairments() = 0;
  // If several directions are selected, all of them change or none.
  virtual Question<absl::Status> SetImpairment(const ImpairWhere& where,
                                               const ImpairChange& change) = 0;
  virtual Question<absl::Status> ClearImpairment(const ImpairWhere& where) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_SWITCH_VIEW_H_
