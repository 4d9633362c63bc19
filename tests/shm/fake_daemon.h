// SPDX-License-Identifier: Apache-2.0
// A daemon without lcores, transport or ports: it hands each command straight to the client that
// has claimed its destination, all on one thread.
#ifndef SUEDE_TESTS_SHM_FAKE_DAEMON_H_
#define SUEDE_TESTS_SHM_FAKE_DAEMON_H_

#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/load.h"
#include "client/rx_ring.h"
#include "client/tx_ring.h"
#include "shm/server.h"

namespace suede {

// A directory that goes with its contents.
class TestDirectory {
 public:
  TestDirectory();
  ~TestDirectory();
  std::string Socket() const { return path_ + "/xpu.sock"; }

 private:
  std::string path_;
};

ShmServerConfig TestConfig(const std::string& socket);

class FakeDaemon : public ClientHandler, public PacketHandler {
 public:
  // Looks at waits itself, as an lcore does, unless `has_board` is false.
  explicit FakeDaemon(ShmServerConfig config, bool has_board = true);
  ~FakeDaemon() override { Stop(); }
  void Stop();

  // Runs `what` on the daemon's thread and waits for it.
  template <typename Result>
  Result Ask(std::function<Result(ShmServer&)> what) {
    Result result{};
    std::atomic<bool> done{false};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      questions_.push_back([&] {
        result = what(*server_);
        done = true;
      });
    }
    while (!done) usleep(100);
    return result;
  }
  ShmServerCounters counters();
  size_t client_count();
  // Nothing is taken out of the rings from here on, until it resumes.
  void Pause();
  void Resume() { paused_ = false; }
  void SetState(uint32_t queue, uint32_t state);
  void SetReceiveState(uint32_t vc, uint32_t state);
  // Shows the queues of an instance such a state, and the destinations that are unreachable.
  void ShowLoad(InstanceKey instance, const LoadState& state,
                const DestinationMap& unreachable = {});

  int BoardOf(const OpenRequest&) override { return board_ == nullptr ? -1 : 0; }
  absl::Status OnOpen(ClientId id, const OpenRequest& request, Segment& segment) override;
  absl::Status OnClaim(ClientId id, const ClaimRequest& request) override;
  absl::Status OnUnclaim(ClientId id, const ClaimRequest& request) override;
  absl::Status OnReset(ClientId id, uint32_t index) override;
  absl::Status OnRegister(ClientId id, const RegisterRequest& request) override;
  void OnGone(ClientId id) override;
  void OnOpened(const ClientInfo& client) override { seen_.emplace_back(client, std::nullopt); }
  void OnEnded(const ClientInfo& client, const ClientEnd& end) override {
    seen_.emplace_back(client, end);
  }
  void OnRefused(pid_t, uid_t, std::string_view reason) override {
    refusals_.emplace_back(reason);
  }
  std::vector<std::string> refusals() {
    return Ask<std::vector<std::string>>([this](ShmServer&) { return refusals_; });
  }
  // The calls of those two, in order; an OnOpened has no end.
  using Seen = std::vector<std::pair<ClientInfo, std::optional<ClientEnd>>>;
  Seen seen() {
    return Ask<Seen>([this](ShmServer&) { return seen_; });
  }

  // Ports "p0" and "p1", which give back the packets sent on them.
  absl::StatusOr<PacketPort> FindPacketPort(std::string_view name, uint32_t index) override;
  void OnPacketReceivers(uint32_t port, uint32_t count) override { receivers[port] = count; }
  void OnPacket(uint32_t port, std::span<const uint8_t> frame) override;

  absl::Status status;
  // One register of 32 bits, at address 8. Others are refused, each in its own way.
  uint64_t register_value = 7;
  std::vector<uint8_t> vc_masks() {
    return Ask<std::vector<uint8_t>>([this](ShmServer&) { return vc_masks_; });
  }
  std::atomic<bool> refuse_open{false};
  std::atomic<bool> hold_detach{false};
  std::atomic<bool> is_old{false};  // does not know of load areas
  std::atomic<int> gone{0};
  std::array<std::atomic<uint32_t>, 2> receivers{};
  std::atomic<uint32_t> packets{0};
  std::atomic<uint32_t> copies_lost{0};

 private:
  std::vector<uint8_t> vc_masks_;  // of the last OPEN
  struct Queue {
    InstanceKey source;
    TxRingReader tx;
    CreditWriter credits;
    CompletionWriter completions;
    LoadWriter load;  // wishes are answered with ten PDUs in flight for each number
  };
  struct Attached {
    Segment* segment = nullptr;
    std::vector<Queue> queues;
    std::array<RxRingWriter, kVcCount> rx;
  };

  static void Complete(Queue& queue, const TxRecord& record, uint8_t status);
  void Run();
  void Turn();
  void Serve(Queue& queue);
  void Serve(Queue& queue, const TxRecord& record);
  uint8_t Deliver(InstanceKey source, const TxRecord& record);

  std::unique_ptr<WaitBoard> board_;
  std::unique_ptr<ShmServer> server_;
  std::map<ClientId, Attached> clients_;
  std::map<std::pair<uint16_t, uint32_t>, ClientId> claims_;
  std::vector<std::function<void()>> later_;
  Seen seen_;
  std::vector<std::string> refusals_;
  std::mutex mutex_;
  std::vector<std::function<void()>> questions_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> paused_{false};
  std::thread thread_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SHM_FAKE_DAEMON_H_
