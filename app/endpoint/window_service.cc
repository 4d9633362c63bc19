// SPDX-License-Identifier: Apache-2.0
#include "endpoint/window_service.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

// Bytes mapped per call of Poll: a few milliseconds.
constexpr uint64_t kFillBytes = 8u << 20;

mem::Window WindowOf(const WindowRequest& request, const WindowMemory& memory) {
  const bool any = request.partition == WindowRequest::kAnyPartition;
  return {.base = memory.base(),
          .bytes = request.bytes,
          .key = request.key,
          .partition = any ? mem::Window::kAnyPartition : static_cast<uint16_t>(request.partition),
          .rights = request.rights};
}

absl::Status TooManyBytes(uint64_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the memfds of the windows that lcores serve of a client have at most ",
                   limit >> 20, " MiB together (clients.window_mb)"));
}

}  // namespace

// ---- Targets.

absl::Status WindowService::OnServe(ClientId client, const ServeRequest& request,
                                    const Place& place) {
  if (limits_.client_bytes == 0) {
    return absl::PermissionDeniedError(
        "clients.window_mb is 0: the lcores execute no memory requests");
  }
  if (IsServed(client)) return absl::AlreadyExistsError("the lcore serves the client already");
  const uint32_t owner = Number(client);
  Target target{.place = place, .vc_mask = static_cast<uint8_t>(request.vc_mask)};
  target.served = std::make_unique<ServedTarget>(shape_, target.vc_mask);
  absl::Status status =
      ask_(place.lcore, request::AttachTarget{.client = owner | kTargetBit,
                                              .owner = owner,
                                              .instance = place.instance,
                                              .vc_mask = static_cast<uint8_t>(request.send_vcs),
                                              .target = target.served.get()});
  if (status.ok()) targets_.emplace(owner, std::move(target));
  return status;
}

void WindowService::Detach(uint32_t owner, Target& target) {
  if (target.is_detach_sent) return;
  if (target.state != State::kDetaching) ++unsent_;
  target.state = State::kDetaching;
  target.is_detach_sent =
      ask_(target.place.lcore, request::Detach{.client = owner | kTargetBit}).ok();
  if (target.is_detach_sent) --unsent_;
}

void WindowService::OnGone(ClientId client) {
  const auto found = targets_.find(Number(client));
  if (found == targets_.end()) return;
  found->second.is_owner_gone = true;
  for (auto& [id, held] : found->second.windows) {
    if (held.state == Window::kFilling) {
      held.state = Window::kRemoving;
      --filling_;
    }
  }
  // A target with a pending attachment is detached after the reply.
  if (found->second.state != State::kAttaching) Detach(found->first, found->second);
}

void WindowService::OnReply(const LcoreReply& reply, const absl::Status& status) {
  const uint32_t owner = reply.client & ~kTargetBit;
  const auto found = targets_.find(owner);
  if (found == targets_.end()) return;
  Target& target = found->second;
  const ClientId client{owner};
  switch (reply.kind) {
    case LcoreReplyKind::kAttach: {
      absl::Status claim = status;
      if (status.ok()) {
        claim = ask_(target.place.lcore, request::Claim{.vc_mask = target.vc_mask,
                                                        .client = reply.client,
                                                        .instance = target.place.instance});
      } else {
        targets_.erase(found);
      }
      if (status.ok() && claim.ok() && !target.is_owner_gone) {
        target.state = State::kClaiming;
        return;
      }
      if (status.ok()) Detach(owner, target);
      if (!claim.ok()) server_->FinishServe(client, claim);
      return;
    }
    case LcoreReplyKind::kClaim:
      if (target.state != State::kClaiming) return;
      target.state = State::kServing;
      if (!status.ok()) Detach(owner, target);
      return server_->FinishServe(client, status);
    case LcoreReplyKind::kDetach:
      for (const auto& [id, held] : target.windows) windows_ -= held.memory != nullptr ? 1 : 0;
      targets_.erase(found);
      return;
    case LcoreReplyKind::kSetWindow:
      return OnWindowReply(client, target, status);
    default:
      return;
  }
}

// ---- Windows.

absl::Status WindowService::CheckNew(const Target& target, const WindowRequest& request) const {
  if (request.id >= mem::kMaxWindows) {
    return absl::InvalidArgumentError("the id of a window is 0 to 4095");
  }
  if (target.windows.contains(request.id)) {
    return absl::AlreadyExistsError("there is a window of this id");
  }
  if (request.is_program) return absl::OkStatus();
  if (request.rights == 0 || request.rights > mem::Window::kAllRights ||
      request.bytes < mem::kMinWindowBytes ||
      (request.partition != WindowRequest::kAnyPartition && request.partition > 1023)) {
    return absl::InvalidArgumentError("rights, bytes or partition of the window are out of range");
  }
  if (request.bytes > limits_.client_bytes) return TooManyBytes(limits_.client_bytes);
  const auto count = std::count_if(target.windows.begin(), target.windows.end(),
                                   [](auto& entry) { return entry.second.memory != nullptr; });
  if (count >= kMaxWindowsOfClient || windows_ >= kMaxWindows) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "lcores serve ", kMaxWindowsOfClient, " windows of a client and ", kMaxWindows, " in all"));
  }
  if (const auto found = deceits_.find(request.uid);
      found != deceits_.end() && found->second >= kMaxFaultyWindows) {
    return absl::PermissionDeniedError(
        absl::StrCat("lcores serve no more windows of uid ", request.uid,
                     ", whose windows lacked pages; restart the daemon"));
  }
  return absl::OkStatus();
}

// Counts each memfd once, regardless of its number of windows.
absl::Status WindowService::CheckBytes(const Target& target, const WindowFile& file) const {
  std::set<const WindowFile*> files = {&file};
  for (const auto& [id, held] : target.windows) {
    if (held.memory != nullptr) files.insert(held.memory->file().get());
  }
  uint64_t bytes = 0;
  for (const WindowFile* const each : files) bytes += each->bytes;
  return bytes <= limits_.client_bytes ? absl::OkStatus() : TooManyBytes(limits_.client_bytes);
}

absl::StatusOr<std::unique_ptr<WindowMemory>> WindowService::MapWindow(Target& target,
                                                                       const WindowRequest& request,
                                                                       int fd) {
  // Keeps the file mapped until this call has found it.
  const std::shared_ptr<const WindowFile> former = std::exchange(target.unsealed, nullptr);
  const uint64_t mapped = files_.bytes();
  const uint64_t left = limits_.total_bytes > mapped ? limits_.total_bytes - mapped : 0;
  std::shared_ptr<const WindowFile> unsealed;
  absl::StatusOr<std::unique_ptr<WindowMemory>> memory =
      files_.Map({.fd = fd,
                  .offset = request.fd_offset,
                  .bytes = request.bytes,
                  .is_writable = (request.rights & ~mem::Window::kRead) != 0,
                  .uid = request.uid,
                  .max_bytes = std::min(left, limits_.client_bytes)},
                 &unsealed);
  const WindowFile* const file = memory.ok() ? (*memory)->file().get() : unsealed.get();
  if (file == nullptr) return memory.status();
  if (absl::Status status = CheckBytes(target, *file); !status.ok()) return status;
  target.unsealed = std::move(unsealed);
  return memory;
}

absl::Status WindowService::OnWindowAdd(ClientId client, const WindowRequest& request, int fd) {
  const uint32_t owner = Number(client);
  const auto found = targets_.find(owner);
  if (found == targets_.end() || found->second.state != State::kServing) {
    return absl::NotFoundError("the lcore serves nothing of the client: SERVE comes first");
  }
  Target& target = found->second;
  if (absl::Status status = CheckNew(target, request); !status.ok()) return status;
  Held held{.state = Window::kAdding, .request = request};
  held.asked.kind = ServedWindow::Kind::kProgram;
  if (!request.is_program) {
    absl::StatusOr<std::unique_ptr<WindowMemory>> memory = MapWindow(target, request, fd);
    if (!memory.ok()) return memory.status();
    held.memory = *std::move(memory);
    held.asked = {.kind = ServedWindow::Kind::kLcore, .window = WindowOf(request, *held.memory)};
    held.state = Window::kFilling;
    ++filling_;
    ++windows_;
  }
  Held& kept = target.windows.emplace(request.id, std::move(held)).first->second;
  if (kept.state == Window::kFilling) return absl::OkStatus();  // Poll continues
  absl::Status status = AskWindow(owner, target, request.id, kept);
  if (!status.ok()) target.windows.erase(request.id);
  return status;
}

absl::Status WindowService::OnWindowRemove(ClientId client, uint32_t id) {
  const uint32_t owner = Number(client);
  const auto found = targets_.find(owner);
  if (found == targets_.end() || !found->second.windows.contains(id)) {
    return absl::NotFoundError("there is no window of this id");
  }
  Held& held = found->second.windows.at(id);
  const ServedWindow before = std::exchange(held.asked, {});
  absl::Status status = AskWindow(owner, found->second, id, held);
  if (status.ok()) {
    held.state = Window::kRemoving;
  } else {
    held.asked = before;
  }
  return status;
}

absl::Status WindowService::AskWindow(uint32_t owner, const Target& target, uint32_t id,
                                      Held& held) {
  return ask_(target.place.lcore,
              request::SetWindow{.client = owner | kTargetBit, .id = id, .window = &held.asked});
}

// Handles the reply to the client's only pending request.
void WindowService::OnWindowReply(ClientId client, Target& target, const absl::Status& status) {
  const auto found = std::find_if(target.windows.begin(), target.windows.end(), [](auto& entry) {
    return entry.second.state == Window::kAdding || entry.second.state == Window::kRemoving;
  });
  if (found == target.windows.end()) return;
  if (found->second.state == Window::kAdding && status.ok()) {
    found->second.state = Window::kServed;
  } else {
    if (found->second.memory != nullptr) --windows_;
    target.windows.erase(found);
  }
  server_->FinishWindow(client, status);
}

void WindowService::Fill(uint32_t owner, Target& target, uint32_t id, Held& held) {
  const absl::StatusOr<bool> done = held.memory->Populate(kFillBytes);
  if (done.ok() && !*done) return;
  const absl::Status status = done.ok() ? AskWindow(owner, target, id, held) : done.status();
  --filling_;
  held.state = Window::kAdding;
  if (status.ok()) return;
  if (absl::IsPermissionDenied(status)) ++deceits_[held.request.uid];
  --windows_;
  target.windows.erase(id);
  server_->FinishWindow(ClientId{owner}, status);
}

void WindowService::Poll() {
  std::vector<uint32_t> punched;
  for (auto& [owner, target] : targets_) {
    if (target.state == State::kDetaching) Detach(owner, target);
    uint32_t fills = mem::kMaxWindows;
    bool is_punched = false;
    for (auto& [id, held] : target.windows) {
      if (held.state == Window::kFilling) fills = id;
      is_punched |= held.memory != nullptr && held.memory->broken();
    }
    if (fills != mem::kMaxWindows) Fill(owner, target, fills, target.windows.at(fills));
    if (is_punched && !target.is_owner_gone) punched.push_back(owner);
  }
  for (const uint32_t owner : punched) server_->DropPunched(ClientId{owner});
}

uint32_t WindowService::ServedVcs(ClientId client, uint32_t index) const {
  const auto found = targets_.find(Number(client));
  const bool serves = found != targets_.end() && found->second.place.index == index &&
                      found->second.state == State::kServing;
  return serves ? found->second.vc_mask : 0;
}

std::vector<WindowService::View> WindowService::Windows() const {
  std::vector<View> all;
  for (const auto& [owner, target] : targets_) {
    for (const auto& [id, held] : target.windows) {
      if (held.state != Window::kServed) continue;
      all.push_back({.client = ClientId{owner},
                     .index = target.place.index,
                     .window = held.request,
                     .page_bytes = held.memory != nullptr ? held.memory->file()->page_bytes : 0,
                     .numa_node = held.memory != nullptr ? held.memory->NumaNode() : -1});
    }
  }
  return all;
}

}  // namespace suede
