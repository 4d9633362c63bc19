// SPDX-License-Identifier: Apache-2.0
#include "pipeline/request_server.h"

namespace suede {
namespace {

LcoreStatus StatusOf(ClientVerdict verdict) {
  switch (verdict) {
    case ClientVerdict::kDone:
      return LcoreStatus::kDone;
    case ClientVerdict::kBusy:
      return LcoreStatus::kBusy;
    case ClientVerdict::kClaimed:
      return LcoreStatus::kClaimed;
    case ClientVerdict::kUnknown:
      break;
  }
  return LcoreStatus::kUnknown;
}

}  // namespace

bool RequestServer::Next(Time now) {
  if (!mailbox_.requests.Pop(request_)) return false;
  now_ = now;
  answering_ = Answering::kNot;
  todo_ = std::visit([this](const auto& asked) { return Serve(asked); }, request_);
  return true;
}

void RequestServer::Answer() {
  if (const auto* reset = std::get_if<todo::QueueInReset>(&todo_)) clients_.EndReset(reset->queue);
  switch (answering_) {
    case Answering::kNot:
      return;
    case Answering::kReply:
      mailbox_.replies.Push(reply_);
      return;
    case Answering::kStates:
      ShowService();
      break;
    case Answering::kCount:
      break;
  }
  done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// Returns whether the request was granted.
bool RequestServer::Reply(LcoreReplyKind kind, uint32_t client, ClientVerdict verdict) {
  reply_ = {.kind = kind, .status = StatusOf(verdict), .client = client};
  answering_ = Answering::kReply;
  return verdict == ClientVerdict::kDone;
}

// ---- Clients.

Todo RequestServer::Serve(const request::Attach& asked) {
  const ClientVerdict verdict = clients_.Attach({.client = asked.client,
                                                 .segment = asked.segment,
                                                 .shape = asked.shape,
                                                 .queue_instances = asked.queue_instances,
                                                 .queue_vc_masks = asked.queue_vc_masks});
  if (!Reply(LcoreReplyKind::kAttach, asked.client, verdict)) return {};
  reporter_.ShowLoadOf(asked.client, now_);
  clients_.Open(asked.client);
  return {};
}

Todo RequestServer::Serve(const request::AttachTarget& asked) {
  if (asked.instance >= instances_.size()) {
    Reply(LcoreReplyKind::kAttach, asked.client, ClientVerdict::kUnknown);
    return {};
  }
  const ClientVerdict verdict = clients_.Attach({.client = asked.client,
                                                 .segment = asked.target->segment(),
                                                 .shape = &asked.target->shape(),
                                                 .queue_instances = &asked.instance,
                                                 .queue_vc_masks = &asked.vc_mask});
  if (!Reply(LcoreReplyKind::kAttach, asked.client, verdict)) return {};
  Instance& instance = *instances_[asked.instance];
  targets_.Add({.client = asked.client,
                .owner = asked.owner,
                .target = asked.target,
                .counters = &instance.stats.counters,
                .partition = &instance.params.partition});
  clients_.Open(asked.client);
  return {};
}

Todo RequestServer::Serve(const request::SetWindow& asked) {
  const bool is_set = targets_.SetWindow(asked.client, asked.id, *asked.window);
  Reply(LcoreReplyKind::kSetWindow, asked.client,
        is_set ? ClientVerdict::kDone : ClientVerdict::kUnknown);
  return {};
}

Todo RequestServer::Serve(const request::Claim& asked) {
  const ClientVerdict verdict =
      clients_.Claim(asked.client, InstanceIndex(asked.instance), asked.vc_mask);
  if (!Reply(LcoreReplyKind::kClaim, asked.client, verdict)) return {};
  return todo::ClaimsMoved{.instance = asked.instance, .vc_mask = asked.vc_mask};
}

Todo RequestServer::Serve(const request::Unclaim& asked) {
  const ClientVerdict verdict =
      clients_.Unclaim(asked.client, InstanceIndex(asked.instance), asked.vc_mask);
  if (!Reply(LcoreReplyKind::kUnclaim, asked.client, verdict)) return {};
  return todo::ClaimsMoved{.instance = asked.instance, .vc_mask = asked.vc_mask};
}

Todo RequestServer::Serve(const request::ResetQueue& asked) {
  const uint32_t queue = clients_.BeginReset(asked.client, asked.queue);
  const bool known = queue != ClientTable::kNone;
  Reply(LcoreReplyKind::kResetQueue, asked.client,
        known ? ClientVerdict::kDone : ClientVerdict::kUnknown);
  return known ? Todo(todo::QueueInReset{.queue = static_cast<uint16_t>(queue)}) : Todo();
}

Todo RequestServer::Serve(const request::Detach& asked) {
  targets_.Remove(asked.client);
  if (!Reply(LcoreReplyKind::kDetach, asked.client, clients_.Detach(asked.client))) return {};
  answering_ = Answering::kNot;  // EndDetaching does
  return todo::ClientLeft{};
}

void RequestServer::EndDetaching() {
  clients_.RetireQueues();
  while (const std::optional<uint32_t> client = clients_.TakeDetached()) {
    mailbox_.replies.Push({.kind = LcoreReplyKind::kDetach, .client = *client});
  }
}

Todo RequestServer::Serve(const request::Drain& /*asked*/) {
  clients_.BeginDrain();
  return {};  // FinishDraining answers
}

void RequestServer::FinishDraining(bool is_idle) {
  // Records of clients beyond a ring's worth stay in their rings.
  if (drained_ || !is_idle || !clients_.IsDrained()) return;
  drained_ = true;
  // The reply states that all is acknowledged: no record may be taken from now on.
  clients_.EndDrain();
  mailbox_.replies.Push({.kind = LcoreReplyKind::kDrain});
}

// ---- Ports, instances and planes that an operator takes out of service and returns.

Todo RequestServer::Serve(const request::SetPort& asked) {
  answering_ = Answering::kStates;
  if (asked.port < ports_.size()) ports_[asked.port]->link.set_down(!asked.up);
  return {};
}

Todo RequestServer::Serve(const request::SetInstance& asked) {
  answering_ = Answering::kStates;
  if (asked.instance >= instances_.size()) return {};
  instances_[asked.instance]->down = !asked.up;
  return asked.up ? Todo(todo::InstanceUp{.instance = asked.instance}) : Todo();
}

// Sets a plane of an instance that has several; SetInstance sets an only plane.
Todo RequestServer::Serve(const request::SetPlane& asked) {
  answering_ = Answering::kStates;
  if (asked.instance >= instances_.size()) return {};
  Instance& instance = *instances_[asked.instance];
  if (!instance.peers.own.SetAdmin(asked.plane, asked.plane_admin)) return {};
  return todo::PlaneSet{.instance = asked.instance, .plane = asked.plane};
}

Todo RequestServer::Serve(const request::SetWeight& asked) {
  answering_ = Answering::kCount;
  return IfKnown(asked);
}

void RequestServer::ShowService() {
  for (const auto& instance : instances_) {
    clients_.SetService(instance->number, !instance->IsOutOfService());
  }
  clients_.ShowStates();
}

}  // namespace suede
