// SPDX-License-Identifier: Apache-2.0
// Checks clients' requests, passes them to the handler, and replies.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "local/passing.h"
#include "shm/client.h"
#include "shm/server.h"

namespace suede {
namespace {

using protocol::Type;

constexpr int kRequestsPerPoll = 16;

size_t SizeOf(Type type) {
  switch (type) {
    case Type::kOpen:
      return sizeof(protocol::Open);
    case Type::kSealed:
      return sizeof(protocol::Sealed);
    case Type::kClaim:
    case Type::kUnclaim:
    case Type::kServe:
      return sizeof(protocol::Claim);
    case Type::kWindowAdd:
      return sizeof(protocol::WindowAdd);
    case Type::kWindowRemove:
      return sizeof(protocol::WindowRemove);
    case Type::kReset:
      return sizeof(protocol::Reset);
    case Type::kWait:
      return sizeof(protocol::Wait);
    case Type::kPacketsOpen:
      return sizeof(protocol::PacketsOpen);
    case Type::kGoodbye:
      return sizeof(protocol::Goodbye);
    case Type::kRegister:
      return sizeof(protocol::Register);
    default:
      return 0;
  }
}

// Returns the counter of an invalid packet, nullptr for a valid one.
uint64_t ShmServerCounters::*CheckPacket(const protocol::AnyRequest& request, size_t bytes) {
  const bool is_packet =
      bytes >= sizeof request.head && request.head.type == protocol::Type::kPacketSend;
  if (bytes > (is_packet ? sizeof request.packet_send : protocol::kMaxOtherRequest)) {
    return &ShmServerCounters::oversized;
  }
  if (bytes < sizeof request.head || request.head.magic != protocol::kMagic) {
    return &ShmServerCounters::malformed;
  }
  // Checked before the size, which another version may have changed.
  if (request.head.version != protocol::kVersion) return &ShmServerCounters::version;
  if (request.head.size != bytes || (!is_packet && SizeOf(request.head.type) != bytes)) {
    return &ShmServerCounters::malformed;
  }
  return nullptr;
}

}  // namespace

protocol::Status ToProtocolStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return protocol::Status::kOk;
    case absl::StatusCode::kInvalidArgument:
      return protocol::Status::kInvalid;
    case absl::StatusCode::kNotFound:
      return protocol::Status::kNotFound;
    case absl::StatusCode::kAlreadyExists:
      return protocol::Status::kBusy;
    case absl::StatusCode::kResourceExhausted:
      return protocol::Status::kNoResources;
    case absl::StatusCode::kUnavailable:
      return protocol::Status::kBusy;
    case absl::StatusCode::kPermissionDenied:
      return protocol::Status::kNotPermitted;
    case absl::StatusCode::kFailedPrecondition:
      return protocol::Status::kNotNow;
    default:
      return protocol::Status::kFailed;
  }
}

void ShmServer::Serve(Client& client) {
  for (int i = 0; i < kRequestsPerPoll && !client.is_gone(); ++i) {
    protocol::AnyRequest request;
    const ReceivedPacket received =
        ReceivePacketWithFd(client.socket.get(), &request, sizeof request);
    const ssize_t n = received.bytes;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return Drop(client, nullptr);
    if (const Counter wrong = CheckPacket(request, static_cast<size_t>(n)); wrong != nullptr) {
      if (wrong == &ShmServerCounters::version) {
        protocol::Reply reply;
        reply.head.sequence = request.head.sequence;
        reply.request = request.head.type;
        reply.status = protocol::Status::kBadVersion;
        const std::string text = absl::StrCat("the daemon speaks client protocol version ",
                                              protocol::kVersion, ", not ", request.head.version);
        std::strncpy(reply.text, text.c_str(), sizeof reply.text - 1);
        Send(client, &reply, sizeof reply, nullptr, 0);
      }
      return Drop(client, wrong);
    }
    if (request.head.type == Type::kPacketSend) {
      if (!client.has_packets) return Drop(client, &ShmServerCounters::malformed);
      HandlePacketSend(client, request.packet_send);
      continue;
    }
    ++counters_.requests;
    if (request.head.type != Type::kWait && !client.requests.Take(TimeFromMs(NowMs()))) {
      return Drop(client, &ShmServerCounters::flooding);
    }
    Dispatch(client, request, received.fd);
  }
}

void ShmServer::Dispatch(Client& client, const protocol::AnyRequest& request, const Fd& fd) {
  const Type type = request.head.type;
  if (type == Type::kGoodbye) {
    client.sent_goodbye = true;
    return Drop(client, nullptr);
  }
  if (type == Type::kPacketsOpen) return HandlePacketsOpen(client, request.packets_open);
  if (client.has_packets) return Drop(client, &ShmServerCounters::malformed);
  const bool is_next = type == Type::kOpen     ? client.segment == nullptr
                       : type == Type::kSealed ? client.segment != nullptr && !client.is_attached
                                               : client.is_attached;
  if (!is_next) return Drop(client, &ShmServerCounters::malformed);
  if (type == Type::kWait) return waits_.Begin(client, request.wait);
  if (client.has_pending) {
    return ReplyTo(client, type, request.head.sequence,
                   absl::AlreadyExistsError("an earlier request is still under way"));
  }
  client.has_pending = true;
  client.pending = type;
  client.pending_sequence = request.head.sequence;
  if (type == Type::kOpen) return HandleOpen(client, request.open);
  if (type == Type::kSealed) return HandleSealed(client);
  if (type == Type::kReset) return HandleReset(client, request.reset);
  if (type == Type::kRegister) return HandleRegister(client, request.reg);
  if (type == Type::kServe) return HandleServe(client, request.claim);
  if (type == Type::kWindowAdd) return HandleWindowAdd(client, request.window_add, fd);
  if (type == Type::kWindowRemove) return HandleWindowRemove(client, request.window_remove);
  HandleClaim(client, request.claim, type == Type::kClaim);
}

bool ShmServer::IsOurs(InstanceKey instance) const {
  return std::find(config_.instances.begin(), config_.instances.end(), instance) !=
         config_.instances.end();
}

absl::Status ShmServer::Forbid(const Client& client, InstanceKey key, uint32_t vc_mask) {
  ClientRule missing{.uid = client.uid,
                     .first_xpu = key.xpuid,
                     .last_xpu = key.xpuid,
                     .vc_mask = vc_mask == 0 ? kAllVcs : vc_mask};
  if (std::ranges::count(config_.instances, key.xpuid, &InstanceKey::xpuid) > 1) {
    missing.instance = key.instance;
  }
  const bool is_named = missing.instance != ClientRule::kEveryInstance;
  const std::string instance = is_named ? absl::StrCat(".", key.instance) : "";
  const std::string vcs = vc_mask == 0 ? "" : absl::StrCat(" on VCs ", VcsOfMask(vc_mask));
  const std::string reason =
      absl::StrCat("no rule lets uid ", client.uid, " be XPU ", key.xpuid, instance, vcs,
                   "; add \"", missing.text(), "\" to clients.rules");
  handler_->OnRefused(client.pid, client.uid, reason);
  return absl::PermissionDeniedError(reason);
}

absl::Status ShmServer::PrepareOpen(Client& client, const protocol::Open& request) {
  if (request.queue_count < 1 || request.queue_count > config_.shape.queue_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("queue_count is 1 to ", config_.shape.queue_count));
  }
  OpenRequest open;
  for (uint32_t q = 0; q < request.queue_count; ++q) {
    const InstanceKey key{request.instances[q].xpuid, request.instances[q].instance};
    if (!IsOurs(key)) {
      return absl::NotFoundError(absl::StrCat("queue ", q, ": no instance ", key.instance,
                                              " of XPU ", key.xpuid, " here"));
    }
    const uint32_t vc_mask = PermittedVcs(config_.rules, client.uid, key.xpuid, key.instance);
    if (vc_mask == 0) return Forbid(client, key, 0);
    open.queues.push_back(key);
    open.vc_masks.push_back(static_cast<uint8_t>(vc_mask));
  }
  SegmentShape shape = config_.shape;
  shape.queue_count = request.queue_count;
  absl::StatusOr<std::unique_ptr<Segment>> segment =
      Segment::Create(shape, handler_->NumaNode(open), config_.huge_pages);
  if (!segment.ok()) return segment.status();
  client.bell = Wakeup::Create();
  if (!client.bell) return absl::ResourceExhaustedError("no descriptors to wake the client by");
  client.segment = std::move(*segment);
  client.open = std::move(open);
  return absl::OkStatus();
}

void ShmServer::HandleOpen(Client& client, const protocol::Open& request) {
  FinishPending(client.id, Type::kOpen, PrepareOpen(client, request));
}

void ShmServer::HandleSealed(Client& client) {
  Segment& segment = *client.segment;
  absl::Status status = segment.CheckSealed();
  if (status.ok()) status = segment.Prepare();
  if (status.ok()) {
    static_cast<suede_segment*>(segment.base())->event_summary = waits_.event_summary() ? 1 : 0;
    if (const int board = handler_->BoardOf(client.open); board >= 0) {
      client.place =
          config_.boards[static_cast<size_t>(board)]->TakeSlot(segment.base(), segment.offsets());
    }
    client.is_attached = true;
    status = handler_->OnOpen(client.id, client.open, segment);
  }
  if (!status.ok()) FinishPending(client.id, Type::kSealed, status);
}

absl::Status ShmServer::CheckClaim(const Client& client, const ClaimRequest& claim,
                                   uint32_t permitted) {
  if (claim.vc_mask == 0 || claim.vc_mask >= 1u << SUEDE_VCS) {
    return absl::InvalidArgumentError("vc_mask is 1 to 15");
  }
  if (!IsOurs(claim.instance)) {
    return absl::NotFoundError(absl::StrCat("no instance ", claim.instance.instance, " of XPU ",
                                            claim.instance.xpuid, " here"));
  }
  const uint32_t forbidden = claim.vc_mask & ~permitted;
  return forbidden == 0 ? absl::OkStatus() : Forbid(client, claim.instance, forbidden);
}

void ShmServer::HandleClaim(Client& client, const protocol::Claim& request, bool is_claim) {
  const ClaimRequest claim{.instance = {request.instance.xpuid, request.instance.instance},
                           .vc_mask = request.vc_mask};
  const uint32_t permitted = is_claim ? PermittedVcs(config_.rules, client.uid,
                                                     claim.instance.xpuid, claim.instance.instance)
                                      : kAllVcs;
  absl::Status status = CheckClaim(client, claim, permitted);
  if (status.ok()) {
    status = is_claim ? handler_->OnClaim(client.id, claim) : handler_->OnUnclaim(client.id, claim);
  }
  if (!status.ok()) FinishPending(client.id, request.head.type, status);
}

// Serves a target: its requests need the permissions of a claim, its responses those of a queue.
void ShmServer::HandleServe(Client& client, const protocol::Claim& request) {
  const uint16_t xpuid = request.instance.xpuid;
  const uint32_t permitted =
      PermittedVcs(config_.rules, client.uid, xpuid, request.instance.instance);
  const ServeRequest serve{.instance = {xpuid, request.instance.instance},
                           .vc_mask = request.vc_mask,
                           .send_vcs = permitted};
  absl::Status status =
      CheckClaim(client, {.instance = serve.instance, .vc_mask = serve.vc_mask}, permitted);
  if (status.ok()) status = handler_->OnServe(client.id, serve);
  if (!status.ok()) FinishPending(client.id, Type::kServe, status);
}

void ShmServer::HandleWindowAdd(Client& client, const protocol::WindowAdd& request, const Fd& fd) {
  const WindowRequest window{.uid = client.uid,
                             .id = request.id,
                             .rights = request.rights,
                             .is_program = request.program != 0,
                             .key = request.key,
                             .partition = request.partition,
                             .bytes = request.bytes,
                             .fd_offset = request.fd_offset};
  const absl::Status status = handler_->OnWindowAdd(client.id, window, fd.get());
  if (!status.ok()) FinishPending(client.id, Type::kWindowAdd, status);
}

void ShmServer::HandleWindowRemove(Client& client, const protocol::WindowRemove& request) {
  const absl::Status status = handler_->OnWindowRemove(client.id, request.id);
  if (!status.ok()) FinishPending(client.id, Type::kWindowRemove, status);
}

void ShmServer::HandleReset(Client& client, const protocol::Reset& request) {
  const absl::Status status = request.queue < client.segment->shape().queue_count
                                  ? handler_->OnReset(client.id, request.queue)
                                  : absl::NotFoundError(absl::StrCat("no queue ", request.queue));
  if (!status.ok()) FinishPending(client.id, Type::kReset, status);
}

void ShmServer::HandleRegister(Client& client, const protocol::Register& request) {
  if (request.is_write > 1) return Drop(client, &ShmServerCounters::malformed);
  const absl::Status status = handler_->OnRegister(client.id, {.address = request.address,
                                                               .width_bits = request.width_bits,
                                                               .is_write = request.is_write == 1,
                                                               .value = request.value});
  if (!status.ok()) FinishPending(client.id, Type::kRegister, status);
}

void ShmServer::FinishOpen(ClientId id, const absl::Status& status) {
  FinishPending(id, Type::kSealed, status);
}

// (At most one of both is pending.)
void ShmServer::FinishClaim(ClientId id, const absl::Status& status) {
  FinishPending(id, Type::kClaim, status);
  FinishPending(id, Type::kUnclaim, status);
}

void ShmServer::FinishReset(ClientId id, const absl::Status& status) {
  FinishPending(id, Type::kReset, status);
}

void ShmServer::FinishServe(ClientId id, const absl::Status& status) {
  FinishPending(id, Type::kServe, status);
}

void ShmServer::FinishWindow(ClientId id, const absl::Status& status) {
  FinishPending(id, Type::kWindowAdd, status);
  FinishPending(id, Type::kWindowRemove, status);
}

void ShmServer::FinishRegister(ClientId id, const absl::Status& status, uint64_t value) {
  FinishPending(id, Type::kRegister, status, value);
}

void ShmServer::FinishDetach(ClientId id) {
  Client* client = Find(id);
  if (client == nullptr || !client->is_gone()) return;
  client->place = {};
  client->segment.reset();
  client->is_attached = false;  // Poll removes the client
}

void ShmServer::FinishPending(ClientId id, Type type, const absl::Status& status, uint64_t value) {
  Client* client = Find(id);
  if (client == nullptr || !client->has_pending || client->pending != type) return;
  client->has_pending = false;
  if ((type == Type::kOpen || type == Type::kSealed) && !status.ok()) {
    ++counters_.open_failed;
    client->is_attached = client->is_waiting = false;
    client->place = {};
    client->segment.reset();
  } else if (type == Type::kSealed) {
    client->is_open = true;
    ++counters_.opened;
    handler_->OnOpened(client->info());
  }
  ReplyTo(*client, type, client->pending_sequence, status, value);
}

void ShmServer::ReplyTo(Client& client, Type request, uint32_t sequence,
                        const absl::Status& status, uint64_t value) {
  protocol::Reply reply;
  reply.head.sequence = sequence;
  reply.request = request;
  reply.status = ToProtocolStatus(status);
  reply.value = value;
  status.message().copy(reply.text, sizeof reply.text - 1);
  if (!status.ok()) ++counters_.requests_failed;
  if (request != Type::kOpen || !status.ok()) {
    return Send(client, &reply, sizeof reply, nullptr, 0);
  }
  reply.value = client.segment->bytes();
  const int fds[2] = {client.segment->fd(), client.bell->handle()};
  Send(client, &reply, sizeof reply, fds, 2);
  if (!client.is_gone()) client.bell->FreeHandle();
}

}  // namespace suede
