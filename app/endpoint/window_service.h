// SPDX-License-Identifier: Apache-2.0
// The control thread's side of targets that lcores serve, and of their windows (docs/memory.md).
//
// A client has at most one target. To the lcore the target is a separate client, with another
// number, attached before the first window and detached before its owner. All state belongs to the
// control thread, and lives until the lcore has released it.
#ifndef SUEDE_APP_ENDPOINT_WINDOW_SERVICE_H_
#define SUEDE_APP_ENDPOINT_WINDOW_SERVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "lcore/mailbox.h"
#include "serve/served_target.h"
#include "shm/server.h"
#include "shm/window_memory.h"

namespace suede {

class WindowService {
 public:
  static constexpr uint32_t kMaxWindowsOfClient = 64;
  static constexpr uint32_t kMaxWindows = 1024;
  // Max windows of a user found to lack pages: each makes the daemon allocate up to
  // WindowMemory::kStepBytes or a page, which it cannot free.
  static constexpr uint32_t kMaxFaultyWindows = 16;
  static constexpr uint32_t kTargetBit = 1u << 31;  // set in the target's number

  // Posts a request to an lcore; an error if its mailbox is full.
  using Ask = std::function<absl::Status(uint32_t lcore, const LcoreRequest&)>;
  // `shape`: of a client's segment.
  WindowService(Ask ask, const SegmentShape& shape) : ask_(std::move(ask)), shape_(shape) {
    shape_.queue_count = 1;
  }
  // Sets the server that receives the replies.
  void SetServer(ShmServer* server) { server_ = server; }
  // Limits on the memfds of later windows.
  struct Limits {
    uint64_t client_bytes = 0;  // of one client in total
    uint64_t total_bytes = 0;   // of all clients in total
  };
  void SetLimits(const Limits& limits) { limits_ = limits; }

  // `lcore`, `instance`: the lcore and the instance's number there. `index`: in Config::instances.
  struct Place {
    uint32_t lcore = 0;
    uint32_t instance = 0;
    uint32_t index = 0;
  };
  absl::Status OnServe(ClientId client, const ServeRequest& request, const Place& place);
  absl::Status OnWindowAdd(ClientId client, const WindowRequest& request, int fd);
  absl::Status OnWindowRemove(ClientId client, uint32_t id);
  void OnGone(ClientId client);
  // Whether the lcore has the client's target in any state: the owner's detach must wait.
  bool IsServed(ClientId client) const { return targets_.contains(Number(client)); }

  // Whether the reply is about a target.
  static bool IsOfTarget(const LcoreReply& reply) { return (reply.client & kTargetBit) != 0; }
  void OnReply(const LcoreReply& reply, const absl::Status& status);
  // Maps pages of windows, checks for vanished pages, and retries requests after a full mailbox.
  void Poll();
  // Whether Poll has work soon.
  bool busy() const { return filling_ != 0 || unsent_ != 0; }

  // Returns the VCs of the instance (index into Config::instances) whose requests the lcore
  // executes for the client, a mask.
  uint32_t ServedVcs(ClientId client, uint32_t index) const;

  // A window, for display.
  struct View {
    ClientId client{};
    uint32_t index = 0;  // of the instance, in Config::instances
    WindowRequest window;
    uint64_t page_bytes = 0;  // 0: served by the program
    int numa_node = -1;
  };
  std::vector<View> Windows() const;

 private:
  enum class Window : uint8_t { kFilling, kAdding, kServed, kRemoving };
  struct Held {
    Window state = Window::kServed;
    WindowRequest request;
    std::unique_ptr<WindowMemory> memory;  // null: served by the program
    ServedWindow asked;                    // read by the lcore
  };
  enum class State : uint8_t { kAttaching, kClaiming, kServing, kDetaching };
  struct Target {
    State state = State::kAttaching;
    Place place;
    uint8_t vc_mask = 0;
    std::unique_ptr<ServedTarget> served;
    std::map<uint32_t, Held> windows;  // by id
    std::shared_ptr<const WindowFile> unsealed;  // of the window that the client will retry
    bool is_detach_sent = false;
    bool is_owner_gone = false;
  };

  static uint32_t Number(ClientId client) { return static_cast<uint32_t>(client); }
  absl::Status CheckNew(const Target& target, const WindowRequest& request) const;
  absl::StatusOr<std::unique_ptr<WindowMemory>> MapWindow(Target& target,
                                                          const WindowRequest& request, int fd);
  absl::Status CheckBytes(const Target& target, const WindowFile& file) const;
  absl::Status AskWindow(uint32_t owner, const Target& target, uint32_t id, Held& held);
  void Detach(uint32_t owner, Target& target);
  void OnWindowReply(ClientId client, Target& target, const absl::Status& status);
  void Fill(uint32_t owner, Target& target, uint32_t id, Held& held);

  const Ask ask_;
  SegmentShape shape_;
  ShmServer* server_ = nullptr;
  Limits limits_;
  WindowFiles files_;
  std::map<uid_t, uint32_t> deceits_;
  std::map<uint32_t, Target> targets_;  // by owner
  uint32_t windows_ = 0;                // of all targets
  uint32_t filling_ = 0;                // windows
  uint32_t unsent_ = 0;                 // detaches
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_WINDOW_SERVICE_H_
