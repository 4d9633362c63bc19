// SPDX-License-Identifier: Apache-2.0
// A memif interface, server or client: its connection, and the queues that lcores use while it
// lasts (docs/memif.md). Everything but Queue's bursts and `up` belongs to the control thread;
// nothing blocks.
#ifndef SUEDE_MEMIF_DEVICE_H_
#define SUEDE_MEMIF_DEVICE_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "local/fd.h"
#include "memif/channel.h"
#include "memif/queue.h"
#include "memif/region.h"

namespace suede::memif {

struct DeviceOptions {
  std::string name;  // of the interface, for the peer
  bool is_server = false;
  uint32_t id = 0;  // distinguishes the interfaces of a socket
  std::string socket = "/run/memif.sock";
  bool is_abstract = true;  // `socket` is a name in the abstract namespace, else a path
  mode_t socket_mode = 0600;
  std::string secret;
  uint16_t queues = 1;           // rings in each direction
  uint8_t log2_slots = 10;       // of a client's rings
  uint32_t buffer_bytes = 2048;  // of a client's buffers
  uint32_t max_frame_bytes = 1514;
};

// Returns the options of a device string such as "net_memif0,role=server,id=0,...", which has
// passed the check of the configuration; the frame size remains.
DeviceOptions ParseDevice(std::string_view device);

// Shared memory of a connection, and the socket that keeps it.
struct Connection {
  Fd socket;
  std::vector<Region> regions;
  std::vector<Fd> events;  // eventfds of the rings that this end fills; a client's others follow
  ConnectionPlan plan;
};

class ServerSocket;

class Device {
 public:
  // Succeeds without a peer. A server listens from here on.
  static absl::StatusOr<std::unique_ptr<Device>> Open(const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Does what is due: accepts, connects, handles messages and hang-ups. To be called about every
  // 10 ms. `now_ns` is monotonic.
  void Poll(int64_t now_ns);
  // Any thread.
  bool up() const { return up_.load(std::memory_order_acquire); }
  bool is_server() const { return options_.is_server; }
  // Ends the connection and refuses others, or permits them.
  void SetLink(bool up);
  Queue& queue(uint32_t number) { return *queues_[number]; }
  uint32_t queues() const { return static_cast<uint32_t>(queues_.size()); }
  // Returns a counter's sum over all queues. Any thread.
  uint64_t Sum(Tally QueueCounters::*counter) const {
    uint64_t sum = 0;
    for (const auto& queue : queues_) sum += (queue->counters().*counter).Get();
    return sum;
  }
  // Queues with rings: all of them while connected, else none.
  uint32_t connected_queues() const { return connected_queues_; }
  // Number of connections that came up.
  uint64_t connections() const { return connections_; }
  // Number of connections that were refused or ended for `reason`; kNone: by the peer.
  uint64_t refused(Refusal reason) const { return refused_[static_cast<size_t>(reason)]; }
  // Reason for which a connection was refused or ended.
  struct Ending {
    Refusal reason = Refusal::kNone;  // kNone: the peer's
    std::string text;                 // printable
  };
  // Returns the last reason since the last call; nullopt: none. A client's attempts that fail for
  // the same reason are reported once.
  std::optional<Ending> TakeEnding() { return std::exchange(ending_, std::nullopt); }
  const std::string& peer() const { return peer_; }

 private:
  friend class ServerSocket;
  explicit Device(const DeviceOptions& options);
  InterfaceRules rules() const;
  // `text`: the peer's reason, if the peer ends the connection.
  void Count(Refusal reason, std::string text = {});
  // Attaches the rings. Fails if a ring is none.
  Refusal Connect(Connection connection, uint64_t buffers_offset);
  void Disconnect(Refusal reason, std::string text = {});
  void PollConnection();
  void PollClient(int64_t now_ns);
  bool StartClient();
  void OnClientMessage();
  RingView ViewOf(const RingPlan& plan, size_t ring, uint64_t buffers_offset);

  const DeviceOptions options_;
  std::shared_ptr<ServerSocket> server_;  // null: a client
  std::vector<std::unique_ptr<Queue>> queues_;
  std::optional<Connection> connection_;
  bool claimed_ = false;  // server: a connection is in its handshake
  bool held_down_ = false;
  std::string peer_;
  uint32_t connected_queues_ = 0;
  uint64_t connections_ = 0;
  std::optional<Ending> ending_;
  std::string last_text_;  // of ending_, since the last connection
  std::array<uint64_t, static_cast<size_t>(Refusal::kCount)> refused_{};
  std::atomic<bool> up_{false};

  // A client's handshake.
  struct Attempt {
    Fd socket;
    ClientChannel channel;
    std::vector<Region> regions{};
    std::vector<Fd> events{};
    int64_t deadline_ns = 0;
  };
  std::optional<Attempt> attempt_;
  int64_t next_attempt_ns_ = 0;
};

}  // namespace suede::memif

#endif  // SUEDE_MEMIF_DEVICE_H_
