// SPDX-License-Identifier: Apache-2.0
// Interface through which methods ping a peer.
#ifndef SUEDE_MGMT_PEER_VIEW_H_
#define SUEDE_MGMT_PEER_VIEW_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace suede {

struct PingQuery {
  uint32_t peer = 0;            // XPU of the peer
  std::optional<uint32_t> xpu;  // own; nullopt: the first that has the peer
  std::optional<uint32_t> instance;
  std::optional<uint32_t> plane;  // nullopt: all that lead to the peer
};

inline constexpr std::string_view kPingStates =
    "answered|probe_answered|acknowledges|no_answer|no_link|no_mac|down|no_room";

struct PlanePingView {
  uint32_t plane = 0;
  std::string port;
  std::string_view state;         // one of kPingStates
  std::optional<int64_t> rtt_ns;  // if the peer answered
  std::string_view disagrees{};   // key in which its HELLO disagrees; empty: it agrees
  std::string own{};              // own and peer's value of the key
  std::string theirs{};
};
struct PingView {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t peer = 0;
  std::vector<PlanePingView> planes;
};

// Control thread only. Does not block.
class PeerPingView {
 public:
  virtual ~PeerPingView() = default;

  // A query to be polled until it has a result; `is_last`: planes without an answer by now have
  // none. It may be dropped at any time.
  using PingQuestion = std::function<std::optional<absl::StatusOr<PingView>>(bool is_last)>;
  virtual absl::StatusOr<PingQuestion> Ping(const PingQuery& query) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_PEER_VIEW_H_
