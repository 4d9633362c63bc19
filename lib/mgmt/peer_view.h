// SPDX-License-Identifier: Apache-2.0
// Asking a peer whether it is there, as the methods see it.
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
  uint32_t peer = 0;            // its XPU
  std::optional<uint32_t> xpu;  // own; none: the first that has the peer
  std::optional<uint32_t> instance;
  std::optional<uint32_t> plane;  // none: all that lead to the peer
};

inline constexpr std::string_view kPingStates =
    "answered|probe_answered|acknowledges|no_answer|no_link|no_mac|down|no_room";

struct PlanePingView {
  uint32_t plane = 0;
  std::string port;
  std::string_view state;         // of kPingStates
  std::optional<int64_t> rtt_ns;  // where it answered
  std::string_view disagrees{};   // the key that its HELLO does not agree in; empty: it agrees
  std::string own{};              // and both values
  std::string theirs{};
};
struct PingView {
  uint32_t xpu = 0;
  uint32_t instance = 0;
  uint32_t peer = 0;
  std::vector<PlanePingView> planes;
};

// Control thread only. Nothing here waits.
class PeerAskView {
 public:
  virtual ~PeerAskView() = default;

  // To be asked until it has an answer; `is_last`: planes without an answer by now have none. It
  // may be dropped at any time.
  using PingQuestion = std::function<std::optional<absl::StatusOr<PingView>>(bool is_last)>;
  virtual absl::StatusOr<PingQuestion> Ping(const PingQuery& query) = 0;
};

}  // namespace suede

#endif  // SUEDE_MGMT_PEER_VIEW_H_
