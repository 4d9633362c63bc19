// SPDX-License-Identifier: Apache-2.0
// One connection of ShmServer. Private to ShmServer and its waits.
#ifndef SUEDE_SHM_CLIENT_H_
#define SUEDE_SHM_CLIENT_H_

#include <memory>
#include <optional>

#include "base/token_bucket.h"
#include "local/fd.h"
#include "local/wakeup.h"
#include "shm/server.h"
#include "shm/wait_board.h"

namespace suede {

struct ShmClient {
  explicit ShmClient(TokenBucket rate) : requests(rate) {}
  ShmClient(const ShmClient&) = delete;
  ShmClient& operator=(const ShmClient&) = delete;
  bool is_gone() const { return !socket.ok(); }
  ClientInfo info() const;

  ClientId id{};
  Fd socket;                   // none: the connection has ended
  std::optional<Wakeup> bell;  // with a segment
  pid_t pid = 0;
  uid_t uid = 0;
  int64_t connected_ms = 0;
  std::unique_ptr<Segment> segment;
  OpenRequest open;          // until the segment is sealed
  bool is_attached = false;  // the handler knows the segment: OnGone and FinishDetach follow
  bool is_open = false;      // set by FinishOpen
  bool is_waiting = false;
  bool sent_goodbye = false;
  protocol::Wait wait;
  WaitBoard::Slot place;  // none: the control thread checks `wait` every 100 us
  // For a connection of management packets, which has no segment.
  bool has_packets = false;
  bool receives_packets = false;
  uint32_t packet_port = 0;
  uint64_t packets_lost = 0;
  // The request pending at the handler.
  bool has_pending = false;
  protocol::Type pending{};
  uint32_t pending_sequence = 0;
  TokenBucket requests;  // WAIT is not counted
};

// Returns milliseconds of a monotonic clock.
int64_t NowMs();
protocol::Status ToProtocolStatus(const absl::Status& status);

}  // namespace suede

#endif  // SUEDE_SHM_CLIENT_H_
